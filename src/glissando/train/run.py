"""A training run on disk, whatever is trained: its directory, its loop, its checkpoints and how it resumes.

A run is a directory: config.json (what was asked for), metrics.jsonl (what happened), checkpoint.safetensors (where
it stands) and, at the end, what came out. ``Learner`` is what a trainer offers for that.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from glissando.errors import GlissandoError, TrainingError
from glissando.train.journal import Clock, Journal, Report
from glissando.train.state import load_state, save_state
from glissando.train.world import World


@dataclass(frozen=True)
class Pace:
    """When a run does what; the settings of the same names in every training config.

    Attributes:
        steps: of the whole schedule.
        steps_per_epoch: of one pass.
        batch: swipes per step, for the speed.
        max_seconds: end the schedule after so long; 0 has no limit.
        log_every: steps between lines of metrics.jsonl.
        validate_every: epochs between validations.
        checkpoint_seconds: least time between checkpoints.
        snapshot_every: epochs between results kept aside; 0 keeps only the last.
    """

    steps: int
    steps_per_epoch: int
    batch: int
    max_seconds: float = 0.0
    log_every: int = 50
    validate_every: int = 1
    checkpoint_seconds: float = 60.0
    snapshot_every: int = 0


class Learner(Protocol):
    """A network in training, as a run sees it.

    Attributes:
        world: the processes.
        pace: its schedule.
        names: what a step measures.
        identity: what a checkpoint must share with the run that resumes it, as JSON can hold it.
        kind: "decoder", the name of what comes out.
    """

    world: World
    pace: Pace
    names: tuple[str, ...]
    identity: dict[str, Any]
    kind: str

    def since(self, step: int) -> Generator[Any, None, None]:
        """The batches of the steps from ``step`` on."""

    def step(self, batch: Any, step: int, progress: float) -> list[Tensor]:
        """Train on a batch; the measures stay on the device."""

    def rates(self, progress: float) -> dict[str, float]:
        """Learning rates at a share of the schedule, for the journal."""

    def validate(self, step: int) -> dict[str, float]:
        """Measure on held-out swipes; every process calls it."""

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name; every process calls it."""

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``tensors`` gave."""

    def save(self, path: Path, extra: dict[str, Any]) -> None:
        """Write what came out."""


class Run:
    """A learner, its directory, and where it stands.

    Args:
        learner: the network in training.
        out: the directory.
        report: called with every line of metrics.jsonl as it is written.
    """

    def __init__(self, learner: Learner, out: Path, report: Report | None = None) -> None:
        self.learner, self.out = learner, out
        self.world, self.pace = learner.world, learner.pace
        self.checkpoint, self.result = out / "checkpoint.safetensors", out / f"{learner.kind}.safetensors"
        self.clock = Clock(self.pace.steps, self.pace.max_seconds, self.world)
        self.journal = Journal(out / "metrics.jsonl", self.world, self.pace.log_every, report, learner.names)
        self.step = 0
        self.saved = 0, 0.0  # step and second of the last checkpoint

    def begin(self) -> None:
        """Make the directory, unless a run is in it, and validate what training starts from."""
        if self.world.leads:
            config = self.out / "config.json"
            taken = [file for file in (config, self.checkpoint, self.result) if file.exists()]
            if taken:
                raise TrainingError(f"{taken[0]} exists; resume that run, or choose another directory")
            self.out.mkdir(parents=True, exist_ok=True)
            config.write_text(json.dumps(self.learner.identity, indent=2) + "\n", encoding="utf-8")
        self.world.wait()
        if found := self.learner.validate(0):
            self.journal.write({"step": 0, "epoch": 0.0, "progress": 0.0, "seconds": self.clock.seconds(), **found})

    def resume(self) -> None:
        """Go back to the checkpoint."""
        tensors, info = load_state(self.checkpoint)
        for name, mine in self.learner.identity.items():
            if difference := _difference(info.get(name), mine, name):
                raise TrainingError(f"{self.checkpoint} is of another run: {difference}")
        self.learner.restore(tensors)
        self.step = info["step"]
        spent = info["seconds"], info["set_up_seconds"]
        self.clock = Clock(self.pace.steps, self.pace.max_seconds, self.world, *spent)
        self.saved = self.step, self.clock.seconds()
        self.journal.rewind(self.step)

    def go(self, until: int | None = None) -> dict[str, Any]:
        """Train to the end of the schedule, or to a step; returns the last line of metrics.jsonl."""
        line: dict[str, Any] = {"step": self.step, "progress": self.clock.progress(self.step)}
        began = time.monotonic()
        over = self.is_over(until)
        self.journal.restart_clock()
        with closing(self.learner.since(self.step)) as batches:
            while not over:
                progress = self.clock.progress(self.step + 1)
                self.journal.note(self.learner.step(next(batches), self.step, progress))
                self.step += 1
                if began:
                    began = self.first_step_done(began)
                over = self.is_over(until)
                if over or self.is_due():
                    line = self.account(over)
        if self.clock.progress(self.step) >= 1 and self.world.leads:
            self.learner.save(self.result, {"training": self.learner.identity, "metrics": line})
        return line

    def is_over(self, until: int | None) -> bool:
        """Whether the schedule, its time, or the part asked for is at its end."""
        return self.step == until or self.clock.progress(self.step) >= 1

    def is_due(self) -> bool:
        """Whether the measures have to be read, or something wants them read."""
        pace = self.pace
        return self.journal.full or self.ends_epochs(pace.validate_every) or self.ends_epochs(pace.snapshot_every)

    def first_step_done(self, began: float) -> float:
        """Book the first step as set-up: on the clock, but neither schedule nor speed."""
        if self.world.device.type == "cuda":
            torch.cuda.synchronize(self.world.device)
        self.clock.count_set_up(time.monotonic() - began)
        self.journal.restart_clock()
        return 0.0

    def ends_epochs(self, every: int) -> bool:
        """Whether a number of epochs has just been completed."""
        return every > 0 and self.step % (every * self.pace.steps_per_epoch) == 0

    def account(self, over: bool) -> dict[str, Any]:
        """Read the measures, write them down, and do what is due: validate, keep a snapshot, save a checkpoint."""
        try:
            measures = self.journal.read(self.step, self.pace.batch)
        except TrainingError as error:
            good = f"the last good checkpoint is {self.checkpoint}, step {self.saved[0]}"
            raise TrainingError(f"{error}; {good if self.saved[0] else 'no checkpoint was written yet'}") from None
        self.clock.agree()
        progress = self.clock.progress(self.step)
        place = {"step": self.step, "epoch": self.step / self.pace.steps_per_epoch, "progress": progress}
        line = {**place, "seconds": self.clock.seconds(), **measures, **self.learner.rates(progress)}
        if over or self.ends_epochs(self.pace.validate_every):
            line |= self.learner.validate(self.step)
        self.journal.write(line)
        if self.ends_epochs(self.pace.snapshot_every) and self.world.leads:
            snapshot = self.out / f"{self.learner.kind}-{self.step:07d}.safetensors"
            self.learner.save(snapshot, {"training": self.learner.identity, "metrics": line})
        if over or self.clock.seconds() - self.saved[1] >= self.pace.checkpoint_seconds:
            self.save()
        self.journal.restart_clock()
        return line

    def save(self) -> None:
        """Write the checkpoint."""
        place = {"step": self.step, "seconds": self.clock.seconds(), "set_up_seconds": self.clock.set_up}
        tensors = self.learner.tensors()
        if self.world.leads:
            save_state(self.checkpoint, tensors, {**self.learner.identity, **place})
        self.saved = self.step, self.clock.seconds()


def run_command(name: str, description: str, arguments: Sequence[str] | None, act: Callable[..., Any]) -> int:
    """Parse the options that embedders and decoders share, and train, with only torch, numpy and safetensors there.

    Args:
        name: of the module, "embedder".
        description: of the command.
        arguments: in place of the command line's.
        act: called with the parsed options.
    """
    parser = argparse.ArgumentParser(prog=f"python -m glissando.train.{name}", description=description)
    parser.add_argument("--pack", type=Path, required=True, help="the corpus: a pack or an .npz of one, on one layout")
    parser.add_argument("--val", type=Path, help="a held-out corpus")
    parser.add_argument("--lexicon", type=Path, help="a word list: AOSP or a word per line")
    parser.add_argument("--encoder", type=Path, help="the trained encoder")
    parser.add_argument("--embedder", type=Path, help="the trained embedder")
    parser.add_argument("--negatives", type=Path, help="the mined negatives")
    parser.add_argument("--out", type=Path, required=True, help="the run's directory, or the file to write")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting: batch=2048")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    parser.add_argument("--device", help="cuda or cpu; by default a GPU where there is one")
    try:
        act(parser.parse_args(arguments))
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        return 1
    return 0


def own_randomness(world: World) -> AbstractContextManager[None]:
    """Leave the caller's random state as it was."""
    return torch.random.fork_rng([world.device] if world.device.type == "cuda" else [])


def print_line(line: dict[str, Any]) -> None:
    """Show a line of metrics."""
    print(" ".join(f"{name} {value:g}" for name, value in line.items()), flush=True)


def _difference(theirs: Any, mine: Any, name: str) -> str:
    """The first thing in which two nested values differ, or nothing."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for key in sorted({*theirs, *mine}):
            if found := _difference(theirs.get(key), mine.get(key), f"{name}.{key}"):
                return found
        return ""
    return "" if theirs == mine else f"its {name} is {theirs!r}, not {mine!r}"
