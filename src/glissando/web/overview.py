"""What an operator sees of the store: numbers of a selection, its donors, and the latest swipes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, select

from glissando.web.schema import swipes, withdrawals
from glissando.web.selection import Selection
from glissando.web.store import HOUR, Store, this_hour

HOURS = 48  # shown of the swipes per hour
DONORS = 50  # shown of the latest
RECENT = 24  # swipes drawn
DISTANCES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)  # key widths, where a bar begins
RATES = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0)  # points per second, likewise

GIVEN = swipes.c.skipped.is_(False)


def overview(store: Store, selection: Selection) -> dict[str, Any]:
    """Everything that the summary of a selection shows, but the layouts' keys."""
    where = selection.conditions()
    with store.database.read() as connection:
        totals = connection.execute(_totals(where)).one()._asdict()
        totals["withdrawn"] = connection.execute(select(func.count()).select_from(withdrawals)).scalar_one()
        return {
            "totals": totals,
            "groups": list(connection.execute(_groups(where))),
            "hours": list(connection.execute(_hours(where))),
            "key_distances": _bars(
                connection.execute(_histogram(swipes.c.key_distance, DISTANCES, where)).one(), DISTANCES
            ),
            "rates": _bars(connection.execute(_histogram(swipes.c.rate, RATES, where)).one(), RATES),
            "donors": list(connection.execute(_donors(where))),
            "recent": list(connection.execute(_recent(where))),
        }


def _counts() -> list[Any]:
    """Columns that count swipes, skipped words and flagged swipes."""
    return [
        func.count().filter(GIVEN).label("swipes"),
        func.count().filter(~GIVEN).label("skipped"),
        func.count().filter(swipes.c.flagged.is_(True)).label("flagged"),
    ]


def _totals(where: Sequence[ColumnElement[bool]]) -> Any:
    donors = func.count(func.distinct(swipes.c.session)).label("donors")
    words = func.count(func.distinct(func.lower(swipes.c.word))).filter(GIVEN).label("words")
    checked = func.count(swipes.c.flagged).label("checked")
    right = func.count().filter(swipes.c.right.is_(True)).label("right")
    return select(donors, words, checked, right, *_counts()).where(*where)


def _groups(where: Sequence[ColumnElement[bool]]) -> Any:
    donors = func.count(func.distinct(swipes.c.session)).label("sessions")
    counts = _counts()
    query = select(swipes.c.layout, swipes.c.language, *counts, donors).where(*where)
    return query.group_by(swipes.c.layout, swipes.c.language).order_by(counts[0].desc(), swipes.c.layout)


def _hours(where: Sequence[ColumnElement[bool]]) -> Any:
    query = select(swipes.c.received.label("hour"), func.count().label("swipes"))
    query = query.where(swipes.c.received >= this_hour() - (HOURS - 1) * HOUR, *where)
    return query.group_by(swipes.c.received).order_by(swipes.c.received)


def _donors(where: Sequence[ColumnElement[bool]]) -> Any:
    hour = func.max(swipes.c.received).label("hour")
    query = select(swipes.c.session, hour, *_counts()).where(*where).group_by(swipes.c.session)
    return query.order_by(hour.desc(), swipes.c.session).limit(DONORS)


def _recent(where: Sequence[ColumnElement[bool]]) -> Any:
    order = (swipes.c.received.desc(), swipes.c.session, swipes.c.attempt.desc())
    return select(swipes).where(GIVEN, *where).order_by(*order).limit(RECENT)


def _histogram(column: Any, edges: Sequence[float], where: Sequence[ColumnElement[bool]]) -> Any:
    """How many values lie between each edge and the next, and above the last."""
    between = [and_(column >= low, column < high) for low, high in pairwise(edges)]
    bars = [func.count().filter(one).label(f"bar{i}") for i, one in enumerate([*between, column >= edges[-1]])]
    return select(*bars).select_from(swipes).where(*where)


def _bars(counts: Row[Any], edges: Sequence[float]) -> list[dict[str, Any]]:
    """A histogram as the API shows it; the last bar has no end."""
    ends = [*edges[1:], None]
    return [{"least": a, "below": b, "swipes": n} for a, b, n in zip(edges, ends, counts, strict=True)]
