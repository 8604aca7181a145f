"""Batches of swipes on a device, in an order that only (seed, epoch) decides.

``Corpus`` is a pack made ready for one model: rows whose word fits the frames, layouts as tensors, one padded
word length. ``Batches`` deals it out: from arrays that live on the device where they fit there, else
from the memory-mapped file by a thread that reads ahead. Both give the same batches. Nothing here waits
for the device.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections.abc import Iterator, Sequence
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
from glissando.train.holdout import draws
from glissando.train.order import Order

CHUNK = 65536  # rows handled at a time where a whole corpus is walked through
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


@dataclass(frozen=True, eq=False)
class Corpus:
    """A pack made ready for a model.

    Attributes:
        pack: the arrays.
        kept: [n] int64 rows whose word fits the model's frames.
        dropped: how many rows do not.
        longest: L, letters of the longest kept word.
        keys: [layouts, K, 4] float32.
        mask: [layouts, K] bool.
        rows: [layouts] int64.
    """

    pack: PackedCorpus
    kept: np.ndarray
    dropped: int
    longest: int
    keys: Tensor
    mask: Tensor
    rows: Tensor

    @classmethod
    def open(cls, path: str | Path, frames: int) -> Corpus:
        """Open a pack for a model of so many frames.

        Raises:
            TrainingError: no row is left.
            CorpusError: the pack is damaged.
        """
        return cls.of(PackedCorpus.open(path), frames, str(path))

    @classmethod
    def of(cls, pack: PackedCorpus, frames: int, name: str = "the corpus") -> Corpus:
        """Make a pack ready; see ``open``."""
        lengths = np.diff(pack.offsets)
        fits = (lengths > 0) & (lengths + _doubled(pack) <= frames)
        kept = np.flatnonzero(fits)
        if not len(kept):
            raise TrainingError(f"{name} has no swipe to use: {len(lengths):,} rows, none fits {frames} frames")
        keys, mask, rows = layout_tensors(pack.layout_list)
        return cls(pack, kept, int(len(lengths) - len(kept)), int(lengths[kept].max()), keys, mask, rows)

    def __len__(self) -> int:
        return len(self.kept)

    def with_room(self, extra: int) -> Corpus:
        """The same with ``extra`` more padded keys, so that its batches can join wider ones."""
        return replace(self, keys=pad(self.keys, (0, 0, 0, extra)), mask=pad(self.mask, (0, extra)))

    def of_people(self, low: float, high: float, seed: int) -> Corpus:
        """The same without the people who draw outside of [low, high); see ``glissando.train.holdout.draws``."""
        if (low, high) == (0, 1):
            return self
        drawn = draws(np.asarray(self.pack.sessions)[self.kept], seed)
        kept = self.kept[(low <= drawn) & (drawn < high)]
        if not len(kept):
            raise TrainingError(f"nobody of the corpus draws a number in [{low}, {high})")
        return replace(self, kept=kept)

    @cached_property
    def word_counts(self) -> np.ndarray:
        """How often each kept row's word is kept. Shape: [n] int64."""
        words = np.asarray(self.pack.words)[self.kept]
        return np.bincount(words)[words]

    @cached_property
    def digest(self) -> str:
        """What tells this corpus from another: a hash of its words, layouts and some of its paths."""
        pack = self.pack
        found = hashlib.blake2b(json.dumps(pack.meta["layouts"]).encode(), digest_size=16)
        for array in (pack.offsets, pack.targets, pack.layouts, pack.paths[:: max(1, len(pack) // 1024)]):
            found.update(np.ascontiguousarray(array).data)
        return found.hexdigest()

    def read(self, index: np.ndarray) -> Stored:
        """Rows by their number among the kept ones, as host tensors."""
        rows = self.kept[index]
        starts, ends = self.pack.offsets[rows], self.pack.offsets[rows + 1]
        lengths = ends - starts
        place = np.arange(self.longest)
        inside = place < lengths[:, None]
        letters = self.pack.targets[np.where(inside, starts[:, None] + place, 0)]
        return Stored(
            torch.from_numpy(np.asarray(self.pack.paths[rows]).view(np.int16)),
            torch.from_numpy(np.where(inside, letters, 0).astype(np.uint8)),
            torch.from_numpy(lengths.astype(np.uint8)),
            torch.from_numpy(np.asarray(self.pack.layouts[rows], dtype=np.uint8)),
        )

    def walk(self, size: int, device: torch.device) -> Iterator[Batch]:
        """All kept rows in order, in batches of ``size``; the last may be smaller."""
        shelf = Shelf.of(self, device)
        for start in range(0, len(self), size):
            stored = self.read(np.arange(start, min(start + size, len(self))))
            yield shelf.unpack(Stored(*(part.to(device) for part in stored)))


class Shelf(NamedTuple):
    """The layouts of a corpus on a device: keys [layouts, K, 4], mask [layouts, K], rows [layouts]."""

    keys: Tensor
    mask: Tensor
    rows: Tensor

    @classmethod
    def of(cls, corpus: Corpus, device: torch.device) -> Shelf:
        """Bring a corpus's layouts to a device."""
        return cls(corpus.keys.to(device), corpus.mask.to(device), corpus.rows.to(device))

    def unpack(self, stored: Stored) -> Batch:
        """Make a batch of stored rows that are on the device already."""
        layout = stored.layouts.long()
        path = (stored.path.int() & 0xFFFF).float() / SCALE  # int16 holds the bits of a uint16
        keys, mask, rows = self.keys[layout], self.mask[layout], self.rows[layout]
        return Batch(path, keys, mask, stored.targets.long(), stored.lengths.long(), rows)


class Batches:
    """Endless batches of a corpus.

    Args:
        corpus: the rows.
        order: their order.
        device: where batches are wanted.
        resident: keep the corpus on the device; else read it from the pack while training.
    """

    def __init__(self, corpus: Corpus, order: Order, device: torch.device, *, resident: bool = True) -> None:
        self.corpus, self.order, self.device, self.resident = corpus, order, device, resident
        self.shelf = Shelf.of(corpus, device)

    def since(self, step: int) -> Iterator[tuple[Batch, Tensor]]:
        """Batches from a step on, each with its rows' numbers [B] on the device."""
        return self._resident(step) if self.resident else self._streamed(step)

    def _resident(self, step: int) -> Iterator[tuple[Batch, Tensor]]:
        """Batches gathered from arrays on the device."""
        chunks = [self.corpus.read(rows) for rows in _row_chunks(len(self.corpus))]
        whole = Stored(*(torch.cat(part).to(self.device) for part in zip(*chunks, strict=True)))
        while True:
            epoch, within = divmod(step, self.order.steps_per_epoch)
            rows = _pinned(self.order.epoch(epoch), self.device).to(self.device, non_blocking=True)
            for index in rows[within:]:
                yield self.shelf.unpack(Stored(*(part[index] for part in whole))), index
                step += 1

    def _streamed(self, step: int) -> Iterator[tuple[Batch, Tensor]]:
        """Batches read ahead by a thread, through pinned memory where the device is a GPU."""
        for index, stored in read_ahead(self._read_since(step), READ_AHEAD):
            rows = index.to(self.device, non_blocking=True)
            yield self.shelf.unpack(Stored(*(part.to(self.device, non_blocking=True) for part in stored))), rows

    def _read_since(self, step: int) -> Iterator[tuple[Tensor, Stored]]:
        """Stored rows from a step on, on the host."""
        while True:
            epoch, within = divmod(step, self.order.steps_per_epoch)
            for index in self.order.epoch(epoch)[within:]:
                stored = self.corpus.read(index.numpy())
                yield _pinned(index, self.device), Stored(*(_pinned(part, self.device) for part in stored))
                step += 1


def layout_tensors(layouts: Sequence[Layout]) -> tuple[Tensor, Tensor, Tensor]:
    """Layouts padded to the largest: keys [n, K, 4] float32, mask [n, K] bool, rows [n] int64."""
    width = max(len(layout.keys) for layout in layouts)
    keys = torch.zeros(len(layouts), width, 4)
    mask = torch.zeros(len(layouts), width, dtype=torch.bool)
    for number, layout in enumerate(layouts):
        keys[number, : len(layout.keys)] = torch.tensor([(key.cx, key.cy, key.rx, key.ry) for key in layout.keys])
        mask[number, : len(layout.keys)] = True
    return keys, mask, torch.tensor([len(layout.rows) for layout in layouts])


def read_ahead(items: Iterator[Item], ahead: int) -> Iterator[Item]:
    """Iterate in a thread that stays up to ``ahead`` items ahead; closing the iterator ends the thread."""
    waiting: queue.Queue[Item | Exception] = queue.Queue(ahead)
    stopped = threading.Event()

    def offer(item: Item | Exception) -> None:
        while not stopped.is_set():
            try:
                return waiting.put(item, timeout=0.1)
            except queue.Full:
                continue

    def run() -> None:
        try:
            for item in items:
                offer(item)
                if stopped.is_set():
                    return
        except Exception as error:  # raised again where the items are read
            offer(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while True:
            item = waiting.get()
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join()


def _pinned(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor as it must lie on the host for a GPU to fetch it while the host goes on."""
    return tensor.pin_memory() if device.type == "cuda" else tensor


def _doubled(pack: PackedCorpus) -> np.ndarray:
    """Doubled letters in every row's word. Shape: [n] int64."""
    counts = np.zeros(len(pack), dtype=np.int64)
    for rows in _row_chunks(len(pack)):
        edges = np.asarray(pack.offsets[rows[0] : rows[-1] + 2])
        letters = np.asarray(pack.targets[edges[0] : edges[-1]])
        pairs = np.concatenate([[0], np.cumsum(letters[1:] == letters[:-1])])  # up to each letter
        counts[rows] = pairs[edges[1:] - edges[0] - 1] - pairs[edges[:-1] - edges[0]]
    return counts


def _row_chunks(count: int) -> Iterator[np.ndarray]:
    """0 .. count - 1, a chunk at a time."""
    for start in range(0, count, CHUNK):
        yield np.arange(start, min(start + CHUNK, count))
