"""A training run on disk, whatever is trained: its directory, its loop, its checkpoints and how it resumes.

A run is a directory: config.json (every setting), metrics.jsonl (what was measured), checkpoint.safetensors (everything
needed to go on) and, at the end, the trained network. A trainer implements ``Learner``; the rest is here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from glissando.errors import TrainingError
from glissando.train.config import TrainingSchedule
from glissando.train.journal import Clock, Journal, Report
from glissando.train.state import load_state, save_state
from glissando.train.world import World, join_world


@dataclass(frozen=True)
class Job:
    """What a training reads, where it writes, and how it is run.

    Attributes:
        pack: the corpus to train on, a pack or an .npz.
        out: the run's directory.
        val: a held-out corpus, or None.
        resume: go on from the checkpoint in ``out``, with the same config and corpus.
        device: "cuda" or "cpu"; by default a GPU where there is one.
        until: stop after this step with a checkpoint, to be resumed.
        report: called with every line of metrics.jsonl as it is written.
    """

    pack: Path
    out: Path
    val: Path | None = None
    resume: bool = False
    device: str | None = None
    until: int | None = None
    report: Report | None = None

    @contextmanager
    def world(self, *, tf32: bool) -> Iterator[World]:
        """Join the processes; the caller's random state is left as it was.

        Args:
            tf32: let float32 matrix products use TF32 on a GPU.
        """
        with join_world(self.device) as world:
            on_gpu = world.device.type == "cuda"
            if on_gpu and tf32:
                torch.set_float32_matmul_precision("high")
                torch.backends.cudnn.allow_tf32 = True
            with torch.random.fork_rng([world.device] if on_gpu else []):
                yield world


class Learner(Protocol):
    """A network in training, as a run sees it.

    Attributes:
        kind: the name of the result, such as "decoder".
        names: the measures of a step, in order.
        world: the processes.
        steps: length of the whole schedule.
        steps_per_epoch: length of one pass.
        identity: what a checkpoint must share with the run that resumes it, as JSON can hold it; "config" is in it.
    """

    kind: str
    names: tuple[str, ...]
    world: World
    steps: int
    steps_per_epoch: int
    identity: dict[str, Any]

    @property
    def config(self) -> TrainingSchedule:
        """The settings."""

    def since(self, step: int) -> Generator[Any, None, None]:
        """The batches of the steps from ``step`` on, without end."""

    def step(self, batch: Any, step: int, progress: float) -> list[Tensor]:
        """Train on a batch and return its measures, still on the device.

        Args:
            batch: from ``since``.
            step: its number, from 0.
            progress: share of the schedule that is over when this step is.
        """

    def rates(self, progress: float) -> dict[str, float]:
        """Learning rates at a share of the schedule, for metrics.jsonl."""

    def validate(self, step: int) -> dict[str, float]:
        """Measure on held-out swipes; every process calls it."""

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name; every process calls it."""

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``tensors`` gave."""

    def save(self, path: Path, extra: dict[str, Any]) -> None:
        """Write the trained network."""


class Run:
    """A learner, its directory, and the steps it has taken."""

    def __init__(self, learner: Learner, job: Job) -> None:
        self.learner, self.job, self.config, self.world = learner, job, learner.config, learner.world
        self.checkpoint, self.result = job.out / "checkpoint.safetensors", job.out / f"{learner.kind}.safetensors"
        self.clock = Clock(learner.steps, self.config.max_seconds, self.world)
        metrics = job.out / "metrics.jsonl"
        self.journal = Journal(metrics, self.world, self.config.log_every, learner.names, job.report)
        self.step = 0
        self.saved = 0, 0.0  # step and second of the last checkpoint

    def start(self) -> None:
        """Make the directory, or go back to the checkpoint in it."""
        if self.job.resume:
            self._resume()
        else:
            self._begin()

    def _begin(self) -> None:
        """Make the directory, unless a run is in it, and validate the untrained network."""
        if self.world.leads:
            config = self.job.out / "config.json"
            taken = [file for file in (config, self.checkpoint, self.result) if file.exists()]
            if taken:
                raise TrainingError(f"{taken[0]} exists; resume that run, or choose another directory")
            self.job.out.mkdir(parents=True, exist_ok=True)
            config.write_text(json.dumps(self.learner.identity, indent=2) + "\n", encoding="utf-8")
        self.world.wait()
        if measures := self.learner.validate(0):
            place = {"step": 0, "epoch": 0.0, "progress": 0.0, "seconds": self.clock.seconds()}
            self.journal.write({**place, **measures})

    def _resume(self) -> None:
        """Go back to the checkpoint, which must be of the same config and corpus."""
        tensors, info = load_state(self.checkpoint)
        if isinstance(info.get("config"), dict):  # settings that have been removed since are checked and dropped
            info["config"] = self.config.from_dict(info["config"]).to_dict()
        for name, mine in self.learner.identity.items():
            if difference := _difference(info.get(name), mine, name):
                raise TrainingError(f"{self.checkpoint} is of another run: {difference}")
        self.learner.restore(tensors)
        self.step = info["step"]
        spent = info["seconds"], info["set_up_seconds"]
        self.clock = Clock(self.learner.steps, self.config.max_seconds, self.world, *spent)
        self.saved = self.step, self.clock.seconds()
        self.journal.rewind(self.step)

    def go(self) -> dict[str, Any]:
        """Train to the end of the schedule, or to the job's last step; returns the last line of metrics.jsonl."""
        line: dict[str, Any] = {"step": self.step, "progress": self.clock.progress(self.step)}
        began = time.monotonic()
        over = self._is_over()
        self.journal.restart_clock()
        with closing(self.learner.since(self.step)) as batches:
            while not over:
                progress = self.clock.progress(self.step + 1)
                self.journal.note(self.learner.step(next(batches), self.step, progress))
                self.step += 1
                if began:
                    began = self._end_set_up(began)
                over = self._is_over()
                if over or self._is_due():
                    line = self._account(over)
        if self.clock.progress(self.step) >= 1 and self.world.leads:
            self.learner.save(self.result, {"training": self.learner.identity, "metrics": line})
        return line

    def _is_over(self) -> bool:
        """Whether the schedule or its time is at its end, or the job's last step is done."""
        return self.step == self.job.until or self.clock.progress(self.step) >= 1

    def _is_due(self) -> bool:
        """Whether the measures have to be read: the journal is full, or a validation or snapshot wants them."""
        return self.journal.full or any(
            map(self._ends_epochs, (self.config.validate_every, self.config.snapshot_every))
        )

    def _ends_epochs(self, every: int) -> bool:
        """Whether a number of epochs has just been completed."""
        return every > 0 and self.step % (every * self.learner.steps_per_epoch) == 0

    def _end_set_up(self, began: float) -> float:
        """Count the first step, which compiles, as set-up: in the time budget, but not in schedule or speed."""
        if self.world.device.type == "cuda":
            torch.cuda.synchronize(self.world.device)
        self.clock.count_set_up(time.monotonic() - began)
        self.journal.restart_clock()
        return 0.0

    def _account(self, over: bool) -> dict[str, Any]:
        """Read the measures, write them down, and do what is due: validate, keep a snapshot, save a checkpoint."""
        try:
            measures = self.journal.read(self.step, self.config.batch)
        except TrainingError as error:
            good = f"the last good checkpoint is {self.checkpoint}, step {self.saved[0]}"
            raise TrainingError(f"{error}; {good if self.saved[0] else 'no checkpoint was written yet'}") from None
        self.clock.agree()
        progress = self.clock.progress(self.step)
        place = {"step": self.step, "epoch": self.step / self.learner.steps_per_epoch, "progress": progress}
        line = {**place, "seconds": self.clock.seconds(), **measures, **self.learner.rates(progress)}
        if over or self._ends_epochs(self.config.validate_every):
            line |= self.learner.validate(self.step)
        self.journal.write(line)
        if self._ends_epochs(self.config.snapshot_every) and self.world.leads:
            snapshot = self.job.out / f"{self.learner.kind}-{self.step:07d}.safetensors"
            self.learner.save(snapshot, {"training": self.learner.identity, "metrics": line})
        if over or self.clock.seconds() - self.saved[1] >= self.config.checkpoint_seconds:
            self._save()
        self.journal.restart_clock()
        return line

    def _save(self) -> None:
        """Write the checkpoint."""
        place = {"step": self.step, "seconds": self.clock.seconds(), "set_up_seconds": self.clock.set_up}
        tensors = self.learner.tensors()
        if self.world.leads:
            save_state(self.checkpoint, tensors, {**self.learner.identity, **place})
        self.saved = self.step, self.clock.seconds()


def print_line(line: dict[str, Any]) -> None:
    """Show a line of metrics."""
    print(" ".join(f"{name} {value:g}" for name, value in line.items()), flush=True)


def _difference(theirs: Any, mine: Any, name: str) -> str:
    """The first thing in which two nested values differ, or nothing."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for key in sorted({*theirs, *mine}):
            if difference := _difference(theirs.get(key), mine.get(key), f"{name}.{key}"):
                return difference
        return ""
    return "" if theirs == mine else f"its {name} is {theirs!r}, not {mine!r}"
