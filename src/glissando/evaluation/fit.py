"""Fit the constants of search and score to swipes: by cross-entropy, or by an Optuna search as in the report.

The cross-entropy fit finds the scoring constants under which the words meant are likeliest. With the two non-linear
constants fixed (length exponent, frequency floor) the score is linear in the rest, so the softmax over a beam is a
conditional logit (logit.py). Its scale is the temperature, so the probabilities come out calibrated. The two
non-linear constants are found on a grid, whose costs have one valley.

The Optuna searches maximise recall for the pruning constants, and tt1mm5 for the scoring constants in the report's
protocol. Every corpus counts the same, however large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from glissando.errors import ScoringError
from glissando.evaluation.beams import StoredBeams, SwipeSet, as_scoring, join_beams
from glissando.evaluation.study import Plan, Progress, Range, Space, StudyResult, maximise
from glissando.logit import Choices, fit_weights
from glissando.scoring import Scoring
from glissando.shark2 import Shark2Constants

LINEAR = ("frequency_weight", "length_bonus", "location_weight", "shape_weight", "matcher_weight", "context_weight")
GRID = {  # the non-linear constants, and the values that are tried
    "length_exponent": tuple(0.1 * step for step in range(-2, 11)),
    "frequency_floor": (0.0, 30.0, 45.0, 60.0, 75.0, 90.0),
}
START = {"length_exponent": 8, "frequency_floor": 3}  # in the grid: an exponent of 0.6 and a floor of 60, as in English
TOLD = {"context_weight": "gains", "matcher_weight": "matches"}  # the weights of columns that may be missing
CONSTANTS = (*GRID, *LINEAR)
FLAT = tuple(name for name in CONSTANTS if name not in ("location_weight", "shape_weight"))  # without geometry

# Wide enough that no optimum seen so far lies on an edge; if one does, the search widens its range.
PRUNING_SPACE: Space = {
    "pruning_exponent": Range(-0.5, 1.5),
    "pruning_bonus": Range(-1.0, 4.0),
    "pruning_frequency": Range(0.0, 0.1, lowest=0.0),
}
SCORING_SPACE: Space = {
    "length_exponent": Range(-0.5, 1.5),
    "frequency_weight": Range(-0.02, 0.15),
    "length_bonus": Range(-2.0, 6.0),
}
FURTHER_SPACE: Space = {  # constants beyond equation 3
    "frequency_floor": Range(0.0, 150.0, lowest=0.0, highest=255.0),
    "location_weight": Range(-1.0, 10.0),
    "shape_weight": Range(-2.0, 25.0),
    "matcher_weight": Range(0.0, 3.0),
    "context_weight": Range(0.0, 4.0),
}
SHARK2_SPACE: Space = {"location_weight": Range(0.0, 40.0), "frequency_weight": Range(-0.02, 0.25)}


def fit_scoring(
    beams: Sequence[StoredBeams],
    scoring: Scoring,
    constants: Sequence[str] = CONSTANTS,
    shares: Sequence[float] | None = None,
) -> Scoring:
    """The scoring constants that make the targets of some corpora likeliest, and the temperature that goes with them.

    Args:
        beams: stored beams of each corpus, with distances where a geometric weight counts.
        scoring: the constants that are not fitted.
        constants: which to fit, of ``CONSTANTS``; none fits the temperature alone. The weight of context keeps its
            value where no swipe has a text before it, that of the matcher where it was not asked.
        shares: how much each corpus counts; by default all the same.
    """
    silent = [name for name, column in TOLD.items() if not any(getattr(part, column).any() for part in beams)]
    linear = [name for name in LINEAR if name in constants and name not in silent]
    grid = [name for name in GRID if name in constants]
    fits: dict[tuple[int, ...], tuple[Scoring, float]] = {}

    def cost(place: tuple[int, ...]) -> float:
        if place not in fits:
            values = {name: GRID[name][index] for name, index in zip(grid, place, strict=True)}
            fits[place] = _fit_linear(beams, scoring.changed(values), linear, shares)
        return fits[place][1]

    best, here = tuple(START[name] for name in grid), None
    while best != here:  # down the grid, from neighbour to neighbour
        here = best
        best = min(_neighbours(here, [len(GRID[name]) for name in grid]), key=cost)
    if not np.isfinite(cost(best)):
        raise ScoringError("no scoring constants fit: the swipes contradict their labels")
    return fits[best][0]


def fit_matched(
    beams: Sequence[StoredBeams],
    scoring: Scoring,
    constants: Sequence[str] = CONSTANTS,
    shares: Sequence[float] | None = None,
) -> Scoring:
    """Fit ``scoring.matched`` to the swipes about which the matcher was asked; see ``fit_scoring``.

    Args:
        beams: from ``TuningSet.matched_beams`` with these constants.
        scoring: the constants for all other swipes, which stay.
        constants: which to fit; the others are those of the other swipes.
        shares: how much each corpus counts.
    """
    doubtful = [part.select(part.asked) for part in beams]
    matched = fit_scoring(doubtful, replace(scoring, matched=None), constants, shares)
    return replace(scoring, matched=matched)


def cross_entropy(beams: StoredBeams, scoring: Scoring) -> float:
    """Mean negative log-probability of the targets that are in their beams, in nats."""
    return _choices(beams, beams.logits(scoring)[:, None]).cost(np.ones(1))


def choose_constants(names: Sequence[str]) -> Space:
    """The ranges of some scoring constants; an error lists the known ones."""
    known = {**SCORING_SPACE, **FURTHER_SPACE}
    for name in names:
        if name not in known:
            raise ScoringError(f"no scoring constant {name!r} to tune; there are {', '.join(known)}")
    return {name: known[name] for name in dict.fromkeys(names)}


def search_corpus(parts: Sequence[SwipeSet], scoring: Scoring, measured: bool = False) -> StoredBeams:
    """The beams of one corpus; words that swipes on several layouts mean count together."""
    return join_beams([part.beams(scoring, measured) for part in parts])


def search_pruning(
    corpora: Sequence[Sequence[SwipeSet]], scoring: Scoring, plan: Plan, progress: Progress | None = None
) -> StudyResult:
    """The pruning constants that keep the most targets in the beam: recall in percent, the mean over the corpora."""

    def recall(choice: dict[str, float]) -> float:
        held = [np.concatenate([part.held(scoring.changed(choice)) for part in parts]) for parts in corpora]
        return float(np.mean([100 * np.mean(swipes) for swipes in held]))

    return maximise(recall, plan, asdict(scoring), progress)


def search_scoring(
    beams: Sequence[StoredBeams], scoring: Scoring, plan: Plan, progress: Progress | None = None
) -> StudyResult:
    """The scoring constants with the highest tt1mm5."""
    return maximise(lambda choice: mean_tt1mm5(beams, scoring.changed(choice)), plan, asdict(scoring), progress)


def search_shark2(
    beams: Sequence[StoredBeams], constants: Shark2Constants, plan: Plan, progress: Progress | None = None
) -> StudyResult:
    """SHARK2's weights with the highest tt1mm5; radii, shape and ends keep their values, as in the report."""

    def reached(choice: dict[str, float]) -> float:
        return mean_tt1mm5(beams, as_scoring(replace(constants, **choice)))  # type: ignore[arg-type]

    return maximise(reached, plan, asdict(constants), progress)


def mean_tt1mm5(beams: Sequence[StoredBeams], scoring: Scoring) -> float:
    """tt1mm5 in percent, the mean over the corpora."""
    return float(np.mean([part.accuracy(scoring)["tt1mm5"] for part in beams]))


def _neighbours(place: tuple[int, ...], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """A place on a grid and the places around it, itself first."""
    places: list[tuple[int, ...]] = [()]
    for index, size in zip(place, sizes, strict=True):
        places = [(*head, index + step) for head in places for step in (0, -1, 1) if 0 <= index + step < size]
    return places


def _fit_linear(
    beams: Sequence[StoredBeams], scoring: Scoring, names: Sequence[str], shares: Sequence[float] | None
) -> tuple[Scoring, float]:
    """The best linear weights and temperature, and their cross-entropy."""
    parts = [_choices(part, _columns(part, scoring, names)) for part in beams]
    shares = [1.0] * len(parts) if shares is None else shares
    weights = fit_weights(parts, np.array([1.0] + [0.0] * len(names)), shares)
    if weights[0] <= 0:  # the evidence would count against a word: no ranking
        return scoring, np.inf
    values = dict(zip(names, (weights[1:] / weights[0]).tolist(), strict=True))
    cost = float(np.average([part.cost(weights) for part in parts], weights=shares))
    return scoring.changed({**values, "temperature": float(1 / weights[0])}), cost


def _columns(beams: StoredBeams, scoring: Scoring, names: Sequence[str]) -> np.ndarray:
    """The score without the named terms, then each of those terms for a weight of one. Shape: [H, 1 + names]."""
    rest = beams.scores(scoring.changed(dict.fromkeys(names, 0.0)))
    silent = replace(beams, log_probs=np.zeros_like(beams.log_probs))
    alone = scoring.changed(dict.fromkeys(LINEAR, 0.0))
    return np.column_stack([rest, *(silent.scores(alone.changed({name: 1.0})) for name in names)])


def _choices(beams: StoredBeams, values: np.ndarray) -> Choices:
    """The beams that hold their target, as choices among rows of values. Shape: values [H, C]."""
    held = beams.places >= 0
    sizes = np.diff(beams.offsets)
    rows = np.repeat(held, sizes)
    where = np.cumsum(rows) - 1
    return Choices(values[rows], sizes[held], where[beams.places[held]])
