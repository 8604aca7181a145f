"""The front between clarity and travel that a search has found: what a little of the one costs of the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glissando.design.archive import Price
from glissando.design.front import Front
from glissando.figures.style import COLOURS, INK, MUTED, bare, draw_keys, figure, save

SHOWN = 3  # keyboards of the front that are drawn beside it


def draw_front(folder: Path) -> list[Path]:
    """Draw ``front.json`` and ``search.json`` of a search's directory as front.png and front.svg there."""
    found = Front.read(folder)
    rows = [(1000 * one.travel, one.clarity) for one in found.choices]
    layouts = [one.layout for one in found.choices]
    made = figure(7.2, 4.4)
    grid = made.add_gridspec(2, SHOWN, height_ratios=(2.4, 1))
    axes = made.add_subplot(grid[0, :])
    bare(axes)
    axes.plot(*zip(*rows, strict=True), "-o", color=COLOURS[0], ms=3, lw=1)
    _mark(axes, found.best, COLOURS[1], "the layout found")
    for name, peer in found.peers.items():
        _mark(axes, peer, MUTED, name)
    axes.set_xlabel("travel, ms a word", fontsize=8, color=INK)
    axes.set_ylabel("clarity, nats a word", fontsize=8, color=INK)
    for column, index in enumerate(_spread(len(layouts))):
        panel = made.add_subplot(grid[1, column])
        draw_keys(panel, layouts[index], size=6)
        panel.set_title(f"{rows[index][0]:.0f} ms, {rows[index][1]:.2f} nats", fontsize=7, color=MUTED)
    return save(made, folder / "front", layouts[:1])


def _mark(axes: Any, costs: Price, colour: str, text: str) -> None:
    """Put a layout beside the front."""
    x, y = 1000 * costs.travel, costs.clarity
    axes.plot([x], [y], "o", color=colour, ms=5)
    axes.annotate(text, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=7, color=colour)


def _spread(count: int) -> list[int]:
    """Places of the quickest, a middle and the clearest layout."""
    return sorted({0, count // 2, count - 1})
