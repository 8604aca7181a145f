"""The encoders of the ablation tables: what is left out, or added, changes nothing else.

    python runs/ablations.py --pack train.npz --val val.npz --out build/ablations/runs [--jobs 4] [--only NAME ...]
    python runs/ablation_tables.py --runs build/ablations/runs      # evaluates them: tables and pictures

Every row has the same steps, batch, schedule and seed. Needs torch, numpy and safetensors alone, and a GPU with Triton.
Cost: 31 rows of 4 million swipes, a quarter of an hour of one H200 with --jobs 4. Compiling hides behind rows that
train, and under CUDA's multi-process service (nvidia-cuda-mps-control -d) several train faster together than in turn.
Rows that are there already are left, so a call that was cut off goes on where it stopped. The rows with synthetic
swipes in docs/ablations.md were trained by commit e0aec40, the last with a generator in training.
"""

import argparse
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

# Speed, schedule and size, the same in every row. Keys are padded alike, so that rows share their compiled step.
COMMON = (
    "batch=2048", "learning_rate=2e-3", "epochs=100000", "steps=1957", "word_power=0.7", "model.frames=64",
    "extra_keys=14", "ctc=triton", "log_every=400", "validate_every=100000", "seed=1",
)  # fmt: skip
# The stages of the report's pipeline, off and on.
OFF = {
    "rotation": ("augment.rotation=[0,0]",),
    "flips": ("augment.flip_x=0", "augment.flip_y=0"),
    "translation": ("augment.translate=false",),
    "yscale": ("augment.y_scale=[1,1]",),
    "reversal": ("augment.reversal=0",),
    "xscale": ("augment.x_scale=[1,1]",),
    "shear": ("augment.shear=[0,0]",),
}
UPRIGHT = ("augment.upright=0.7",)
SWAY = (*UPRIGHT, "augment.sway=[0.1,0.06]")
SHIPPED = (*SWAY, "rearranged=0.4")


@dataclass(frozen=True)
class Row:
    """One encoder.

    Attributes:
        tables: those it is in: augmentation, head, blank, data, width.
        title: its name in a table.
        settings: of its training, besides COMMON.
    """

    tables: tuple[str, ...]
    title: str
    settings: tuple[str, ...]


def without(*stages: str) -> tuple[str, ...]:
    """Settings that switch stages of the pipeline off."""
    return tuple(setting for stage in stages for setting in OFF[stage])


EVERY = ("augmentation", "head", "blank", "data", "width")
ROWS = {
    "none": Row(("augmentation",), "baseline", without(*OFF)),
    "rotation": Row(("augmentation",), "+ rotation", without(*list(OFF)[1:])),
    "flips": Row(("augmentation",), "+ flips, translation", without(*list(OFF)[3:])),
    "yscale": Row(("augmentation",), "+ y-scale, time reversal", without(*list(OFF)[5:])),
    "full": Row(("augmentation",), "+ x-scale, shear (the report's)", ()),
    "no-yscale": Row(("augmentation",), "without y-scale", without("yscale")),
    "no-xscale": Row(("augmentation",), "without x-scale", without("xscale")),
    "no-flips": Row(("augmentation",), "without flips", without("flips")),
    "no-reversal": Row(("augmentation",), "without time reversal", without("reversal")),
    "no-shear": Row(("augmentation",), "without shear", without("shear")),
    "upright": Row(("augmentation",), "+ 70 % left upright", UPRIGHT),
    "sway": Row(("augmentation",), "+ paths swayed off their keys", SWAY),
    "shipped": Row(EVERY, "+ 40 % re-arranged (shipped)", SHIPPED),
    **{
        f"cosine-{n}": Row(("head",), f"cosine, N = {n}", (*SHIPPED, f"model.resolution={n}"))
        for n in (2, 3, 4, 12, 16)
    },
    **{
        f"grid-{n}": Row(("head",), f"grid, N = {n}", (*SHIPPED, "model.basis=grid", f"model.resolution={n}"))
        for n in (12, 16)
    },
    "gate-0": Row(("blank",), "gate, no penalty", (*SHIPPED, "emission_weight=0")),
    "gate-0.2": Row(("blank",), "gate, penalty .2", (*SHIPPED, "emission_weight=0.2")),
    "joint-0": Row(("blank",), "one softmax, no penalty", (*SHIPPED, "model.blank=joint", "emission_weight=0")),
    "joint-0.05": Row(("blank",), "one softmax, penalty .05", (*SHIPPED, "model.blank=joint")),
    **{f"people-{n}": Row(("data",), f"{n} % of people", (*SHIPPED, f"part=[0,{n / 100}]")) for n in (5, 10, 25, 50)},
    **{f"width-{n}": Row(("width",), f"width {n}", (*SHIPPED, f"model.width={n}")) for n in (64, 96, 192)},
}


def train_row(name: str, pack: Path, val: Path | None, out: Path, more: list[str]) -> None:
    """Train one row in this process; its encoder becomes OUT/NAME.safetensors."""
    from glissando.train.encoder.config import EncoderTraining
    from glissando.train.encoder.trainer import train_encoder
    from glissando.train.run import Job, print_line

    shutil.rmtree(out / name, ignore_errors=True)  # of a run that was cut off
    config = EncoderTraining().changed([*COMMON, *ROWS[name].settings, *more])
    train_encoder(config, Job(pack, out / name, val, report=print_line))
    shutil.copy(out / name / "encoder.safetensors", out / f"{name}.safetensors")


def train_all(options: argparse.Namespace) -> int:
    """Train the rows that are not there, several at a time, each in a process of its own; returns how many failed."""
    waiting: queue.Queue[str] = queue.Queue()
    for name in options.only or ROWS:
        if not (options.out / f"{name}.safetensors").exists():
            waiting.put(name)
    failed = []

    def work() -> None:
        while True:
            try:
                name = waiting.get_nowait()
            except queue.Empty:
                return
            began = time.monotonic()
            arguments = ["--pack", options.pack, "--out", options.out, "--row", name]
            arguments += ["--val", options.val] if options.val else []
            arguments += [part for setting in options.set for part in ("--set", setting)]
            with (options.out / f"{name}.log").open("w") as log:
                command = [sys.executable, __file__, *map(str, arguments)]
                status = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
            last = (options.out / f"{name}.log").read_text().splitlines()[-1:]
            print(f"{name}: {time.monotonic() - began:.0f} s, exit status {status}; {''.join(last)[-300:]}", flush=True)
            if status:
                failed.append(name)

    workers = [threading.Thread(target=work) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return len(failed)


def main() -> int:
    """Train rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--val", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1, help="rows trained at the same time")
    parser.add_argument("--only", nargs="*", choices=list(ROWS), metavar="NAME")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="for all rows: steps=100")
    parser.add_argument("--row", choices=list(ROWS), help=argparse.SUPPRESS)  # one of train_all's processes
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.row:
        train_row(options.row, options.pack, options.val, options.out, options.set)
        return 0
    return 1 if train_all(options) else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    sys.exit(main())
