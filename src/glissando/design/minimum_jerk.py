"""The exact swipes of ``glissando.synth`` for a batch of any words at once, in torch, where the search needs them.

The spline's system couples a point only with its neighbours, two unknowns each. So it is solved by elimination
along the word, a few operations on the whole batch per letter, instead of by a dense solver for each word.
"""

from __future__ import annotations

import torch
from torch import Tensor

from glissando.synth import DWELL_MS, LEG_MS, LEG_POWER, TAP_MS

Pair = tuple[Tensor, Tensor]  # a vector of two, each a batch
Square = tuple[Tensor, Tensor, Tensor, Tensor]  # a matrix of two by two, row by row, each a batch


def leg_times(points: Tensor, size_mm: Tensor) -> Tensor:
    """Milliseconds for every leg, a dwell where the finger stays. Shapes: [..., L, 2], [2] -> [..., L - 1]."""
    length = (points.diff(dim=-2) * size_mm).square().sum(-1)  # squared, so that the root of zero is never taken
    moved = length > 0
    return torch.where(moved, LEG_MS * torch.where(moved, length, 1.0) ** (LEG_POWER / 2), DWELL_MS)


def minimum_jerk_paths(
    points: Tensor, lengths: Tensor, size_mm: Tensor, samples: int = 64, fused: bool = False
) -> Tensor:
    """Paths as ``synth.word_paths`` makes them.

    Args:
        points: [B, L, 2] key centres in the unit square; beyond a word's length the last one again, L >= 2.
        lengths: [B] letters of each word, at least 1.
        size_mm: [2] width and height of the letter area.
        samples: n, even in time.
        fused: eliminate in one kernel; it needs spline_kernel.py imported, and a GPU.

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
    step = points.diff(dim=1)  # [B, L - 1, 2]
    rest = _repeated(step)
    if fused:
        velocity, acceleration = torch.ops.glissando.spline_rates(step, h, rest).split(2, 2)
    else:
        velocity, acceleration = _rates(step, h, rest)
    return _sample(points, velocity, acceleration, h, 1 / mean, samples)


def _repeated(step: Tensor) -> Tensor:
    """Where the finger rests: at the ends of legs that go nowhere. Shape: [B, L - 1, 2] -> [B, L]."""
    same = (step == 0).all(-1)
    none = torch.zeros_like(same[:, :1])
    return torch.cat([none, same], 1) | torch.cat([same, none], 1)


def _rates(step: Tensor, h: Tensor, rest: Tensor) -> tuple[Tensor, Tensor]:
    """Velocity and acceleration at every point, by block elimination. Shapes: as above -> [B, L, 2] twice."""
    zero = torch.zeros_like(h[:, 0])
    last = h.shape[1]
    carried: list[tuple[Square, Pair, Pair]] = []  # per inner point: what the next one weighs, and what is known
    square: Square = (zero, zero, zero, zero)
    known: tuple[Pair, Pair] = ((zero, zero), (zero, zero))
    for i in range(1, last):
        before, after = h[:, i - 1], h[:, i]
        left, centre, right = _coupling(before, after)
        inverse = _inverse(_minus(centre, _product(left, square)))
        free = (~rest[:, i]).to(h.dtype)
        inverse = tuple(part * free for part in inverse)  # type: ignore[assignment]
        jumps = (_jump(step[:, i - 1, axis], step[:, i, axis], before, after) for axis in (0, 1))
        known = tuple(  # type: ignore[assignment]
            _apply(inverse, tuple(a - b for a, b in zip(jump, _apply(left, old), strict=True)))  # type: ignore[arg-type]
            for jump, old in zip(jumps, known, strict=True)
        )
        square = _product(inverse, right)
        carried.append((square, *known))
    return _substitute(carried, zero)


def _substitute(carried: list[tuple[Square, Pair, Pair]], zero: Tensor) -> tuple[Tensor, Tensor]:
    """Go back from the last point, at rest, to the first. Shape: [B, L, 2] velocities, then accelerations."""
    rates: list[tuple[Pair, Pair]] = [((zero, zero), (zero, zero))]
    for square, *known in reversed(carried):
        here = tuple(
            tuple(a - b for a, b in zip(old, _apply(square, later), strict=True))
            for old, later in zip(known, rates[-1], strict=True)
        )
        rates.append(here)  # type: ignore[arg-type]
    rates.append(((zero, zero), (zero, zero)))
    rates.reverse()
    velocity, acceleration = (
        torch.stack([torch.stack([x[part], y[part]], 1) for x, y in rates], 1) for part in (0, 1)
    )  # [B, L, 2]
    return velocity, acceleration


def _coupling(before: Tensor, after: Tensor) -> tuple[Square, Square, Square]:
    """What the left neighbour, a point and the right one weigh in its two equations: same jerk, same snap."""
    b, a = 1 / before, 1 / after
    left = (-24 * b**2, -3 * b, -168 * b**3, -24 * b**2)
    centre = (36 * (a**2 - b**2), 9 * (a + b), -192 * (a**3 + b**3), 36 * (b**2 - a**2))
    right = (24 * a**2, -3 * a, -168 * a**3, 24 * a**2)
    return left, centre, right


def _jump(first: Tensor, second: Tensor, before: Tensor, after: Tensor) -> Pair:
    """Right side of a point's two equations for one axis."""
    b, a = 1 / before, 1 / after
    return 60 * (second * a**3 - first * b**3), -360 * (second * a**4 + first * b**4)


def _sample(
    points: Tensor, velocity: Tensor, acceleration: Tensor, h: Tensor, duration: Tensor, samples: int
) -> Tensor:
    """Read the quintics at even times. Shapes: [B, L, 2] three times, [B, L - 1], [B, 1] -> [B, 2, n]."""
    time = duration * torch.linspace(0, 1, samples, device=h.device)  # [B, n]
    knots = h.cumsum(1)
    leg = (time[..., None] >= knots[:, None, :-1]).sum(-1)  # [B, n]
    size = h.gather(1, leg)[:, None]  # [B, 1, n]
    u = ((time - torch.nn.functional.pad(knots, (1, 0)).gather(1, leg))[:, None] / size).clamp(0, 1)
    state = torch.cat([points, velocity, acceleration], 2).transpose(1, 2)  # [B, 6, L]
    index = leg[:, None].expand(-1, 6, -1)
    p0, v0, a0 = state.gather(2, index).split(2, 1)  # [B, 2, n]
    p1, v1, a1 = state.gather(2, index + 1).split(2, 1)
    # Hermite's quintic of a leg in its own time u, 0 to 1.
    rise = u**3 * (10 + u * (6 * u - 15))
    path = p0 + rise * (p1 - p0)
    path = path + size * (v0 * (u + u**3 * (-6 + u * (8 - 3 * u))) + v1 * u**3 * (-4 + u * (7 - 3 * u)))
    bend = a0 * (u**2 + u**3 * (-3 + u * (3 - u))) + a1 * u**3 * (1 + u * (u - 2))
    return (path + size**2 / 2 * bend).clamp(0, 1)


def _product(a: Square, b: Square) -> Square:
    return (
        a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3],
    )  # fmt: skip


def _minus(a: Square, b: Square) -> Square:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]


def _apply(a: Square, v: Pair) -> Pair:
    return a[0] * v[0] + a[1] * v[1], a[2] * v[0] + a[3] * v[1]


def _inverse(a: Square) -> Square:
    scale = 1 / (a[0] * a[3] - a[1] * a[2])
    return a[3] * scale, -a[1] * scale, -a[2] * scale, a[0] * scale
