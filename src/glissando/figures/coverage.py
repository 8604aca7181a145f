"""What a keyboard gains by abstaining: accuracy over the share of swipes that it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glissando.corpus.sources import shown, source_name
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import EvaluationOptions, Method, evaluate
from glissando.evaluation.metrics import Coverage, coverage
from glissando.figures.style import COLOURS, INK, MUTED, RULE, bare, figure

ACCURACIES = (95.0, 98.0, 99.0)  # percent, for which the share answered is told
FEWEST = 50  # answers that a point of a curve needs: the accuracy of a few is chance


@dataclass(frozen=True, eq=False)
class Curve:
    """A set of swipes, decoded by one method.

    Attributes:
        swipes: how many there are.
        coverage: what each threshold does.
    """

    swipes: int
    coverage: Coverage

    def to_dict(self) -> dict[str, Any]:
        """The numbers for a table: without abstaining, and where each of ``ACCURACIES`` is reached."""
        reached = {f"{accuracy:g}": self.coverage.at(accuracy) for accuracy in ACCURACIES}
        everything = self.coverage
        return {
            "n": self.swipes,
            "answered": float(everything.answered[-1]),
            "accuracy": float(everything.accuracy[-1]),
            "at": {
                name: None if found is None else {"answered": found[0], "threshold": found[1]}
                for name, found in reached.items()
            },
        }


def measure_coverage(
    sources: Sequence[str | Path], methods: Sequence[Method], options: EvaluationOptions, progress: Any = None
) -> dict[str, Curve]:
    """Decode every source by every method.

    Args:
        sources: what ``find_files`` takes, in our schema, a curve each.
        methods: how to decode; a curve each.
        options: how to decode otherwise.
        progress: called with (swipes done, swipes in all) of each evaluation.

    Returns:
        A label for each curve, with the method where there are several; and the curve.
    """
    curves = {}
    names = [source_name(source).split(".")[0] for source in sources]
    for source, name in zip(sources, names, strict=True):
        label = name if names.count(name) == 1 else shown(source)
        for method in dict.fromkeys(methods):
            outcomes = evaluate([source], replace(options, method=method), progress).outcomes.values()
            everything = [outcome for part in outcomes for outcome in part]
            found = coverage(everything)
            if not len(found.threshold):
                raise CorpusError(f"{shown(source)}: no swipe has a candidate, so there is nothing to draw")
            curves[f"{label}, {method}" if len(set(methods)) > 1 else label] = Curve(len(everything), found)
    return curves


def draw_coverage(curves: Mapping[str, Curve]) -> Any:
    """A curve for each set: accuracy over the share answered, and dotted what the probabilities promise."""
    drawn = figure(5.6, 3.8)
    axes = drawn.subplots()
    lowest = 100.0
    for number, (label, curve) in enumerate(curves.items()):
        colour, shown = COLOURS[number % len(COLOURS)], curve.coverage
        kept = shown.answered * curve.swipes / 100 >= min(FEWEST, curve.swipes)
        kept[-1] = True
        axes.plot(shown.answered[kept], shown.accuracy[kept], color=colour, lw=1.6, label=label)
        axes.plot(shown.answered[kept], shown.expected[kept], color=colour, lw=1.0, ls=":")
        axes.plot(shown.answered[-1:], shown.accuracy[-1:], "o", color=colour, ms=4)
        lowest = min(lowest, float(np.minimum(shown.accuracy, shown.expected)[kept].min()))
    for accuracy in ACCURACIES:
        axes.axhline(accuracy, color=RULE, lw=0.7, zorder=0)
    axes.plot([], [], color=MUTED, lw=1.0, ls=":", label="what the probabilities promise")
    axes.set(xlim=(0, 102), ylim=(lowest - 1, 100.3))
    axes.set_xlabel("swipes answered, %", color=INK)
    axes.set_ylabel("first candidate right, %", color=INK)
    axes.legend(loc="lower left", frameon=False, fontsize=8)
    bare(axes)
    return drawn
