"""What all figures share: colours that the colour-blind can tell apart, keys and trails, and how a figure is saved."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from glissando.drawing import font_for, visible
from glissando.errors import GlissandoError, MissingExtraError
from glissando.layout import Layout

FORMATS = ("png", "svg")
DPI = 150
INK, MUTED, RULE = "#222222", "#6b7280", "#d5d9e0"
KEY_FACE, KEY_EDGE, KEY_LIT = "#f6f7f9", "#d5d9e0", "#e3e8f0"
# Okabe and Ito's, in an order in which neighbours differ most.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
KEY_GAP = 0.08  # of a key, between neighbours


def figure(width: float, height: float) -> Any:
    """An empty matplotlib figure, sizes in inches, that draws without a display."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtraError("pictures need matplotlib: pip install 'glissando[plot]'") from None
    empty = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.07, w_pad=0.07), facecolor="white")
    FigureCanvasAgg(empty)
    return empty


def panels(parent: Any, count: int, columns: int, **options: Any) -> list[Any]:
    """``count`` axes of a figure or a part of one, in rows of ``columns``; the rest of the last row stays empty."""
    axes = parent.subplots(math.ceil(count / columns), columns, squeeze=False, **options).ravel().tolist()
    for unused in axes[count:]:
        unused.axis("off")
    return axes[:count]


def heading(part: Any, text: str) -> None:
    """Write a heading at the left above a part of a figure."""
    part.suptitle(text, x=0.012, ha="left", fontsize=10, fontweight="bold", color=INK)


def bare(axes: Any) -> None:
    """Keep only the left and the bottom line of the frame, in grey."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(RULE)
    axes.tick_params(colors=MUTED, labelsize=8, length=3, color=RULE)


def draw_keys(axes: Any, layout: Layout, lit: Collection[str] = (), size: float = 10.0, boxes: bool = True) -> None:
    """Draw a layout's keys; the letter area is one wide and ``layout.aspect`` high, y pointing down.

    Args:
        axes: where.
        layout: the keys.
        lit: letters that stand out.
        size: of the letters, in points.
        boxes: draw the keys' outlines too.
    """
    from matplotlib.patches import FancyBboxPatch
    from matplotlib.patheffects import withStroke

    axes.set(xlim=(-0.02, 1.02), ylim=(1.03 * layout.aspect, -0.03 * layout.aspect), aspect="equal")
    axes.axis("off")
    axes.set_anchor("N")
    halo = [withStroke(linewidth=2.5, foreground="white")]  # where a trail runs under a letter
    for key in layout.keys:
        bright = key.letter in lit
        if boxes:
            width, height = 2 * key.rx * (1 - KEY_GAP), 2 * key.ry * layout.aspect * (1 - KEY_GAP)
            corner = (key.cx - width / 2, key.cy * layout.aspect - height / 2)
            round_ = f"round,pad=0,rounding_size={0.12 * min(width, height)}"
            face = KEY_LIT if bright else KEY_FACE
            axes.add_patch(FancyBboxPatch(corner, width, height, round_, fc=face, ec=KEY_EDGE, lw=0.7, zorder=1))
        axes.text(
            key.cx, key.cy * layout.aspect, visible(key.letter), ha="center", va="center_baseline", zorder=4,
            fontsize=size, fontweight="bold" if bright else "normal", color=INK if bright or not lit else MUTED,
            parse_math=False, path_effects=halo if bright else None,
        )  # fmt: skip


def draw_trail(axes: Any, layout: Layout, path: np.ndarray, colour: str, width: float = 2.0) -> None:
    """Draw a path over ``draw_keys``, with a dot where it begins. Shape: path [2, n] in the unit square."""
    x, y = path[0], path[1] * layout.aspect
    axes.plot(x, y, color=colour, lw=width, solid_capstyle="round", solid_joinstyle="round", zorder=3)
    axes.plot(x[:1], y[:1], "o", color=colour, ms=4 if width < 2 else 5, mec="white", mew=0.8, zorder=3.5)


def set_fonts(drawn: Any, layouts: Iterable[Layout]) -> Any:
    """Set all text of a figure in fonts that have the letters of these layouts, and return it."""
    from matplotlib.text import Text

    families = list(dict.fromkeys(family for layout in layouts for family in font_for(layout).get_family()))
    for text in drawn.findobj(Text) if families else ():
        text.set_fontfamily(families)
    return drawn


def save(drawn: Any, path: Path, layouts: Iterable[Layout] = ()) -> list[Path]:
    """Save a figure as PNG and SVG, with ``set_fonts`` for these layouts; ``path`` has no suffix."""
    set_fonts(drawn, layouts)
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in FORMATS]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for file in files:
            drawn.savefig(file, dpi=DPI)
    except OSError as error:
        raise GlissandoError(f"cannot save the picture {path}: {error.strerror or error}") from None
    return files
