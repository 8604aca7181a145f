"""The error gallery: the most confident mistakes, sorted into causes, with what the network saw."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glissando.figures.mistakes import CAUSES, Mistake
from glissando.figures.style import COLOURS, INK, MUTED, draw_keys, draw_trail, figure, save
from glissando.gesture import resample

COLUMNS = 5
PANEL = 2.2  # inches
TITLES = 0.75  # inches of a row beside its keyboards
HEADING = 0.3  # inches of a cause's heading
ROOM = 26  # characters of a title that fit
UNSURE = 0.1  # probability below which a letter is as good as unseen


def count_causes(mistakes: Sequence[Mistake]) -> dict[str, int]:
    """How many mistakes have each cause, in the order of CAUSES."""
    counts = Counter(mistake.cause for mistake in mistakes)
    return {cause: counts[cause] for cause in CAUSES}


def draw_gallery(mistakes: Sequence[Mistake], path: Path) -> list[Path]:
    """A panel for each mistake, those of a cause together.

    Above the keys: the word meant, the word read and its share. On them: the swipe, and a ring where each letter of
    the word meant was looked for. Below: that letter's probability there in percent, and the network's own reading.
    """
    groups = [[one for one in mistakes if one.cause == cause] for cause in CAUSES]
    groups = [group for group in groups if group]
    aspect = max(one.layout.aspect for one in mistakes)
    heights = [HEADING + math.ceil(len(group) / COLUMNS) * (PANEL * aspect + TITLES) for group in groups]
    made = figure(PANEL * COLUMNS, sum(heights))
    blocks = made.subfigures(len(groups), 1, squeeze=False, height_ratios=heights)[:, 0]
    for block, group in zip(blocks, groups, strict=True):
        title = f"{group[0].cause}: {len(group)} of {len(mistakes)}"
        block.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK)
        panels = block.subplots(math.ceil(len(group) / COLUMNS), COLUMNS, squeeze=False).ravel()
        for axes, mistake in zip(panels, group, strict=False):
            _draw_mistake(axes, mistake)
        for axes in panels[len(group) :]:
            axes.axis("off")
    return save(made, path, {one.layout.name: one.layout for one in mistakes}.values())


def _draw_mistake(axes: Any, mistake: Mistake) -> None:
    """One mistake's panel."""
    layout = mistake.layout
    draw_keys(axes, layout, set(mistake.target), size=6.5, boxes=False)
    points = resample(mistake.swipe.gesture)
    draw_trail(axes, layout, points, COLOURS[0], width=1.5, start=4)
    at = [max(round(moment * points.shape[1]) - 1, 0) for moment in mistake.moments]
    axes.plot(points[0, at], points[1, at] * layout.aspect, "o", ms=4.5, mfc="none", mec=COLOURS[1], mew=1, zorder=5)
    title = f"{mistake.target} → {mistake.answer}  {100 * mistake.confidence:.0f} %"
    axes.set_title(title, fontsize=8.5 * min(1, ROOM / len(title)), color=INK, pad=4)
    step = min(0.11, 1 / len(mistake.target))
    left = 0.5 - step * (len(mistake.target) - 1) / 2
    for number, (letter, share) in enumerate(zip(mistake.target, mistake.seen.tolist(), strict=True)):
        colour = COLOURS[1] if share < UNSURE else INK
        place = {"x": left + step * number, "transform": axes.transAxes, "ha": "center", "va": "top", "color": colour}
        axes.text(y=-0.02, s=letter, fontsize=8, fontweight="bold", parse_math=False, **place)
        axes.text(y=-0.17, s=f"{100 * share:.0f}", fontsize=6, **place)
    reading = mistake.reading or "nothing"
    note = {"transform": axes.transAxes, "ha": "center", "va": "top", "color": MUTED, "fontsize": 7.5}
    axes.text(0.5, -0.31, f"reads {reading}", parse_math=False, **note)
