"""Slow, obvious twins of fast code."""

from __future__ import annotations

import itertools
import math

import numpy as np

from glissando.beam import Pruning


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


def prefix_beam(
    log_probs: np.ndarray, bytes_of: dict[tuple[int, ...], int], pruning: Pruning
) -> tuple[dict[tuple[int, ...], float], float]:
    """CTC prefix beam over words, as docs/deployment.md describes it, with every prefix a tuple of labels.

    Args:
        log_probs: [T, L + 1], blank last; no frame counts as a sure blank.
        bytes_of: the frequency byte of each word.
        pruning: the constants.

    Returns:
        The log-probabilities of the words that are left, and by how little pruning was ever decided.
    """
    best: dict[tuple[int, ...], int] = {}
    for word, byte in bytes_of.items():
        for end in range(len(word) + 1):
            best[word[:end]] = max(best.get(word[:end], 0), byte)

    width = pruning.width

    def rank(prefix: tuple[int, ...], log_prob: float) -> float:
        weighed = log_prob / max(len(prefix), 1) ** pruning.exponent
        ahead = pruning.frequency * max(best[prefix], pruning.floor)
        return weighed + pruning.bonus * len(prefix) + ahead

    beam: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -1e30)}  # prefix: in blank, in its last letter
    closest = math.inf
    for frame in log_probs.astype(np.float64):
        *letters, blank = frame
        after = {
            prefix: (np.logaddexp(*ends) + blank, ends[1] + letters[prefix[-1]] if prefix else -1e30)
            for prefix, ends in beam.items()
        }
        worst = min(rank(prefix, max(ends)) for prefix, ends in after.items()) if len(beam) == width else -math.inf
        for prefix, ends in beam.items():
            for label, emission in enumerate(letters):
                child = (*prefix, label)
                reached = (ends[0] if prefix and label == prefix[-1] else np.logaddexp(*ends)) + emission
                if child in best and rank(child, reached) >= worst:
                    old = after.get(child, (-1e30, -1e30))
                    after[child] = (old[0], np.logaddexp(old[1], reached))
                if child in best and worst > -math.inf:
                    closest = min(closest, abs(rank(child, reached) - worst))
        order = sorted(after, key=lambda prefix: -rank(prefix, max(after[prefix])))
        if len(order) > width:
            kept, lost = (rank(prefix, max(after[prefix])) for prefix in order[width - 1 : width + 1])
            closest = min(closest, kept - lost)
        beam = {prefix: after[prefix] for prefix in order[:width]}
    return {prefix: float(np.logaddexp(*ends)) for prefix, ends in beam.items() if prefix in bytes_of}, closest
