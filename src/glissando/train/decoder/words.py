"""The words that can be confused: a lexicon's spellings on one layout, as arrays.

Words that are typed alike are one entry, with the highest of their frequencies: no swipe tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from glissando.corpus.packed import PackedCorpus
from glissando.errors import TrainingError
from glissando.layout import Layout
from glissando.lexicon import ADDED, Lexicon
from glissando.train.batches import TrainingSet, padded_words
from glissando.train.losses import needed_frames

MAX_LETTERS = 20  # longer words are no candidates: nobody confuses them
FRAMES = 32  # a candidate must fit an encoder with the fewest frames


@dataclass(frozen=True, eq=False)
class SpelledWords:
    """Distinct spellings, W of them.

    Attributes:
        letters: uint8, key indices of all words, end to end.
        offsets: [W + 1] int64, where each word begins.
        frequencies: [W] uint8.
        candidates: number of words, the first ones, that may be negatives; the others only need negatives.
    """

    letters: np.ndarray
    offsets: np.ndarray
    frequencies: np.ndarray
    candidates: int

    @classmethod
    def build(
        cls, lexicon: Lexicon, layout: Layout, known: list[bytes], queries: list[bytes], least: int = 0
    ) -> SpelledWords:
        """Spell a lexicon on a layout and add words it may lack.

        Args:
            lexicon: the words.
            layout: its letters number the keys.
            known: further candidates as key indices, such as the training words.
            queries: spellings that only need negatives, such as the words of a held-out corpus.
            least: lexicon words of a lower frequency byte are left out.
        """
        words: dict[bytes, int] = {}
        for typed, frequency in _spelled(lexicon, layout, least):
            words[typed] = max(frequency, words.get(typed, 0))
        for typed in known:
            words.setdefault(typed, ADDED)
        if len(words) < 2:
            raise TrainingError(f"lexicon {lexicon.name} spells {len(words)} words on layout {layout.name}")
        candidates = len(words)
        for typed in queries:
            words.setdefault(typed, ADDED)
        letters, offsets = _joined(list(words))
        return cls(letters, offsets, np.array(list(words.values()), dtype=np.uint8), candidates)

    def __len__(self) -> int:
        return len(self.frequencies)

    def spelling(self, word: int) -> bytes:
        """The key indices of one word."""
        return self.letters[self.offsets[word] : self.offsets[word + 1]].tobytes()

    @cached_property
    def numbers(self) -> dict[bytes, int]:
        """From a spelling to the word's number."""
        return {self.spelling(word): word for word in range(len(self))}

    def find(self, spellings: list[bytes]) -> np.ndarray:
        """The numbers of spellings, -1 where there is none. Shape: [n] int64."""
        return np.array([self.numbers.get(typed, -1) for typed in spellings], dtype=np.int64)

    def padded(self, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """All words on a device: targets [W, L] uint8, zero beyond the length; lengths [W] uint8; bytes [W] uint8."""
        longest = int(np.diff(self.offsets).max())
        targets, lengths = padded_words(self.letters, self.offsets, np.arange(len(self)), longest)
        arrays = targets, lengths, np.ascontiguousarray(self.frequencies)
        return tuple(torch.from_numpy(array).to(device) for array in arrays)  # type: ignore[return-value]


def open_words(
    corpus: TrainingSet, val: TrainingSet | None, lexicon: Path, held: np.ndarray, least: int = 0
) -> SpelledWords:
    """The words of a lexicon and of two corpora; held-out rows and ``val`` add no candidates. Shape: held [n] bool."""
    layout = only_layout(corpus.pack, "the corpus")
    if val is not None and only_layout(val.pack, "the held-out corpus").letters != layout.letters:
        raise TrainingError("the held-out corpus has another layout than the corpus")
    known = spellings(corpus.pack, corpus.kept[~held])
    queries = spellings(corpus.pack, corpus.kept[held]) + ([] if val is None else spellings(val.pack, val.kept))
    return SpelledWords.build(Lexicon.from_file(lexicon), layout, known, queries, least)


def spellings(pack: PackedCorpus, rows: np.ndarray) -> list[bytes]:
    """The key indices of the words of some rows."""
    data, offsets = np.asarray(pack.targets).tobytes(), np.asarray(pack.offsets).tolist()
    return [data[offsets[row] : offsets[row + 1]] for row in rows.tolist()]


def only_layout(pack: PackedCorpus, name: str) -> Layout:
    """The one layout of a corpus; decoders, embedders and negatives are bound to it."""
    if len(pack.layout_list) != 1:
        names = ", ".join(layout.name for layout in pack.layout_list)
        raise TrainingError(f"{name} has swipes on {names}; a decoder is of one layout")
    return pack.layout_list[0]


def _spelled(lexicon: Lexicon, layout: Layout, least: int) -> list[tuple[bytes, int]]:
    """The lexicon's words that can be candidates, as key indices, each with its frequency byte."""
    index = {letter: number for number, letter in enumerate(layout.letters)}
    spelled = zip(lexicon.spell(frozenset(layout.letters)), lexicon.frequencies.tolist(), strict=True)
    words = [
        (bytes(index[letter] for letter in word), frequency)
        for word, frequency in spelled
        if frequency >= least and 0 < len(word) <= MAX_LETTERS
    ]
    letters, offsets = _joined([typed for typed, _ in words])
    targets, lengths = padded_words(letters, offsets, np.arange(len(words)), MAX_LETTERS)
    fits = needed_frames(torch.from_numpy(targets), torch.from_numpy(lengths).long()) <= FRAMES
    return [word for word, fit in zip(words, fits.tolist(), strict=True) if fit]


def _joined(words: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Words end to end, uint8, and where each begins, [W + 1] int64."""
    return np.frombuffer(b"".join(words), dtype=np.uint8), np.cumsum([0, *map(len, words)], dtype=np.int64)
