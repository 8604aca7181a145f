"""The front between clarity and travel that a search has found: how much of one a little of the other costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glissando.design.archive import Front, Price
from glissando.figures.style import COLOURS, INK, MUTED, bare, draw_keys, figure, save

SHOWN = 3  # keyboards of the front that are drawn beside it


def draw_front(folder: Path) -> list[Path]:
    """Draw ``front.json`` and ``search.json`` of a search's directory as front.png and front.svg there."""
    front = Front.read(folder)
    drawing = figure(7.2, 4.4)
    grid = drawing.add_gridspec(2, SHOWN, height_ratios=(2.4, 1))
    axes = drawing.add_subplot(grid[0, :])
    bare(axes)
    axes.plot([1000 * one.travel for one in front.layouts], [one.clarity for one in front.layouts], "-o",
              color=COLOURS[0], ms=3, lw=1)  # fmt: skip
    _mark(axes, front.best, COLOURS[1], "the layout found")
    for name, peer in front.peers.items():
        _mark(axes, peer, MUTED, name)
    axes.set_xlabel("travel, ms a word", fontsize=8, color=INK)
    axes.set_ylabel("clarity, nats a word", fontsize=8, color=INK)
    count = len(front.layouts)
    for column, index in enumerate(sorted({0, count // 2, count - 1})):  # the quickest, a middle one, the clearest
        one = front.layouts[index]
        panel = drawing.add_subplot(grid[1, column])
        draw_keys(panel, one.layout, size=6)
        panel.set_title(f"{1000 * one.travel:.0f} ms, {one.clarity:.2f} nats", fontsize=7, color=MUTED)
    return save(drawing, folder / "front", [front.layouts[0].layout])


def _mark(axes: Any, price: Price, colour: str, text: str) -> None:
    """Put a layout beside the front."""
    x, y = 1000 * price.travel, price.clarity
    axes.plot([x], [y], "o", color=colour, ms=5)
    axes.annotate(text, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=7, color=colour)
