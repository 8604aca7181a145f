"""A finger's points, checked, and resampled to the path the encoder reads.

Coordinates are fractions of the letter area: (0, 0) the top left corner of the
top letter row, (1, 1) the bottom right corner of the bottom one. Times are in
milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from glissando.errors import GestureError

PATH_POINTS = 64  # T_in of the report
FRAME_MS = 1000 / 60  # the modal sampling rate of phones, 60 Hz
MAX_DURATION_MS = 24 * 3600 * 1000.0


@dataclass(frozen=True, eq=False)
class Gesture:
    """One finger's path, as recorded.

    Attributes:
        x: [n] horizontal positions, fractions of the letter area's width.
        y: [n] vertical positions, fractions of its height, growing downwards.
        t: [n] milliseconds, never decreasing.
    """

    x: np.ndarray
    y: np.ndarray
    t: np.ndarray

    def __post_init__(self) -> None:
        for name in ("x", "y", "t"):
            object.__setattr__(self, name, _column(name, getattr(self, name)))
        lengths = {len(self.x), len(self.y), len(self.t)}
        if len(lengths) > 1:
            raise GestureError(f"x, y and t differ in length: {len(self.x)}, {len(self.y)}, {len(self.t)}")
        if not len(self.x):
            raise GestureError("a gesture needs at least one point, got none")
        backwards = np.flatnonzero(self.t[1:] < self.t[:-1])
        if len(backwards):
            i = int(backwards[0])
            raise GestureError(f"time runs backwards at point {i + 1}: {self.t[i]:g} ms, then {self.t[i + 1]:g} ms")
        if not self.duration <= MAX_DURATION_MS:
            raise GestureError(f"a gesture lasts {self.duration:g} ms; more than a day is no gesture")

    @classmethod
    def from_points(cls, points: Iterable[Sequence[float]] | np.ndarray) -> Gesture:
        """Make a gesture of (x, y, t_ms) triples or an [n, 3] array.

        >>> Gesture.from_points([(0.1, 0.5, 0), (0.2, 0.5, 16)]).duration
        16.0
        """
        try:
            array = np.asarray(points if isinstance(points, np.ndarray) else list(points), dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise GestureError(f"points must be (x, y, t) numbers: {error}") from None
        if array.size == 0:
            raise GestureError("a gesture needs at least one point, got none")
        if array.ndim != 2 or array.shape[1] != 3:
            raise GestureError(f"points must be (x, y, t) triples, got an array of shape {array.shape}")
        return cls(array[:, 0], array[:, 1], array[:, 2])

    def __len__(self) -> int:
        return len(self.x)

    @property
    def duration(self) -> float:
        """Milliseconds from the first point to the last."""
        return float(self.t[-1]) - float(self.t[0])

    def path(self, points: int = PATH_POINTS) -> np.ndarray:
        """Resample to the encoder's input. Shape: [2, points], float32 in [0, 1]."""
        return resample(self, points)


Points: TypeAlias = Gesture | Iterable[Sequence[float]] | np.ndarray


def as_gesture(points: Points) -> Gesture:
    """Return ``points`` as a Gesture, whatever form they come in."""
    return points if isinstance(points, Gesture) else Gesture.from_points(points)


def resample(gesture: Gesture, points: int = PATH_POINTS) -> np.ndarray:
    """Bring a gesture to 60 Hz, then to ``points`` samples even in index, clipped to the unit square.

    Both steps are linear interpolations, the second between the samples of the first, as the report's encoder reads
    them. They are composed here, so only the 60 Hz samples that matter are computed. A tap (one point, or no
    duration) becomes a constant path.

    Returns:
        [2, points] float32.
    """
    t = gesture.t - gesture.t[0]
    frames = max(2, round(gesture.duration / FRAME_MS) + 1)  # samples at 60 Hz
    step = gesture.duration / (frames - 1)
    where = np.linspace(0, frames - 1, points)  # [points] in units of those samples
    before = np.minimum(np.floor(where), frames - 2)
    weight = where - before
    first, second = before * step, (before + 1) * step
    axes = [
        np.interp(first, t, axis) * (1 - weight) + np.interp(second, t, axis) * weight
        for axis in (gesture.x, gesture.y)
    ]
    return np.clip(axes, 0, 1).astype(np.float32)


def resample_batch(gestures: Sequence[Gesture], points: int = PATH_POINTS) -> np.ndarray:
    """Resample many gestures. Shape: [B, 2, points] float32."""
    paths = np.empty((len(gestures), 2, points), dtype=np.float32)
    for row, gesture in enumerate(gestures):
        paths[row] = resample(gesture, points)
    return paths


def _column(name: str, values: object) -> np.ndarray:
    """Check one coordinate column and return it as a read-only float64 array."""
    try:
        column = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise GestureError(f"{name} must be numbers: {error}") from None
    if column.ndim != 1:
        raise GestureError(f"{name} must be a flat list of numbers, got shape {column.shape}")
    bad = np.flatnonzero(~np.isfinite(column))
    if len(bad):
        value = float(column[bad[0]])
        raise GestureError(f"{name}[{int(bad[0])}] is {'NaN' if math.isnan(value) else value}; points must be finite")
    column.setflags(write=False)
    return column
