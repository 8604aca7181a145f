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
from glissando.model.encoder import Encoder
from glissando.train.batches import Corpus
from glissando.train.decoder_config import DecoderTraining
from glissando.train.decoder_trainer import DecoderTrainer, Judgement, Material
from glissando.train.frozen import Frames, freeze
from glissando.train.holdout import held_out, save_held
from glissando.train.journal import Report
from glissando.train.order import word_weights
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
        options: ``pack``, ``val``, ``encoder``, ``negatives``, ``out``, ``resume`` and ``device`` as the command
            line gives them.
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
    encoder, _ = load_encoder(options.encoder)
    live = freeze(load_encoder(options.encoder)[0], config.encoder_dropout).to(world.device)
    still = freeze(encoder).to(world.device)
    corpus = Corpus.open(options.pack, encoder.config.frames)
    layout = only_layout(corpus.pack, str(options.pack))
    pools = Pools.open(options.negatives)
    aside = held_out(np.asarray(corpus.pack.sessions)[corpus.kept], config.holdout, config.holdout_seed)
    rows = np.flatnonzero(~aside)

    def judgement(source: Corpus, some: np.ndarray, network: Encoder, train: bool = False) -> Judgement:
        words = pools.vocabulary.find(spellings(source.pack, source.kept[some]))
        place = torch.from_numpy(pools.place(words)).to(world.device)
        return Judgement(Frames(network, source, some, config.jitter if train else None), place)

    sets = {}
    if options.val:
        val = Corpus.open(options.val, encoder.config.frames)
        if only_layout(val.pack, str(options.val)).letters != layout.letters:
            raise TrainingError(f"{options.val} is on another layout than {options.pack}")
        sets["val"] = judgement(val, np.arange(len(val)), still)
    if aside.any():
        sets["held"] = judgement(corpus, np.flatnonzero(aside), still)
    train = judgement(corpus, rows, live, train=True)
    identity = {"corpus": corpus.digest, "negatives": pools.digest, "encoder": _digest(options.encoder)}
    weights = word_weights(_counts(corpus, rows), config.word_power)
    return Material(train, sets, PoolTable(pools, world.device), weights, layout, identity), corpus.kept[aside]


def _sizes(material: Material) -> dict[str, int]:
    """The decoder's sizes that its layout and encoder decide."""
    return {
        "keys": len(material.layout.keys),
        "coefficients": material.train.frames.encoder.config.resolution**2,
    }


def _counts(corpus: Corpus, rows: np.ndarray) -> np.ndarray:
    """How often each row's word is among the rows. Shape: [n] int64."""
    words = np.asarray(corpus.pack.words)[corpus.kept[rows]]
    return np.bincount(words)[words]


def _digest(path: Path) -> str:
    """A checksum of a file."""
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Train from the command line."""

    def act(options: argparse.Namespace) -> None:
        train_decoder(DecoderTraining().changed(options.set), options, report=print_line)

    return run_command("decoder", "Train a decoder over a frozen encoder.", arguments, act)


if __name__ == "__main__":
    sys.exit(main())
