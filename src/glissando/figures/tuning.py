"""Pictures of a tuning: its trials, the response around the optimum, and whether probabilities are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import GlissandoError
from glissando.evaluation.metrics import Bin, calibration_error
from glissando.evaluation.study import Progress, StudyResult
from glissando.figures.style import COLOURS, DPI, INK, MUTED, bare, figure, save

NEAR = 3.0  # points below the best value that the pictures show


def draw_history(search: StudyResult, measure: str, path: Path) -> list[Path]:
    """The value of every trial and the best so far, as PNG and SVG; ``path`` has no suffix."""
    picture, axes = _panels(1, 6.4)
    values = np.array([trial.value for trial in search.history])
    best = np.maximum.accumulate(values)
    numbers = np.arange(1, len(values) + 1)
    axes[0].scatter(numbers, values, s=5, color=MUTED, alpha=0.5, linewidths=0, label="trial", rasterized=True)
    axes[0].step(numbers, best, color=COLOURS[0], linewidth=1.6, where="post", label="best so far")
    axes[0].set_ylim(*_limits(values, best[-1]))
    axes[0].set(xlabel="trial", ylabel=measure, title=f"{len(values):,} trials; best {best[-1]:.2f}")
    axes[0].legend(loc="lower right", framealpha=0.9, edgecolor="none", markerscale=2)
    return save(picture, path)


def draw_response(
    search: StudyResult, measure: str, path: Path, points: int = 61, progress: Progress | None = None
) -> list[Path]:
    """The objective as one constant moves across its range and the others stay, as PNG and SVG.

    Args:
        search: the finished search.
        measure: what its objective measures.
        path: the file, without a suffix.
        points: places in each range; the optimum is one more.
        progress: called with (places done, places in all).
    """
    curves = response(search, points, progress)
    picture, axes = _panels(len(curves), 3.2)
    limits = _limits(np.concatenate([values for _, values in curves.values()]), search.value)
    for one, (name, (places, values)) in zip(axes, curves.items(), strict=True):
        one.plot(places, values, color=COLOURS[0], linewidth=1.6)
        one.axvline(search.best[name], color=INK, linewidth=0.8, linestyle=":")
        one.plot([search.best[name]], [search.value], "o", color=INK, markersize=4)
        one.set(xlabel=name.replace("_", " "), title=f"{search.best[name]:.4g}", ylim=limits)
    axes[0].set_ylabel(measure)
    return save(picture, path)


def response(
    search: StudyResult, points: int, progress: Progress | None = None
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Constant to (places, values) of the objective along its range. Shape: [points + 1] each."""
    curves = {}
    for done, (name, end) in enumerate(search.space.items()):
        places = np.sort(np.append(np.linspace(end.low, end.high, points), search.best[name]))
        values = []
        for place in places.tolist():
            values.append(search.objective({**search.best, name: place}))
            if progress:
                progress(done * len(places) + len(values), len(search.space) * len(places))
        curves[name] = places, np.array(values)
    return curves


def draw_reliability(curves: Mapping[str, Sequence[Bin]], path: Path) -> Path:
    """The share of best candidates that are right over their probability; areas show the number of swipes.

    Args:
        curves: the bins of each set, a panel each.
        path: a .png, .svg or .pdf file.
    """
    check_picture(path)
    picture, axes = _panels(len(curves), 3.4)
    for one, (name, bins) in zip(axes, curves.items(), strict=True):
        total = sum(part.swipes for part in bins)
        given, right = [part.probability for part in bins], [part.right for part in bins]
        areas = [8 + 250 * part.swipes / total for part in bins]
        one.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
        one.plot(given, right, color=COLOURS[0], linewidth=1.2)
        one.scatter(given, right, s=areas, color=COLOURS[0], alpha=0.6, linewidths=0)
        one.set(xlabel="probability given", xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
        one.set_title(f"{name}: {total:,} swipes, error {calibration_error(bins):.1f} %", fontsize=10)
    axes[0].set_ylabel("share right")
    picture.savefig(path, dpi=DPI)
    return path


def check_picture(path: Path) -> None:
    """Refuse a file that no picture can be written to, before any work is done for it."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise GlissandoError(f"a picture ends in .png, .svg or .pdf, got {path}")
    if not path.parent.is_dir():
        raise GlissandoError(f"cannot write {path}: no directory {path.parent}")


def _panels(count: int, width: float) -> tuple[Any, list[Any]]:
    """An empty figure with panels side by side."""
    picture = figure(max(width * count, 4.0), 3.4)
    axes = list(picture.subplots(1, count, squeeze=False, sharey=True)[0])
    for one in axes:
        bare(one)
        one.title.set_fontsize(10)
    return picture, axes


def _limits(values: np.ndarray, best: float) -> tuple[float, float]:
    """The lowest and the highest value that a picture shows."""
    floor = max(float(values.min()), float(values.max()) - NEAR) - 0.02
    return floor, best + 0.05 * (best - floor)
