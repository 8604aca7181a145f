"""Search a box of constants for the best, in an Optuna study that many processes can share and resume.

A worker proposes constants with a tree-structured Parzen estimator of its own, tries a batch of them, and writes
what came out to the study's storage, where the other workers read it. A trial is written when it is finished, so
what a worker had begun when it was stopped is simply not there, and the same command goes on from what is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from glissando.errors import ScoringError
from glissando.evaluation.ledger import Ledger, Point, load_optuna

if TYPE_CHECKING:
    import optuna

EDGE = 0.02  # an optimum within this share of the range from its end may lie beyond it
MAX_WIDENINGS = 8  # a range 256 times as wide is no oversight: the response is flat
EXTRA = 2  # a widened search makes 1 / EXTRA of its trials again

STARTUP = 50  # trials at random before the estimator begins

# The estimator slows with every trial it looks at. Its good ones are the 25 best whatever there are; a sample of the
# others shows where they lie as well as all of them do: after 1,500 trials on How We Swipe, 450 others reach a tt1mm5
# of 94.64 to 94.67 (four seeds), all of them 94.66 (two seeds), 200 others 94.61 to 94.65 (two seeds).
REMEMBERED_BEST = 50
REMEMBERED_OTHERS = 450

Progress = Callable[[int, int], None]
Objective = Callable[[dict[str, float]], float]


@dataclass(frozen=True)
class Range:
    """Where to look for a constant.

    Attributes:
        low, high: the ends to begin with.
        lowest, highest: how far it makes sense to widen them.
    """

    low: float
    high: float
    lowest: float = -math.inf
    highest: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ScoringError(f"a range needs two ends, the lower first, got {self.low} and {self.high}")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def widened(self, value: float) -> Range:
        """Twice as wide on the side where ``value`` lies near the end or beyond it; the same where it lies inside."""
        span = self.high - self.low
        if value < self.low + EDGE * span:
            return replace(self, low=max(self.low - span, self.lowest))
        if value > self.high - EDGE * span:
            return replace(self, high=min(self.high + span, self.highest))
        return self


Space = Mapping[str, Range]


@dataclass(frozen=True)
class Plan:
    """A search to make.

    Attributes:
        space: the constants and where to look for them.
        trials: how many to try, all workers together.
        seed: repeats a search made by one worker in one go.
        storage: URL of the study's storage; None keeps it in memory.
        name: the study's name there.
        batch: trials between two looks at the storage. More is faster, and workers learn later from each other.
    """

    space: Space
    trials: int
    seed: int = 0
    storage: str | None = None
    name: str = "glissando"
    batch: int = 1

    def __post_init__(self) -> None:
        if not self.space:
            raise ScoringError("there is no constant to tune")
        if self.trials < 1 or self.batch < 1:
            raise ScoringError(f"a search needs trials and a batch of 1 or more, got {self.trials} and {self.batch}")


@dataclass(frozen=True)
class Found:
    """What a search came to.

    Attributes:
        best: the constants with the highest value; of equals, those tried first.
        value: theirs.
        space: where was looked, in the end.
        widened: one sentence for every time that an end was moved, in order.
        history: every trial that counts, in order.
        resumed: how many of them were there before this process joined.
    """

    best: dict[str, float]
    value: float
    space: dict[str, Range]
    widened: tuple[str, ...]
    history: tuple[Point, ...]
    resumed: int


@dataclass(frozen=True)
class Schedule:
    """Where to look and how many trials to make, given what was found so far."""

    space: dict[str, Range]
    goal: int
    widened: tuple[str, ...] = ()


def schedule(plan: Plan, history: Sequence[Point]) -> Schedule:
    """Widen the space wherever a finished search ended at an edge.

    Depends on nothing but the trials in their order, so every worker comes to the same.
    """
    now = Schedule(dict(plan.space), plan.trials)
    while len(history) >= now.goal and len(now.widened) < MAX_WIDENINGS * len(plan.space):
        best = _best(history[: now.goal])
        space = {name: end.widened(best.constants[name]) for name, end in now.space.items()}
        moved = tuple(
            f"{name}: the best of {now.goal} trials, {best.constants[name]:.4g}, lies at the edge of "
            f"{old.low:.4g} to {old.high:.4g}; widened to {space[name].low:.4g} to {space[name].high:.4g}"
            for name, old in now.space.items()
            if space[name] != old
        )
        if not moved:
            break
        now = Schedule(space, now.goal + max(plan.trials // EXTRA, 1), now.widened + moved)
    return now


def maximise(objective: Objective, plan: Plan, start: Mapping[str, float], progress: Progress | None = None) -> Found:
    """Search a space, beginning at ``start`` where that lies in it, alone or with other workers.

    Args:
        objective: constants to the value to maximise.
        plan: the search.
        start: the constants of the first trial.
        progress: called with (trials done by all workers, trials to make).
    """
    ledger = Ledger(plan.storage, plan.name)
    history = ledger.points()
    resumed, worker, batches = len(history), None, 0
    begin: list[dict[str, float]] = []
    while True:
        now = schedule(plan, history)
        if progress:
            progress(min(len(history), now.goal), now.goal)
        if len(history) >= now.goal:
            counted = tuple(history[: now.goal])
            best = _best(counted)
            return Found(best.constants, best.value, now.space, now.widened, counted, min(resumed, now.goal))
        if worker is None:
            worker = ledger.join()
            if worker == 0 and all(start[name] in end for name, end in now.space.items()):
                begin = [{name: start[name] for name in now.space}]
        proposer = _Proposer(now.space, history, plan, (plan.seed, worker, batches))
        made: list[Point] = []
        try:
            for _ in range(min(plan.batch, now.goal - len(history))):
                made.append(proposer.step(objective, begin.pop() if begin else None))
        finally:  # an interruption too
            ledger.write(made, {name: (end.low, end.high) for name, end in now.space.items()}, now.goal)
        history, batches = ledger.points(), batches + 1


def _best(history: Sequence[Point]) -> Point:
    """The highest value; ``max`` keeps the first of equals."""
    return max(history, key=lambda point: point.value)


class _Proposer:
    """A tree-structured Parzen estimator in memory that has seen the trials worth seeing."""

    def __init__(self, space: Space, history: Sequence[Point], plan: Plan, seed: tuple[int, ...]) -> None:
        optuna = load_optuna()
        sampled, chosen = np.random.SeedSequence(seed).generate_state(2)
        # Several constants at once: length bonus and exponent depend on each other.
        sampler = optuna.samplers.TPESampler(
            seed=int(sampled), multivariate=True, n_startup_trials=min(STARTUP, max(plan.trials // 4, 1))
        )
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._space: dict[str, Any] = {
            name: optuna.distributions.FloatDistribution(end.low, end.high) for name, end in space.items()
        }
        inside = [point for point in history if all(point.constants[name] in end for name, end in space.items())]
        for point in _remembered(inside, np.random.default_rng(int(chosen))):
            self._study.add_trial(self._finished(point))

    def step(self, objective: Objective, fixed: dict[str, float] | None = None) -> Point:
        """Try constants, ``fixed`` where given, and learn from them."""
        if fixed is not None:
            point = Point(fixed, objective(fixed))
            self._study.add_trial(self._finished(point))
            return point
        trial = self._study.ask(self._space)
        point = Point(dict(trial.params), objective(dict(trial.params)))
        self._study.tell(trial, point.value)
        return point

    def _finished(self, point: Point) -> optuna.trial.FrozenTrial:
        constants = {name: point.constants[name] for name in self._space}
        return load_optuna().create_trial(params=constants, distributions=self._space, value=point.value)


def _remembered(history: Sequence[Point], rng: np.random.Generator) -> list[Point]:
    """The best trials, and a sample of the others in their order."""
    if len(history) <= REMEMBERED_BEST + REMEMBERED_OTHERS:
        return list(history)
    order = np.argsort([-point.value for point in history], kind="stable")
    others = rng.choice(order[REMEMBERED_BEST:], REMEMBERED_OTHERS, replace=False)
    return [history[i] for i in sorted([*order[:REMEMBERED_BEST].tolist(), *others.tolist()])]
