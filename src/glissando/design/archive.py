"""What a search has found: the best layouts, and the front between clarity and travel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

BIN = 0.004  # seconds of travel: on the front, of layouts nearer than this the clearest is kept

Slots = tuple[int, ...]


@dataclass(frozen=True)
class Price:
    """What a layout costs: nats and seconds per word."""

    clarity: float
    travel: float

    def total(self, dial: float) -> float:
        """Clarity plus ``dial`` nats for each second."""
        return self.clarity + dial * self.travel


@dataclass(frozen=True)
class Found(Price):
    """A layout of a search, by the slots of its letters, and what it costs."""

    slots: Slots


@dataclass
class Archive:
    """The best layouts by one dial, and for every travel time the clearest.

    Attributes:
        dial: nats per second.
        keep: best layouts to keep.
        best: them, best first.
        bins: the clearest layout of each bin of travel time.
    """

    dial: float
    keep: int
    best: list[Found] = field(default_factory=list)
    bins: dict[int, Found] = field(default_factory=dict)

    def add(self, slots: np.ndarray, clarity: np.ndarray, travel: np.ndarray) -> bool:
        """Look at layouts, and say whether one of them is the best so far. Shapes: [n, K], [n], [n]."""
        total = clarity + self.dial * travel
        before = self.best[0].total(self.dial) if self.best else np.inf
        bar = self.best[-1].total(self.dial) if len(self.best) == self.keep else np.inf
        for row in np.argsort(total, kind="stable")[: self.keep].tolist():
            if total[row] >= bar:
                break
            self.keep_best(self._found(slots, clarity, travel, row))
        self._fill_bins(slots, clarity, travel)
        return self.best[0].total(self.dial) < before

    def keep_best(self, found: Found) -> None:
        """Put a layout among the best, if it is one of them and not there."""
        if all(other.slots != found.slots for other in self.best):
            self.best = sorted([*self.best, found], key=lambda one: (one.total(self.dial), one.slots))[: self.keep]

    def front(self) -> list[Found]:
        """Layouts that none beats in both clarity and travel, quickest first."""
        front: list[Found] = []
        for found in sorted(self.bins.values(), key=lambda one: (one.travel, one.clarity)):
            if not front or found.clarity < front[-1].clarity:
                front.append(found)
        return front

    def _fill_bins(self, slots: np.ndarray, clarity: np.ndarray, travel: np.ndarray) -> None:
        """Keep the clearest layout of every bin."""
        where = (travel / BIN).astype(np.int64)
        order = np.lexsort((clarity, where))
        first = order[np.append(True, where[order][1:] != where[order][:-1])]
        for row in first.tolist():
            old = self.bins.get(int(where[row]))
            if old is None or clarity[row] < old.clarity:
                self.bins[int(where[row])] = self._found(slots, clarity, travel, row)

    @staticmethod
    def _found(slots: np.ndarray, clarity: np.ndarray, travel: np.ndarray, row: int) -> Found:
        return Found(float(clarity[row]), float(travel[row]), tuple(slots[row].tolist()))

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "best": [_plain(found) for found in self.best],
            "bins": [_plain(found) for found in self.bins.values()],
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Take back what ``to_dict`` gave."""
        for entry in data["best"]:
            self.keep_best(_read(entry))
        for entry in data["bins"]:
            found = _read(entry)
            self.bins[int(found.travel / BIN)] = found


def _plain(found: Found) -> dict[str, Any]:
    return {"slots": list(found.slots), "clarity": found.clarity, "travel": found.travel}


def _read(entry: dict[str, Any]) -> Found:
    return Found(entry["clarity"], entry["travel"], tuple(entry["slots"]))
