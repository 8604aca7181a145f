"""Climbers: layouts that are improved side by side, swap by swap, and set off anew from every summit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from glissando.design.config import SearchConfig
from glissando.design.task import DesignTask

GAIN = 1e-7  # nats; less than this is rounding, not a step


@dataclass
class Climber:
    """One layout on its way.

    Attributes:
        number: which climber it is, of all processes.
        dial: by which it climbs.
        slots: where it is.
        restarts: how often it has set off.
        home: the best summit since it last started anew, or None.
        home_cost: what that costs by the climber's dial.
        stale: summits since then that were no better.
        looked: swaps it has looked at since it last stepped, none of them better.
    """

    number: int
    dial: float
    slots: list[int]
    restarts: int = 0
    home: list[int] | None = None
    home_cost: float = float("inf")
    stale: int = 0
    looked: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        data = asdict(self)
        return {**data, "home_cost": None if self.home is None else self.home_cost}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Climber:
        """Read what ``to_dict`` gave."""
        return cls(**{**data, "home_cost": float("inf") if data["home_cost"] is None else data["home_cost"]})


class Party:
    """The climbers of one process. Everything random is seeded by climber and restart, so no random state is kept."""

    def __init__(self, task: DesignTask, config: SearchConfig, rank: int = 0) -> None:
        self.task, self.config = task, config
        numbers = range(rank * config.climbers, (rank + 1) * config.climbers)
        self.climbers = [Climber(number, self._dial(number), []) for number in numbers]
        for climber in self.climbers:
            climber.slots = self._set_off(climber)

    def _dial(self, number: int) -> float:
        """The first climbers of each process use the dial asked for, the others spread around it."""
        own = self.config.climbers - round(self.config.spread * self.config.climbers)
        if number % self.config.climbers < max(1, own):
            return self.config.dial
        rng = np.random.default_rng([self.config.seed, number])
        return max(self.config.dial, 0.25) * float(4 ** rng.uniform(-1, 1))

    def slots(self) -> np.ndarray:
        """Where all are. Shape: [R, K] int64."""
        return np.array([climber.slots for climber in self.climbers], dtype=np.int64)

    def dials(self) -> np.ndarray:
        """By which they climb. Shape: [R, 1]."""
        return np.array([[climber.dial] for climber in self.climbers])

    def allowed(self) -> np.ndarray:
        """Which swaps each may make without going too far from the start. Shape: [R, P] bool."""
        limit, swaps = self.task.max_swaps, self.task.swaps
        rows = np.ones((len(self.climbers), len(swaps)), dtype=bool)
        if limit is None:
            return rows
        for row, climber in zip(rows, self.climbers, strict=True):
            cycle = _cycles(self.task.start, climber.slots)
            if len(cycle) - cycle.max() - 1 >= limit:
                # Two symbols of one cycle come apart, one swap nearer to the start; of two cycles, one further.
                row[:] = cycle[swaps[:, 0]] == cycle[swaps[:, 1]]
        return rows

    def candidates(self, gains: np.ndarray) -> list[list[list[int]]]:
        """Where each climber may go: its best swap, then its best two that share no letter, and so on.

        Args:
            gains: [R, P] what each swap saves; -inf where it is not allowed.

        Returns:
            For every climber layouts, the first with one swap; itself where it may make none.
        """
        return [self._candidates(climber.slots, row) for climber, row in zip(self.climbers, gains, strict=True)]

    def _candidates(self, slots: list[int], gains: np.ndarray) -> list[list[int]]:
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

    def move(self, climber: Climber, cost: float, best: list[int], best_cost: float, looked: int) -> bool:
        """Take the best step; where no swap at all is better, note the summit and set off again.

        Args:
            climber: who.
            cost: of where it is.
            best: the best of where it may go.
            best_cost: what that costs.
            looked: how many swaps it has just looked at.

        Returns:
            Whether this was a summit.
        """
        if best_cost < cost - GAIN:
            climber.slots, climber.looked = best, 0
            return False
        climber.looked += looked
        if climber.looked < len(self.task.swaps):
            return False
        climber.looked = 0
        if cost < climber.home_cost - GAIN:
            climber.home, climber.home_cost, climber.stale = climber.slots, cost, 0
        else:
            climber.stale += 1
        if climber.stale >= self.config.patience:
            climber.home, climber.home_cost, climber.stale = None, float("inf"), 0
        climber.restarts += 1
        climber.slots = self._set_off(climber)
        return True

    def _set_off(self, climber: Climber) -> list[int]:
        """Where a climber begins: a few swaps from its best summit, or anywhere."""
        rng = np.random.default_rng([self.config.seed, climber.number, climber.restarts, 1])
        if climber.home is not None:
            return self._shaken(climber.home, rng)
        start = self.task.start
        if start is not None and climber.number == 0 and climber.restarts == 0:
            return list(start)
        if start is not None and self.task.max_swaps is not None:
            return self._shaken(list(start), rng)
        slots = np.array(start if start is not None else range(len(self.task.keys)))
        slots[self.task.free] = rng.permutation(slots[self.task.free])
        return slots.tolist()

    def _shaken(self, slots: list[int], rng: np.random.Generator) -> list[int]:
        """A layout a few random swaps away, none of them too far from the start."""
        for _ in range(int(rng.integers(self.config.kick[0], self.config.kick[1] + 1))):
            moved = swapped(slots, *self.task.swaps[rng.integers(len(self.task.swaps))].tolist())
            slots = slots if self._too_far(moved) else moved
        return slots

    def _too_far(self, slots: list[int]) -> bool:
        """Whether a layout is more swaps from the start than it may be."""
        if self.task.max_swaps is None:
            return False
        cycle = _cycles(self.task.start, slots)
        return len(cycle) - int(cycle.max()) - 1 > self.task.max_swaps


def swapped(slots: list[int], a: int, b: int) -> list[int]:
    """Slots with two symbols in each other's place."""
    moved = list(slots)
    moved[a], moved[b] = slots[b], slots[a]
    return moved


def _cycles(start: tuple[int, ...] | None, slots: list[int]) -> np.ndarray:
    """Which cycle of the permutation from ``start`` each symbol is in, counted from 0. Shape: [K].

    K less the number of cycles is the least number of swaps between the two.
    """
    assert start is not None
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
