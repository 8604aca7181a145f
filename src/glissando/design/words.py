"""The words a layout is judged by: the most frequent ones, each with its share of running text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glissando.corpus.filters import typeable
from glissando.errors import LayoutError, LexiconError
from glissando.layout import Layout
from glissando.lexicon import LOG_RANGE, Lexicon, type_character, typed_letters


@dataclass(frozen=True, eq=False)
class RunningText:
    """Frequent words and how often each is written.

    Attributes:
        lexicon: the words, most frequent first; no two are typed alike on every layout.
        shares: [W] float64, how much of their running text each word is; they sum to one.
        coverage: how much of the whole lexicon's running text they are, 0 to 1.
    """

    lexicon: Lexicon
    shares: np.ndarray
    coverage: float

    @classmethod
    def of(cls, lexicon: Lexicon, layouts: Sequence[Layout], count: int) -> RunningText:
        """The ``count`` most frequent words that every one of the layouts can type.

        Words typed alike (its, it's) count as the most frequent of them: no layout can tell them apart.
        """
        alphabets = [frozenset(layout.letters) for layout in layouts]
        weight = frequency(lexicon.frequencies)
        chosen: dict[tuple[tuple[str, ...], ...], int] = {}
        for index in np.argsort(-weight, kind="stable").tolist():
            word = lexicon.words[index]
            if all(typeable(word, letters) for letters in alphabets):
                chosen.setdefault(tuple(typed_letters(word, letters) for letters in alphabets), index)
            if len(chosen) == count:
                break
        if not chosen:
            names = ", ".join(layout.name for layout in layouts)
            raise LexiconError(f"lexicon {lexicon.name} has no word that can be typed on each of: {names}")
        indices = list(chosen.values())
        words = tuple(lexicon.words[index] for index in indices)
        kept = Lexicon(lexicon.name, lexicon.language, words, lexicon.frequencies[indices])
        mass = weight[indices]
        return cls(kept, mass / mass.sum(), float(mass.sum() / weight.sum()))

    def __len__(self) -> int:
        return len(self.lexicon)


def frequency(bytes_: np.ndarray) -> np.ndarray:
    """Relative frequencies from a lexicon's bytes, which are their logarithms. Shape: [W] -> [W] float64."""
    return 10 ** (bytes_.astype(np.float64) * LOG_RANGE / 255)


def check_typeable(word: str, layout: Layout) -> None:
    """Refuse a word that has a letter without a key."""
    letters = frozenset(layout.letters)
    missing = [char for char in word if char.isalnum() and not type_character(char, letters)]
    if missing or not typed_letters(word, letters):
        what = f"{missing[0]!r} of {word!r}" if missing else f"any letter of {word!r}"
        raise LayoutError(f"layout {layout.name!r} has no key for {what}; its letters are {''.join(sorted(letters))}")
