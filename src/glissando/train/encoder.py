"""Train an encoder: from a packed corpus to weights, with checkpoints to resume from.

A run is a directory: config.json (what was asked for), metrics.jsonl (what happened), checkpoint.safetensors (where
it stands) and, at the end, encoder.safetensors (what came out). On a machine without the command line:

    python -m glissando.train.encoder --pack train.npz --val val.npz --out runs/one --set batch=2048 --set epochs=60
    torchrun --nproc-per-node 8 -m glissando.train.encoder --pack train --val val --out runs/eight
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from glissando.errors import GlissandoError
from glissando.model.checkpoint import save_encoder
from glissando.train.batches import Corpus
from glissando.train.config import TrainConfig
from glissando.train.journal import MEASURES, Report
from glissando.train.run import Pace, Run, own_randomness, print_line
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
    with own_randomness(world):
        prepare_backend(config, world.device)
        corpus = Corpus.open(files.pack, config.model.frames)
        held_out = Corpus.open(files.val, config.model.frames) if files.val else None
        run = Run(_EncoderLearner(Trainer(config, corpus, world), held_out), files.out, report)
        run.resume() if resume else run.begin()
        return run.go(until)


class _EncoderLearner:
    """A trainer as a run sees it: ``glissando.train.run.Learner``."""

    kind: str = "encoder"
    names: tuple[str, ...] = MEASURES

    def __init__(self, trainer: Trainer, held_out: Corpus | None) -> None:
        self.trainer, self.held_out, self.world = trainer, held_out, trainer.world
        config = trainer.config
        pace = config.max_seconds, config.log_every, config.validate_every, config.checkpoint_seconds
        self.pace = Pace(trainer.steps, trainer.order.steps_per_epoch, config.batch, *pace, config.snapshot_every)
        self.identity = {"config": config.to_dict(), "corpus": trainer.corpus.digest}
        self.since, self.step, self.restore = trainer.since, trainer.step, trainer.restore

    def rates(self, progress: float) -> dict[str, float]:
        """The learning rate at a share of the schedule."""
        return {"learning_rate": self.trainer.rate(progress)}

    def validate(self, step: int) -> dict[str, float]:
        """Validate on the leading process, but for an untrained encoder; the others wait."""
        self.trainer.settle()
        measures = {}
        if step and self.held_out is not None and self.world.leads:
            measures = validate(self.trainer.result, self.held_out, self.world.device)
        self.world.wait()
        return measures

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name; every process calls it."""
        self.trainer.settle()
        return self.trainer.tensors()

    def save(self, path: Path, extra: dict[str, Any]) -> None:
        """Write the encoder."""
        save_encoder(path, self.trainer.result, extra)


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
        train_encoder(config, files, resume=options.resume, device=options.device, report=print_line)
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
