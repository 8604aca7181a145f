"""Whether a probability means what it says: of the words given 80 %, four in five should be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

BINS = 15  # equally wide, as is usual for the expected calibration error


class Bin(NamedTuple):
    """Best candidates whose probabilities lie near each other.

    Attributes:
        swipes: how many there are.
        said: their mean probability, 0 to 1.
        right: the share of them that was right.
    """

    swipes: int
    said: float
    right: float


def reliability(said: Sequence[float] | np.ndarray, right: Sequence[bool] | np.ndarray, bins: int = BINS) -> list[Bin]:
    """What was said beside what came true, in bins of equal width; empty ones are left out. Shape: [n], [n]."""
    said, right = np.asarray(said, dtype=np.float64), np.asarray(right, dtype=np.float64)
    which = np.minimum((said * bins).astype(int), bins - 1)
    chosen = [which == index for index in np.unique(which)]
    return [Bin(int(rows.sum()), float(said[rows].mean()), float(right[rows].mean())) for rows in chosen]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Expected calibration error in percent: how far the bins lie from the diagonal, by their size."""
    total = sum(part.swipes for part in bins)
    return 100 * sum(part.swipes * abs(part.said - part.right) for part in bins) / total if total else 0.0
