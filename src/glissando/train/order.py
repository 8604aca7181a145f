"""The order in which rows are dealt out, and seeds: functions of numbers alone, so that a run can resume anywhere."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from glissando.errors import TrainingError


@dataclass(frozen=True)
class Order:
    """Which rows make up each step: a function of the seed alone.

    Attributes:
        count: rows there are.
        batch: rows of one step, over all processes.
        seed: of the order.
        rank: this process, of ``world``.
        world: processes; each takes its slice of every step's rows.
        weights: [count] float64, to draw rows with replacement in proportion; None deals out every row once.
    """

    count: int
    batch: int
    seed: int = 0
    rank: int = 0
    world: int = 1
    weights: Tensor | None = None

    def __post_init__(self) -> None:
        if self.batch % self.world:
            raise TrainingError(f"batch {self.batch} does not divide among {self.world} processes")
        if self.count < self.batch:
            raise TrainingError(f"the corpus has {self.count:,} usable swipes, less than one batch of {self.batch:,}")

    @property
    def steps_per_epoch(self) -> int:
        """Full batches in one pass; what is left over is dealt out in another epoch's order."""
        return self.count // self.batch

    def epoch(self, epoch: int) -> Tensor:
        """The rows of an epoch on this process. Shape: [steps_per_epoch, batch / world] int64, on the host."""
        generator = torch.Generator().manual_seed(mix_seed(self.seed, epoch))
        used = self.steps_per_epoch * self.batch
        if self.weights is None:
            rows = torch.randperm(self.count, generator=generator)[:used]
        else:
            edges = self.weights.cumsum(0)
            draws = torch.rand(used, generator=generator, dtype=torch.float64) * edges[-1]
            rows = torch.searchsorted(edges, draws, right=True).clamp(max=self.count - 1)
        return rows.view(self.steps_per_epoch, self.world, -1)[:, self.rank]


def word_weights(counts: np.ndarray, power: float) -> Tensor | None:
    """Weights that make a word seen ``count`` times appear like count^power; power 1 needs none. Shape: [n] float64."""
    return None if power == 1 else torch.from_numpy(counts.astype(np.float64) ** (power - 1))


def mix_seed(*parts: int) -> int:
    """One seed out of several numbers: seeds of neighbouring steps, epochs or processes are unrelated."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1  # fits torch's signed 64 bits
