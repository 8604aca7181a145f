"""Small movements of a path over a keyboard that stays: the slips another person might have made.

The frozen encoder has seen the training swipes and is surer of them than of anybody else's; features of moved
paths are a little less sure, as a stranger's are. Keys do not move: a decoder is of one layout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from glissando.errors import TrainingError

WAVES = 8  # half waves of the elastic movement, so the shortest wiggle is a quarter of the path


@dataclass(frozen=True)
class JitterConfig:
    """Standard deviations of the movements; lengths in key widths and heights.

    Attributes:
        shift: of the whole path.
        scale: of each axis's factor around the keyboard's centre, relative.
        shear: of both shear factors.
        elastic: of each point, smooth along the path.
        share: of the swipes that are moved at all.
    """

    shift: float = 0.0
    scale: float = 0.0
    shear: float = 0.0
    elastic: float = 0.0
    share: float = 1.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            if not 0 <= getattr(self, entry.name) <= 1:
                raise TrainingError(f"jitter.{entry.name} must lie in [0, 1], got {getattr(self, entry.name)}")

    @property
    def moves(self) -> bool:
        """Whether any path is moved."""
        return self.share > 0 and max(self.shift, self.scale, self.shear, self.elastic) > 0


def jitter(path: Tensor, key: Tensor, config: JitterConfig, generator: torch.Generator) -> Tensor:
    """Move paths at random.

    Args:
        path: [B, 2, n] in the unit square.
        key: [2] width and height of a key.
        config: how much.
        generator: on the path's device.

    Returns:
        [B, 2, n], clipped to the unit square.
    """
    batch, _, points = path.shape
    draw = torch.randn(batch, 2, 3 + WAVES, generator=generator, device=path.device)
    chosen = torch.rand(batch, 1, 1, generator=generator, device=path.device) < config.share
    centred = path - 0.5
    moved = centred * (1 + config.scale * draw[..., :1]) + config.shear * draw[..., 1:2] * centred.flip(1)
    moved = moved + config.shift * draw[..., 2:3] * key[:, None]
    # Waves that fall off as 1 / (1 + frequency), scaled so that a point's deviation is the one asked for.
    place = (torch.arange(points, device=path.device) + 0.5) / points
    frequency = torch.arange(1, WAVES + 1, device=path.device)
    wave = torch.cos(math.pi * frequency[:, None] * place) / (1 + frequency[:, None])  # [WAVES, n]
    wave = wave / wave.square().sum(dim=0).mean().sqrt()
    moved = moved + config.elastic * (draw[..., 3:] @ wave) * key[:, None]
    return torch.where(chosen, (moved + 0.5).clamp(0, 1), path)
