"""Pictures of the ablations: blank and letters along a swipe, and the error against the amount of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ablation_data import MILLION, Trend

from glissando.ctc import align
from glissando.figures.style import COLOURS, INK, MUTED, RULE, bare, figure, save

TICKS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50)  # percent
MASSES = np.arange(0.0, 3.05, 0.05)  # of emitted mass per letter
ROW = 1.25  # inches a variant takes


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to handle blank.

    Attributes:
        title: what it is.
        probs: [T, L + 1] emissions of the example, blank last.
        masses: [n] emitted mass per letter of many swipes.
    """

    title: str
    probs: np.ndarray
    masses: np.ndarray


def draw_blanks(variants: Sequence[Variant], word: str, alphabet: Sequence[str], path: Path) -> list[Path]:
    """Draw a row for each variant: emissions along one swipe, and how much is emitted per letter on many.

    Args:
        variants: from top to bottom.
        word: the letters of the example.
        alphabet: the letters of the columns.
        path: of the picture, without a suffix.
    """
    made = figure(8.4, ROW * len(variants) + 0.75)
    grid = made.subplots(len(variants), 2, squeeze=False, sharex="col", width_ratios=(2.6, 1))
    tallest = max(np.histogram(variant.masses, MASSES)[0].max() / len(variant.masses) for variant in variants)
    for (left, right), variant in zip(grid, variants, strict=True):
        _draw_emissions(left, variant, word, alphabet)
        _draw_masses(right, variant.masses, tallest)
    grid[0, 1].set_title("emitted mass per letter, all of val", fontsize=9, color=INK, loc="left")
    grid[-1, 0].set_xlabel("frame", fontsize=9, color=MUTED)
    grid[-1, 1].set_xlabel("Σ (1 - p(blank)) / letters", fontsize=9, color=MUTED)
    handles = grid[0, 0].get_legend_handles_labels()
    made.suptitle(f"emissions along one swipe of “{word}”", x=0.012, ha="left", fontsize=10, color=INK, weight="bold")
    made.legend(*handles, loc="outside lower left", ncols=len(handles[0]), frameon=False, fontsize=8.5)
    return save(made, path)


def _draw_emissions(axes: Any, variant: Variant, word: str, alphabet: Sequence[str]) -> None:
    """Probabilities of the word's letters, of all others together, and what is not blank; letters at their frames."""
    frames = np.arange(len(variant.probs))
    labels = [alphabet.index(letter) for letter in word]
    distinct = list(dict.fromkeys(labels))
    colours = {label: COLOURS[number % len(COLOURS)] for number, label in enumerate(distinct)}
    emitted = 1 - variant.probs[:, -1]
    axes.plot(frames, emitted, color=RULE, lw=3.2, solid_joinstyle="round", label="not blank")
    for label, colour in colours.items():
        axes.fill_between(frames, variant.probs[:, label], color=colour, alpha=0.25, lw=0)
        axes.plot(frames, variant.probs[:, label], color=colour, lw=1.3)
    others = emitted - variant.probs[:, distinct].sum(axis=1)
    axes.plot(frames, others, color=INK, lw=0.9, ls=":", label="other letters")
    best = align(np.log(np.maximum(variant.probs, 1e-30)), labels).frames
    for letter, label, frame in zip(word, labels, best, strict=True):
        axes.annotate(
            letter, (frame, max(variant.probs[frame, label], emitted[frame])), (0, 3), textcoords="offset points",
            ha="center", va="bottom", fontsize=9, color=colours[label], weight="bold",
        )  # fmt: skip
    axes.set(ylim=(0, 1.3), yticks=(0, 0.5, 1), xlim=(0, frames[-1]))
    axes.set_title(variant.title, fontsize=9, color=INK, loc="left", pad=3)
    bare(axes)


def _draw_masses(axes: Any, masses: np.ndarray, tallest: float) -> None:
    """A histogram, its median written beside it; what is beyond the last bin counts in it."""
    counts, edges = np.histogram(np.minimum(masses, MASSES[-1] - 1e-9), MASSES)
    axes.bar(edges[:-1], counts / len(masses), np.diff(edges), align="edge", color=COLOURS[0], alpha=0.75, lw=0)
    axes.axvline(1, color=INK, lw=0.8, ls=":")
    note = f"median {np.median(masses):.2f}\nunder 1: {100 * np.mean(masses < 1):.0f} %"
    axes.text(0.97, 0.92, note, transform=axes.transAxes, ha="right", va="top", fontsize=8, color=MUTED)
    axes.set(xlim=(MASSES[0], MASSES[-1]), ylim=(0, 1.08 * tallest), yticks=[])
    axes.set_xticks((0, 1, 2, 3), ("0", "1", "2", "3+"))
    bare(axes)
    axes.spines["left"].set_visible(False)


def draw_scaling(trends: Sequence[Trend], path: Path) -> list[Path]:
    """Draw errors against data on logarithmic scales, where a power law is a line.

    Shaded is the 95 % interval of the change from the most data that there are; a line marks the report's million.

    Args:
        trends: a panel for each.
        path: of the picture, without a suffix.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    made = figure(3.3 * len(trends), 3.3)
    panels = made.subplots(1, len(trends), squeeze=False, sharex=True)[0]
    for axes, trend in zip(panels, trends, strict=True):
        for number, (name, law) in enumerate(trend.laws.items()):
            colour, level = COLOURS[number], law.at(law.reference)
            edges = 100 * (level - law.gain_high), 100 * (level - law.gain_low)
            axes.fill_between(law.amounts, *edges, color=colour, alpha=0.15, lw=0)
            style = "-" if number == 0 else "--"
            axes.plot(law.amounts, 100 * law.at(law.amounts), style, color=colour, lw=1.5, label=name)
        axes.plot(trend.amounts, 100 * trend.errors, "o", color=INK, ms=5, mec="white", mew=0.8, zorder=4)
        axes.axvline(MILLION, color=MUTED, lw=0.8, ls=":")
        axes.set(xscale="log", yscale="log")
        axes.set_title(trend.title, fontsize=10, color=INK, loc="left")
        axes.yaxis.set_major_locator(FixedLocator(TICKS))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("swipes trained on", fontsize=9, color=MUTED)
        bare(axes)
        axes.tick_params(which="minor", length=0)
    panels[0].set_ylabel("top-1 error", fontsize=9, color=MUTED)
    panels[0].legend(loc="lower left", frameon=False, fontsize=8)
    place = panels[0].get_xaxis_transform()
    panels[0].text(MILLION, 0.97, "the report's ", transform=place, ha="right", va="top", fontsize=8, color=MUTED)
    return save(made, path)
