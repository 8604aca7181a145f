"""Which rows a step takes and which people are set aside: functions of seeds alone, so a run can resume anywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from glissando.errors import TrainingError


@dataclass(frozen=True)
class Order:
    """The rows of every step, which the seed alone decides.

    Attributes:
        count: rows of the corpus.
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
        """Full batches in one pass; each epoch has its own order, so the rows left over are others every time."""
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

    def since(self, step: int, device: torch.device) -> Iterator[Tensor]:
        """The rows of every step from ``step`` on, without end; an epoch is sent to the device at once. Shape: [B]."""
        while True:
            epoch, within = divmod(step, self.steps_per_epoch)
            yield from pinned(self.epoch(epoch), device).to(device, non_blocking=True)[within:]
            step += self.steps_per_epoch - within


def word_weights(counts: np.ndarray, power: float) -> Tensor | None:
    """Weights that make a word seen ``count`` times appear like count^power; power 1 needs none. Shape: [n] float64."""
    return None if power == 1 else torch.from_numpy(counts.astype(np.float64) ** (power - 1))


def held_out(sessions: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    """Choose the rows of a share of the people.

    Args:
        sessions: [n] session numbers as a pack counts them.
        share: expected share of the sessions, 0 for nobody.
        seed: of the choice.

    Returns:
        [n] bool, True for rows that are set aside.
    """
    if share == 0:
        return np.zeros(len(sessions), dtype=bool)
    return draws(sessions, seed) < share


def draws(sessions: np.ndarray, seed: int) -> np.ndarray:
    """A random number in [0, 1) for every row's person. Shape: [n] session numbers -> [n] float64.

    It depends on the session's number and the seed alone, not on which other rows there are.

    Raises:
        TrainingError: some rows have no session.
    """
    if (np.asarray(sessions) < 0).any():
        raise TrainingError("people cannot be told apart: the corpus has rows of unknown sessions")
    present, place = np.unique(sessions, return_inverse=True)
    drawn = np.array([mix_seed(seed, int(session)) for session in present], dtype=np.float64) / 2.0**63
    return drawn[place]


def mix_seed(*parts: int) -> int:
    """One seed out of several numbers: seeds of neighbouring steps, epochs or processes are unrelated."""
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1  # fits torch's signed 64 bits


def pinned(tensor: Tensor, device: torch.device) -> Tensor:
    """A host tensor in pinned memory, from which a GPU copies while the host goes on; for a CPU, the tensor itself."""
    return tensor.pin_memory() if device.type == "cuda" else tensor
