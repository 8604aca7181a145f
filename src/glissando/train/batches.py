"""Batches of swipes on a device.

``TrainingSet`` is a pack made ready for one model: rows whose word fits the frames, layouts as tensors, one padded
word length. ``Batches`` deals it out: from arrays on the device where they fit there, else from the memory-mapped file
by a thread that reads ahead. Both give the same batches. Nothing here waits for the device.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from glissando.corpus.packed import SCALE, PackedCorpus
from glissando.errors import TrainingError
from glissando.layout import Layout
from glissando.train.losses import needed_frames
from glissando.train.sampling import Order, draws, pinned

CHUNK = 65536  # rows of a corpus handled at a time
READ_AHEAD = 4  # batches a streaming reader may be ahead

Item = TypeVar("Item")


class Batch(NamedTuple):
    """Swipes, each with its word and its layout.

    Attributes:
        path: [B, 2, 64] float in [0, 1].
        keys: [B, K, 4] (cx, cy, rx, ry); padded keys are zeros.
        mask: [B, K] bool, True for real keys.
        targets: [B, L] int64 key indices, 0 beyond the length.
        lengths: [B] int64.
        rows: [B] int64 rows of the layout.
    """

    path: Tensor
    keys: Tensor
    mask: Tensor
    targets: Tensor
    lengths: Tensor
    rows: Tensor


class Stored(NamedTuple):
    """Rows as they are stored, small: path int16 (the bits of uint16) [B, 2, 64], targets uint8 [B, L],
    lengths uint8 [B], layouts uint8 [B]."""

    path: Tensor
    targets: Tensor
    lengths: Tensor
    layouts: Tensor


class LayoutTable(NamedTuple):
    """Layouts padded to the largest: keys [layouts, K, 4] float32, mask [layouts, K] bool, rows [layouts] int64."""

    keys: Tensor
    mask: Tensor
    rows: Tensor

    def to(self, device: torch.device) -> LayoutTable:
        """The same on a device."""
        return LayoutTable(*(part.to(device) for part in self))

    def unpack(self, stored: Stored) -> Batch:
        """Make a batch of stored rows; both must be on the same device."""
        layout = stored.layouts.long()
        path = (stored.path.int() & 0xFFFF).float() / SCALE  # int16 holds the bits of a uint16
        keys, mask, rows = self.keys[layout], self.mask[layout], self.rows[layout]
        return Batch(path, keys, mask, stored.targets.long(), stored.lengths.long(), rows)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """A pack made ready for a model.

    Attributes:
        pack: the arrays.
        kept: [n] int64 rows whose word fits the model's frames.
        longest: L, letters of the longest kept word.
        table: the layouts.
    """

    pack: PackedCorpus
    kept: np.ndarray
    longest: int
    table: LayoutTable

    @classmethod
    def open(cls, path: str | Path, frames: int) -> TrainingSet:
        """Open a pack for a model with this number of frames.

        Raises:
            TrainingError: no row is left.
            CorpusError: the pack is damaged.
        """
        return cls.of(PackedCorpus.open(path), frames, str(path))

    @classmethod
    def of(cls, pack: PackedCorpus, frames: int, name: str = "the corpus") -> TrainingSet:
        """Make a pack ready; see ``open``."""
        lengths = np.diff(pack.offsets)
        fits = [_fit_frames(pack, rows, frames) for rows in _row_chunks(len(pack))]
        kept = np.flatnonzero(np.concatenate(fits)) if fits else np.zeros(0, dtype=np.int64)
        if not len(kept):
            raise TrainingError(f"{name} has no swipe to use: {len(lengths):,} rows, none fits {frames} frames")
        return cls(pack, kept, int(lengths[kept].max()), layout_tensors(pack.layout_list))

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def sessions(self) -> np.ndarray:
        """The session of every kept row. Shape: [n]."""
        return np.asarray(self.pack.sessions)[self.kept]

    def with_room(self, extra: int) -> TrainingSet:
        """The same with ``extra`` more padded keys, so that its batches can join wider ones."""
        keys, mask, rows = self.table
        return replace(self, table=LayoutTable(pad(keys, (0, 0, 0, extra)), pad(mask, (0, extra)), rows))

    def of_people(self, low: float, high: float, seed: int) -> TrainingSet:
        """The same with only the people whose number of ``glissando.train.sampling.draws`` lies in [low, high)."""
        if (low, high) == (0, 1):
            return self
        drawn = draws(self.sessions, seed)
        kept = self.kept[(low <= drawn) & (drawn < high)]
        if not len(kept):
            people = len(np.unique(self.sessions))
            raise TrainingError(f"no person falls in the part [{low}, {high}): the corpus has only {people}")
        return replace(self, kept=kept)

    @cached_property
    def word_counts(self) -> np.ndarray:
        """How often each kept row's word is kept. Shape: [n] int64."""
        words = np.asarray(self.pack.words)[self.kept]
        return np.bincount(words)[words]

    @cached_property
    def digest(self) -> str:
        """A hash that identifies this corpus: of its words, layouts and some of its paths."""
        pack = self.pack
        digest = hashlib.blake2b(json.dumps(pack.meta["layouts"]).encode(), digest_size=16)
        for array in (pack.offsets, pack.targets, pack.layouts, pack.paths[:: max(1, len(pack) // 1024)]):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def read(self, index: np.ndarray) -> Stored:
        """Rows by their number among the kept ones, as host tensors."""
        rows = self.kept[index]
        targets, lengths = padded_words(self.pack.targets, self.pack.offsets, rows, self.longest)
        return Stored(
            torch.from_numpy(np.asarray(self.pack.paths[rows]).view(np.int16)),
            torch.from_numpy(targets),
            torch.from_numpy(lengths),
            torch.from_numpy(np.asarray(self.pack.layouts[rows], dtype=np.uint8)),
        )

    def load(self, index: np.ndarray, device: torch.device) -> Batch:
        """Rows by their number among the kept ones, as one batch on a device."""
        return self.table.to(device).unpack(Stored(*(part.to(device) for part in self.read(index))))

    def walk(self, size: int, device: torch.device) -> Iterator[Batch]:
        """All kept rows in order, in batches of ``size``; the last may be smaller."""
        for start in range(0, len(self), size):
            yield self.load(np.arange(start, min(start + size, len(self))), device)


class Batches:
    """Endless batches of a corpus.

    Args:
        corpus: the rows.
        order: their order.
        device: where batches are wanted.
        resident: keep the corpus on the device; else read it from the pack while training.
    """

    def __init__(self, corpus: TrainingSet, order: Order, device: torch.device, *, resident: bool = True) -> None:
        self.corpus, self.order, self.device, self.resident = corpus, order, device, resident
        self.table = corpus.table.to(device)

    def since(self, step: int) -> Iterator[tuple[Batch, Tensor]]:
        """Batches from a step on, each with its rows' numbers [B] on the device."""
        return self._resident(step) if self.resident else self._streamed(step)

    def _resident(self, step: int) -> Iterator[tuple[Batch, Tensor]]:
        """Batches gathered from arrays on the device."""
        chunks = [self.corpus.read(rows) for rows in _row_chunks(len(self.corpus))]
        whole = Stored(*(torch.cat(part).to(self.device) for part in zip(*chunks, strict=True)))
        for index in self.order.since(step, self.device):
            yield self.table.unpack(Stored(*(part[index] for part in whole))), index

    def _streamed(self, step: int) -> Iterator[tuple[Batch, Tensor]]:
        """Batches read ahead by a thread, through pinned memory where the device is a GPU."""
        for index, stored in read_ahead(self._read_since(step), READ_AHEAD):
            rows = index.to(self.device, non_blocking=True)
            yield self.table.unpack(Stored(*(part.to(self.device, non_blocking=True) for part in stored))), rows

    def _read_since(self, step: int) -> Iterator[tuple[Tensor, Stored]]:
        """Stored rows from a step on, on the host."""
        for index in self.order.since(step, torch.device("cpu")):
            stored = self.corpus.read(index.numpy())
            yield pinned(index, self.device), Stored(*(pinned(part, self.device) for part in stored))


def layout_tensors(layouts: Sequence[Layout]) -> LayoutTable:
    """Layouts as tensors, on the host."""
    width = max(len(layout.keys) for layout in layouts)
    keys = torch.zeros(len(layouts), width, 4)
    mask = torch.zeros(len(layouts), width, dtype=torch.bool)
    for number, layout in enumerate(layouts):
        keys[number, : len(layout.keys)] = torch.tensor([(key.cx, key.cy, key.rx, key.ry) for key in layout.keys])
        mask[number, : len(layout.keys)] = True
    return LayoutTable(keys, mask, torch.tensor([len(layout.rows) for layout in layouts]))


def read_ahead(items: Iterator[Item], ahead: int) -> Iterator[Item]:
    """Iterate over endless items in a thread that is up to ``ahead`` of them ahead; errors are raised here."""
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, items) for _ in range(ahead))
        while True:
            yield waiting.popleft().result()
            waiting.append(thread.submit(next, items))


def padded_words(
    letters: np.ndarray, offsets: np.ndarray, rows: np.ndarray, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Words stored end to end, as a table.

    Args:
        letters: key indices of all words.
        offsets: [W + 1] where each word begins.
        rows: [n] which words.
        width: L, letters of the longest of them.

    Returns:
        [n, L] uint8, 0 beyond the length, and [n] uint8 lengths.
    """
    starts, lengths = offsets[rows], offsets[rows + 1] - offsets[rows]
    place = np.arange(width)
    inside = place < lengths[:, None]
    targets = np.where(inside, letters[np.where(inside, starts[:, None] + place, 0)], 0)
    return targets.astype(np.uint8), lengths.astype(np.uint8)


def _fit_frames(pack: PackedCorpus, rows: np.ndarray, frames: int) -> np.ndarray:
    """Whether rows have a word that CTC can spell in ``frames`` frames. Shape: [n] -> [n] bool."""
    offsets = np.asarray(pack.offsets)
    lengths = torch.from_numpy(offsets[rows + 1] - offsets[rows])
    targets, _ = padded_words(pack.targets, offsets, rows, frames)  # longer words do not fit in any case
    return ((lengths > 0) & (needed_frames(torch.from_numpy(targets), lengths) <= frames)).numpy()


def _row_chunks(count: int) -> Iterator[np.ndarray]:
    """0 .. count - 1, a chunk at a time."""
    for start in range(0, count, CHUNK):
        yield np.arange(start, min(start + CHUNK, count))
