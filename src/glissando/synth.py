"""Synthetic swipes for a word on a layout: the smoothest path through its keys, at a human pace.

The path minimises jerk (Flash & Hogan 1985) among all that pass the key centres at given times. The times come from
the line term of Cao & Zhai 2007. A finger with noise misses the centres and slows down at every key, as people do; its
swipes are about as hard to read as theirs. Good for demos, tests, figures and keyboard design, too regular to train on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glissando.errors import LayoutError
from glissando.gesture import PATH_POINTS, Gesture
from glissando.layout import Layout
from glissando.lexicon import typed_letters

WIDTH_MM = 63.0  # letter area of a phone in portrait, ten keys of 6.3 mm
RATE_HZ = 60.0  # the modal sampling rate of phones
DWELL_MS = 120.0  # rest on a doubled letter
TAP_MS = 80.0  # a word of one letter
LEG_MS, LEG_POWER = 68.8, 0.469  # Cao & Zhai: a straight leg of L millimetres takes 68.8 L^0.469 ms

# What people do, at noise 1 (How We Swipe). Offsets are standard deviations per axis, in key widths.
SHIFT = 0.15  # of the whole swipe; part of each offset below
START_OFFSET = 0.25  # touch-down
VIA_OFFSET = 0.20  # letters between the ends
END_OFFSET = 0.30  # lift-off
OVERSHOOT = 0.20  # mean and standard deviation of the way past the last key, along the track
SPEED_SPREAD = 0.33  # of the logarithm of a person's pace
LEG_SPREAD = 0.20  # of the logarithm of one leg's share
PAUSE = 0.7  # how much a finger slows down at a key: 0 passes smoothly, 1 stops


def leg_durations(points: np.ndarray, aspect: float, width_mm: float = WIDTH_MM) -> np.ndarray:
    """Milliseconds for every straight leg, the line term of Cao & Zhai.

    Args:
        points: [..., L, 2] points in fractions of the letter area.
        aspect: height over width of the letter area.
        width_mm: its width.

    Returns:
        [..., L - 1].
    """
    legs = np.diff(np.asarray(points, dtype=np.float64), axis=-2) * (width_mm, width_mm * aspect)
    return LEG_MS * np.hypot(legs[..., 0], legs[..., 1]) ** LEG_POWER


def quintic_spline(points: np.ndarray, durations: np.ndarray, rest: np.ndarray | None = None) -> np.ndarray:
    """Fit the minimum-jerk curve through points at given times, at rest at both ends.

    Between the points the curve is a quintic: its sixth derivative vanishes. At an inner point all derivatives but the
    fifth are continuous. So each inner point has two unknowns, velocity and acceleration, and two equations: jerk and
    snap are the same on both sides.

    Args:
        points: [..., L, D] with L >= 2; leading axes are a batch.
        durations: [..., L - 1] time of each leg, positive.
        rest: [..., L] True at inner points where the curve stands still.

    Returns:
        [..., L - 1, 6, D] coefficients of each leg in powers of the time since its start.
    """
    points = np.asarray(points, dtype=np.float64)
    duration = np.asarray(durations, dtype=np.float64)
    scale = duration.mean(axis=-1)[..., None, None]  # times near one keep the system well conditioned
    h = duration[..., None] / scale  # [..., L - 1, 1]
    step = np.diff(points, axis=-2)
    velocity, acceleration = np.zeros_like(points), np.zeros_like(points)
    inner = points.shape[-2] - 2
    if inner:
        matrix, jumps = _continuity(h[..., 0]), _jumps(step, h)
        if rest is not None:
            still = np.concatenate([rest[..., 1:-1]] * 2, axis=-1)[..., None]  # [..., 2 * inner, 1]
            matrix, jumps = np.where(still, np.eye(2 * inner), matrix), np.where(still, 0.0, jumps)
        rates = np.linalg.solve(matrix, jumps)  # [..., 2 * inner, D]
        velocity[..., 1:-1, :], acceleration[..., 1:-1, :] = rates[..., :inner, :], rates[..., inner:, :]
    v0, v1 = velocity[..., :-1, :], velocity[..., 1:, :]
    a0, a1 = acceleration[..., :-1, :], acceleration[..., 1:, :]
    cubic = 10 * step / h**3 - (6 * v0 + 4 * v1) / h**2 - (3 * a0 - a1) / (2 * h)
    quartic = -15 * step / h**4 + (8 * v0 + 7 * v1) / h**3 + (3 * a0 - 2 * a1) / (2 * h**2)
    fifth = 6 * step / h**5 - 3 * (v0 + v1) / h**4 - (a0 - a1) / (2 * h**3)
    powers = np.stack([points[..., :-1, :], v0, a0 / 2, cubic, quartic, fifth], axis=-2)  # [..., L - 1, 6, D]
    return powers / scale[..., None] ** np.arange(6)[:, None]


def _continuity(h: np.ndarray) -> np.ndarray:
    """Left side of the spline's system: jerk before minus after, then snap, at each inner point.

    Args:
        h: [..., L - 1] durations.

    Returns:
        [..., 2 m, 2 m] with m = L - 2, acting on m velocities followed by m accelerations.
    """
    before, after = h[..., :-1], h[..., 1:]  # [..., m]
    # For each quantity the weights of the left neighbour, the point itself and the right neighbour.
    jerk_v = (-24 / before**2, -36 / before**2 + 36 / after**2, 24 / after**2)
    jerk_a = (-3 / before, 9 / before + 9 / after, -3 / after)
    snap_v = (-168 / before**3, -192 / before**3 - 192 / after**3, -168 / after**3)
    snap_a = (-24 / before**2, 36 / before**2 - 36 / after**2, 24 / after**2)
    upper = np.concatenate([_tridiagonal(*jerk_v), _tridiagonal(*jerk_a)], axis=-1)
    lower = np.concatenate([_tridiagonal(*snap_v), _tridiagonal(*snap_a)], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


def _jumps(step: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Right side of the spline's system. Shape: [..., L - 1, D], [..., L - 1, 1] -> [..., 2 m, D]."""
    jerk, snap = 60 * step / h**3, 360 * step / h**4
    return np.concatenate([jerk[..., 1:, :] - jerk[..., :-1, :], -snap[..., 1:, :] - snap[..., :-1, :]], axis=-2)


def _tridiagonal(left: np.ndarray, centre: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Three diagonals of [..., m] as matrices [..., m, m]; the ends of the curve are at rest and drop out."""
    m = centre.shape[-1]
    matrix = np.zeros((*centre.shape, m))
    at = np.arange(m)
    matrix[..., at, at] = centre
    matrix[..., at[1:], at[:-1]] = left[..., 1:]
    matrix[..., at[:-1], at[1:]] = right[..., :-1]
    return matrix


def evaluate_spline(coefficients: np.ndarray, durations: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Evaluate splines at times since their start. Shape: [..., L - 1, 6, D], [..., L - 1], [..., n] -> [..., n, D]."""
    knots = np.cumsum(durations, axis=-1)
    past = times[..., None] >= knots[..., None, :-1]  # [..., n, L - 2] legs that are over
    leg = past.sum(axis=-1)[..., None]  # [..., n, 1]
    start = np.take_along_axis(np.concatenate([np.zeros_like(knots[..., :1]), knots], axis=-1), leg[..., 0], axis=-1)
    of_leg = np.take_along_axis(coefficients, leg[..., None], axis=-3)  # [..., n, 6, D]
    powers = (times - start)[..., None] ** np.arange(6)  # [..., n, 6]
    return np.einsum("...np,...npd->...nd", powers, of_leg)


def minimum_jerk(
    points: np.ndarray, durations: np.ndarray, rate_hz: float = RATE_HZ, pause: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sample the smoothest path through points, at rest at both ends and wherever a point is repeated.

    Args:
        points: [L, 2], L >= 2.
        durations: [L - 1] milliseconds of each leg, positive.
        rate_hz: samples per second; the end is a sample too.
        pause: how much the path slows down at every point, from 0 to 1. It is the mean of the smoothest path and of
            one that stops at every point, weighted by this; both pass each point at the same time.

    Returns:
        x [n], y [n] and t [n] in milliseconds.
    """
    points, durations = np.asarray(points, dtype=np.float64), np.asarray(durations, dtype=np.float64)
    end = float(durations.sum())
    times = np.append(np.arange(0.0, end - 1e-6, 1000 / rate_hz), end)
    spline = quintic_spline(points, durations, _repeated(points))
    if pause:
        spline = (1 - pause) * spline + pause * quintic_spline(points, durations, np.ones(len(points), dtype=bool))
    x, y = evaluate_spline(spline, durations, times).T
    return x, y, times


def _repeated(points: np.ndarray) -> np.ndarray:
    """Where a point is the same as one beside it. Shape: [..., L, 2] -> [..., L] bool."""
    same = np.all(points[..., 1:, :] == points[..., :-1, :], axis=-1)
    none = np.zeros_like(same[..., :1])
    return np.concatenate([none, same], axis=-1) | np.concatenate([same, none], axis=-1)


def word_paths(
    words: Sequence[str], layout: Layout, width_mm: float = WIDTH_MM, samples: int = PATH_POINTS
) -> np.ndarray:
    """The encoder's input for the exact swipes of many words. Shape: [B, 2, samples] float32.

    The curves are sampled at even times, without a device's 60 Hz in between, and clipped to the keyboard.
    """
    visited = [word_points(word, layout) for word in words]
    room = max(2, max((len(points) for points in visited), default=2))
    # A shorter word stays on its last key, so that words of any length make one batch.
    points = np.stack([np.pad(p, ((0, room - len(p)), (0, 0)), mode="edge") for p in visited])  # [B, L, 2]
    legs = leg_durations(points, layout.aspect, width_mm)
    durations = np.where(legs > 0, legs, DWELL_MS)  # [B, L - 1]
    over = np.arange(1, room) >= np.array([len(p) for p in visited])[:, None]
    end = np.where(over, 0.0, durations).sum(axis=1)
    end = np.where(end > 0, end, TAP_MS)
    times = end[:, None] * np.linspace(0, 1, samples)
    path = evaluate_spline(quintic_spline(points, durations, _repeated(points)), durations, times)
    return np.clip(path, 0, 1).swapaxes(1, 2).astype(np.float32)


def swipe(
    word: str,
    layout: Layout,
    rng: np.random.Generator | None = None,
    noise: float = 1.0,
    width_mm: float = WIDTH_MM,
) -> Gesture:
    """Make a swipe for a word: rests on doubled letters, a short tap for one letter.

    Args:
        word: characters without a key are typed or skipped as in a lexicon.
        layout: where the keys are.
        rng: draws human noise (missed centres, overshoot, pauses, pace); without it the swipe is exact.
        noise: how much noise; 1 is what people do.
        width_mm: width of the letter area; a wider keyboard takes longer.
    """
    points = word_points(word, layout)
    moved = np.append(True, np.any(points[1:] != points[:-1], axis=1))
    durations = np.where(moved[1:], leg_durations(points, layout.aspect, width_mm), DWELL_MS)
    pause = 0.0
    if rng is not None:
        points = _miss(points[moved], layout, rng, noise)[np.cumsum(moved) - 1]
        pace = rng.normal(0, SPEED_SPREAD) + rng.normal(0, LEG_SPREAD, len(durations))
        durations = durations * np.exp(noise * pace)
        pause = min(noise * PAUSE, 1.0)
    if len(points) == 1:
        points, durations = np.repeat(points, 2, axis=0), np.array([TAP_MS])
    return Gesture(*minimum_jerk(points, durations, pause=pause))


def word_points(word: str, layout: Layout) -> np.ndarray:
    """Key centres a finger visits for a word; of several keys with one letter the nearest. Shape: [L, 2] float64."""
    letters = typed_letters(word, frozenset(layout.letters))
    if not letters:
        raise LayoutError(f"layout {layout.name!r} has no key for any letter of {word!r}")
    scale = np.array([1.0, layout.aspect])
    path = [layout.centres[layout.keys_of[letters[0]][0]]]
    for letter in letters[1:]:
        choices = layout.centres[list(layout.keys_of[letter])]
        path.append(choices[np.argmin((((choices - path[-1]) * scale) ** 2).sum(axis=1))])
    return np.array(path, dtype=np.float64)


def _miss(points: np.ndarray, layout: Layout, rng: np.random.Generator, noise: float) -> np.ndarray:
    """Move key centres to where a finger goes instead. Shape: [L, 2] -> [L, 2]."""
    spread = np.full((len(points), 1), VIA_OFFSET)
    spread[-1], spread[0] = END_OFFSET, START_OFFSET
    own = np.sqrt(spread**2 - SHIFT**2)
    offset = SHIFT * rng.standard_normal(2) + own * rng.standard_normal(points.shape)  # [L, 2], in key widths
    scale = np.array([1.0, layout.aspect])
    if len(points) > 1:
        track = (points[-1] - points[-2]) * scale
        offset[-1] += rng.normal(OVERSHOOT, OVERSHOOT) * track / np.hypot(*track)
    return points + noise * offset * layout.key_size[0] / scale
