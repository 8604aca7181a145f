"""The batches of an encoder: real swipes, a share of them carried to random grids.

Everything random of a step comes from a seed made of (seed, process, step), so a run can resume at any step. Grids are
drawn for several steps at once, because a GPU draws thousands as fast as one.
"""

from __future__ import annotations

import torch
from torch import Tensor

from glissando.train.batches import Batch, LayoutTable, TrainingSet
from glissando.train.encoder.config import EncoderTraining
from glissando.train.grids import random_grids
from glissando.train.rearrange import align, rearrange
from glissando.train.sampling import mix_seed

GRIDS = {"cuda": 8192, "cpu": 256}  # about how many are drawn at a time
ALIGNED = 8192  # swipes aligned at a time
GRID_SEED = 1  # the other purposes of seeds are in trainer.py


class Mix:
    """Turns the rows drawn for a step into its training batch.

    Args:
        corpus: the swipes, with room for ``config.extra_keys``.
        config: the share carried to random grids, how they are carried, and the seed.
        size: rows of this process's batch.
        device: where the batches are.
        rank: this process.
    """

    def __init__(
        self, corpus: TrainingSet, config: EncoderTraining, size: int, device: torch.device, rank: int
    ) -> None:
        self.config, self.device, self.rank = config, device, rank
        self.letters = corpus.table.keys.shape[1] - config.extra_keys
        self.carried = round(config.rearranged * size)
        self.frames = alignments(corpus, device) if self.carried else None
        self.steps_per_draw = max(1, GRIDS[device.type] // max(1, self.carried))
        self.drawn, self.grids = -1, corpus.table  # the number of the draw, and its grids
        self.generator = torch.Generator(device)

    def seeded(self, *purpose: int) -> torch.Generator:
        """The device's generator, seeded for one purpose."""
        return self.generator.manual_seed(mix_seed(self.config.seed, self.rank, *purpose))

    def __call__(self, rows: Batch, index: Tensor, step: int) -> Batch:
        """Carry the first rows of a step to random grids; ``index`` [B] are their numbers in the corpus."""
        if self.frames is None:
            return rows
        count = self.carried
        first, rest = Batch(*(part[:count] for part in rows)), Batch(*(part[count:] for part in rows))
        frames = self.frames[index[:count]].long()
        moved = rearrange(first, frames, self._grids_of(step), retime=self.config.retime, turn=self.config.turn)
        return Batch(*(torch.cat(parts) for parts in zip(rest, moved, strict=True)))

    def _grids_of(self, step: int) -> LayoutTable:
        """The random grids of a step, one for each carried swipe."""
        number, within = divmod(step, self.steps_per_draw)
        if number != self.drawn:
            count = self.steps_per_draw * self.carried
            generator = self.seeded(GRID_SEED, number)
            self.grids = random_grids(count, self.letters, generator, self.config.extra_keys)
            self.drawn = number
        return LayoutTable(*(part[within * self.carried : (within + 1) * self.carried] for part in self.grids))


def alignments(corpus: TrainingSet, device: torch.device) -> Tensor:
    """The frame of every letter of every kept row. Shape: [n, L] uint8."""
    batches = corpus.walk(ALIGNED, device)
    frames = [align(batch.path, batch.keys, batch.targets, batch.lengths) for batch in batches]
    return torch.cat([part.to(torch.uint8) for part in frames])
