"""Pictures: how a tuning went, how sharply its optimum stands out, and whether probabilities come true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import GlissandoError, MissingExtraError
from glissando.evaluation.calibration import Bin, calibration_error
from glissando.evaluation.study import Found, Objective, Progress

FORMATS = ("png", "svg")
INK, BLUE, GREY = "#222222", "#1f5fa8", "#b8bec6"
NEAR = 3.0  # points below the best that the pictures show; what is worse is bad, no matter how bad


def response(
    found: Found, objective: Objective, points: int = 61, progress: Progress | None = None
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What the objective is when one constant moves across its range and the others stay at the optimum.

    Returns:
        Constant to (places [points + 1], values [points + 1]); the optimum is one of the places.
    """
    curves = {}
    for done, (name, end) in enumerate(found.space.items()):
        places = np.sort(np.append(np.linspace(end.low, end.high, points), found.best[name]))
        values = []
        for place in places:
            values.append(objective({**found.best, name: float(place)}))
            if progress:
                progress(done * len(places) + len(values), len(found.space) * len(places))
        curves[name] = places, np.array(values)
    return curves


def draw_history(found: Found, measure: str, path: Path) -> list[Path]:
    """The value of every trial and the best so far, as PNG and SVG; ``path`` has no suffix."""
    figure, axes = _figure(1, 6.4)
    values = np.array([point.value for point in found.history])
    best = np.maximum.accumulate(values)
    numbers = np.arange(1, len(values) + 1)
    axes[0].scatter(numbers, values, s=5, color=GREY, linewidths=0, label="trial", rasterized=True)
    axes[0].step(numbers, best, color=BLUE, linewidth=1.6, where="post", label="best so far")
    axes[0].set_ylim(_floor(values), best[-1] + 0.05 * (best[-1] - _floor(values)))
    axes[0].set(xlabel="trial", ylabel=measure, title=f"{len(values):,} trials; best {best[-1]:.2f}")
    axes[0].legend(loc="lower right", framealpha=0.9, edgecolor="none", markerscale=2)
    return _save(figure, path)


def draw_response(
    found: Found, curves: dict[str, tuple[np.ndarray, np.ndarray]], measure: str, path: Path
) -> list[Path]:
    """The curves of ``response``, one picture per constant, as PNG and SVG; ``path`` has no suffix."""
    figure, axes = _figure(len(curves), 3.2)
    bottom = _floor(np.concatenate([values for _, values in curves.values()]))
    for one, (name, (places, values)) in zip(axes, curves.items(), strict=True):
        one.plot(places, values, color=BLUE, linewidth=1.6)
        one.axvline(found.best[name], color=INK, linewidth=0.8, linestyle=":")
        one.plot([found.best[name]], [found.value], "o", color=INK, markersize=4)
        one.set(xlabel=name.replace("_", " "), title=f"{found.best[name]:.4g}")
        one.set_ylim(bottom, found.value + 0.05 * (found.value - bottom))
    axes[0].set_ylabel(measure)
    return _save(figure, path)


def draw_reliability(curves: Mapping[str, Sequence[Bin]], path: Path) -> Path:
    """How often candidates were right beside what they were given, a picture per set; areas show how many there are.

    Args:
        curves: the bins of each set.
        path: a file whose suffix says the format: .png, .svg or .pdf.
    """
    check_picture(path)
    figure, axes = _figure(len(curves), 3.4)
    for one, (name, bins) in zip(axes, curves.items(), strict=True):
        total = sum(part.swipes for part in bins)
        said, right = [part.said for part in bins], [part.right for part in bins]
        one.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
        one.plot(said, right, color=BLUE, linewidth=1.2)
        one.scatter(
            said, right, s=[8 + 250 * part.swipes / total for part in bins], color=BLUE, alpha=0.6, linewidths=0
        )
        one.set(xlabel="probability given", xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
        one.set_title(f"{name}: {total:,} swipes, error {calibration_error(bins):.1f} %", fontsize=10)
    axes[0].set_ylabel("share right")
    figure.savefig(path, dpi=150)
    return path


def check_picture(path: Path) -> None:
    """Refuse a file that no picture can be written to, before the work that would be lost."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise GlissandoError(f"a picture ends in .png, .svg or .pdf, got {path}")
    if not path.parent.is_dir():
        raise GlissandoError(f"cannot write {path}: no directory {path.parent}")


def _floor(values: np.ndarray) -> float:
    """The lowest value a picture shows."""
    best = float(values.max())
    return max(float(values.min()), best - NEAR) - 0.02


def _figure(count: int, width: float) -> tuple[Any, Sequence[Any]]:
    """An empty picture with axes side by side."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("pictures need matplotlib: pip install 'glissando[plot]'") from None
    figure = Figure(figsize=(max(width * count, 4.0), 3.4), layout="constrained")
    FigureCanvasAgg(figure)  # draws without a display
    axes = list(figure.subplots(1, count, squeeze=False, sharey=True)[0])
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.title.set_fontsize(10)
    return figure, axes


def _save(figure: Any, path: Path) -> list[Path]:
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in FORMATS]
    for file in files:
        figure.savefig(file, dpi=150)
    return files
