"""Train the fixed-layout decoder over a frozen encoder.

    python -m glissando.train.decoder --pack train.npz --val val.npz --encoder encoder.safetensors \\
        --negatives negatives.npz --out runs/decoder
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from glissando.errors import TrainingError
from glissando.model.checkpoint import load_encoder
from glissando.train.batches import Corpus
from glissando.train.decoder_config import DecoderTraining
from glissando.train.decoder_trainer import DecoderTrainer, Material
from glissando.train.decoder_validation import Judgement
from glissando.train.frozen import Frames
from glissando.train.holdout import held_out, save_held
from glissando.train.journal import Report
from glissando.train.pools import Pools, PoolTable
from glissando.train.run import Run, own_randomness, print_line, run_command
from glissando.train.vocabulary import only_layout, spellings
from glissando.train.world import World, join_world


def train_decoder(
    config: DecoderTraining,
    options: argparse.Namespace,
    *,
    until: int | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Train a decoder, or go on training it; returns the last line of metrics.jsonl.

    Args:
        config: the settings.
        options: ``pack``, ``val``, ``encoder``, ``negatives``, ``out``, ``resume`` and ``device`` as the command line
            gives them.
        until: stop after this step with a checkpoint, to be resumed.
        report: called with every line of metrics.jsonl.
    """
    for name in ("encoder", "negatives"):
        if getattr(options, name) is None:
            raise TrainingError(f"a decoder needs --{name}")
    with join_world(options.device) as world, own_randomness(world):
        if world.device.type == "cuda" and config.precision != "fp32":
            torch.set_float32_matmul_precision("high")
        material, held = gather(config, options, world)
        config = replace(config, model=replace(config.model, **_sizes(material)))
        run = Run(DecoderTrainer(config, material, world), options.out, report)
        run.resume() if options.resume else run.begin()
        if world.leads and config.holdout:
            save_held(options.out / "held.npz", held)
        return run.go(until)


def gather(config: DecoderTraining, options: argparse.Namespace, world: World) -> tuple[Material, np.ndarray]:
    """Bring the swipes, what the encoder says of them and the negatives to the device.

    Returns:
        The material, and the rows of the pack that are set aside.
    """
    encoder = load_encoder(options.encoder)[0].to(world.device)
    corpus = Corpus.open(options.pack, encoder.config.frames)
    layout = only_layout(corpus.pack, str(options.pack))
    aside = held_out(np.asarray(corpus.pack.sessions)[corpus.kept], config.holdout, config.holdout_seed)
    pools = Pools.open(options.negatives)

    def judgement(source: Corpus, rows: np.ndarray) -> Judgement:
        words = pools.vocabulary.find(spellings(source.pack, source.kept[rows]))
        return Judgement(Frames(encoder, source, rows), torch.from_numpy(pools.place(words)).to(world.device))

    sets = {}
    if options.val:
        val = Corpus.open(options.val, encoder.config.frames)
        if only_layout(val.pack, str(options.val)).letters != layout.letters:
            raise TrainingError(f"{options.val} is on another layout than {options.pack}")
        sets["val"] = judgement(val, np.arange(len(val)))
    if aside.any():
        sets["held"] = judgement(corpus, np.flatnonzero(aside))
    train = judgement(corpus, np.flatnonzero(~aside))
    identity = {"corpus": corpus.digest, "negatives": pools.digest, "encoder": checksum(options.encoder)}
    return Material(train, sets, PoolTable(pools, world.device), layout, identity), corpus.kept[aside]


def _sizes(material: Material) -> dict[str, int]:
    """The decoder's sizes that its layout and encoder decide."""
    return {"keys": len(material.layout.keys), "coefficients": material.train.frames.config.resolution**2}


def checksum(path: Path) -> str:
    """A checksum of a file."""
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Train from the command line."""

    def act(options: argparse.Namespace) -> None:
        train_decoder(DecoderTraining().changed(options.set), options, report=print_line)

    return run_command("decoder", "Train a decoder over a frozen encoder.", arguments, act)


if __name__ == "__main__":
    sys.exit(main())
