"""Fit the ranking by cross-entropy: the constants under which the words meant are likeliest.

With the two non-linear constants fixed (length exponent, frequency floor) the score is linear in the rest, so the
softmax over a beam is a conditional logit: convex, solved by a few Newton steps. Its scale is the temperature, so
the probabilities come out calibrated. The non-linear two are found on a grid, whose costs have one valley.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from glissando.errors import ScoringError
from glissando.evaluation.stored import StoredBeams
from glissando.scoring import Scoring

EXPONENTS = tuple(0.1 * step for step in range(-2, 11))
FLOORS = (0.0, 30.0, 45.0, 60.0, 75.0, 90.0)
START = (8, 3)  # in the grid of the two: an exponent of 0.6 and a floor of 60, where English lies
RIDGE = 1e-4  # on standardised weights: keeps a constant column from running away
STEPS = 30
TERMS = ("frequency_weight", "length_bonus", "location_weight", "shape_weight")


def fit_scoring(beams: Sequence[StoredBeams], scoring: Scoring, geometric: bool = True) -> Scoring:
    """The scoring constants that make the targets of some corpora likeliest, every corpus counting the same.

    Args:
        beams: stored beams of each corpus, with distances where ``geometric``.
        scoring: keeps its pruning constants.
        geometric: whether location and shape may count.
    """
    tried: dict[tuple[int, int], tuple[Scoring, float]] = {}

    def cost(place: tuple[int, int]) -> float:
        if place not in tried:
            shape = replace(scoring, length_exponent=EXPONENTS[place[0]], frequency_floor=FLOORS[place[1]])
            tried[place] = _fit_linear(beams, shape, geometric)
        return tried[place][1]

    best, here = START, None
    while best != here:  # down the grid, from neighbour to neighbour
        here = best
        best = min(_neighbours(here), key=cost)
    return tried[best][0]


def _neighbours(place: tuple[int, int]) -> list[tuple[int, int]]:
    """A place on the grid and the up to eight around it, itself first."""
    around = [(place[0] + i, place[1] + j) for i in (0, -1, 1) for j in (0, -1, 1)]
    return [(i, j) for i, j in around if 0 <= i < len(EXPONENTS) and 0 <= j < len(FLOORS)]


def fit_frequency_weight(beams: StoredBeams, scoring: Scoring) -> float:
    """The frequency weight that makes the targets likeliest, the other terms of the score as they are.

    The scale of all of them together is fitted too, and divided out: how sharp the evidence is on these swipes must
    not be taken for how much the frequency tells.
    """
    frequencies = np.maximum(beams.frequencies, scoring.frequency_floor).astype(np.float64)
    rest = beams.scores(replace(scoring, frequency_weight=0.0))
    held = _Held(beams, np.column_stack([rest, frequencies]))
    weights = _newton([held], np.array([1.0, scoring.frequency_weight]))
    if weights[0] <= 0:
        raise ScoringError("no frequency weight fits: the swipes speak against the words they were made for")
    return float(weights[1] / weights[0])


def cross_entropy(beams: StoredBeams, scoring: Scoring) -> float:
    """Mean negative log-probability of the targets that are in their beams, in nats."""
    held = _Held(beams, beams.scores(scoring)[:, None] / scoring.temperature)
    return held.cost(np.ones(1))


def _fit_linear(beams: Sequence[StoredBeams], scoring: Scoring, geometric: bool) -> tuple[Scoring, float]:
    """The best weights for a given exponent and floor, and their cross-entropy."""
    terms = TERMS if geometric else TERMS[:2]
    parts = [_Held(part, _columns(part, scoring)[:, : 1 + len(terms)]) for part in beams]
    weights = _newton(parts, np.array([1.0] + [0.0] * len(terms)))
    cost = float(np.mean([part.cost(weights) for part in parts]))
    if weights[0] <= 0:  # the evidence would count against a word: no ranking
        return scoring, np.inf
    values = dict(zip(terms, (weights[1:] / weights[0]).tolist(), strict=True))
    rest = dict.fromkeys(TERMS[len(terms) :], 0.0)
    return replace(scoring, **values, **rest, temperature=float(1 / weights[0])), cost


def _newton(parts: Sequence[_Held], weights: np.ndarray) -> np.ndarray:
    """The weights of least cost, every part counting the same. Shape: [C] -> [C]."""
    spread = np.mean([part.values.std(axis=0) for part in parts], axis=0) + 1e-9
    for _ in range(STEPS):
        slopes = [part.slope(weights) for part in parts]
        gradient = np.mean([slope[0] for slope in slopes], axis=0) + RIDGE * weights * spread**2
        curvature = np.mean([slope[1] for slope in slopes], axis=0) + RIDGE * np.diag(spread**2)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if np.abs(step * spread).max() < 1e-6:
            break
    return weights


def _columns(beams: StoredBeams, scoring: Scoring) -> np.ndarray:
    """The terms of the score, one per weight, the log-probability first. Shape: [H, 5]."""
    lengths = np.maximum(beams.lengths, 1).astype(np.float64)
    frequencies = np.maximum(beams.frequencies, scoring.frequency_floor)
    evidence = beams.log_probs / lengths**scoring.length_exponent
    return np.column_stack([evidence, frequencies, beams.lengths, -beams.distances])


class _Held:
    """The beams that hold their target, as a conditional logit over columns of values."""

    def __init__(self, beams: StoredBeams, values: np.ndarray) -> None:
        held = beams.places >= 0
        sizes = np.diff(beams.offsets)
        rows = np.repeat(held, sizes)
        self.values = values[rows]
        self.starts = np.concatenate([[0], np.cumsum(sizes[held])[:-1]])
        self.owner = np.repeat(np.arange(int(held.sum())), sizes[held])
        where = np.cumsum(rows) - 1
        self.targets = where[beams.places[held]]

    def shares(self, weights: np.ndarray) -> np.ndarray:
        """Softmax of the scores within each beam. Shape: [C] -> [h]."""
        scores = self.values @ weights
        scores -= np.maximum.reduceat(scores, self.starts)[self.owner]
        mass = np.exp(scores)
        return mass / np.add.reduceat(mass, self.starts)[self.owner]

    def cost(self, weights: np.ndarray) -> float:
        """Cross-entropy of the targets."""
        return float(-np.log(np.maximum(self.shares(weights)[self.targets], 1e-300)).mean())

    def slope(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and curvature of the cost. Shape: [C], [C, C]."""
        shares = self.shares(weights)
        mean = np.add.reduceat(shares[:, None] * self.values, self.starts)  # [n, C]
        n = len(self.starts)
        gradient = (mean - self.values[self.targets]).mean(axis=0)
        centred = self.values - mean[self.owner]
        return gradient, (shares[:, None] * centred).T @ centred / n
