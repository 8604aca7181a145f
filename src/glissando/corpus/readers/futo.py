"""swipe.futo.org: JSON lines, all five runs.

    {"word", "data": [{"x", "y", "t"}], "canvas_width", "canvas_height", "orientation", "session", "sentence", ..}

Coordinates are already those of the letter area. swipe-5 adds layout, language, distance and dual_finger; with two
fingers, ``data`` is {"L": [..], "R": [..]}. What `glissando serve` collected has key_dist_max too. Words carry capitals
and punctuation, which are taken off.
"""

from __future__ import annotations

import reprlib
from typing import Any

from glissando.corpus.lines import LineError, UnusableRowError
from glissando.corpus.records import Swipe, bare_word, number_field, text_field, usable_gesture

MAX_DISTANCE = 1000  # the site's own measure of how far a path strays from its word: from here on it does not follow it


def futo_swipe(row: dict[str, Any]) -> Swipe:
    """One row of swipe.futo.org as a Swipe; an unusable one raises UnusableRowError."""
    _check_usable(row)
    session = row.get("session")
    return Swipe(
        word=bare_word(text_field(row, "word", required=True) or ""),
        gesture=usable_gesture(*_columns(row["data"])),
        layout=text_field(row, "layout") or "qwerty",
        session=str(session) if isinstance(session, int) else text_field(row, "session"),
        canvas_width=_pixels(row.get("canvas_width")),
        canvas_height=_pixels(row.get("canvas_height")),
        sentence=row["sentence"] if isinstance(row.get("sentence"), str) else None,
        key_distance=number_field(row, "key_dist_max"),
        source="swipe.futo.org",
        language=text_field(row, "language") or "en",
    )


def _check_usable(row: dict[str, Any]) -> None:
    """Refuse a row that does not hold one finger's swipe of its word."""
    if "word" not in row or "data" not in row:
        raise LineError(f"a row of swipe.futo.org has word and data, got {', '.join(sorted(row)[:8]) or 'nothing'}")
    if row.get("dual_finger") or isinstance(row["data"], dict):
        raise UnusableRowError("two fingers")
    if not row["data"] or not row["word"]:
        raise UnusableRowError("skipped word")
    distance = row.get("distance")
    if isinstance(distance, (int, float)) and distance >= MAX_DISTANCE:
        raise UnusableRowError("does not follow its word")


def _pixels(value: Any) -> float | None:
    """A length in pixels, or None where the value is not one."""
    return float(value) if type(value) in (int, float) and 0 < value < 1e5 else None


def _columns(points: Any) -> list[list[Any]]:
    """The columns x, y and t of a row's points, n values each."""
    if not isinstance(points, list):
        raise LineError(f"data must be a list of points, got {reprlib.repr(points)}")
    try:
        return [[point[name] for point in points] for name in ("x", "y", "t")]
    except (TypeError, KeyError, IndexError):
        raise LineError("data must be a list of {x, y, t}") from None
