"""The report's 2 x 2 of consistency and ranking at 50 epochs, and its two rows at 100: six decoders, one after another.

    python runs/decoder_grid.py --pack train.npz --val val.npz --encoder encoder.safetensors \
        --negatives negatives.npz --out build/grid [--set NAME=VALUE ...]
    python runs/decoder_grid.py --out build/grid --draw     # table and curves of what is there, no training

Needs torch, numpy and safetensors alone; the picture needs matplotlib. Cost, estimated: 400 epochs of 29 steps, four
minutes of one H200. A run that is there already is left, so a call that was cut off goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from glissando.errors import GlissandoError, TrainingError
from glissando.evaluation.curves import draw_curves, read_curve

# name: consistency, ranking, epochs
CELLS = {
    "plain-50": (False, False, 50),
    "ranking-50": (False, True, 50),
    "consistency-50": (True, False, 50),
    "both-50": (True, True, 50),
    "ranking-100": (False, True, 100),
    "both-100": (True, True, 100),
}
MEASURES = ("val_ctc_per_letter", "val_top1", "held_top1")


def train(options: argparse.Namespace) -> None:
    """Train the cells that are not there yet."""
    from glissando.train.decoder import train_decoder
    from glissando.train.decoder_config import DecoderTraining
    from glissando.train.run import print_line

    for name, (consistency, ranking, epochs) in CELLS.items():
        out = options.out / name
        if (out / "decoder.safetensors").exists():
            continue
        off = [f"{part}_weight=0" for part, on in (("consistency", consistency), ("ranking", ranking)) if not on]
        config = DecoderTraining().changed([*options.set, f"epochs={epochs}", *off])
        print(f"== {name}", flush=True)
        files = {**vars(options), "out": out, "resume": (out / "checkpoint.safetensors").exists()}
        train_decoder(config, argparse.Namespace(**files), report=print_line)


def tabulate(out: Path) -> str:
    """A Markdown table of the cells that are there: ends and bests of the measures."""
    rows = [
        "| CR-CTC | ranking | epochs | val CTC, best (epoch), end | val top-1*, best (epoch), end | held top-1*, end |"
    ]
    rows.append("|---|---|---|---|---|---|")
    first = None
    for name, (consistency, ranking, epochs) in CELLS.items():
        metrics = out / name / "metrics.jsonl"
        if not metrics.exists():
            continue
        ctc, top1, held = (read_curve(metrics, measure) for measure in MEASURES)
        first = first or (ctc.values[0], top1.values[0], held.values[0])
        low, at, _ = ctc.summary(lower=True)
        high, when, _ = top1.summary(lower=False)
        rows.append(
            f"| {'yes' if consistency else 'no'} | {'yes' if ranking else 'no'} | {epochs} "
            f"| {low:.4f} ({at:.0f}), {ctc.values[-1]:.4f} "
            f"| {100 * high:.2f} ({when:.0f}), {100 * top1.values[-1]:.2f} | {100 * held.values[-1]:.2f} |"
        )
    if first:
        rows.append(f"| encoder alone | | | {first[0]:.4f} | {100 * first[1]:.2f} | {100 * first[2]:.2f} |")
    return "\n".join([*rows, "", "\\* the truth against its mined negatives under eq. 3, constants by a grid on val"])


def main() -> int:
    """Train the grid, print its table, draw its curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name in ("pack", "val", "encoder", "negatives"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--device")
    parser.add_argument("--draw", action="store_true", help="only table and picture of what is there")
    options = parser.parse_args()
    try:
        if not options.draw:
            train(options)
        runs = {name: options.out / name / "metrics.jsonl" for name in CELLS}
        runs = {name: metrics for name, metrics in runs.items() if metrics.exists()}
        if not runs:
            raise TrainingError(f"there is no run of the grid in {options.out}")
        print(tabulate(options.out))
        if options.draw:
            print(*draw_curves(runs, MEASURES, options.out / "curves"))
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
