"""How the error falls with more data: a power law through a few runs, and how far it can be trusted beyond them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from glissando.errors import GlissandoError

EXPONENTS = np.arange(-60, 400) / 200  # below zero more data do harm, which an interval must be able to say


@dataclass(frozen=True)
class PowerLaw:
    """An error of floor + factor * (n / reference) ** -exponent.

    Attributes:
        floor: what no amount of data removes.
        factor: the rest of the error, at ``reference``.
        exponent: how fast that falls.
        reference: the most data it was fitted to.
    """

    floor: float
    factor: float
    exponent: float
    reference: float

    def at(self, amounts: np.ndarray | float) -> np.ndarray:
        """The error with so much data. Shape: [...] -> [...]."""
        return self.floor + self.factor * (np.asarray(amounts, dtype=np.float64) / self.reference) ** -self.exponent


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """A fitted law, and what the bootstrap makes of it.

    Attributes:
        law: fitted to all swipes.
        amounts: [m] of data.
        low, high: [m] the 95 % interval of the error with so much data, on other swipes of the kind.
        gain_low, gain_high: [m] the same of how much lower it is than with ``law.reference``. Most of what makes a
            set of swipes easy or hard cancels here.
    """

    law: PowerLaw
    amounts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gain_low: np.ndarray
    gain_high: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        """How much lower the error is than with ``law.reference``. Shape: [m]."""
        return self.law.at(self.law.reference) - self.law.at(self.amounts)


def fit_power_law(amounts: Sequence[float] | np.ndarray, errors: np.ndarray, *, floor: bool = False) -> PowerLaw:
    """Fit a power law by least squares, each error counting by its own binomial spread.

    Args:
        amounts: [R] of data, positive.
        errors: [R] shares between 0 and 1.
        floor: whether some of the error may stay for good.
    """
    amounts, errors = np.asarray(amounts, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    least = 3 if floor else 2
    if len(amounts) != len(errors) or len(np.unique(amounts)) < least:
        raise GlissandoError(
            f"a power law needs errors at {least} amounts of data or more, got {len(errors)} at {amounts.tolist()}"
        )
    if (amounts <= 0).any():
        raise GlissandoError(f"amounts of data must be positive, got {amounts.tolist()}")
    floors, factors, exponents = _fit(amounts, errors[None], floor)
    return PowerLaw(float(floors[0]), float(factors[0]), float(exponents[0]), float(amounts.max()))


def extrapolate(
    amounts: Sequence[float] | np.ndarray,
    wrong: np.ndarray,
    owners: Sequence[Hashable],
    wanted: Sequence[float] | np.ndarray,
    *,
    floor: bool = False,
    seed_spread: float = 0.0,
    draws: int = 2000,
    seed: int = 0,
) -> Extrapolation:
    """Fit a law to the errors of several runs on the same swipes, with an interval.

    The bootstrap draws people, not swipes, since those of one person stand and fall together, and the same people for
    all runs. What another seed of training would have given is added as normal noise. That the error follows the law
    at all, beyond the runs, is taken for granted: fit both forms and believe no more than they agree on.

    Args:
        amounts: [R] data of each run.
        wrong: [R, n] bool, whether a run misreads a swipe.
        owners: [n] who made each swipe.
        wanted: [m] amounts to extrapolate to.
        floor: whether some of the error may stay for good.
        seed_spread: standard deviation of a run's error over seeds, as a share.
        draws: of the bootstrap.
        seed: of the draws.
    """
    wanted = np.asarray(wanted, dtype=np.float64)
    law = fit_power_law(amounts, wrong.mean(axis=1), floor=floor)
    people = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    number = np.array([people[owner] for owner in owners])
    sizes = np.bincount(number)
    missed = np.stack([np.bincount(number, run, len(people)) for run in wrong])  # [R, P]
    rng = np.random.default_rng(seed)
    times = rng.multinomial(len(people), np.full(len(people), 1 / len(people)), draws)  # [draws, P]
    errors = times @ missed.T / (times @ sizes)[:, None]
    errors = np.clip(errors + rng.normal(0, seed_spread, errors.shape), 1e-4, 1 - 1e-4)
    floors, factors, exponents = _fit(np.asarray(amounts, dtype=np.float64), errors, floor)
    curves = floors + factors * (wanted[:, None] / np.max(amounts)) ** -exponents  # [m, draws]
    low, high = np.percentile(curves, [2.5, 97.5], axis=1)
    gain_low, gain_high = np.percentile(floors + factors - curves, [2.5, 97.5], axis=1)
    return Extrapolation(law, wanted, low, high, gain_low, gain_high)


def _fit(amounts: np.ndarray, errors: np.ndarray, floor: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Floors, factors and exponents of many fits. Shape: [R], [D, R] -> [D] each.

    With the exponent given the other two are linear, so the exponent is searched on a grid.
    """
    weights = 1 / np.maximum(errors * (1 - errors), 1e-6)  # [D, R]
    best = np.full(len(errors), np.inf)
    found = np.zeros((3, len(errors)))
    total, mean = weights.sum(axis=1), (weights * errors).sum(axis=1)
    for exponent in EXPONENTS[EXPONENTS > 0] if floor else EXPONENTS:
        fall = (amounts / amounts.max()) ** -exponent  # [R]
        cross, square = (weights * fall).sum(axis=1), (weights * fall**2).sum(axis=1)
        product = (weights * fall * errors).sum(axis=1)
        base = np.zeros(len(errors))
        if floor:
            # Below zero, or with an error that rises, the best allowed fit has no floor.
            solved = (square * mean - cross * product) / np.maximum(total * square - cross**2, 1e-12)
            base = np.where((product - solved * cross > 0) & (solved > 0), solved, 0.0)
        factor = (product - base * cross) / square
        cost = (weights * (base[:, None] + factor[:, None] * fall - errors) ** 2).sum(axis=1)
        better = cost < best
        best = np.where(better, cost, best)
        found = np.where(better, np.stack([base, factor, np.full(len(errors), exponent)]), found)
    return found[0], found[1], found[2]
