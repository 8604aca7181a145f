"""The record of a run: metrics.jsonl, the clock of its schedule, and the check for NaN."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glissando.errors import TrainingError
from glissando.train.world import World

Report = Callable[[dict[str, Any]], None]


class Clock:
    """The progress of a run: by steps, or by time where it has a budget, whichever is further.

    The first step, which compiles, uses up budget but does not move the schedule. ``agree`` gives all processes the
    leading one's time.

    Args:
        steps: of the whole schedule.
        max_seconds: the budget, 0 for none.
        world: the processes.
        spent: seconds that an earlier part of the run took.
        set_up: of those, seconds that did not move the schedule.
    """

    def __init__(self, steps: int, max_seconds: float, world: World, spent: float = 0.0, set_up: float = 0.0) -> None:
        self.steps, self.max_seconds, self.world = steps, max_seconds, world
        self.set_up = set_up
        self.agreed = spent
        self.began = time.monotonic() - spent

    def seconds(self) -> float:
        """Seconds of the run up to now; with several processes, up to when they last agreed."""
        return time.monotonic() - self.began if self.world.size == 1 else self.agreed

    def agree(self) -> None:
        """Read the clock for all processes."""
        self.agreed = self.world.leading(time.monotonic() - self.began)

    def count_set_up(self, seconds: float) -> None:
        """Count time that does not move the schedule."""
        self.set_up += self.world.leading(seconds)
        self.agree()

    def progress(self, step: int) -> float:
        """Share of the schedule that is over after ``step`` steps."""
        by_steps = step / self.steps
        if not self.max_seconds:
            return by_steps
        room = self.max_seconds - self.set_up
        by_time = (self.seconds() - self.set_up) / room if room > 0 else 1.0
        return min(1.0, max(by_steps, by_time))


@dataclass
class Journal:
    """Collects the measures of every step on the device, and reads them when asked.

    Attributes:
        path: the metrics.jsonl.
        world: the processes; their measures are averaged, the leading one writes.
        room: most steps between two readings.
        names: the measures of a step, in order.
        report: called with every line.
    """

    path: Path
    world: World
    room: int
    names: tuple[str, ...]
    report: Report | None = None
    pending: int = 0
    timed: int = 0
    since: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.measures = torch.zeros(self.room, len(self.names), device=self.world.device)

    def note(self, measures: list[Tensor]) -> None:
        """Keep one step's measures, without waiting for them."""
        self.measures[self.pending] = torch.stack(measures)
        self.pending += 1
        self.timed += 1

    @property
    def full(self) -> bool:
        """Whether the measures must be read before the next step."""
        return self.pending == self.room

    def restart_clock(self) -> None:
        """Start measuring the speed anew."""
        self.since, self.timed = time.perf_counter(), 0

    def read(self, step: int, swipes_per_step: int) -> dict[str, float]:
        """Wait for the measures of the steps up to ``step``, check and average them, and add the speed."""
        window = self.measures[: self.pending]
        self.world.average([window])
        values = window.cpu()
        seconds = time.perf_counter() - self.since
        bad = torch.nonzero(~values.isfinite().all(dim=1))
        if len(bad):
            row = int(bad[0])
            pairs = zip(self.names, values[row].tolist(), strict=True)
            measured = ", ".join(f"{name} {value:g}" for name, value in pairs)
            raise TrainingError(f"training broke at step {step - self.pending + row + 1}: {measured}")
        speed = self.timed * swipes_per_step / max(seconds, 1e-9)
        means = dict(zip(self.names, values.mean(dim=0).tolist(), strict=True))
        self.pending = 0
        return {**means, "swipes_per_second": round(speed, 1)}

    def write(self, line: dict[str, Any]) -> None:
        """Add a line to metrics.jsonl and report it."""
        if self.world.leads:
            rounded = {name: _short(value) for name, value in line.items()}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rounded) + "\n")
            if self.report is not None:
                self.report(rounded)

    def rewind(self, step: int) -> None:
        """Drop lines after a step: a resumed run writes them again."""
        if self.world.leads and self.path.exists():
            lines = self.path.read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if _step_of(line) <= step]
            self.path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _step_of(line: str) -> float:
    """The step of a line; infinite for a line that was cut off when the run stopped."""
    try:
        return json.loads(line)["step"]
    except ValueError:
        return math.inf


def _short(value: Any) -> Any:
    """A number with six digits, for reading."""
    return float(f"{value:.6g}") if isinstance(value, float) and math.isfinite(value) else value
