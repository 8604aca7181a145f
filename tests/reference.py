"""Slow, obvious twins of fast code."""

from __future__ import annotations

import itertools
import math

import numpy as np


def collapse(alignment: tuple[int, ...], blank: int) -> tuple[int, ...]:
    """What a CTC alignment spells: repeats merged, then blanks dropped."""
    merged = [label for label, _ in itertools.groupby(alignment)]
    return tuple(label for label in merged if label != blank)


def spelled_log_probs(log_probs: np.ndarray) -> dict[tuple[int, ...], float]:
    """Log-probability of every label sequence, by walking through all alignments. Shape: [T, L + 1]."""
    frames, classes = log_probs.shape
    mass: dict[tuple[int, ...], float] = {}
    for alignment in itertools.product(range(classes), repeat=frames):
        probability = math.exp(sum(float(log_probs[t, label]) for t, label in enumerate(alignment)))
        spelled = collapse(alignment, classes - 1)
        mass[spelled] = mass.get(spelled, 0.0) + probability
    return {spelled: math.log(p) for spelled, p in mass.items() if p > 0}
