"""The words that layouts are judged by: the most frequent ones, each with its share of running text.

``SearchWords`` holds them as numbers, for the search. Words of one letter are left out there: they are tapped, not
swiped, on any layout. ``RunningText`` holds them as a lexicon, for reports.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glissando.corpus.filters import typeable
from glissando.errors import LayoutError, LexiconError
from glissando.files import write_whole
from glissando.layout import Layout
from glissando.lexicon import LOG_RANGE, Lexicon, type_character, typed_letters

LONGEST = 24  # letters; with a blank between doubled ones a word must fit in 32 frames
UNTYPED = 0.05  # share of running text that may have a letter without a key before it is an error
MOST_WORDS = 50_000


@dataclass(frozen=True, eq=False)
class SearchWords:
    """Frequent words over an alphabet, most frequent first; words typed alike are one word.

    Attributes:
        alphabet: the letters.
        letters: [W, L] uint8 places in the alphabet; beyond a word's length its last letter again.
        lengths: [W] int64.
        weights: [W] float64 share of running text; they sum to 1.
        coverage: share of the whole lexicon's running text, one-letter words aside.
        source: where the words come from.
    """

    alphabet: tuple[str, ...]
    letters: np.ndarray
    lengths: np.ndarray
    weights: np.ndarray
    coverage: float
    source: str = ""

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def choose(
        cls, lexicon: Lexicon, alphabet: str, count: int | None = None, coverage: float | None = None
    ) -> SearchWords:
        """Choose the most frequent words that the alphabet can type.

        Args:
            lexicon: words and frequencies.
            alphabet: letters that have keys.
            count: the most words to take; by default as many as ``coverage`` needs.
            coverage: share of running text to take; by default the share of ``count`` words.
        """
        letters = frozenset(alphabet)
        mass = relative_frequencies(lexicon)
        _check_alphabet(lexicon, letters, mass)
        swiped = float(mass.sum())
        merged: dict[str, float] = {}
        for word, typed, weight in zip(lexicon.words, lexicon.spell(letters), mass.tolist(), strict=True):
            if not typeable(word, letters):
                continue
            if len(typed) == 1:
                swiped -= weight
            elif len(typed) <= LONGEST:
                merged[typed] = merged.get(typed, 0.0) + weight
        ranked = sorted(merged.items(), key=lambda entry: (-entry[1], entry[0]))[: count or MOST_WORDS]
        share = np.cumsum([weight for _, weight in ranked]) / swiped
        if coverage is not None:
            ranked = ranked[: int(np.searchsorted(share, coverage)) + 1]
        covered = float(share[len(ranked) - 1]) if ranked else 0.0
        return cls.from_weights(dict(ranked), alphabet, covered, lexicon.name)

    @classmethod
    def from_weights(
        cls, weights: dict[str, float], alphabet: str, coverage: float = 1.0, source: str = ""
    ) -> SearchWords:
        """Take words as they are, each with its weight."""
        if not weights:
            raise LexiconError(f"{source or 'the lexicon'} has no word to judge layouts by")
        place = {letter: index for index, letter in enumerate(alphabet)}
        lengths = np.array([len(word) for word in weights], dtype=np.int64)
        width = max(2, int(lengths.max()))
        padded = [word.ljust(width, word[-1]) for word in weights]
        letters = np.array([[place[letter] for letter in word] for word in padded], dtype=np.uint8)
        mass = np.array(list(weights.values()), dtype=np.float64)
        return cls(tuple(alphabet), letters, lengths, mass / mass.sum(), coverage, source)

    def save(self, path: Path) -> None:
        """Write an .npz for a machine without word lists."""
        meta = {"alphabet": "".join(self.alphabet), "coverage": self.coverage, "source": self.source}
        packed = np.frombuffer(json.dumps(meta, ensure_ascii=False).encode(), dtype=np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, letters=self.letters, lengths=self.lengths, weights=self.weights, meta=packed)
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> SearchWords:
        """Read what ``save`` wrote."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                meta = json.loads(arrays["meta"].tobytes())
                letters, lengths, weights = arrays["letters"], arrays["lengths"], arrays["weights"]
            return cls(tuple(meta["alphabet"]), letters, lengths, weights, meta["coverage"], meta["source"])
        except (OSError, ValueError, KeyError) as error:
            raise LexiconError(f"{path} holds no words of a search: {error}") from None


@dataclass(frozen=True, eq=False)
class RunningText:
    """Frequent words and how often each is written.

    Attributes:
        lexicon: the words, most frequent first; no two are typed alike on every layout.
        shares: [W] float64 share of each word in their running text; they sum to one.
        coverage: their share of the whole lexicon's running text, 0 to 1.
    """

    lexicon: Lexicon
    shares: np.ndarray
    coverage: float

    @classmethod
    def choose(cls, lexicon: Lexicon, layouts: Sequence[Layout], count: int) -> RunningText:
        """Choose the ``count`` most frequent words that every layout can type.

        Of words typed alike (its, it's) only the most frequent is taken: no layout can tell them apart.
        """
        alphabets = [frozenset(layout.letters) for layout in layouts]
        mass = relative_frequencies(lexicon)
        chosen: dict[tuple[tuple[str, ...], ...], int] = {}
        for index in np.argsort(-mass, kind="stable").tolist():
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
        kept, total = mass[indices], mass.sum()
        text = Lexicon(lexicon.name, lexicon.language, words, lexicon.frequencies[indices])
        return cls(text, kept / kept.sum(), float(kept.sum() / total))

    def __len__(self) -> int:
        return len(self.lexicon)


def relative_frequencies(lexicon: Lexicon) -> np.ndarray:
    """Relative frequencies of a lexicon's words, whose bytes are logarithms. Shape: [W] float64."""
    return 10 ** (lexicon.frequencies.astype(np.float64) * LOG_RANGE / 255)


def check_typeable(word: str, layout: Layout) -> None:
    """Refuse a word that ``typeable`` refuses, and name the letter that has no key."""
    letters = frozenset(layout.letters)
    if not typeable(word, letters):
        missing = next((char for char in word if char.isalnum() and not type_character(char, letters)), None)
        what = f"any letter of {word!r}" if missing is None else f"{missing!r} of {word!r}"
        raise LayoutError(f"layout {layout.name!r} has no key for {what}; its letters are {''.join(sorted(letters))}")


def _check_alphabet(lexicon: Lexicon, letters: frozenset[str], mass: np.ndarray) -> None:
    """Refuse an alphabet that cannot type much of the text, and name the letters it lacks."""
    keyless = {char for char in set().union(*lexicon.words) if char.isalnum() and not type_character(char, letters)}
    if not keyless:
        return
    lost = dict.fromkeys(keyless, 0.0)
    untyped = 0.0
    for word, weight in zip(lexicon.words, mass.tolist(), strict=True):
        missing = keyless.intersection(word)
        untyped += weight if missing else 0.0
        for char in missing:
            lost[char] += weight
    share = untyped / float(mass.sum())
    if share > UNTYPED:
        worst = "".join(sorted(lost, key=lambda char: (-lost[char], char))[:12])
        raise LexiconError(
            f"lexicon {lexicon.name} needs letters that have no key, {worst} first: {share:.0%} of its text cannot be "
            f"typed with {''.join(sorted(letters))}"
        )
