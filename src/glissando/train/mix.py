"""What a training batch is made of: real swipes, real swipes carried to random grids, and synthetic ones.

Everything random of a step comes from a seed made of (seed, process, step), so a run can resume at any step.
Grids and synthetic swipes are made for several steps at once, because a GPU makes thousands as fast as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from glissando.errors import TrainingError
from glissando.lexicon import Lexicon
from glissando.train.batches import Batch, Corpus, Shelf
from glissando.train.config import TrainConfig
from glissando.train.generator import synthesize
from glissando.train.grids import random_grids
from glissando.train.losses import needed_frames
from glissando.train.order import mix_seed
from glissando.train.pace import PaceConfig, pace, sample_pace
from glissando.train.rearrange import align, rearrange

POOL = {"cuda": 8192, "cpu": 256}  # synthetic swipes and grids made at a time, about
ALIGN = 8192  # swipes aligned at a time
POOL_SEED, AUGMENT_SEED, PACE_SEED = 1, 2, 3  # what a seed is for


@dataclass(frozen=True)
class Shares:
    """Rows of each kind in one process's batch."""

    real: int
    rearranged: int
    synthetic: int

    @classmethod
    def of(cls, config: TrainConfig, batch: int) -> Shares:
        """Round a config's shares to rows of a batch."""
        synthetic, rearranged = round(config.synthetic * batch), round(config.rearranged * batch)
        rearranged = min(rearranged, batch - synthetic)
        return cls(batch - synthetic - rearranged, rearranged, synthetic)

    @property
    def drawn(self) -> int:
        """Rows to draw from the corpus; with none but synthetic swipes a batch is drawn to count epochs, and left."""
        return self.real + self.rearranged or self.synthetic


class Words(NamedTuple):
    """Words to make swipes for: targets [W, L], lengths [W], and the layout each is spelled on [W]."""

    targets: Tensor
    lengths: Tensor
    layouts: Tensor


class Pool(NamedTuple):
    """What was made for a few steps: grids (keys, mask, rows) to re-arrange onto, and synthetic swipes."""

    number: int
    grids: tuple[Tensor, Tensor, Tensor] | None
    synthetic: Batch | None


class Mix:
    """Turns the real rows of a step into its training batch.

    Args:
        corpus: the real swipes, with room for ``config.extra_keys``.
        config: the shares, the generator and the seed.
        shares: rows of each kind.
        device: where the batches are.
        rank: this process.
    """

    def __init__(self, corpus: Corpus, config: TrainConfig, shares: Shares, device: torch.device, rank: int) -> None:
        self.config, self.shares, self.device, self.rank = config, shares, device, rank
        self.shelf = Shelf.of(corpus, device)
        self.letters = corpus.keys.shape[1] - config.extra_keys
        self.frames = alignments(corpus, device) if shares.rearranged else None
        self.words = words_to_make(corpus, config, device) if shares.synthetic else None
        self.steps_per_pool = max(1, POOL[device.type] // max(1, shares.rearranged + shares.synthetic))
        self.pool = Pool(-1, None, None)
        self.generator = torch.Generator(device)

    def seeded(self, *purpose: int) -> torch.Generator:
        """The device's generator, set for one purpose."""
        return self.generator.manual_seed(mix_seed(self.config.seed, self.rank, *purpose))

    def __call__(self, drawn: Batch, index: Tensor, step: int) -> Batch:
        """Make a batch of the rows drawn for a step; ``index`` [B] are their numbers in the corpus."""
        number, within = divmod(step, self.steps_per_pool)
        if number != self.pool.number:
            self.pool = self._make_pool(number)
        moved = self.shares.rearranged
        parts = [_slice(drawn, moved, self.shares.real)] if self.shares.real else []
        if self.frames is not None and self.pool.grids is not None:
            keys, mask, rows = (part[within * moved : (within + 1) * moved] for part in self.pool.grids)
            frames = self.frames[index[:moved]].long()
            carried = _slice(drawn, 0, moved)
            parts.append(rearrange(carried, frames, keys, mask, rows, self.config.retime, self.config.turn))
        if self.pool.synthetic is not None:
            parts.append(_slice(self.pool.synthetic, within * self.shares.synthetic, self.shares.synthetic))
        mixed = parts[0] if len(parts) == 1 else Batch(*(torch.cat(part) for part in zip(*parts, strict=True)))
        if self.config.pace == PaceConfig():
            return mixed
        return pace(mixed, sample_pace(mixed, self.config.pace, self.seeded(PACE_SEED, step)))

    def _make_pool(self, number: int) -> Pool:
        """Make the grids and the synthetic swipes of a few steps."""
        generator = self.seeded(POOL_SEED, number)
        grids = synthetic = None
        if self.shares.rearranged:
            grids = self._grids(self.steps_per_pool * self.shares.rearranged, generator)
        if self.words is not None:
            synthetic = self._synthesize(self.words, self.steps_per_pool * self.shares.synthetic, generator)
        return Pool(number, grids, synthetic)

    def _grids(self, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Random keyboards for the corpus's letters, as wide as the corpus is padded."""
        return random_grids(count, self.letters, generator, self.device, self.config.extra_keys)

    def _synthesize(self, words: Words, count: int, generator: torch.Generator) -> Batch:
        """Synthetic swipes of random words, on random grids or on the layout each word is spelled on."""
        word = torch.randint(len(words.lengths), (count,), generator=generator, device=self.device)
        targets, lengths, layout = (part[word] for part in words)
        keys, mask, rows = self._grids(count, generator)
        grid = torch.rand(count, generator=generator, device=self.device) < self.config.synthetic_grids
        keys = torch.where(grid[:, None, None], keys, self.shelf.keys[layout])
        mask = torch.where(grid[:, None], mask, self.shelf.mask[layout])
        rows = torch.where(grid, rows, self.shelf.rows[layout])
        path = synthesize(targets, lengths, keys, mask, generator, self.config.generator)
        return Batch(path, keys, mask, targets, lengths, rows)


def alignments(corpus: Corpus, device: torch.device) -> Tensor:
    """The frame of every letter of every kept row, found once. Shape: [n, L] uint8."""
    found = [align(batch.path, batch.keys, batch.targets, batch.lengths) for batch in corpus.walk(ALIGN, device)]
    return torch.cat([frames.to(torch.uint8) for frames in found])


def words_to_make(corpus: Corpus, config: TrainConfig, device: torch.device) -> Words:
    """The words synthetic swipes are made for: those of a list, or every word of the corpus once."""
    words = _listed_words(corpus, config) if config.synthetic_words else _corpus_words(corpus)
    return Words(*(part.to(device) for part in words))


def _corpus_words(corpus: Corpus) -> Words:
    """Every word of the corpus, as its first row spells it."""
    _, first = np.unique(np.asarray(corpus.pack.words)[corpus.kept], return_index=True)
    stored = corpus.read(first)
    return Words(stored.targets.long(), stored.lengths.long(), stored.layouts.long())


def _listed_words(corpus: Corpus, config: TrainConfig) -> Words:
    """The words of a list that the corpus's first layout can type, no longer than the corpus's longest."""
    layout = corpus.pack.layout_list[0]
    number = {letter: keys[0] for letter, keys in layout.keys_of.items()}
    spelled = Lexicon.from_file(config.synthetic_words).spell(frozenset(number))
    fitting = [word for word in dict.fromkeys(spelled) if 2 <= len(word) <= corpus.longest]
    if not fitting:
        raise TrainingError(f"{config.synthetic_words} has no word that {layout.name} can type")
    lengths = torch.tensor([len(word) for word in fitting])
    rows = [[number[letter] for letter in word] + [0] * (corpus.longest - len(word)) for word in fitting]
    targets = torch.tensor(rows)
    fits = needed_frames(targets, lengths) <= config.model.frames
    return Words(targets[fits], lengths[fits], torch.zeros(int(fits.sum()), dtype=torch.int64))


def _slice(batch: Batch, start: int, count: int) -> Batch:
    """Some rows of a batch."""
    return Batch(*(part[start : start + count] for part in batch))
