"""Decode rows of a file one by one, as ``glissando decode`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.lines import LineError
from glissando.corpus.records import gesture_from_columns, text_field
from glissando.errors import GlissandoError
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.layout import load_layout
from glissando.scoring import Candidate
from glissando.shark2 import Shark2


@dataclass(frozen=True)
class RowOptions:
    """What is wanted of every row.

    Attributes:
        layout: the layout of rows that name none: a name or a ``.json`` file.
        k: candidates at the most.
        sentence: the rows follow each other in one text; each sees what was decoded before.
        prefix: letters that every word begins with, unless its row says otherwise.
        suffix: the same of the end.
        abstain: no candidates where the first is less likely than this.
    """

    layout: str | None = None
    k: int = 5
    sentence: bool = False
    prefix: str = ""
    suffix: str = ""
    abstain: float = 0.0


class Decoded(NamedTuple):
    """The candidates of a row, best first, and how likely none is right; None where that is not known."""

    candidates: Sequence[Candidate]
    none: float | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"candidates": [vars(candidate) for candidate in self.candidates], "none": self.none}


@dataclass(frozen=True, eq=False)
class _Row:
    """A row to decode: the swipe, the layout's name or "" for the default, and what else the row says."""

    gesture: Gesture
    layout: str
    context: str | None
    prefix: str | None
    suffix: str | None


class RowDecoder:
    """Decodes rows, with one keyboard for each layout that occurs."""

    def __init__(self, options: EvaluationOptions, wishes: RowOptions) -> None:
        """Find the layouts; a keyboard is made when its first row comes."""
        self.options, self.wishes = options, wishes
        self.shelf = LayoutShelf(options.layouts)
        name = wishes.layout or "qwerty"
        self.default = self.shelf.get(name) or load_layout(name)
        self.text = "" if wishes.sentence else None
        self._keyboards: dict[str, Keyboard | Shark2] = {}

    def decode(self, data: Mapping[str, Any]) -> Decoded:
        """Decode one row: a JSON object with lists x, y and t. A LineError says what is wrong with it."""
        row = self._read(dict(data))
        before = self.text if row.context is None else row.context
        found = self._decode(self.keyboard(row.layout), row, before)
        if found.candidates and found.candidates[0].probability < self.wishes.abstain:
            found = Decoded([], found.none)
        if self.wishes.sentence:
            self.text = f"{before} {found.candidates[0].word}" if found.candidates else before
        return found

    def keyboard(self, layout: str) -> Keyboard | Shark2:
        """The keyboard of a layout, or of the default layout for ""."""
        if layout not in self._keyboards:
            self._keyboards[layout], _ = keyboard_for(self.shelf[layout] if layout else self.default, [], self.options)
        return self._keyboards[layout]

    def _read(self, data: dict[str, Any]) -> _Row:
        columns = [data.get(name) for name in ("x", "y", "t")]
        if not all(isinstance(column, list) for column in columns):
            raise LineError("a swipe needs lists x, y and t")
        name = text_field(data, "layout") or ""
        if name and self.shelf.get(name) is None:
            raise LineError(self.shelf.unknown(name))
        gesture = gesture_from_columns(*columns)  # type: ignore[arg-type]
        return _Row(gesture, name, *(text_field(data, field) for field in ("context", "prefix", "suffix")))

    def _decode(self, board: Keyboard | Shark2, row: _Row, before: str | None) -> Decoded:
        """Decode a row after a text."""
        prefix = self.wishes.prefix if row.prefix is None else row.prefix
        suffix = self.wishes.suffix if row.suffix is None else row.suffix
        if isinstance(board, Keyboard):
            found = board.decode(row.gesture, self.wishes.k, before, prefix, suffix)
            return Decoded(found, found.none)
        if before is not None:
            raise GlissandoError("shark2 decodes words alone: it takes no context and no --sentence")
        if prefix or suffix:
            raise GlissandoError("shark2 takes no prefix and no suffix")
        return Decoded(board.decode(row.gesture, self.wishes.k), None)
