"""Climbers: layouts that are improved side by side, swap by swap, and start again from every summit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np

from glissando.design.config import SearchConfig
from glissando.design.task import DesignTask

GAIN = 1e-7  # nats; a smaller gain is rounding, not a step


@dataclass
class Climber:
    """One layout that is being improved.

    Attributes:
        number: its number among the climbers of all processes.
        dial: the dial it climbs by.
        slots: where it is.
        restarts: how often it has started again.
        home: the best summit since it last started from scratch, or None.
        home_cost: the cost of that summit by the climber's dial.
        stale: summits since then that were no better.
        looked: swaps it has looked at since its last step; none of them was better.
    """

    number: int
    dial: float
    slots: list[int]
    restarts: int = 0
    home: list[int] | None = None
    home_cost: float = inf
    stale: int = 0
    looked: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; JSON has no infinity."""
        return {**asdict(self), "home_cost": None if self.home is None else self.home_cost}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Climber:
        """Read what ``to_dict`` gave."""
        return cls(**{**data, "home_cost": inf if data["home_cost"] is None else data["home_cost"]})


class Team:
    """The climbers of one process. Their random numbers are seeded by climber and restart: no random state is kept."""

    def __init__(self, task: DesignTask, config: SearchConfig, rank: int = 0) -> None:
        self.task, self.config = task, config
        numbers = range(rank * config.climbers, (rank + 1) * config.climbers)
        self.climbers = [Climber(number, self._dial(number), []) for number in numbers]
        for climber in self.climbers:
            climber.slots = self._new_start(climber)

    def _dial(self, number: int) -> float:
        """The search's dial for the first climbers of each process, dials around it for the others."""
        own = self.config.climbers - round(self.config.spread * self.config.climbers)
        if number % self.config.climbers < max(1, own):
            return self.config.dial
        rng = np.random.default_rng([self.config.seed, number])
        return max(self.config.dial, 0.25) * float(4 ** rng.uniform(-1, 1))

    def slots(self) -> np.ndarray:
        """Where all climbers are. Shape: [R, K] int64."""
        return np.array([climber.slots for climber in self.climbers], dtype=np.int64)

    def dials(self) -> np.ndarray:
        """Their dials. Shape: [R]."""
        return np.array([climber.dial for climber in self.climbers])

    def allowed(self) -> np.ndarray:
        """Which swaps keep each climber within ``max_swaps`` of the start. Shape: [R, P] bool."""
        swaps = self.task.swaps
        rows = np.ones((len(self.climbers), len(swaps)), dtype=bool)
        if self.task.start is None or self.task.max_swaps is None:
            return rows
        for row, climber in zip(rows, self.climbers, strict=True):
            cycle = cycles(self.task.start, climber.slots)
            if swaps_apart(cycle) >= self.task.max_swaps:
                # Swapping two symbols of one cycle splits it, one swap nearer to the start; of two cycles joins them.
                row[:] = cycle[swaps[:, 0]] == cycle[swaps[:, 1]]
        return rows

    def candidates(self, slots: list[int], gains: np.ndarray) -> list[list[int]]:
        """Where a climber may go: its best swap, its best two that share no letter, and so on.

        Args:
            slots: where it is.
            gains: [P] what each swap saves; -inf where it is not allowed.

        Returns:
            Layouts, the first with one swap; its own layout where no swap is allowed.
        """
        taken: set[int] = set()
        layouts: list[list[int]] = []
        for swap in np.argsort(-gains, kind="stable").tolist():
            pair = self.task.swaps[swap].tolist()
            if not np.isfinite(gains[swap]) or (layouts and gains[swap] <= GAIN) or len(layouts) == self.config.combos:
                break
            if taken.isdisjoint(pair):
                taken.update(pair)
                moved = swapped(layouts[-1] if layouts else slots, *pair)
                if layouts and self._too_far(moved):
                    break
                layouts.append(moved)
        return layouts or [slots]

    def move(self, climber: Climber, cost: float, best: list[int], best_cost: float) -> bool:
        """Go to the best candidate if it is better. At a summit, where no swap is better, start again.

        Args:
            climber: the climber; its ``looked`` counts the swaps just looked at.
            cost: of its layout.
            best: the best candidate.
            best_cost: its cost.

        Returns:
            Whether the climber was at a summit.
        """
        if best_cost < cost - GAIN:
            climber.slots, climber.looked = best, 0
            return False
        if climber.looked < len(self.task.swaps):
            return False
        climber.looked = 0
        if cost < climber.home_cost - GAIN:
            climber.home, climber.home_cost, climber.stale = climber.slots, cost, 0
        else:
            climber.stale += 1
        if climber.stale >= self.config.patience:
            climber.home, climber.home_cost, climber.stale = None, inf, 0
        climber.restarts += 1
        climber.slots = self._new_start(climber)
        return True

    def _new_start(self, climber: Climber) -> list[int]:
        """Where a climber begins: a few swaps from its best summit, or anywhere."""
        rng = np.random.default_rng([self.config.seed, climber.number, climber.restarts, 1])
        if climber.home is not None:
            return self._shaken(climber.home, rng)
        start = self.task.start
        if start is not None and climber.number == 0 and climber.restarts == 0:
            return list(start)
        if start is not None and self.task.max_swaps is not None:
            return self._shaken(list(start), rng)
        slots = np.array(start if start is not None else range(self.task.size))
        slots[self.task.free] = rng.permutation(slots[self.task.free])
        return slots.tolist()

    def _shaken(self, slots: list[int], rng: np.random.Generator) -> list[int]:
        """A layout a few random swaps away and within ``max_swaps`` of the start."""
        for _ in range(int(rng.integers(self.config.kick[0], self.config.kick[1] + 1))):
            moved = swapped(slots, *self.task.swaps[rng.integers(len(self.task.swaps))].tolist())
            slots = slots if self._too_far(moved) else moved
        return slots

    def _too_far(self, slots: list[int]) -> bool:
        """Whether a layout is more than ``max_swaps`` from the start."""
        start, limit = self.task.start, self.task.max_swaps
        return start is not None and limit is not None and swaps_apart(cycles(start, slots)) > limit


def swapped(slots: list[int], a: int, b: int) -> list[int]:
    """Slots with two symbols swapped."""
    moved = list(slots)
    moved[a], moved[b] = slots[b], slots[a]
    return moved


def cycles(start: Sequence[int], slots: Sequence[int]) -> np.ndarray:
    """Each symbol's cycle in the permutation from ``start`` to ``slots``, counted from 0. Shape: [K]."""
    owner = {slot: symbol for symbol, slot in enumerate(start)}
    cycle = np.full(len(slots), -1)
    count = 0
    for first in range(len(slots)):
        symbol = first
        while cycle[symbol] < 0:
            cycle[symbol] = count
            symbol = owner[slots[symbol]]
        count += cycle[first] == count
    return cycle


def swaps_apart(cycle: np.ndarray) -> int:
    """The least number of swaps between two layouts: K less the number of cycles between them."""
    return len(cycle) - int(cycle.max()) - 1
