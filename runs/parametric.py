"""Swipes in the manner of IndicSwipe (Biju et al. 2020): jittered keys, and a quintic of its own for every leg.

The finger stands still on every key, never cuts a corner, never bows a line, and always keeps the same time: what the
ablation of synthetic data (runs/ablations.py) sets beside the generator of the package.
"""

import torch
from torch import Tensor

from glissando.train.generator import DEFAULTS, GeneratorConfig
from glissando.train.rearrange import TIME_EXPONENT, letter_keys

JITTER = 0.2  # standard deviation of where a key is hit, in key sizes, per axis
LEAST = 0.05  # of a leg's length in key sizes: a doubled letter takes a moment


def synthesize(
    targets: Tensor,
    lengths: Tensor,
    keys: Tensor,
    mask: Tensor,
    generator: torch.Generator,
    config: GeneratorConfig = DEFAULTS,
    points: int = 64,
) -> Tensor:
    """Make a swipe for every word; arguments and result as ``glissando.train.generator.synthesize``.

    ``config`` is not read: nothing here is drawn but the jitter. Shape: [B, 2, points].
    """
    size = 2 * (keys[..., 2:] * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)  # [B, 2]
    centres = letter_keys(keys, targets)[..., :2]  # [B, L, 2]
    jitter = torch.randn(centres.shape, generator=generator, device=centres.device)
    aims = centres + JITTER * size[:, None] * jitter
    step = aims.diff(dim=1)  # [B, L - 1, 2]
    leg = torch.arange(step.shape[1], device=step.device) < lengths[:, None] - 1
    time = ((step / size[:, None]).norm(dim=2).clamp(min=LEAST) ** TIME_EXPONENT) * leg  # [B, L - 1]
    end = time.cumsum(1)
    clock = torch.linspace(0, 1, points, device=step.device) * end[:, -1:].clamp(min=LEAST)  # [B, n]
    share = ((clock[:, None] - (end - time)[..., None]) / time.clamp(min=1e-6)[..., None]).clamp(0, 1)  # [B, L - 1, n]
    done = share**3 * (10 - 15 * share + 6 * share**2)  # rest to rest with the least jerk
    done = done * leg[..., None]
    return (aims[:, 0, :, None] + (step[..., None] * done[:, :, None]).sum(1)).clamp(0, 1)
