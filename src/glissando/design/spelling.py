"""The words of the search as numbers: which letters each is spelled with and how much it weighs.

Words of one letter are left out: they are tapped, not swiped, on any layout.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import LexiconError
from glissando.lexicon import Lexicon, type_character

LONGEST = 24  # letters; with a blank between doubled ones a word must fit in 32 frames
UNTYPED = 0.05  # share of running text that may have a letter without a key before it is an error
MOST_WORDS = 50_000


@dataclass(frozen=True, eq=False)
class Spelling:
    """Frequent words over an alphabet, most frequent first; words typed alike are one.

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

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words as they are typed."""
        rows = zip(self.letters.tolist(), self.lengths.tolist(), strict=True)
        return tuple("".join(self.alphabet[letter] for letter in row[:length]) for row, length in rows)

    @classmethod
    def of(cls, lexicon: Lexicon, alphabet: str, count: int | None = None, coverage: float | None = None) -> Spelling:
        """Choose the most frequent words that the alphabet can type.

        Args:
            lexicon: words and frequencies.
            alphabet: letters that have keys.
            count: words to take at the most, by default as many as ``coverage`` asks for.
            coverage: share of running text to take, by default as much as ``count`` words are.
        """
        # Imported here: where the search runs there may be torch and numpy alone, and the words come from a file.
        from glissando.design.words import frequency

        letters = frozenset(alphabet)
        mass = frequency(lexicon.frequencies)
        _check_typed(lexicon, letters, mass)
        spelled = lexicon.spell(letters)
        swiped = float(mass.sum())
        merged: dict[str, float] = {}
        for word, typed, weight in zip(lexicon.words, spelled, mass.tolist(), strict=True):
            whole = _typeable(word, letters)
            if whole and len(typed) == 1:
                swiped -= weight
            elif whole and len(typed) <= LONGEST:
                merged[typed] = merged.get(typed, 0.0) + weight
        ranked = sorted(merged.items(), key=lambda entry: (-entry[1], entry[0]))[: count or MOST_WORDS]
        share = np.cumsum([weight for _, weight in ranked]) / swiped
        if coverage is not None:
            ranked = ranked[: int(np.searchsorted(share, coverage)) + 1]
        return cls.from_weights(dict(ranked), alphabet, float(share[len(ranked) - 1]) if ranked else 0.0, lexicon.name)

    @classmethod
    def from_weights(
        cls, weights: dict[str, float], alphabet: str, coverage: float = 1.0, source: str = ""
    ) -> Spelling:
        """Take words as they are, each with its weight."""
        if not weights:
            raise LexiconError(f"{source or 'the lexicon'} has no word to judge layouts by")
        place = {letter: index for index, letter in enumerate(alphabet)}
        lengths = np.array([len(word) for word in weights], dtype=np.int64)
        letters = np.zeros((len(weights), max(2, int(lengths.max()))), dtype=np.uint8)
        for row, word in zip(letters, weights, strict=True):
            row[:] = place[word[-1]]
            row[: len(word)] = [place[letter] for letter in word]
        mass = np.array(list(weights.values()), dtype=np.float64)
        return cls(tuple(alphabet), letters, lengths, mass / mass.sum(), coverage, source)

    def save(self, path: Path) -> None:
        """Write an .npz for a machine without word lists."""
        meta = {"alphabet": "".join(self.alphabet), "coverage": self.coverage, "source": self.source}
        packed = np.frombuffer(json.dumps(meta, ensure_ascii=False).encode(), dtype=np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, letters=self.letters, lengths=self.lengths, weights=self.weights, meta=packed)
        path.write_bytes(buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Spelling:
        """Read what ``save`` wrote."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                meta: dict[str, Any] = json.loads(arrays["meta"].tobytes())
                letters, lengths, weights = arrays["letters"], arrays["lengths"], arrays["weights"]
            return cls(tuple(meta["alphabet"]), letters, lengths, weights, meta["coverage"], meta["source"])
        except (OSError, ValueError, KeyError) as error:
            raise LexiconError(f"{path} holds no words of a search: {error}") from None


def _typeable(word: str, letters: frozenset[str]) -> bool:
    """Whether something is typed, and every letter and digit has a key."""
    return any(char.isalnum() for char in word) and all(
        type_character(char, letters) for char in word if char.isalnum()
    )


def _check_typed(lexicon: Lexicon, letters: frozenset[str], mass: np.ndarray) -> None:
    """Refuse an alphabet that leaves out too much of the text, naming the letters it lacks."""
    lost: dict[str, float] = {}
    untyped = 0.0
    keyless = {char for char in set().union(*lexicon.words) if char.isalnum() and not type_character(char, letters)}
    if not keyless:
        return
    for word, weight in zip(lexicon.words, mass.tolist(), strict=True):
        missing = keyless.intersection(word)
        untyped += weight if missing else 0.0
        for char in missing:
            lost[char] = lost.get(char, 0.0) + weight
    share = untyped / float(mass.sum())
    if share > UNTYPED:
        worst = "".join(sorted(lost, key=lambda char: -lost[char])[:12])
        raise LexiconError(
            f"lexicon {lexicon.name} needs letters that have no key, {worst} first: {share:.0%} of its text cannot be "
            f"typed with {''.join(sorted(letters))}"
        )
