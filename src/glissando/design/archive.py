"""The layouts that a search keeps: the best, and the front between clarity and travel."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from glissando.design.task import DesignTask
from glissando.errors import DesignError, LayoutError
from glissando.files import write_whole
from glissando.layout import Layout

BIN = 0.004  # seconds of travel: of layouts closer than this on the front, the clearest is kept


@dataclass(frozen=True)
class Price:
    """What a layout costs: nats and seconds per word."""

    clarity: float
    travel: float

    def total(self, dial: float) -> float:
        """Clarity plus ``dial`` nats for each second."""
        return self.clarity + dial * self.travel

    def describe(self, dial: float) -> str:
        """The total and its two parts, for people."""
        return f"{self.total(dial):.4f} = {self.clarity:.4f} nats + {dial:g} x {self.travel:.4f} s"


@dataclass(frozen=True)
class Arrangement(Price):
    """A layout of a search, by the slots of its symbols, and what it costs."""

    slots: tuple[int, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Arrangement:
        """Read what ``dataclasses.asdict`` and JSON make of an arrangement."""
        return cls(data["clarity"], data["travel"], tuple(data["slots"]))


@dataclass
class Archive:
    """The best layouts by one dial, and the clearest for every travel time.

    Attributes:
        dial: nats per second.
        keep: how many of the best layouts to keep.
        best: the best layouts, best first.
        bins: the clearest layout of each bin of travel time.
    """

    dial: float
    keep: int
    best: list[Arrangement] = field(default_factory=list)
    bins: dict[int, Arrangement] = field(default_factory=dict)

    def add(self, slots: np.ndarray, clarity: np.ndarray, travel: np.ndarray) -> bool:
        """Consider layouts; True where one of them is the best so far. Shapes: [n, K], [n], [n]."""

        def arrangement(row: int) -> Arrangement:
            return Arrangement(float(clarity[row]), float(travel[row]), tuple(slots[row].tolist()))

        total = clarity + self.dial * travel
        before = self.best[0].total(self.dial) if self.best else np.inf
        bar = self.best[-1].total(self.dial) if len(self.best) == self.keep else np.inf
        for row in np.argsort(total, kind="stable")[: self.keep].tolist():
            if total[row] >= bar:
                break
            self.add_best(arrangement(row))
        bins = (travel / BIN).astype(np.int64)
        order = np.lexsort((clarity, bins))
        clearest = order[np.append(True, np.diff(bins[order]) != 0)]  # the first row of every bin
        for row in clearest.tolist():
            old = self.bins.get(int(bins[row]))
            if old is None or clarity[row] < old.clarity:
                self.bins[int(bins[row])] = arrangement(row)
        return self.best[0].total(self.dial) < before

    def add_best(self, one: Arrangement) -> None:
        """Put a layout among the best, if it belongs there and is new."""
        if all(other.slots != one.slots for other in self.best):
            self.best = sorted([*self.best, one], key=lambda each: (each.total(self.dial), each.slots))[: self.keep]

    def merge(self, other: Archive) -> None:
        """Consider the layouts that another archive keeps."""
        for one in other.best:
            self.add_best(one)
        for travel, one in other.bins.items():
            if travel not in self.bins or one.clarity < self.bins[travel].clarity:
                self.bins[travel] = one

    def front(self) -> list[Arrangement]:
        """Layouts that no other beats in both clarity and travel, quickest first."""
        return undominated(self.bins.values())

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"best": [asdict(one) for one in self.best], "bins": [asdict(one) for one in self.bins.values()]}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take back what ``to_dict`` gave."""
        for entry in data["best"]:
            self.add_best(Arrangement.from_dict(entry))
        for entry in data["bins"]:
            one = Arrangement.from_dict(entry)
            self.bins[int(one.travel / BIN)] = one


def undominated(arrangements: Iterable[Arrangement]) -> list[Arrangement]:
    """Those that no other beats in both clarity and travel, quickest first."""
    front: list[Arrangement] = []
    for one in sorted(arrangements, key=lambda each: (each.travel, each.clarity)):
        if not front or one.clarity < front[-1].clarity:
            front.append(one)
    return front


@dataclass(frozen=True)
class FrontLayout(Price):
    """A layout of the front and what it costs, as the search judged it."""

    layout: Layout


@dataclass(frozen=True)
class Front:
    """The front of a finished search, the quickest layout first.

    Attributes:
        layouts: its layouts.
        dial: nats per second, the search's.
        best: the price of the search's best layout.
        peers: the prices of known layouts it was compared with.
    """

    layouts: tuple[FrontLayout, ...]
    dial: float
    best: Price
    peers: dict[str, Price]

    @classmethod
    def read(cls, folder: Path) -> Front:
        """Read front.json and search.json of a search's directory."""
        try:
            points = json.loads((folder / "front.json").read_bytes())
            account = json.loads((folder / "search.json").read_bytes())
            layouts = [FrontLayout(*_costs(point), Layout.from_dict(point["layout"], "front")) for point in points]
            peers = {str(name): Price(*_costs(peer)) for name, peer in account["peers"].items()}
            dial, best = float(account["config"]["dial"]), Price(*_costs(account))
            if not layouts:
                raise ValueError("front.json is empty")
        except (OSError, ValueError, LookupError, TypeError, AttributeError, LayoutError) as error:
            raise DesignError(f"{folder} holds no front of a search: {error}") from None
        return cls(tuple(sorted(layouts, key=lambda one: one.travel)), dial, best, peers)


def write_front(folder: Path, front: Sequence[Arrangement], task: DesignTask, name: str) -> None:
    """Write front.json; each layout is named after its travel time in milliseconds."""
    points = [
        {
            "clarity": one.clarity,
            "travel": one.travel,
            "layout": task.layout(one.slots, f"{name}-{round(1000 * one.travel)}").to_dict(),
        }
        for one in front
    ]
    write_json(folder / "front.json", points)


def letter_rows(layout: Layout) -> list[str]:
    """The letters of each row, from the top."""
    return ["".join(layout.letters[key] for key in row) for row in layout.rows]


def write_json(path: Path, data: Any) -> None:
    """Write a file that people may read, whole or not at all."""
    write_whole(path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())


def _costs(entry: Mapping[str, Any]) -> tuple[float, float]:
    """Clarity and travel of an entry of either file."""
    clarity, travel = float(entry["clarity"]), float(entry["travel"])
    if not (math.isfinite(clarity) and math.isfinite(travel)):
        raise ValueError(f"costs must be finite, got {clarity} and {travel}")
    return clarity, travel
