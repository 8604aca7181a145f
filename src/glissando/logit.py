"""A conditional logit: the weights under which the alternatives that were chosen are likeliest.

Each choice has some alternatives, and each alternative a row of values. The softmax of the weighted sums over the
alternatives of a choice is their probability. The cost is convex in the weights, so a few Newton steps solve it.

n choices, h alternatives in all, C columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RIDGE = 1e-4  # on standardised weights: keeps a constant column from running away
STEPS = 30


@dataclass(frozen=True, eq=False)
class Prior:
    """A Gaussian prior: ``penalty * (weight - centre)^2`` is added to the mean cost.

    Attributes:
        penalty: [C], not negative.
        centre: [C].
    """

    penalty: np.ndarray
    centre: np.ndarray

    def cost(self, weights: np.ndarray) -> float:
        """What the prior adds to the cost. Shape: [C] -> scalar."""
        return float(np.sum(self.penalty * (weights - self.centre) ** 2))

    def slope(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What it adds to gradient and curvature. Shape: [C] -> [C], [C, C]."""
        return 2 * self.penalty * (weights - self.centre), np.diag(2 * self.penalty)


class Choices:
    """Choices among alternatives, laid end to end.

    Attributes:
        values: [h, C].
        starts: [n] where each choice's alternatives begin; none is empty.
        owner: [h] the choice of each alternative.
        targets: [n] index among the h of the alternative that was chosen.
    """

    def __init__(self, values: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> None:
        """Lay choices out; ``sizes`` are the [n] numbers of alternatives."""
        self.values = values
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.targets = targets

    def shares(self, weights: np.ndarray) -> np.ndarray:
        """The probability of every alternative within its choice. Shape: [C] -> [h]."""
        scores = self.values @ weights
        scores -= np.maximum.reduceat(scores, self.starts)[self.owner]
        mass = np.exp(scores)
        return mass / np.add.reduceat(mass, self.starts)[self.owner]

    def cost(self, weights: np.ndarray) -> float:
        """Mean cross-entropy of what was chosen, in nats. Shape: [C] -> scalar."""
        return float(-np.log(np.maximum(self.shares(weights)[self.targets], 1e-300)).mean())

    def slope(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and curvature of the cost. Shape: [C] -> [C], [C, C]."""
        shares = self.shares(weights)
        mean = np.add.reduceat(shares[:, None] * self.values, self.starts)  # [n, C]
        n = len(self.starts)
        gradient = (mean - self.values[self.targets]).mean(axis=0)
        centred = self.values - mean.take(self.owner, axis=0)
        return gradient, (shares[:, None] * centred).T @ centred / n


def fit_weights(
    parts: Sequence[Choices],
    weights: np.ndarray,
    shares: Sequence[float] | None = None,
    prior: Prior | None = None,
    ridge: float = RIDGE,
) -> np.ndarray:
    """The weights of least cost, by Newton steps that are halved where they go uphill.

    Args:
        parts: sets of choices, at least one; each counts by its share, however large it is.
        weights: [C] where to start.
        shares: how much each part counts; by default all the same.
        prior: a Gaussian prior on the weights, if any.
        ridge: a penalty on the square of standardised weights.

    Returns:
        [C] weights.
    """
    spread = np.mean([part.values.std(axis=0) for part in parts], axis=0) + 1e-9
    shares = [1.0] * len(parts) if shares is None else shares

    def cost(weights: np.ndarray) -> float:
        penalty = ridge / 2 * np.sum((weights * spread) ** 2)
        mean = float(np.average([part.cost(weights) for part in parts], weights=shares) + penalty)
        return mean if prior is None else mean + prior.cost(weights)

    def slope(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = [part.slope(weights) for part in parts]
        gradient = np.average([slope[0] for slope in slopes], axis=0, weights=shares) + ridge * weights * spread**2
        curvature = np.average([slope[1] for slope in slopes], axis=0, weights=shares) + ridge * np.diag(spread**2)
        if prior is None:
            return gradient, curvature
        more = prior.slope(weights)
        return gradient + more[0], curvature + more[1]

    before = cost(weights)
    for _ in range(STEPS):
        gradient, curvature = slope(weights)
        step = np.linalg.solve(curvature, gradient)
        # Far from the optimum a whole step can go uphill; so small a step is as good as none.
        while (after := cost(weights - step)) > before + 1e-12 and np.abs(step * spread).max() > 1e-6:
            step = step / 2
        weights, before = weights - step, after
        if np.abs(step * spread).max() < 1e-6:
            break
    return weights
