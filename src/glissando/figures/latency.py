"""How long a swipe takes, by the width of the beam and by the size of the lexicon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glissando.evaluation.bench import Timing
from glissando.figures.style import COLOURS, INK, bare, figure


def draw_latency(by_width: Mapping[int, Timing], by_words: Mapping[int, Timing]) -> Any:
    """The medians, and the 95th percentiles as a shade.

    Args:
        by_width: milliseconds by the hypotheses that the beam keeps.
        by_words: milliseconds by the words of the lexicon.
    """
    drawn = figure(7.2, 2.8)
    axes = drawn.subplots(1, 2, sharey=True)
    labels = ("hypotheses the beam keeps", "words in the lexicon")
    for one, timings, label in zip(axes, (by_width, by_words), labels, strict=True):
        numbers = sorted(timings)
        middle, high = ([getattr(timings[number], name) for number in numbers] for name in ("p50", "p95"))
        one.fill_between(numbers, middle, high, color=COLOURS[0], alpha=0.15, linewidth=0, label="up to p95")
        one.plot(numbers, middle, "o-", color=COLOURS[0], markersize=4, linewidth=1.6, label="p50")
        one.set_xscale("log")
        one.set_xticks(numbers, [f"{number:,}" for number in numbers], rotation=30)
        one.minorticks_off()
        one.set_xlabel(label, color=INK)
        bare(one)
    axes[0].set_ylim(bottom=0)  # shared, and fixed only once both panels are drawn
    axes[0].set_ylabel("ms per swipe, one thread", color=INK)
    axes[0].legend(loc="upper left", frameon=False, fontsize=8)
    return drawn
