"""Many words in little memory: one piece of text and the offset of each word, instead of one object per word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np


class PackedWords(Sequence[str]):
    """A read-only sequence of strings; it equals a tuple of the same strings.

    Attributes:
        text: the words end to end, in UTF-8.
        offsets: [W + 1] int32 where each word begins in ``text``.
    """

    __slots__ = ("offsets", "text")

    def __init__(self, text: bytes, offsets: np.ndarray) -> None:
        self.text = text
        self.offsets = offsets

    @classmethod
    def of(cls, words: Iterable[str]) -> PackedWords:
        """Pack words; words that are already packed are returned as they are."""
        if isinstance(words, PackedWords):
            return words
        encoded = [word.encode() for word in words]
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        return cls(b"".join(encoded), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        start = index if index >= 0 else index + len(self)
        if not 0 <= start < len(self):
            raise IndexError(f"word {index} of {len(self)}")
        return self.text[self.offsets[start] : self.offsets[start + 1]].decode()

    def __iter__(self) -> Iterator[str]:
        edges = self.offsets.tolist()
        for start, end in pairwise(edges):
            yield self.text[start:end].decode()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedWords):
            return self.text == other.text and np.array_equal(self.offsets, other.offsets)
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"PackedWords({shown}{', ...' if len(self) > 3 else ''}; {len(self):,} in all)"
