"""Training curves from the metrics.jsonl of one run or several."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glissando.errors import TrainingError
from glissando.figures.style import COLOURS, INK, MUTED, bare, figure, save

FILE = "metrics.jsonl"
# Where a run is, and what its machine does: no measures of what it learns.
NOT_DRAWN = {"step", "epoch", "progress", "seconds", "val_seconds", "swipes_per_second"}
COLUMNS = 3

Line = dict[str, Any]


def read_metrics(path: Path) -> list[Line]:
    """The lines of a run's metrics; a last line that was cut off when the run was stopped is left out."""
    file = path / FILE if path.is_dir() else path
    try:
        texts = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"cannot read metrics {file}: {getattr(error, 'strerror', None) or error}") from None
    lines = []
    for number, text in enumerate(texts, 1):
        try:
            line = json.loads(text)
        except ValueError:
            if number == len(texts):
                break
            raise TrainingError(f"{file}:{number}: not JSON") from None
        if not isinstance(line, dict) or not isinstance(line.get("step"), (int, float)):
            raise TrainingError(f"{file}:{number}: a line of metrics is an object with a step")
        lines.append(line)
    if not lines:
        raise TrainingError(f"{file} has no metrics")
    return lines


def draw_training(runs: dict[str, Sequence[Line]], path: Path) -> list[Path]:
    """A panel for each measure that the runs wrote, a line for each run."""
    measures = measured(runs)
    columns = min(len(measures), COLUMNS)
    rows = math.ceil(len(measures) / columns)
    made = figure(3.2 * columns, 2.3 * rows + (0.3 if len(runs) > 1 else 0))
    panels = made.subplots(rows, columns, squeeze=False).ravel()
    for axes, measure in zip(panels, measures, strict=False):
        for number, lines in enumerate(runs.values()):
            steps, values = series(lines, measure)
            # Few points are measured at moments, and those are worth seeing.
            mark = "o" if len(steps) <= 40 else None
            axes.plot(steps, values, color=COLOURS[number % len(COLOURS)], lw=1.4, marker=mark, ms=2.5)
        bare(axes)
        axes.set_title(measure.replace("_", " "), fontsize=10, color=INK)
        axes.set_xlabel("step", fontsize=8, color=MUTED)
        axes.margins(x=0.02)
    for axes in panels[len(measures) :]:
        axes.axis("off")
    if len(runs) > 1:
        handles = panels[0].get_lines()
        made.legend(handles, list(runs), loc="outside lower center", ncols=min(len(runs), 4), frameon=False, fontsize=9)
    return save(made, path)


def measured(runs: dict[str, Sequence[Line]]) -> list[str]:
    """Names of the measures in any line of any run, in the order in which they first appear."""
    names = dict.fromkeys(name for lines in runs.values() for line in lines for name in line)
    found = [name for name in names if name not in NOT_DRAWN and any(series(run, name)[0] for run in runs.values())]
    if not found:
        raise TrainingError("the metrics hold no measure that could be drawn")
    return found


def series(lines: Sequence[Line], measure: str) -> tuple[list[float], list[float]]:
    """Steps and values of a measure, where it was measured."""
    points = [(line["step"], line[measure]) for line in lines if _is_number(line.get(measure))]
    return [step for step, _ in points], [value for _, value in points]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
