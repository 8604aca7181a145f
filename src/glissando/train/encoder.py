"""Train an encoder: from a packed corpus to weights, with checkpoints to resume from.

A run is a directory: config.json (what was asked for), metrics.jsonl (what happened), checkpoint.safetensors (where
it stands) and, at the end, encoder.safetensors (what came out). On a machine without the command line:

    python -m glissando.train.encoder --pack train.npz --val val.npz --out runs/one --set batch=2048 --set epochs=60
    torchrun --nproc-per-node 8 -m glissando.train.encoder --pack train --val val --out runs/eight
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from glissando.errors import GlissandoError, TrainingError
from glissando.model.checkpoint import save_encoder
from glissando.train.batches import Corpus
from glissando.train.config import TrainConfig
from glissando.train.journal import Clock, Journal, Report
from glissando.train.state import load_state, save_state
from glissando.train.trainer import Trainer, prepare_backend, validate
from glissando.train.world import World, join_world


@dataclass(frozen=True)
class Files:
    """Where a run reads and writes.

    Attributes:
        pack: the corpus to train on, a pack or an .npz.
        out: the run's directory.
        val: a held-out corpus, or None.
    """

    pack: Path
    out: Path
    val: Path | None = None

    @property
    def config(self) -> Path:
        """The run's resolved settings."""
        return self.out / "config.json"

    @property
    def metrics(self) -> Path:
        """A JSON object per line: training every ``log_every`` steps, and every validation."""
        return self.out / "metrics.jsonl"

    @property
    def checkpoint(self) -> Path:
        """Where the run stands."""
        return self.out / "checkpoint.safetensors"

    @property
    def encoder(self) -> Path:
        """What came out."""
        return self.out / "encoder.safetensors"


def train_encoder(
    config: TrainConfig,
    files: Files,
    *,
    resume: bool = False,
    device: str | None = None,
    until: int | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Train an encoder, or go on training it.

    Args:
        config: the settings.
        files: what to read and where to write.
        resume: go on from the checkpoint in ``files.out``, with the same config and corpus.
        device: "cuda", "cpu"; by default a GPU where there is one.
        until: stop after this step with a checkpoint, to be resumed.
        report: called with every line of metrics.jsonl as it is written.

    Returns:
        The last line of metrics.jsonl.

    Raises:
        TrainingError: before the first step and before anything is written, where config, corpus or
            checkpoint are not usable; later, where a loss or a gradient is not finite.
    """
    with join_world(device) as world:
        return train_in(world, config, files, resume=resume, until=until, report=report)


def train_in(
    world: World,
    config: TrainConfig,
    files: Files,
    *,
    resume: bool = False,
    until: int | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Train as one of the processes of a world that is there already; see ``train_encoder``."""
    with torch.random.fork_rng([world.device] if world.device.type == "cuda" else []):
        prepare_backend(config, world.device)
        corpus = Corpus.open(files.pack, config.model.frames)
        held_out = Corpus.open(files.val, config.model.frames) if files.val else None
        run = _Run(Trainer(config, corpus, world), files, held_out, report)
        run.resume() if resume else run.begin()
        return run.go(until)


class _Run:
    """A trainer, its files, and where it stands."""

    def __init__(self, trainer: Trainer, files: Files, held_out: Corpus | None, report: Report | None) -> None:
        self.trainer, self.files, self.held_out = trainer, files, held_out
        self.config, self.world = trainer.config, trainer.world
        self.clock = Clock(trainer.steps, self.config.max_seconds, self.world)
        self.journal = Journal(files.metrics, self.world, self.config.log_every, report)
        self.step = 0
        self.saved = 0, 0.0  # step and second of the last checkpoint

    @property
    def identity(self) -> dict[str, Any]:
        """What a checkpoint must share with the run that resumes it."""
        return {"config": self.config.to_dict(), "corpus": self.trainer.corpus.digest}

    def begin(self) -> None:
        """Make the run's directory, unless a run is in it."""
        if self.world.leads:
            taken = [file for file in (self.files.config, self.files.checkpoint, self.files.encoder) if file.exists()]
            if taken:
                raise TrainingError(f"{taken[0]} exists; resume that run, or choose another directory")
            self.files.out.mkdir(parents=True, exist_ok=True)
            self.files.config.write_text(json.dumps(self.identity, indent=2) + "\n", encoding="utf-8")
        self.world.wait()

    def resume(self) -> None:
        """Go back to the checkpoint."""
        tensors, info = load_state(self.files.checkpoint)
        for name, mine in self.identity.items():
            if difference := _difference(info.get(name), mine, name):
                raise TrainingError(f"{self.files.checkpoint} is of another run: {difference}")
        self.trainer.restore(tensors)
        self.step = info["step"]
        self.clock = Clock(
            self.trainer.steps, self.config.max_seconds, self.world, info["seconds"], info["set_up_seconds"]
        )
        self.saved = self.step, self.clock.seconds()
        self.journal.rewind(self.step)

    def go(self, until: int | None) -> dict[str, Any]:
        """Train to the end of the schedule, or to a step."""
        line: dict[str, Any] = {"step": self.step, "progress": self.clock.progress(self.step)}
        began = time.monotonic()
        over = self.is_over(until)
        with closing(self.trainer.since(self.step)) as batches:
            while not over:
                progress = self.clock.progress(self.step + 1)
                self.journal.note(self.trainer.step(next(batches), self.step, progress))
                self.step += 1
                if began:
                    began = self.first_step_done(began)
                over = self.is_over(until)
                if over or self.is_due():
                    line = self.account(over)
        if self.clock.progress(self.step) >= 1 and self.world.leads:
            extra = {"training": self.identity, "metrics": line}
            save_encoder(self.files.encoder, self.trainer.result, extra)
        return line

    def is_over(self, until: int | None) -> bool:
        """Whether the schedule, its time, or the part asked for is at its end."""
        return self.step == until or self.clock.progress(self.step) >= 1

    def is_due(self) -> bool:
        """Whether the measures have to be read, or something wants them read."""
        config = self.config
        return self.journal.full or self.ends_epochs(config.validate_every) or self.ends_epochs(config.snapshot_every)

    def first_step_done(self, began: float) -> float:
        """Book the first step, which compiles, as set-up: on the clock, but neither schedule nor speed."""
        if self.world.device.type == "cuda":
            torch.cuda.synchronize(self.world.device)
        self.clock.count_set_up(time.monotonic() - began)
        self.journal.restart_clock()
        return 0.0

    def ends_epochs(self, every: int) -> bool:
        """Whether a number of epochs has just been completed."""
        return every > 0 and self.step % (every * self.trainer.order.steps_per_epoch) == 0

    def account(self, over: bool) -> dict[str, Any]:
        """Read the measures, write them down, and do what is due: validate, keep a snapshot, save a checkpoint."""
        try:
            measures = self.journal.read(self.step, self.config.batch)
        except TrainingError as error:
            good = f"the last good checkpoint is {self.files.checkpoint}, step {self.saved[0]}"
            raise TrainingError(f"{error}; {good if self.saved[0] else 'no checkpoint was written yet'}") from None
        self.clock.agree()
        progress = self.clock.progress(self.step)
        line = {
            "step": self.step,
            "epoch": self.step / self.trainer.order.steps_per_epoch,
            "progress": progress,
            "seconds": self.clock.seconds(),
            **measures,
            "learning_rate": self.trainer.rate(progress),
        }
        if over or self.ends_epochs(self.config.validate_every):
            line |= self.validate()
        self.journal.write(line)
        if self.ends_epochs(self.config.snapshot_every) and self.world.leads:
            snapshot = self.files.out / f"encoder-{self.step:07d}.safetensors"
            save_encoder(snapshot, self.trainer.result, {"training": self.identity, "metrics": line})
        if over or self.clock.seconds() - self.saved[1] >= self.config.checkpoint_seconds:
            self.save()
        self.journal.restart_clock()
        return line

    def validate(self) -> dict[str, float]:
        """Validate on the leading process; the others wait."""
        self.trainer.settle()
        measures = {}
        if self.held_out is not None and self.world.leads:
            measures = validate(self.trainer.result, self.held_out, self.world.device)
        self.world.wait()
        return measures

    def save(self) -> None:
        """Write the checkpoint."""
        self.trainer.settle()
        info = {
            **self.identity,
            "step": self.step,
            "seconds": self.clock.seconds(),
            "set_up_seconds": self.clock.set_up,
        }
        if self.world.leads:
            save_state(self.files.checkpoint, self.trainer.tensors(), info)
        self.saved = self.step, self.clock.seconds()


def _difference(theirs: Any, mine: Any, name: str) -> str:
    """The first thing in which two nested values differ, or nothing."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for key in sorted({*theirs, *mine}):
            if found := _difference(theirs.get(key), mine.get(key), f"{name}.{key}"):
                return found
        return ""
    return "" if theirs == mine else f"its {name} is {theirs!r}, not {mine!r}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train from the command line, with nothing but torch, numpy and safetensors installed."""
    parser = argparse.ArgumentParser(
        prog="python -m glissando.train.encoder", description="Train an encoder on a packed corpus."
    )
    parser.add_argument("--pack", type=Path, required=True, help="the corpus: a pack or an .npz of one")
    parser.add_argument("--val", type=Path, help="a held-out corpus")
    parser.add_argument("--out", type=Path, required=True, help="the run's directory, new unless --resume")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting: batch=2048")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    parser.add_argument("--device", help="cuda or cpu; by default a GPU where there is one")
    options = parser.parse_args(arguments)
    files = Files(options.pack, options.out, options.val)
    try:
        config = TrainConfig().changed(options.set)
        train_encoder(config, files, resume=options.resume, device=options.device, report=_print_line)
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        return 1
    return 0


def _print_line(line: dict[str, Any]) -> None:
    """Show a line of metrics."""
    print(" ".join(f"{name} {value:g}" for name, value in line.items()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
