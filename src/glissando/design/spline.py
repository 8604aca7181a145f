"""The exact swipes of ``glissando.synth`` in torch, for a batch of words given by the keys they visit.

The spline's equations couple a point only with its neighbours: the matrix is a band of two-by-two blocks. So it is
solved by elimination along the word, a few operations on the whole batch per letter.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from glissando.synth import DWELL_MS, LEG_MS, LEG_POWER, TAP_MS


def leg_times(points: Tensor, size_mm: Tensor) -> Tensor:
    """Milliseconds for every leg, a dwell where the finger stays. Shapes: [..., L, 2], [2] -> [..., L - 1]."""
    length = (points.diff(dim=-2) * size_mm).square().sum(-1)  # squared, so that the root of zero is never taken
    moved = length > 0
    return torch.where(moved, LEG_MS * torch.where(moved, length, 1.0) ** (LEG_POWER / 2), DWELL_MS)


def minimum_jerk_paths(points: Tensor, lengths: Tensor, size_mm: Tensor, samples: int = 64) -> Tensor:
    """Make paths as ``synth.word_paths`` does.

    Args:
        points: [B, L, 2] key centres in the unit square; beyond a word's length the last one again, L >= 2.
        lengths: [B] letters of each word, at least 1.
        size_mm: [2] width and height of the letter area.
        samples: n, even in time.

    Returns:
        [B, 2, n] in [0, 1].
    """
    leg = leg_times(points, size_mm)  # [B, L - 1]
    over = torch.arange(1, points.shape[1], device=points.device) >= lengths[:, None]
    end = torch.where(over, 0.0, leg).sum(1)
    end = torch.where(end > 0, end, TAP_MS)[:, None]  # [B, 1]
    h = leg / end  # the whole swipe takes 1
    # Times near one keep the elimination well conditioned in float32.
    mean = h.mean(1, keepdim=True)
    h = h / mean
    rates = solve_band(spline_band(points, h))
    still = functional.pad(rates.flatten(2), (0, 0, 1, 1))  # [B, L, 4] the finger rests at both ends
    return _sample(torch.cat([points, still], 2), h, 1 / mean, samples)


def spline_band(points: Tensor, h: Tensor) -> Tensor:
    """The equations of the m = L - 2 inner points: same jerk and same snap before and after the point.

    Args:
        points: [B, L, 2].
        h: [B, L - 1] duration of each leg.

    Returns:
        [B, m, 4, 2, 2]: what the left neighbour, the point and the right neighbour weigh (rows jerk and snap, columns
        velocity and acceleration), and the right side (columns x and y). A repeated point is at rest.
    """
    step = points.diff(dim=1)
    same = (step == 0).all(-1)
    b, a = 1 / h[:, :-1], 1 / h[:, 1:]  # [B, m] of the legs before and after
    blocks = [
        -24 * b**2, -3 * b, -168 * b**3, -24 * b**2,
        36 * (a**2 - b**2), 9 * (a + b), -192 * (a**3 + b**3), 36 * (b**2 - a**2),
        24 * a**2, -3 * a, -168 * a**3, 24 * a**2,
    ]  # fmt: skip
    before, after, b, a = step[:, :-1], step[:, 1:], b[..., None], a[..., None]
    # Leg by leg: how torch rounds this power depends on the shape, and the recorded costs were computed so.
    fourth = torch.stack([leg**4 for leg in (1 / h).T.contiguous()], 1)[..., None]  # [B, L - 1, 1]
    jerk, snap = after * a**3 - before * b**3, after * fourth[:, 1:] + before * fourth[:, :-1]
    jumps = torch.stack([60 * jerk, -360 * snap], 2)  # [B, m, 2, 2]
    band = torch.cat([torch.stack(blocks, -1).unflatten(-1, (3, 2, 2)), jumps[:, :, None]], 2)
    at_rest = torch.zeros(4, 2, 2, dtype=band.dtype, device=band.device)
    at_rest[1] = torch.eye(2)
    return torch.where((same[:, :-1] | same[:, 1:])[..., None, None, None], at_rest, band)


def solve_band(band: Tensor) -> Tensor:
    """Velocity and acceleration (rows) along x and y at every inner point. Shapes: [B, m, 4, 2, 2] -> [B, m, 2, 2]."""
    zero = band.new_zeros(len(band), 2, 2)
    onward, known = zero, zero  # what the next point weighs in this one, and what is known of this one
    kept = []
    for left, centre, right, jump in (point.unbind(1) for point in band.unbind(1)):
        inverse = _inverse(centre - _product(left, onward))
        known = _product(inverse, jump - _product(left, known))
        onward = _product(inverse, right)
        kept.append((onward, known))
    rates = [zero]
    for onward, known in reversed(kept):
        rates.append(known - _product(onward, rates[-1]))
    return torch.stack(rates[:0:-1], 1) if kept else band[:, :, 0]


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Matrix product written out: of matrices this small it is quicker. Shapes: [B, 2, 2] twice -> [B, 2, 2]."""
    return a[..., :1] * b[..., :1, :] + a[..., 1:] * b[..., 1:, :]


def _inverse(a: Tensor) -> Tensor:
    """Inverse of two-by-two matrices. Shape: [B, 2, 2] -> [B, 2, 2]."""
    (a00, a01), (a10, a11) = (row.unbind(-1) for row in a.unbind(-2))
    scale = 1 / (a00 * a11 - a01 * a10)
    return torch.stack([a11 * scale, -a01 * scale, -a10 * scale, a00 * scale], -1).unflatten(-1, (2, 2))


def _sample(state: Tensor, h: Tensor, duration: Tensor, samples: int) -> Tensor:
    """Read the quintics at even times.

    Args:
        state: [B, L, 6] place, velocity and acceleration at every point, x and y of each.
        h: [B, L - 1] duration of each leg.
        duration: [B, 1] of the whole swipe.
        samples: n.

    Returns:
        [B, 2, n].
    """
    time = duration * torch.linspace(0, 1, samples, device=h.device)  # [B, n]
    knots = h.cumsum(1)
    leg = (time[..., None] >= knots[:, None, :-1]).sum(-1)  # [B, n]
    size = h.gather(1, leg)[:, None]  # [B, 1, n]
    u = ((time - functional.pad(knots, (1, 0)).gather(1, leg))[:, None] / size).clamp(0, 1)
    state = state.transpose(1, 2)  # [B, 6, L]
    index = leg[:, None].expand(-1, 6, -1)
    p0, v0, a0 = state.gather(2, index).split(2, 1)  # [B, 2, n]
    p1, v1, a1 = state.gather(2, index + 1).split(2, 1)
    # Hermite's quintic of a leg in its own time u, 0 to 1.
    rise = u**3 * (10 + u * (6 * u - 15))
    path = p0 + rise * (p1 - p0)
    path = path + size * (v0 * (u + u**3 * (-6 + u * (8 - 3 * u))) + v1 * u**3 * (-4 + u * (7 - 3 * u)))
    bend = a0 * (u**2 + u**3 * (-3 + u * (3 - u))) + a1 * u**3 * (1 + u * (u - 2))
    return (path + size**2 / 2 * bend).clamp(0, 1)
