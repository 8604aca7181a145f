"""Training runs side by side: what was measured on held-out swipes, epoch by epoch, as figures and as a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glissando.errors import MissingExtraError, TrainingError

FORMATS = ("png", "svg")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # Okabe and Ito's: told apart by all eyes
NAMES = {
    "val_ctc_per_letter": "validation CTC per letter",
    "val_top1": "top-1 among hard negatives",
    "val_greedy": "greedy accuracy",
    "held_top1": "top-1, people set aside",
    "ctc": "training CTC per letter",
}


@dataclass(frozen=True, eq=False)
class Curve:
    """One measure over a run.

    Attributes:
        epochs: [n] float64.
        values: [n] float64.
    """

    epochs: np.ndarray
    values: np.ndarray

    def summary(self, *, lower: bool) -> tuple[float, float, float]:
        """The best value, the epoch it was reached at, and how far the end has fallen back from it."""
        place = int(self.values.argmin() if lower else self.values.argmax())
        best = float(self.values[place])
        return best, float(self.epochs[place]), abs(float(self.values[-1]) - best)


def read_curve(metrics: Path, measure: str) -> Curve:
    """Read a measure from a metrics.jsonl: those of its lines that have it.

    Raises:
        TrainingError: the file cannot be read, or has no such measure.
    """
    try:
        lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines() if line]
    except (OSError, ValueError) as error:
        raise TrainingError(f"cannot read {metrics}: {error}") from None
    points = [(line["epoch"], line[measure]) for line in lines if measure in line and "epoch" in line]
    if not points:
        raise TrainingError(f"{metrics} has no measure {measure!r}")
    epochs, values = np.array(points, dtype=np.float64).T
    return Curve(epochs, values)


def draw_curves(runs: Mapping[str, Path], measures: Sequence[str], path: Path) -> list[Path]:
    """Draw runs into one picture, a panel per measure, as PNG and SVG.

    Args:
        runs: a metrics.jsonl by the name its curve gets.
        measures: of the lines, such as "val_ctc_per_letter".
        path: of the picture, without a suffix.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("pictures need matplotlib: pip install 'glissando[plot]'") from None
    figure = Figure(figsize=(4.6 * len(measures), 3.6), layout="constrained")
    FigureCanvasAgg(figure)  # draws without a display
    for axes, measure in zip(figure.subplots(1, len(measures), squeeze=False)[0], measures, strict=True):
        for number, (name, metrics) in enumerate(runs.items()):
            curve = read_curve(metrics, measure)
            axes.plot(curve.epochs, curve.values, color=COLOURS[number % len(COLOURS)], linewidth=1.5, label=name)
        axes.set(xlabel="epoch", title=NAMES.get(measure, measure.replace("_", " ")))
        axes.title.set_fontsize(10)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(framealpha=0.9, edgecolor="none", fontsize=8)
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in FORMATS]
    path.parent.mkdir(parents=True, exist_ok=True)
    for file in files:
        figure.savefig(file, dpi=150)
    return files
