"""A finger's motion as strokes that add up, and where it is at any time."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Motion(NamedTuple):
    """A batch of movements, S strokes each, in key widths and milliseconds."""

    origin: Tensor  # [B, 2] touch-down
    step: Tensor  # [B, S, 2] from key to key
    bulge: Tensor  # [B, S, 2] sideways, at the middle of a stroke
    swirl: Tensor  # [B, S, 2] back and forth along a loop
    begin: Tensor  # [B, S] ms
    time: Tensor  # [B, S] ms a stroke takes
    rise: Tensor  # [B, 1] exponents of the strokes' beginning and end
    fall: Tensor  # [B, 1]
    duration: Tensor  # [B] ms, touch-down to lift-off
    waves: Tensor  # [B, W, 5] tremor and drift: frequency, phase, x, y, pace


def progress(elapsed: Tensor, time: Tensor, rise: Tensor, fall: Tensor) -> Tensor:
    """How much of a stroke is done, 0 to 1, by Kumaraswamy's curve 1 - (1 - u^rise)^fall.

    Both exponents near 2.5 give about the bell of minimum jerk; a larger fall is a slow homing in on the key.
    """
    u = (elapsed / time.clamp(min=1)).clamp(0, 1)
    return 1 - (1 - u**rise) ** fall


def position(motion: Motion, time: Tensor) -> Tensor:
    """Where the finger is. Shape: time [B, n] in ms -> [B, 2, n] in key widths."""
    frequency, phase, x, y, pace = motion.waves.unbind(2)  # [B, W]
    omega = 2 * math.pi * frequency
    angle = omega[..., None] * time[:, None] + phase[..., None]  # [B, W, n]
    # Drift: the motion's own clock runs at 1 + sum pace cos(angle), and stops when the real one does.
    swing = (pace / omega)[..., None]  # [B, W, 1]
    clock = time + (swing * (angle.sin() - phase.sin()[..., None])).sum(1)
    last = motion.duration[:, None]
    total = last + (swing[..., 0] * ((omega * last + phase).sin() - phase.sin())).sum(1, keepdim=True)
    elapsed = (clock * last / total)[:, None] - motion.begin[..., None]  # [B, S, n]
    done = progress(elapsed, motion.time[..., None], motion.rise[..., None], motion.fall[..., None])
    arch = 4 * done * (1 - done)
    where = motion.origin[..., None] + motion.step.mT @ done + motion.bulge.mT @ arch
    where = where + motion.swirl.mT @ (arch * (2 * done - 1))
    return where + torch.stack([x, y], dim=1) @ angle.cos()
