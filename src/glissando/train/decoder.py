"""Train the fixed-layout decoder over a frozen encoder.

    python -m glissando.train.decoder --pack train.npz --val val.npz --encoder encoder.safetensors \\
        --negatives negatives.npz --out runs/decoder
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Sequence
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
from glissando.train.finalists import Finalists, FinalistTable
from glissando.train.frozen import Frames, freeze
from glissando.train.holdout import held_out, save_held
from glissando.train.journal import Report
from glissando.train.order import word_weights
from glissando.train.pools import Pools, PoolTable
from glissando.train.run import Run, own_randomness, print_line, run_command
from glissando.train.strangers import Readers, choose_readers, load_strangers
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
        options: ``pack``, ``val``, ``encoder``, ``negatives`` or ``finalists``, ``strangers``, ``out``, ``resume``
            and ``device`` as the command line gives them.
        until: stop after this step with a checkpoint, to be resumed.
        report: called with every line of metrics.jsonl.
    """
    if options.encoder is None:
        raise TrainingError("a decoder needs --encoder")
    if (getattr(options, "negatives", None) is None) == (getattr(options, "finalists", None) is None):
        raise TrainingError("a decoder needs --negatives or --finalists, and not both")
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
    aside = held_out(sessions_of(corpus), config.holdout, config.holdout_seed)
    rows = np.flatnonzero(~aside)
    readers, strange = open_readers(config, options, corpus, rows, world)
    table, place, identity = open_table(config, options, world)

    def judgement(name: str, source: Corpus, some: np.ndarray, frames: Frames) -> Judgement:
        return Judgement(frames, torch.from_numpy(place(name, source, some)).to(world.device))

    sets = {}
    if options.val:
        val = Corpus.open(options.val, encoder.config.frames)
        if only_layout(val.pack, str(options.val)).letters != layout.letters:
            raise TrainingError(f"{options.val} is on another layout than {options.pack}")
        every = np.arange(len(val))
        sets["val"] = judgement("val", val, every, Frames(still, val, every))
    if aside.any():
        held = np.flatnonzero(aside)
        sets["held"] = judgement("train", corpus, held, Frames(still, corpus, held))
    train = judgement("train", corpus, rows, Frames(live, corpus, rows, config.jitter, readers))
    identity = {"corpus": corpus.digest, **identity, "encoder": checksum(options.encoder), **strange}
    weights = word_weights(_counts(corpus, rows), config.word_power)
    return Material(train, sets, table, weights, layout, identity), corpus.kept[aside]


def open_readers(
    config: DecoderTraining, options: argparse.Namespace, corpus: Corpus, rows: np.ndarray, world: World
) -> tuple[Readers, dict[str, Any]]:
    """The strangers that read some rows of a corpus, and what tells them from others."""
    paths = getattr(options, "strangers", None) or []
    if not paths:
        return Readers(), {}
    main, _ = load_encoder(options.encoder)
    strangers = load_strangers(paths, main.config, corpus)
    of = torch.from_numpy(choose_readers(strangers, sessions_of(corpus)[rows]))
    ready = tuple(freeze(one.encoder, config.encoder_dropout).to(world.device) for one in strangers)
    return Readers(ready, of, config.stranger_share), {"strangers": [checksum(path) for path in paths]}


Place = Callable[[str, Corpus, np.ndarray], np.ndarray]


def open_table(
    config: DecoderTraining, options: argparse.Namespace, world: World
) -> tuple[PoolTable | FinalistTable, Place, dict[str, Any]]:
    """What stands beside the truth: the table, where a corpus's rows are in it, and what tells it from others."""
    if getattr(options, "finalists", None) is not None:
        finalists = Finalists.open(options.finalists)
        if finalists.encoder != checksum(options.encoder):
            raise TrainingError(f"{options.finalists} are of another encoder than {options.encoder}")
        table = FinalistTable(finalists, world.device, config.product.keep)
        place: Place = lambda name, source, some: table.place(name, source.digest, source.kept[some])  # noqa: E731
        return table, place, {"finalists": finalists.digest}
    pools = Pools.open(options.negatives)
    find = pools.vocabulary.find
    place = lambda _, source, some: pools.place(find(spellings(source.pack, source.kept[some])))  # noqa: E731
    return PoolTable(pools, world.device), place, {"negatives": pools.digest}


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


def sessions_of(corpus: Corpus) -> np.ndarray:
    """Who made each kept row. Shape: [n] int32."""
    return np.asarray(corpus.pack.sessions)[corpus.kept]


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
