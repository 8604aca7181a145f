"""``glissando train`` for a machine that has torch, numpy and safetensors alone: the same functions, the same options.

    python runs/train.py encoder --pack train.npz --val val.npz --out build/run --set batch=2048 --set epochs=60
    torchrun --nproc-per-node 8 runs/train.py encoder --pack train.npz --val val.npz --out build/eight
    python runs/train.py embedder|negatives|decoder ...           # options as in docs/decoder.md
    python runs/train.py matcher --pack finalists.npz ...         # options as in docs/matcher.md

Prints every line of metrics.jsonl.
"""

import argparse
import sys
from pathlib import Path

from glissando.errors import GlissandoError
from glissando.model.checkpoint import load_encoder
from glissando.train.decoder.config import DecoderTraining, EmbedderTraining, MiningConfig
from glissando.train.decoder.embedder import train_embedder
from glissando.train.decoder.mining import mine_negatives
from glissando.train.decoder.trainer import train_decoder
from glissando.train.encoder.config import EncoderTraining, fine_tuning
from glissando.train.encoder.trainer import train_encoder
from glissando.train.matcher.config import MatcherTraining
from glissando.train.matcher.trainer import train_matcher
from glissando.train.run import Job, print_line

# What is made: its settings, the function, and the files it needs besides the corpora.
TRAININGS = {
    "encoder": (EncoderTraining, train_encoder, ()),
    "embedder": (EmbedderTraining, train_embedder, ("lexicon",)),
    "negatives": (MiningConfig, mine_negatives, ("lexicon", "embedder")),
    "decoder": (DecoderTraining, train_decoder, ("encoder", "negatives")),
    "matcher": (MatcherTraining, train_matcher, ()),
}


def main() -> int:
    """Train what the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="what", required=True)
    for what, (_, _, needed) in TRAININGS.items():
        command = commands.add_parser(what)
        for name in ("pack", "out", *needed):
            command.add_argument(f"--{name}", type=Path, required=True)
        command.add_argument("--val", type=Path)
        command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
        command.add_argument("--resume", action="store_true")
        command.add_argument("--device")
        if what == "encoder":
            command.add_argument("--from", dest="start", type=Path, metavar="ENCODER.safetensors")
    chosen = parser.parse_args()
    config, train, needed = TRAININGS[chosen.what]
    job = Job(chosen.pack, chosen.out, chosen.val, chosen.resume, chosen.device, report=print_line)
    try:
        given = [getattr(chosen, name) for name in needed]
        settings = config()
        if getattr(chosen, "start", None):
            start = load_encoder(chosen.start)[0]
            settings, given = fine_tuning(start.config), [start]
        train(settings.changed(chosen.set), job, *given)
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
