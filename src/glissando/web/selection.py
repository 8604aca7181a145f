"""A part of what was collected: what an operator counts, exports or removes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import ColumnElement

from glissando.web.schema import swipes

DAY = 24 * 3600  # seconds


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
        table = swipes.c
        found: list[tuple[Any, Any]] = [
            (self.language, table.language == self.language),
            (self.layout, table.layout == self.layout),
            (self.session, table.session == self.session),
            (self.since, self.since and table.received >= _midnight(self.since)),
            (self.until, self.until and table.received < _midnight(self.until) + DAY),
            (self.flagged, table.flagged.is_(self.flagged)),
            (self.max_key_distance, table.key_distance <= self.max_key_distance),
        ]
        return [condition for asked, condition in found if asked is not None]


def _midnight(day: date) -> int:
    """The beginning of a day in UTC, in seconds since 1970."""
    return int(datetime.combine(day, time(), UTC).timestamp())
