"""The report's 2 x 2 of consistency and ranking at 50 epochs, and its two rows at 100: four decoders, six rows.

    python runs/decoder_grid.py train --pack train.npz --val val.npz --encoder encoder.safetensors \
        --negatives negatives.npz --out build/grid [--set NAME=VALUE ...]
    python runs/decoder_grid.py judge --out build/grid [--data DIR]     # table and curves of what is there

Lion's rate is constant, so the runs of 100 epochs give the rows at 50 on the way (half of their constants' own schedule
is then left). Training needs torch, numpy and safetensors alone. Cost: 300 epochs of 29 steps, four minutes of one H200
to itself; a run that is there already is left, so a call that was cut off goes on where it stopped. Judging fits each
decoder's share and constants to how_we_swipe_val, as runs/decoder_compare.py does: a minute of two cores a row.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from glissando.errors import GlissandoError, TrainingError

EARLY = 50  # epochs of the first rows
MEASURES = {
    "val_ctc_per_letter": "validation CTC per letter",
    "val_top1": "top-1 among hard negatives",
    "held_top1": "top-1, people set aside",
}


@dataclass(frozen=True)
class Run:
    """A decoder: with or without the two losses, for so many epochs."""

    consistency: bool
    ranking: bool
    epochs: int


RUNS = {
    "plain-50": Run(False, False, 50),
    "ranking-100": Run(False, True, 100),
    "consistency-50": Run(True, False, 50),
    "both-100": Run(True, True, 100),
}


def train(options: argparse.Namespace) -> None:
    """Train the runs that are not there yet."""
    from glissando.train.decoder.config import DecoderTraining
    from glissando.train.decoder.trainer import train_decoder
    from glissando.train.run import Job, print_line

    for name, run in RUNS.items():
        out = options.out / name
        if (out / "decoder.safetensors").exists():
            continue
        off = {"consistency_weight": run.consistency, "ranking_weight": run.ranking}
        settings = [*options.set, f"epochs={run.epochs}", f"snapshot_every={EARLY}"]
        config = DecoderTraining().changed([*settings, *(f"{weight}=0" for weight, on in off.items() if not on)])
        print(f"== {name}", flush=True)
        resume = (out / "checkpoint.safetensors").exists()
        job = Job(options.pack, out, options.val, resume, options.device, report=print_line)
        train_decoder(config, job, options.encoder, options.negatives)


def rows(out: Path) -> Iterator[tuple[str, int, Path]]:
    """The rows whose decoder is there: run, epochs, file."""
    for early in (True, False):
        for name, run in RUNS.items():
            snapshots = sorted((out / name).glob("decoder-*.safetensors"))
            file = snapshots[0] if early and snapshots else out / name / "decoder.safetensors"
            if file.exists() and early == (file != out / name / "decoder.safetensors" or run.epochs == EARLY):
                yield name, EARLY if early else run.epochs, file


def judge(options: argparse.Namespace) -> None:
    """Print the table of the decoders that are there, each in the product's form, and draw their curves."""
    from decoder_compare import encode, fit
    from sets import mcnemar, tops, word_list

    from glissando.cli.export import onnx
    from glissando.corpus.layouts import LayoutShelf
    from glissando.evaluation.evaluate import EvaluationOptions, read_targets

    base = EvaluationOptions(
        method="encoder", lexicon=word_list(options.data, "val"), add_targets=True, max_key_distance=2.0
    )
    shelf = LayoutShelf(options.data / "layouts")
    val = list(read_targets(options.data / "swipes" / "how_we_swipe_val.jsonl.gz", shelf, base))
    part = encode(options.data, val, base)
    scoring = fit(part)
    alone = part.beams(scoring, measured=True).ranks(scoring)[0]
    print("| CR-CTC | ranking | epochs | val, top-1 / 3 / 10 | top-1 | p |\n|---|---|---|---|---|---|")
    for name, epochs, file in rows(options.out):
        with tempfile.TemporaryDirectory() as folder:
            exported = Path(folder) / "decoder.onnx"
            onnx(file, exported)
            part = encode(options.data, val, replace(base, method="decoder", decoder=exported))
        scoring = fit(part)
        ranks = part.beams(scoring, measured=True).ranks(scoring)[0]
        test, gain = mcnemar(alone == 1, ranks == 1), 100 * ((ranks == 1).mean() - (alone == 1).mean())
        marks = ["yes" if on else "-" for on in (RUNS[name].consistency, RUNS[name].ranking)]
        print(f"| {marks[0]} | {marks[1]} | {epochs} | {tops(ranks)} | {gain:+.2f} | {test.p:.2g} |", flush=True)
    print(f"| encoder alone | | | {tops(alone)} | | |")
    compare_curves(options.out)


def compare_curves(out: Path) -> None:
    """Tabulate and draw the measures of the runs that are there, by epoch."""
    from glissando.figures.style import COLOURS, bare, figure, save
    from glissando.figures.training import read_metrics

    runs = {name: read_metrics(out / name) for name in RUNS if (out / name / "metrics.jsonl").exists()}
    if not runs:
        raise TrainingError(f"there is no run of the grid in {out}")
    picture = figure(4.6 * len(MEASURES), 3.6)
    print("\n| run | measure | encoder | best (epoch) | end (epoch) |\n|---|---|---|---|---|")
    for axes, (measure, title) in zip(picture.subplots(1, len(MEASURES)), MEASURES.items(), strict=True):
        for colour, (name, lines) in zip(COLOURS, runs.items(), strict=False):
            points = [(line["epoch"], line[measure]) for line in lines if measure in line]
            best = (min if measure.endswith("letter") else max)(points, key=lambda point: point[1])
            ends = " | ".join(f"{value:.4f} ({epoch:.0f})" for epoch, value in (best, points[-1]))
            print(f"| {name} | {measure} | {points[0][1]:.4f} | {ends} |")
            axes.plot(*zip(*points, strict=True), color=colour, lw=1.5, label=name)
        axes.set(xlabel="epoch", title=title)
        bare(axes)
    picture.axes[0].legend(frameon=False, fontsize=8)
    print(*save(picture, out / "curves"))


def main() -> int:
    """Train the grid, or judge it."""
    from sets import arguments

    parser = arguments(__doc__ or "")
    parser.add_argument("act", choices=["train", "judge"])
    for name in ("pack", "val", "encoder", "negatives"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--device")
    options = parser.parse_args()
    try:
        train(options) if options.act == "train" else judge(options)
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
