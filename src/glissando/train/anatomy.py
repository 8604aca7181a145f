"""What a batch of swipes is like, in numbers: the ruler that real and generated swipes are both held to."""

from __future__ import annotations

import torch
from torch import Tensor

from glissando.train.rearrange import letter_keys, letter_mask

KEY_HEIGHT = 1.5  # in key widths; phones measured had 1.39 to 1.71


def describe(path: Tensor, keys: Tensor, targets: Tensor, lengths: Tensor, frames: Tensor) -> dict[str, float]:
    """Measure offsets, lengths, turns and timing of aligned swipes. Lengths are in key widths.

    Args:
        path: [B, 2, T].
        keys: [B, K, 4].
        targets: [B, L].
        lengths: [B], at least two.
        frames: [B, L] from ``align``.

    Returns:
        Figures by name; ``_p50`` and the like are percentiles over letters or swipes.
    """
    key = letter_keys(keys, targets)
    unit = torch.stack([2 * key[:, 0, 2], 2 * key[:, 0, 3] / KEY_HEIGHT], dim=1)  # [B, 2]
    points = path.transpose(1, 2) / unit[:, None]  # [B, T, 2]
    centres = key[..., :2] / unit[:, None]  # [B, L, 2]
    real = letter_mask(targets, lengths)
    speed = points.diff(dim=1).norm(dim=2)  # [B, T - 1]
    return {
        **_offsets(points, centres, real, lengths, frames),
        **_speeds(speed),
        **_turns(points, speed, centres, lengths, frames),
        **_segments(speed, centres, real, frames),
    }


def _offsets(points: Tensor, centres: Tensor, real: Tensor, lengths: Tensor, frames: Tensor) -> dict[str, float]:
    """Where the finger was when it typed, against where the key is."""
    offset = points.gather(1, frames[..., None].expand(-1, -1, 2)) - centres  # [B, L, 2]
    row = torch.arange(len(offset), device=offset.device)
    last = lengths - 1
    inner = real.clone()
    inner[:, 0] = False
    inner[row, last] = False
    track = centres[row, last] - centres[row, last - 1]
    beyond = (offset[row, last] * track).sum(1) / track.norm(dim=1).clamp(min=1e-6)
    pair = inner[:, 1:] & inner[:, :-1]
    shift = (offset * real[..., None]).sum(1) / lengths[:, None]
    miss = offset.norm(dim=2)
    closest = torch.cdist(centres, points).amin(2)  # [B, L]
    return {
        "start_p50": _percentile(miss[:, 0], 50),
        "start_p95": _percentile(miss[:, 0], 95),
        "end_p50": _percentile(miss[row, last], 50),
        "end_p95": _percentile(miss[row, last], 95),
        "overshoot_p50": _percentile(beyond[track.norm(dim=1) > 0.5], 50),
        "overshoot_p90": _percentile(beyond[track.norm(dim=1) > 0.5], 90),
        "inner_p50": _percentile(miss[inner], 50),
        "inner_p90": _percentile(miss[inner], 90),
        "closest_p50": _percentile(closest[inner], 50),
        "closest_p90": _percentile(closest[inner], 90),
        "shift_p50": _percentile(shift.norm(dim=1), 50),
        "neighbours": _correlation(offset[:, 1:][pair].flatten(), offset[:, :-1][pair].flatten()),
        "below": float(offset[real][:, 1].mean()),
    }


def _speeds(speed: Tensor) -> dict[str, float]:
    """How evenly the finger goes. Shape: [B, T - 1]."""
    moved = speed[speed.sum(1) > 0.5]
    mean = moved.mean(1, keepdim=True)
    relative = moved / mean
    centred = moved - mean
    lag = (centred[:, 1:] * centred[:, :-1]).sum(1) / centred.square().sum(1)
    slow = (relative < 0.1).long()
    return {
        "zero_steps": float((moved < 1e-6).float().mean()),
        "slow_steps": float(slow.float().mean()),
        "start_dwell": float(slow.cumprod(1).sum(1).float().mean()),
        "end_dwell": float(slow.flip(1).cumprod(1).sum(1).float().mean()),
        "peak_p50": _percentile(relative.amax(1), 50),
        "speed_spread": float(relative.std(1).mean()),
        "lag1_p50": _percentile(lag, 50),
        "jolt": float((relative.diff(dim=1, n=2).abs()).mean()),
    }


def _turns(points: Tensor, speed: Tensor, centres: Tensor, lengths: Tensor, frames: Tensor) -> dict[str, float]:
    """How letters between the ends are rounded, by how sharply the word turns at them."""
    before, after = centres[:, 1:-1] - centres[:, :-2], centres[:, 2:] - centres[:, 1:-1]  # [B, L - 2, 2]
    unit_before, unit_after = torch.nn.functional.normalize(before, dim=2), torch.nn.functional.normalize(after, dim=2)
    cosine = (unit_before * unit_after).sum(2)
    number = torch.arange(1, centres.shape[1] - 1, device=lengths.device)
    usable = (number < lengths[:, None] - 1) & (before.norm(dim=2) > 0.3) & (after.norm(dim=2) > 0.3)
    window = torch.arange(-4, 5, device=frames.device)
    near = (frames[:, 1:-1, None] + window).clamp(0, points.shape[1] - 1)  # [B, L - 2, 9]
    relative = speed / speed.mean(1, keepdim=True).clamp(min=1e-6)
    steps = near.clamp(max=speed.shape[1] - 1).flatten(1)
    slowest = relative.gather(1, steps).view_as(near)[..., 2:6].amin(2)
    apex = torch.nn.functional.normalize(unit_before - unit_after, dim=2)  # points out of the corner
    around = points.gather(1, near.flatten(1)[..., None].expand(-1, -1, 2)).view(*near.shape, 2)
    reach = ((around - centres[:, 1:-1, None]) * apex[:, :, None]).sum(3).amax(2)
    sharp, straight = usable & (cosine < -0.5), usable & (cosine > 0.5)
    corner = usable & (cosine.abs() < 0.5)
    return {
        "sharp_speed_p50": _percentile(slowest[sharp], 50),
        "corner_speed_p50": _percentile(slowest[corner], 50),
        "straight_speed_p50": _percentile(slowest[straight], 50),
        "sharp_reach_p10": _percentile(reach[sharp], 10),
        "sharp_reach_p50": _percentile(reach[sharp], 50),
        "sharp_reach_p90": _percentile(reach[sharp], 90),
        "corner_reach_p50": _percentile(reach[corner], 50),
        "curve_slope": _curvature_slope(points, speed),
    }


def _curvature_slope(points: Tensor, speed: Tensor) -> float:
    """Slope of log speed on log curvature (the power law of drawing gives -1/3) where the finger moves."""
    step = points.diff(dim=1)
    heading = torch.atan2(step[..., 1], step[..., 0])
    turn = torch.remainder(heading.diff(dim=1) + torch.pi, 2 * torch.pi) - torch.pi
    pace = (speed[:, 1:] + speed[:, :-1]) / 2
    curvature = turn.abs() / pace.clamp(min=1e-6)
    usable = (pace > 0.02) & (curvature > 0.05) & (speed[:, 1:] > 0.01) & (speed[:, :-1] > 0.01)
    return _slope(curvature[usable].log(), pace[usable].log())


def _segments(speed: Tensor, centres: Tensor, real: Tensor, frames: Tensor) -> dict[str, float]:
    """Length and time of the stretches between letters, relative to their word."""
    ideal = centres.diff(dim=1).norm(dim=2) * real[:, 1:]  # [B, L - 1]
    took = frames.diff(dim=1).float()
    usable = (ideal > 0.3) & (took > 0)
    ratio = (speed.sum(1) / ideal.sum(1).clamp(min=1e-6))[ideal.sum(1) > 0.5]
    count = usable.sum(1, keepdim=True).clamp(min=1)
    log_length = ideal.clamp(min=0.1).log() * usable
    log_time = took.clamp(min=0.5).log() * usable
    log_length = (log_length - log_length.sum(1, keepdim=True) / count)[usable]
    log_time = (log_time - log_time.sum(1, keepdim=True) / count)[usable]
    slope = _slope(log_length, log_time)
    return {
        "ratio_p10": _percentile(ratio, 10),
        "ratio_p50": _percentile(ratio, 50),
        "ratio_p90": _percentile(ratio, 90),
        "time_exponent": slope,
        "time_spread": float((log_time - slope * log_length).std()),
    }


def _percentile(values: Tensor, percent: float) -> float:
    """A percentile, NaN of nothing."""
    return (
        float(values.float().kthvalue(max(1, round(len(values) * percent / 100))).values)
        if len(values)
        else float("nan")
    )


def _slope(x: Tensor, y: Tensor) -> float:
    """Least-squares slope of y on x."""
    x = x - x.mean()
    return float((x * (y - y.mean())).sum() / x.square().sum())


def _correlation(x: Tensor, y: Tensor) -> float:
    """Pearson's correlation."""
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x.norm() * y.norm()))
