"""Move and bend a keyboard with the path on it, so that a matcher learns no layout.

Points of the path and key centres go through the same function, in key widths around the middle of the letter area.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from glissando.train.matcher.config import BendConfig

WAVES = 6  # that bend the plane
SLOW = 0.6  # standard deviation of their wave numbers, in radians per key width
SWINGS = 3.0  # of the wave along a path at the most


class Bend(NamedTuple):
    """The parameters drawn for every sample of a batch.

    Attributes:
        matrix: [B, 2, 2] rotation, shear, scale and flips.
        shift: [B, 1, 2] translation.
        numbers: [B, WAVES, 2] wave numbers.
        phases: [B, 1, WAVES] radians.
        heights: [B, WAVES, 2] of the waves, in key widths.
        sway: [B, 64, 2] what moves the path off its keys.
        reverse: [B] bool, True where time runs backwards.
    """

    matrix: Tensor
    shift: Tensor
    numbers: Tensor
    phases: Tensor
    heights: Tensor
    sway: Tensor
    reverse: Tensor


def draw_bend(size: int, points: int, config: BendConfig, generator: torch.Generator) -> Bend:
    """Draw the parameters of a batch, on the generator's device."""
    device = generator.device

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, device=device)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(shape, generator=generator, device=device)

    angle = 2 * math.pi * uniform(size) * (uniform(size) < config.turned)
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], dim=-1).view(size, 2, 2)
    shear = torch.eye(2, device=device) + config.shear * normal(size, 2, 2) * (1 - torch.eye(2, device=device))
    spread = torch.tensor([config.x_scale, config.y_scale], device=device)
    scale = torch.exp(config.scale * normal(size, 1) + spread * normal(size, 2))
    flips = torch.where(uniform(size, 2) < config.flips, -1.0, 1.0)
    along = torch.linspace(0, 1, points, device=device)[:, None]
    wave = torch.sin(2 * math.pi * (SWINGS * uniform(size, 1, 2) * along + uniform(size, 1, 2)))
    return Bend(
        matrix=turn @ shear * (scale * flips)[:, None],
        shift=config.shift * normal(size, 1, 2),
        numbers=SLOW * normal(size, WAVES, 2),
        phases=2 * math.pi * uniform(size, 1, WAVES),
        heights=config.warp * uniform(size, 1, 1) * normal(size, WAVES, 2),
        sway=config.sway[0] * normal(size, 1, 2) + config.sway[1] * normal(size, 1, 2) * wave,
        reverse=uniform(size) < config.reversal,
    )


def bend(points: Tensor, by: Bend) -> Tensor:
    """Move and bend any points of the plane. Shape: [B, n, 2] -> [B, n, 2]."""
    moved = points @ by.matrix.transpose(1, 2) + by.shift
    return moved + torch.sin(moved @ by.numbers.transpose(1, 2) + by.phases) @ by.heights


def reverse_words(keys: Tensor, lengths: Tensor, backwards: Tensor) -> Tensor:
    """Spell words backwards where told; padding stays at the end. Shape: [B, N, L], [B, N], [B] bool -> [B, N, L]."""
    place = torch.arange(keys.shape[2], device=keys.device)
    mirrored = torch.where(place < lengths[..., None], lengths[..., None] - 1 - place, place)
    return torch.where(backwards[:, None, None], keys.gather(2, mirrored), keys)
