"""Other people's pace: the same swipe by a more fluent finger.

The corpus was swiped by people copying sentences on a page without a decoder: they slow down at every letter and
stop where they should. Those who swipe every day do not: they keep their speed through a letter on a straight
line, run past the last key, and are done before a phone has sampled many points. Each function changes the path
alone; the keys and the word stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from glissando.train.batches import Batch

RUN_UP = 8  # frames before the end over which the last direction is measured and an overshoot is spread


@dataclass(frozen=True)
class PaceConfig:
    """How far paths are made more fluent.

    Attributes:
        evened: share of paths whose speed is evened out.
        even: greatest share of its unevenness that such a path loses, drawn from 0 up.
        coarse: share of paths that are sampled anew from fewer points.
        fewest: least number of those points.
        overshoot: share of paths that run on past their end.
        beyond: greatest way they run on, in key widths.
    """

    evened: float = 0.0
    even: float = 0.9
    coarse: float = 0.0
    fewest: int = 12
    overshoot: float = 0.0
    beyond: float = 0.8


class Pace(NamedTuple):
    """What was drawn for a batch: ``even`` [B], ``points`` [B] whole numbers as floats, ``beyond`` [B] key widths."""

    even: Tensor
    points: Tensor
    beyond: Tensor


def sample_pace(batch: Batch, config: PaceConfig, generator: torch.Generator) -> Pace:
    """Draw the parameters of a batch (the generator must live on its device)."""
    draw = torch.rand((6, len(batch.lengths)), generator=generator, device=batch.path.device)  # [6, B]
    frames = batch.path.shape[2]
    fewer = (config.fewest + draw[2] * (frames + 1 - config.fewest)).floor()
    return Pace(
        even=torch.where(draw[5] < config.evened, config.even * draw[0], 0.0),
        points=torch.where(draw[1] < config.coarse, fewer, float(frames)),
        beyond=torch.where(draw[3] < config.overshoot, config.beyond * draw[4], 0.0),
    )


def pace(batch: Batch, drawn: Pace) -> Batch:
    """Apply the three changes in turn."""
    size = _key_size(batch)
    path = run_on(batch.path, size, drawn.beyond)
    path = coarsen(even_out(path, size, drawn.even), drawn.points)
    return batch._replace(path=path.clamp(0, 1))


def even_out(path: Tensor, size: Tensor, share: Tensor) -> Tensor:
    """Bring the speed along a path nearer to constant; its shape and its ends stay.

    Args:
        path: [B, 2, T].
        size: [B, 2] of a key, the unit of length on each axis.
        share: [B] 0 leaves the timing, 1 makes the speed constant.

    Returns:
        [B, 2, T].
    """
    frames = path.shape[2]
    way = (path.diff(dim=2) / size[..., None]).norm(dim=1)  # [B, T - 1]
    gone = torch.nn.functional.pad(way.cumsum(1), (1, 0))  # [B, T]
    total = gone[:, -1:]
    uniform = torch.linspace(0, 1, frames, device=path.device).expand_as(gone)
    clock = torch.where(total > 1e-3, torch.lerp(uniform, gone / total.clamp(min=1e-3), share[:, None]), uniform)
    clock = clock.contiguous()
    after = torch.searchsorted(clock, uniform.contiguous()).clamp(1, frames - 1)  # [B, T]
    early, late = clock.gather(1, after - 1), clock.gather(1, after)
    where = after - 1 + ((uniform - early) / (late - early).clamp(min=1e-9)).clamp(0, 1)
    return torch.where((share > 0)[:, None, None], _read(path, where), path)


def coarsen(path: Tensor, points: Tensor) -> Tensor:
    """Sample a path at fewer points, evenly, and draw straight lines between them. Shapes: [B, 2, T], [B]."""
    frames = path.shape[2]
    last = (points - 1).clamp(min=1)[:, None]  # [B, 1]
    position = torch.linspace(0, 1, frames, device=path.device) * last  # [B, T] in coarse points
    before = torch.minimum(position.floor(), last - 1)
    weight = (position - before)[:, None]
    scale = (frames - 1) / last
    joined = _read(path, before * scale) * (1 - weight) + _read(path, (before + 1) * scale) * weight
    return torch.where((points < frames)[:, None, None], joined, path)


def run_on(path: Tensor, size: Tensor, beyond: Tensor) -> Tensor:
    """Let a path run on in the direction in which it ends. Shapes: [B, 2, T], [B, 2], [B] key widths -> [B, 2, T]."""
    way = (path[..., -1] - path[..., -1 - RUN_UP]) / size  # [B, 2] in keys
    length = way.norm(dim=1, keepdim=True)
    direction = torch.where(length > 0.1, way / length.clamp(min=0.1), 0.0)  # a finger at rest does not run on
    ramp = torch.linspace(0, 1, RUN_UP + 1, device=path.device).square()
    extra = (direction * size * beyond[:, None])[..., None] * ramp  # [B, 2, RUN_UP + 1]
    return torch.cat([path[..., : -RUN_UP - 1], path[..., -RUN_UP - 1 :] + extra], dim=2)


def _key_size(batch: Batch) -> Tensor:
    """Mean width and height of a layout's keys. Shape: [B, 2]."""
    real = batch.mask[..., None]
    return 2 * (batch.keys[..., 2:] * real).sum(1) / real.sum(1).clamp(min=1)


def _read(path: Tensor, where: Tensor) -> Tensor:
    """Read a path between its points. Shapes: [B, 2, T], [B, n] positions in points -> [B, 2, n]."""
    before = where.floor().clamp(0, path.shape[2] - 2)
    index = before.long()[:, None].expand(-1, 2, -1)
    weight = (where - before)[:, None]
    return path.gather(2, index) * (1 - weight) + path.gather(2, index + 1) * weight
