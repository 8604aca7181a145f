"""A phone's recording of a finger's motion: samples, whole pixels, whole milliseconds, then resampled for the encoder.

Synthetic swipes must carry the marks of a real recording, so generator.py's motions go through here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

FRAME_MS = 1000 / 60  # the encoder's input is brought to 60 Hz first


class Device(NamedTuple):
    """A batch of phones, n samples each at most."""

    pixel: Tensor  # [B, 1] size of a pixel, in the unit of the motion
    period: Tensor  # [B, 1] ms between samples
    arrives: Tensor  # [B, n] bool, False for samples that are lost
    silent: Tensor  # [B, 1] bool, True if it says nothing while the finger stays on a pixel
    jitter: Tensor  # [B, n] error of the time stamps, in periods, less than half of one


def record(position: Callable[[Tensor], Tensor], duration: Tensor, device: Device, points: int = 64) -> Tensor:
    """Sample motions and resample them as ``glissando.gesture.resample`` does.

    Args:
        position: from times [B, n] in ms to places [B, 2, n].
        duration: [B] ms from touch-down to lift-off.
        device: the phones.
        points: samples of the path.

    Returns:
        [B, 2, points] in the unit of the motion.
    """
    duration = duration.round().clamp(min=1)[:, None]  # [B, 1]
    frames, frame_ms = _frames(duration)
    index = torch.linspace(0, 1, points, device=duration.device) * frames  # [B, points] in frames at 60 Hz
    before = index.floor().minimum(frames - 1)
    moment = torch.cat([before, before + 1], dim=1) * frame_ms  # [B, 2 * points] ms
    at = _play_back(*_events(position, duration, device), moment)  # [B, 2, 2 * points]
    weight = (index - before)[:, None]
    return (at[..., :points] * (1 - weight) + at[..., points:] * weight) * device.pixel[..., None]


def _frames(duration: Tensor) -> tuple[Tensor, Tensor]:
    """Number of intervals at about 60 Hz, and the length of one in ms. Shape: [B, 1] -> [B, 1], [B, 1]."""
    frames = (duration / FRAME_MS).round().clamp(min=1)
    return frames, duration / frames


def _events(position: Callable[[Tensor], Tensor], duration: Tensor, device: Device) -> tuple[Tensor, Tensor]:
    """What the phone reports: pixels and whole milliseconds. Samples it keeps to itself repeat the one before.

    Returns:
        Places [B, 2, n + 1] in pixels and times [B, n + 1] in ms, never decreasing, the last the lift-off.
    """
    count = device.arrives.shape[1]
    number = torch.arange(count, device=duration.device)
    period = torch.maximum(device.period, duration / (count - 1))  # a very long swipe is sampled more thinly
    time = number * period  # [B, n]
    place = (position(time) / device.pixel[..., None]).round()  # [B, 2, n]
    stays = (place.diff(dim=2) == 0).all(1)
    heard = device.arrives & (time < duration)
    heard[:, 1:] &= ~(device.silent & stays)
    heard[:, 0] = True
    latest = torch.where(heard, number, 0).cummax(1).values  # [B, n] the last sample heard up to each
    stamp = ((number + device.jitter) * period).round().clamp(min=0).minimum(duration) * (number > 0)
    place = place.gather(2, latest[:, None].expand(-1, 2, -1))
    # Phones report the lift-off where the finger was last heard.
    return torch.cat([place, place[..., -1:]], dim=2), torch.cat([stamp.gather(1, latest), duration], dim=1)


def _play_back(place: Tensor, time: Tensor, moment: Tensor) -> Tensor:
    """Interpolate events linearly in time. Shape: [B, 2, n], [B, n], [B, m] -> [B, 2, m]."""
    right = torch.searchsorted(time, moment.contiguous(), right=True).clamp(1, time.shape[1] - 1)
    left = right - 1
    start, end = time.gather(1, left), time.gather(1, right)
    share = ((moment - start) / (end - start).clamp(min=1e-3)).clamp(0, 1)[:, None]
    first = place.gather(2, left[:, None].expand(-1, 2, -1))
    second = place.gather(2, right[:, None].expand(-1, 2, -1))
    return first + (second - first) * share
