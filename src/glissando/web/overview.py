"""What an operator sees of the store: numbers of a selection, its donors, and the latest swipes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select

from glissando.web.schema import swipes, withdrawals
from glissando.web.selection import Selection
from glissando.web.store import HOUR, Store, this_hour

HOURS = 48  # shown of the swipes per hour
DONORS = 50  # shown of the latest
RECENT = 24  # swipes drawn
DISTANCES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)  # key widths, where a bar begins
RATES = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0)  # points per second, likewise
TOTALS = ("donors", "words", "checked", "right", "swipes", "skipped", "flagged")

GIVEN = swipes.c.skipped.is_(False)


def overview(store: Store, selection: Selection) -> dict[str, Any]:
    """Everything that the summary of a selection shows, but the layouts' keys."""
    where = selection.conditions()
    with store.database.read() as connection:
        # In one query, since each goes through all rows.
        counted = list(connection.execute(_numbers(where)).one())
        totals = dict(zip(TOTALS, counted, strict=False))
        bars = counted[len(TOTALS) :]
        totals["withdrawn"] = connection.execute(select(func.count()).select_from(withdrawals)).scalar_one()
        return {
            "totals": totals,
            "key_distances": _bars(bars[: len(DISTANCES)], DISTANCES),
            "rates": _bars(bars[len(DISTANCES) :], RATES),
            "groups": list(connection.execute(_groups(where))),
            "hours": list(connection.execute(_hours(where))),
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


def _numbers(where: Sequence[ColumnElement[bool]]) -> Any:
    """The totals, in the order of TOTALS, then the bars of both histograms."""
    donors = func.count(func.distinct(swipes.c.session))
    words = func.count(func.distinct(func.lower(swipes.c.word))).filter(GIVEN)
    checked, right = func.count(swipes.c.flagged), func.count().filter(swipes.c.right.is_(True))
    bars = [*_histogram(swipes.c.key_distance, DISTANCES), *_histogram(swipes.c.rate, RATES)]
    return select(donors, words, checked, right, *_counts(), *bars).where(*where)


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


def _histogram(column: Any, edges: Sequence[float]) -> list[Any]:
    """Columns that count the values between each edge and the next, and above the last."""
    between = [and_(column >= low, column < high) for low, high in pairwise(edges)]
    return [func.count().filter(one) for one in [*between, column >= edges[-1]]]


def _bars(counts: Sequence[int], edges: Sequence[float]) -> list[dict[str, Any]]:
    """A histogram as the API shows it; the last bar has no end."""
    ends = [*edges[1:], None]
    return [{"least": a, "below": b, "swipes": n} for a, b, n in zip(edges, ends, counts, strict=True)]
