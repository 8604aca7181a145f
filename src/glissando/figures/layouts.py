"""The report's three pictures of layouts: words' paths overlaid, confidence letter by letter, keys side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from glissando.design.report import Report
from glissando.figures.style import COLOURS, INK, MUTED, bare, draw_keys, draw_trail, figure, panels, set_fonts
from glissando.gesture import resample
from glissando.layout import Layout
from glissando.lexicon import typed_letters
from glissando.synth import swipe

COLUMNS = 3  # keyboards side by side
PANEL = 3.5  # inches
UNSURE = 0.2  # confidence below which a letter counts as missed: drawn in another colour


def draw_paths(layouts: Sequence[Layout], words: Sequence[str]) -> Any:
    """The exact swipes of some words over each other, a panel per layout; of two words the first's line is wider."""
    from matplotlib.lines import Line2D

    drawn, keyboards = _keyboards(layouts, extra=0.35)
    for axes, layout in zip(keyboards, layouts, strict=True):
        lit = {letter for word in words for letter in typed_letters(word, frozenset(layout.letters))}
        draw_keys(axes, layout, lit)
        axes.set_title(layout.name, fontsize=11, color=INK)
        for number, word in enumerate(words):
            width = (6.5, 2.5)[number] if len(words) == 2 else 2.2
            draw_trail(axes, layout, resample(swipe(word, layout), 256), COLOURS[number % len(COLOURS)], width)
    handles = [Line2D([], [], color=COLOURS[number % len(COLOURS)], lw=3) for number in range(len(words))]
    drawn.legend(handles, list(words), loc="outside lower center", ncols=len(words), frameon=False, fontsize=10)
    return set_fonts(drawn, layouts)


def draw_confidence(report: Report) -> Any:
    """The encoder's confidence in each letter of each word, a row per word and a column per layout."""
    words = list(report.layouts[0].letters)
    longest = max(len(word) for word in words)
    drawn = figure(max(0.42 * longest, 2.2) * len(report.layouts) + 0.6, 1.7 * len(words) + 0.3)
    grid = drawn.subplots(len(words), len(report.layouts), squeeze=False, sharey=True)
    for row, word in zip(grid, words, strict=True):
        for axes, one in zip(row, report.layouts, strict=True):
            letters = one.letters[word]
            shares = [100 * letter.confidence for letter in letters]
            colours = [COLOURS[1] if letter.confidence < UNSURE else COLOURS[0] for letter in letters]
            bars = axes.bar(range(len(letters)), shares, 0.72, color=colours)
            for label, share in zip(axes.bar_label(bars, fmt="%.0f", fontsize=8, padding=1), shares, strict=True):
                label.set_color(COLOURS[1] if share < 100 * UNSURE else INK)
            axes.set(ylim=(0, 112), yticks=(0, 50, 100))
            axes.set_xticks(range(len(letters)), [letter.letter for letter in letters])
            bare(axes)
            axes.tick_params(axis="x", labelsize=11, labelcolor=INK, length=0)
            if axes in grid[0]:
                axes.set_title(one.layout.name, fontsize=11, color=INK)
        row[0].set_ylabel(f"{word}, %", fontsize=9, color=MUTED)
    return set_fonts(drawn, [one.layout for one in report.layouts])


def draw_layouts(layouts: Sequence[Layout]) -> Any:
    """The keyboards side by side, all equally wide."""
    drawn, keyboards = _keyboards(layouts)
    for axes, layout in zip(keyboards, layouts, strict=True):
        draw_keys(axes, layout, size=12)
        axes.set_title(layout.name, fontsize=11, color=INK)
    return set_fonts(drawn, layouts)


def _keyboards(layouts: Sequence[Layout], extra: float = 0.0) -> tuple[Any, list[Any]]:
    """A figure with an empty panel for each layout, ``extra`` inches higher than these need."""
    rows = math.ceil(len(layouts) / COLUMNS)
    columns = math.ceil(len(layouts) / rows)  # four are two and two, not three and one
    heights = [max(layout.aspect for layout in layouts[i * columns : (i + 1) * columns]) for i in range(rows)]
    drawn = figure(PANEL * columns, sum(PANEL * height + 0.4 for height in heights) + extra)
    return drawn, panels(drawn, len(layouts), columns, gridspec_kw={"height_ratios": heights})
