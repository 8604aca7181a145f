"""Encoders that have not met the person whose swipe they read, so that a decoder learns from what it will see.

An encoder is surer of the people it was trained on than of anyone else, and wrong in other ways. Encoders of two halves
of the people read each the other half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from glissando.errors import TrainingError
from glissando.model.checkpoint import load_encoder
from glissando.model.config import EncoderConfig
from glissando.model.encoder import Encoder
from glissando.train.batches import Corpus
from glissando.train.holdout import draws

SAME = ("points", "frames", "resolution", "basis", "blank")  # settings that shape a decoder's inputs


@dataclass(frozen=True, eq=False)
class Stranger:
    """An encoder that was trained on a part of the people.

    Attributes:
        encoder: on the CPU, in evaluation mode.
        part: it has met whoever draws a number from part[0] up to part[1].
        seed: of the draw.
    """

    encoder: Encoder
    part: tuple[float, float]
    seed: int

    def has_met(self, sessions: np.ndarray) -> np.ndarray:
        """Whether it was trained on a row's person. Shape: [n] session numbers -> [n] bool."""
        drawn = draws(sessions, self.seed)
        return (self.part[0] <= drawn) & (drawn < self.part[1])


def load_strangers(paths: Sequence[Path], main: EncoderConfig, corpus: Corpus) -> list[Stranger]:
    """Read encoders that were trained on parts of a corpus.

    Args:
        paths: their checkpoints.
        main: the config of the encoder that they stand in for.
        corpus: numbers the people.
    """
    found = []
    for path in paths:
        encoder, extra = load_encoder(path)
        training = extra.get("training", {})
        low, high = part = training.get("config", {}).get("part", (0.0, 1.0))
        if (low, high) == (0, 1):
            raise TrainingError(
                f"{path} is nobody's stranger: it was trained on all people; train it with part=[0,0.5]"
            )
        if training.get("corpus") != corpus.digest:
            raise TrainingError(f"{path} was trained on another corpus, where people have other numbers")
        for name in SAME:
            mine, wanted = getattr(encoder.config, name), getattr(main, name)
            if mine != wanted:
                raise TrainingError(f"{path} has {name} {mine}, the encoder it stands in for has {wanted}")
        found.append(Stranger(encoder, tuple(part), training["config"].get("part_seed", 1)))
    return found


def choose_readers(strangers: Sequence[Stranger], sessions: np.ndarray) -> np.ndarray:
    """Who is to read each row: 0 the main encoder, r the first stranger (from 1) that has not met its person.

    Shape: [n] session numbers -> [n] int64.
    """
    readers = np.zeros(len(sessions), dtype=np.int64)
    for number, stranger in reversed(list(enumerate(strangers, start=1))):
        readers[~stranger.has_met(sessions)] = number
    return readers


class Deal(NamedTuple):
    """The rows of a step, those of one reader together.

    Attributes:
        rows: [B] on the device.
        counts: rows of the main encoder, of the first stranger, of the second ...; known to the host, so that the
            rows can be divided without waiting for the device.
    """

    rows: Tensor
    counts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Readers:
    """Which encoder reads which row.

    Attributes:
        strangers: frozen encoders, on the device.
        of: [n] int64 on the host, from ``choose_readers``.
        share: the chance that a row which has a stranger is read by it at a draw.
    """

    strangers: tuple[Encoder, ...] = ()
    of: Tensor | None = None
    share: float = 1.0

    def deal(self, rows: Tensor, generator: torch.Generator, device: torch.device) -> list[Deal]:
        """Sort the rows of every step by who reads them.

        Args:
            rows: [steps, B] on the host.
            generator: on the host, decides where the share is below one.
            device: where rows are wanted.
        """
        if self.of is None:
            return [Deal(step, (len(step),)) for step in rows.to(device)]
        readers = self.of[rows]  # [steps, B]
        if self.share < 1:
            readers = readers * (torch.rand(rows.shape, generator=generator) < self.share)
        readers, order = readers.sort(dim=1, stable=True)
        counts = torch.stack([(readers == number).sum(dim=1) for number in range(len(self.strangers) + 1)], dim=1)
        dealt = rows.gather(1, order).to(device)
        return [Deal(step, tuple(count)) for step, count in zip(dealt, counts.tolist(), strict=True)]
