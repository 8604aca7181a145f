"""How peaky emissions are: whether a letter is a spike among blanks, or spread over the frames it is meant in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

SILENT = 0.9  # a frame with more than this on blank says nothing


@dataclass(frozen=True)
class Peakiness:
    """What the emissions of many swipes are like.

    Attributes:
        entropy: mean over frames, in nats.
        silent: share of frames with more than ``SILENT`` on blank, in percent.
        peak: mean over the letters meant of the largest probability that each has in any frame.
        mass: mean over swipes of the emitted mass per letter.
        under: share of swipes that emit less than one per letter, which the report's penalty is on, in percent.
    """

    entropy: float
    silent: float
    peak: float
    mass: float
    under: float

    def to_dict(self) -> dict[str, float]:
        """The JSON form."""
        return asdict(self)


def measure_peakiness(log_probs: np.ndarray, labels: Sequence[Sequence[int]]) -> Peakiness:
    """Measure emissions.

    Args:
        log_probs: [n, T, L + 1] log-emissions, blank last.
        labels: for each swipe the letters meant, as indices into the emissions; at least one.
    """
    probs = np.exp(log_probs)
    # An impossible letter adds nothing, whatever its logarithm.
    entropy = -np.where(probs > 0, probs * np.maximum(log_probs, -1e3), 0.0).sum(axis=-1, dtype=np.float64)
    best = probs.max(axis=1)  # [n, L + 1]
    peaks = np.concatenate([best[i, list(word)] for i, word in enumerate(labels)])
    mass = mass_per_letter(log_probs, [len(word) for word in labels])
    return Peakiness(
        entropy=float(entropy.mean()),
        silent=100 * float(np.mean(probs[..., -1] > SILENT)),
        peak=float(peaks.mean(dtype=np.float64)),
        mass=float(mass.mean()),
        under=100 * float(np.mean(mass < 1)),
    )


def mass_per_letter(log_probs: np.ndarray, lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    """What every swipe emits in all, the sum of 1 - p(blank), over the letters meant.

    With the factorised blank it is the sum of the gate, which equation 7 holds against the word's length.

    Args:
        log_probs: [n, T, L + 1], blank last.
        lengths: [n] letters meant.

    Returns:
        [n] float64.
    """
    emitted = -np.expm1(np.minimum(log_probs[..., -1].astype(np.float64), 0))  # [n, T]
    return np.asarray(emitted.sum(axis=1) / np.asarray(lengths))
