"""One swipe with its word, and our own file format: JSON lines, plain or gzip, or Parquet with the same fields.

One object per line::

    {"word": "will", "x": [..], "y": [..], "t": [ms, ..], "layout": "qwerty", "session": "..",
     "canvas_width": 360, "canvas_height": 159.7, "sentence": "..", "key_dist_mean": 0.3,
     "key_dist_max": 0.5, "source": "how-we-swipe", "language": "en"}

Only word, x, y, t and layout are required; unknown fields are ignored.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from glissando.corpus.lines import LineError, UnusableRowError, object_writer, read_rows
from glissando.corpus.parquet import row_writer
from glissando.errors import GestureError
from glissando.gesture import Gesture

MAX_POINTS = 100_000  # 20 minutes at 83 Hz: more is not a swipe of a word
COORDINATE_DECIMALS = 4  # of x and y in our files: a tenth of a pixel on a phone


@dataclass(frozen=True, eq=False)
class Swipe:
    """A recorded swipe and the word it was made for.

    Attributes:
        word: the word, as the corpus writes it (case, accents and punctuation kept).
        gesture: the points, in the frame of the letter area.
        layout: name of the layout it was made on; resolved only where keys are needed.
        session: anonymous person or recording set, None where unknown.
        canvas_width: width of the letter area in pixels of the source, None where unknown.
        canvas_height: its height, likewise.
        sentence: the prompt, None where unknown.
        key_distance: greatest distance to the word's keys in key widths (key_dist_max), None where not measured.
        source: where it comes from.
        language: language code, "" where unknown.
        key_distance_mean: mean distance to the word's keys in key widths, None where not measured.
    """

    word: str
    gesture: Gesture
    layout: str
    session: str | None = None
    canvas_width: float | None = None
    canvas_height: float | None = None
    sentence: str | None = None
    key_distance: float | None = None
    source: str = ""
    language: str = ""
    key_distance_mean: float | None = None

    @property
    def aspect(self) -> float | None:
        """Height over width of the letter area, None where unknown."""
        if self.canvas_width and self.canvas_height:
            return self.canvas_height / self.canvas_width
        return None


def read_swipes(
    path: str | Path, *, max_key_distance: float | None = None, limit: int | None = None
) -> Iterator[Swipe]:
    """Yield the swipes of one file in our format, in its order and in bounded memory.

    Args:
        path: JSON lines, plain or gzip, or Parquet; or the address of such a file.
        max_key_distance: leave out swipes whose ``key_dist_max`` is greater, in key widths.
        limit: stop after this many swipes.

    Raises:
        CorpusError: on the first line that cannot be read; the message names file and line.
    """

    def make(data: dict[str, Any]) -> Swipe:
        swipe = swipe_from_dict(data)
        if max_key_distance is not None and _stored_distance(swipe) > max_key_distance:
            raise UnusableRowError("too far from its keys")
        return swipe

    return islice(read_rows(path, make), limit)


@contextmanager
def swipe_writer(path: str | Path) -> Iterator[Callable[[Swipe], None]]:
    """Give a function that writes swipes to a file in our format: Parquet where the name ends so, else JSON lines.

    The file appears when the body ends well, as with ``object_writer``.
    """
    with row_writer(path) if str(path).endswith(".parquet") else object_writer(path) as write:
        yield lambda swipe: write(swipe_to_dict(swipe))


def write_swipes(path: str | Path, swipes: Iterable[Swipe]) -> int:
    """Write swipes to a file in our format, as ``swipe_writer`` does, and return their number."""
    count = 0
    with swipe_writer(path) as write:
        for count, swipe in enumerate(swipes, start=1):  # noqa: B007  # the count is returned
            write(swipe)
    return count


def swipe_from_dict(data: dict[str, Any]) -> Swipe:
    """Check one JSON object of our format and make it a Swipe."""
    word = text_field(data, "word", required=True)
    layout = text_field(data, "layout", required=True)
    if not word or not layout:
        raise LineError("word and layout must not be empty")
    return Swipe(
        word=word,
        gesture=gesture_from_columns(*(_column(data, name) for name in ("x", "y", "t"))),
        layout=layout,
        session=text_field(data, "session"),
        canvas_width=number_field(data, "canvas_width"),
        canvas_height=number_field(data, "canvas_height"),
        sentence=text_field(data, "sentence"),
        key_distance=number_field(data, "key_dist_max"),
        source=text_field(data, "source") or "",
        language=text_field(data, "language") or "",
        key_distance_mean=number_field(data, "key_dist_mean"),
    )


def swipe_to_dict(swipe: Swipe) -> dict[str, Any]:
    """The JSON object of a swipe in our format."""
    data: dict[str, Any] = {
        "word": swipe.word,
        "x": np.round(swipe.gesture.x, COORDINATE_DECIMALS).tolist(),
        "y": np.round(swipe.gesture.y, COORDINATE_DECIMALS).tolist(),
        "t": [int(t) if t.is_integer() else round(t, 3) for t in swipe.gesture.t.tolist()],
        "layout": swipe.layout,
        "session": swipe.session,
        "canvas_width": swipe.canvas_width,
        "canvas_height": swipe.canvas_height,
    }
    optional = {
        "sentence": swipe.sentence,
        "key_dist_mean": swipe.key_distance_mean,
        "key_dist_max": swipe.key_distance,
        "source": swipe.source,
        "language": swipe.language,
    }
    return data | {name: value for name, value in optional.items() if value not in (None, "")}


def gesture_from_columns(x: list[Any], y: list[Any], t: list[Any]) -> Gesture:
    """Make a Gesture of JSON lists, which must hold numbers only: no strings, no booleans."""
    if max(len(x), len(y), len(t)) > MAX_POINTS:
        raise LineError(f"{max(len(x), len(y), len(t)):,} points; a swipe has at most {MAX_POINTS:,}")
    for name, column in (("x", x), ("y", y), ("t", t)):
        kinds = set(map(type, column)) - {int, float}
        if kinds:
            raise LineError(f"{name} must hold numbers only, got {', '.join(sorted(kind.__name__ for kind in kinds))}")
    try:
        return Gesture(x, y, t)  # type: ignore[arg-type]  # the Gesture makes arrays of them
    except GestureError as error:
        raise LineError(str(error)) from None


def usable_gesture(x: list[Any], y: list[Any], t: list[Any]) -> Gesture:
    """Make a Gesture of the n recorded points of a public corpus, with time counted from the first point."""
    try:
        return gesture_from_columns(x, y, [time - t[0] for time in t])
    except (LineError, TypeError, OverflowError):
        if all(type(time) in (int, float) for time in t) and any(after < before for before, after in pairwise(t)):
            raise UnusableRowError("time runs backwards") from None
        raise UnusableRowError("unusable points") from None


def bare_word(word: str) -> str:
    """A prompted word in lower case, without the punctuation around it; punctuation within it is kept.

    >>> bare_word("“Isn't,")
    "isn't"
    """
    kept = [index for index, char in enumerate(word) if char.isalnum()]
    if not kept:
        raise UnusableRowError("no letter in the word")
    return word[kept[0] : kept[-1] + 1].lower()


def _stored_distance(swipe: Swipe) -> float:
    """The key distance that the file gives."""
    if swipe.key_distance is None:
        raise LineError("no key_dist_max to filter by; `glissando corpus filter` measures it")
    return swipe.key_distance


def _column(data: dict[str, Any], name: str) -> list[Any]:
    """A required list of numbers."""
    value = data.get(name)
    if not isinstance(value, list):
        raise LineError(f"{name} must be a list of numbers, got {_shown(data, name)}")
    return value


def text_field(data: dict[str, Any], name: str, *, required: bool = False) -> str | None:
    """A text field that can be written as UTF-8 again; null counts as absent."""
    value = data.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise LineError(f"{name} must be text, got {_shown(data, name)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise LineError(f"{name} holds half a character (a lone surrogate): {reprlib.repr(value)}") from None
    return value


def number_field(data: dict[str, Any], name: str) -> float | None:
    """An optional finite number, not negative."""
    value = data.get(name)
    if value is None:
        return None
    if type(value) not in (int, float):
        raise LineError(f"{name} must be a number, got {_shown(data, name)}")
    if not 0 <= value < 1e15:  # NaN fails it too
        raise LineError(f"{name} must be a finite number, not negative, got {reprlib.repr(value)}")
    return value


def _shown(data: dict[str, Any], name: str) -> str:
    """What a field holds, for an error message."""
    return reprlib.repr(data[name]) if name in data else "nothing"
