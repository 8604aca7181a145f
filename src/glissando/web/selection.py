"""A part of what was collected: what an operator counts, exports or removes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import ColumnElement

from glissando.web.schema import swipes

DAY = 24 * 3600  # seconds
LAST = 2**31 - 1  # the greatest integer of PostgreSQL's INTEGER


@dataclass(frozen=True)
class Selection:
    """Swipes that meet all conditions; None sets no condition.

    Attributes:
        language: code of the language.
        layout: name of the layout.
        session: a donor, by the session's hash.
        since: the first day, in UTC.
        until: the last day.
        flagged: True for flagged swipes, False for those that were checked and are not flagged.
        max_key_distance: greatest distance to the word's keys, in key widths.
    """

    language: str | None = None
    layout: str | None = None
    session: str | None = None
    since: date | None = None
    until: date | None = None
    flagged: bool | None = None
    max_key_distance: float | None = None

    @property
    def empty(self) -> bool:
        """Whether it sets no condition."""
        return self == Selection()

    @property
    def donor(self) -> str | None:
        """The session, where that is the only condition."""
        return self.session if self == Selection(session=self.session) else None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The conditions on the table of swipes."""
        return [CONDITIONS[name](value) for name, value in asdict(self).items() if value is not None]


def _midnight(day: date) -> int:
    """The beginning of a day in UTC, in seconds since 1970, within what the store can hold."""
    return min(max(int(datetime.combine(day, time(), UTC).timestamp()), 0), LAST - DAY)


CONDITIONS: dict[str, Callable[[Any], ColumnElement[bool]]] = {
    "language": lambda code: swipes.c.language == code,
    "layout": lambda name: swipes.c.layout == name,
    "session": lambda identity: swipes.c.session == identity,
    "since": lambda day: swipes.c.received >= _midnight(day),
    "until": lambda day: swipes.c.received < _midnight(day) + DAY,
    "flagged": lambda flagged: swipes.c.flagged.is_(flagged),
    "max_key_distance": lambda most: swipes.c.key_distance <= most,
}
