"""What the readers of public formats share: rows that are left out, and points made a gesture."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from glissando.corpus.lines import LineError
from glissando.corpus.records import gesture_from_columns
from glissando.gesture import Gesture

# Counted by the line, not by the swipe, where a format has a line per touch event.
LINE_REASONS = frozenset({"ill-formed line", "line stored twice"})


class UnusableRowError(Exception):
    """A row of a sound file that is no swipe of a word; its text is the reason it is counted under."""


def usable_gesture(x: list[Any], y: list[Any], t: list[Any]) -> Gesture:
    """Make a gesture of recorded columns, time from its first point; n points each."""
    try:
        gesture = gesture_from_columns(x, y, [time - t[0] for time in t])
    except (LineError, TypeError, OverflowError):
        if all(type(time) in (int, float) for time in t) and any(after < before for before, after in pairwise(t)):
            raise UnusableRowError("time runs backwards") from None
        raise UnusableRowError("unusable points") from None
    return gesture


def bare_word(word: str) -> str:
    """A prompted word in lower case without the punctuation around it; what stands within is kept.

    >>> bare_word("“Isn't,")
    "isn't"
    """
    kept = [index for index, char in enumerate(word) if char.isalnum()]
    if not kept:
        raise UnusableRowError("no letter in the word")
    return word[kept[0] : kept[-1] + 1].lower()
