"""The words that can be confused: a lexicon's spellings on one layout, as arrays.

Words that are typed alike are one entry, with the highest of their frequencies: no swipe tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from glissando.corpus.packed import PackedCorpus
from glissando.errors import TrainingError
from glissando.layout import Layout
from glissando.lexicon import Lexicon

MAX_LETTERS = 20  # longer words are no candidates; nobody confuses them
FRAMES = 32  # a candidate must fit the least frames an encoder has, doubled letters and all


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Distinct spellings, W of them.

    Attributes:
        letters: uint8, key indices of all words, end to end.
        offsets: [W + 1] int64, where each word's begin.
        frequencies: [W] uint8.
        candidates: the first so many may be negatives; the rest only need negatives.
    """

    letters: np.ndarray
    offsets: np.ndarray
    frequencies: np.ndarray
    candidates: int

    @classmethod
    def build(
        cls, lexicon: Lexicon, layout: Layout, known: list[bytes], queries: list[bytes], least: int = 0
    ) -> Vocabulary:
        """Spell a lexicon on a layout and add words it may lack.

        Args:
            lexicon: the words.
            layout: its letters number the keys.
            known: spellings as key indices that join the candidates, such as the training words.
            queries: spellings that only need negatives, such as the words of a held-out corpus.
            least: lexicon words of a lower frequency byte are left out.
        """
        index = {letter: number for number, letter in enumerate(layout.letters)}
        found: dict[bytes, int] = {}
        spelled = lexicon.spell(frozenset(layout.letters))
        for word, frequency in zip(spelled, lexicon.frequencies.tolist(), strict=True):
            if frequency >= least and 0 < len(word) <= MAX_LETTERS:
                typed = bytes(index[letter] for letter in word)
                if _frames_of(typed) <= FRAMES:
                    found[typed] = max(frequency, found.get(typed, 0))
        for typed in known:
            found.setdefault(typed, lexicon.rare)
        if len(found) < 2:
            raise TrainingError(f"lexicon {lexicon.name} spells {len(found)} words on layout {layout.name}")
        candidates = len(found)
        for typed in queries:
            found.setdefault(typed, lexicon.rare)
        letters = np.frombuffer(b"".join(found), dtype=np.uint8)
        offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
        return cls(letters, offsets, np.array(list(found.values()), dtype=np.uint8), candidates)

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
        lengths = np.diff(self.offsets)
        inside = np.arange(lengths.max()) < lengths[:, None]
        targets = np.zeros(inside.shape, dtype=np.uint8)
        targets[inside] = self.letters
        arrays = targets, lengths.astype(np.uint8), self.frequencies
        return tuple(torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays)  # type: ignore[return-value]


def spellings(pack: PackedCorpus, rows: np.ndarray | None = None) -> list[bytes]:
    """The key indices of every row's word, or of some rows'."""
    data, offsets = np.asarray(pack.targets).tobytes(), np.asarray(pack.offsets).tolist()
    chosen = range(len(pack)) if rows is None else rows.tolist()
    return [data[offsets[row] : offsets[row + 1]] for row in chosen]


def only_layout(pack: PackedCorpus, name: str) -> Layout:
    """The one layout of a corpus: decoders, embedders and their negatives are bound to it."""
    if len(pack.layout_list) != 1:
        names = ", ".join(layout.name for layout in pack.layout_list)
        raise TrainingError(f"{name} has swipes on {names}; a decoder is of one layout")
    return pack.layout_list[0]


def _frames_of(typed: bytes) -> int:
    """Frames CTC needs for a spelling."""
    return len(typed) + sum(one == other for one, other in pairwise(typed))
