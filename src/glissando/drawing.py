"""Pictures of layouts and of swipes across them: text for terminals, SVG and PNG for pages."""

from __future__ import annotations

import io
import math
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from glissando.errors import LayoutError, MissingExtraError
from glissando.files import write_whole
from glissando.gesture import Gesture, as_gesture
from glissando.layout import MAX_KEYS, Key, Layout

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

Swipe = Gesture | np.ndarray | Iterable[Sequence[float]]

MIN_TRAIL, MAX_TRAIL = 64, 512  # pieces in which a swipe is drawn, whatever its number of points
OVERSHOOT = 0.1  # of the letter area: a finger that strays further is drawn at this distance
DOTTED_CIRCLE = "\N{DOTTED CIRCLE}"  # carries a combining mark that is drawn alone

MAX_LINES = 40  # of a swipe drawn as text
CELL_ASPECT = 2.0  # a terminal's cell is about twice as high as wide
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # the dots of a cell, by line and column
RAMP = (51, 45, 39, 33, 63, 99, 135, 171, 207, 205, 203)  # 256-colour codes, from touch-down to lift-off
WIDTH = 640.0  # of the letter area in a picture, pixels
MARGIN, KEY_GAP, TITLE_HEIGHT = 14.0, 5.0, 30.0  # around it, between keys, of a title
ROUNDING, STROKE = 7.0, 6.0  # radius of a key's corners, width of a trail
BASELINE = 0.31  # of the font size: distance of a letter's baseline below its key's centre
COLOURS = ((34, 184, 207), (112, 72, 232), (230, 73, 128))  # of a trail: teal, violet, pink; seen on light and dark
LIGHT = {"board": "#e9ecf2", "key": "#ffffff", "edge": "#d3d8e2", "letter": "#20242e"}
DARK = {"board": "#20242c", "key": "#363c48", "edge": "#454c5a", "letter": "#eef0f5"}
# The class keeps these rules from applying to the page around the picture.
STYLE = (
    ".glissando .board{fill:%(board)s} .glissando .key{fill:%(key)s;stroke:%(edge)s} .glissando .end{fill:%(key)s} "
    ".glissando .start{stroke:%(key)s} .glissando text{fill:%(letter)s;font-family:system-ui,sans-serif}"
)


def text_layout(layout: Layout, width: int = 72) -> str:
    """Draw the keys as boxes, at most ``width`` columns wide, or as bare letters where boxes would not fit."""
    room = max(_columns(visible(letter)) for letter in layout.letters)
    pitch = float(layout.key_size[0])
    box = int(width * pitch + 1e-6)  # columns for a key
    box -= box > 5 and box % 2 == 0  # odd ones have a middle
    height = 3 if box >= room + 2 else 1
    # Columns for the unit square; keys may be tiny, so there is a limit.
    scale = min(max(box, room + 1) / pitch, max(width, MAX_KEYS * (room + 1)))
    left = min(_edges(key, scale)[0] for key in layout.keys)
    right = max(_edges(key, scale)[1] for key in layout.keys)
    canvas = [[" "] * (right - left + room) for _ in range(height * len(layout.rows))]
    for row, indices in enumerate(layout.rows):
        lines = canvas[height * row : height * (row + 1)]
        for key in (layout.keys[index] for index in indices):
            start, end = (edge - left for edge in _edges(key, scale))
            if height == 3 and end - start > room:
                _box(lines, start, end)
            text = visible(key.letter)
            _put(lines[height // 2], max(start + end - _columns(text), 0) // 2, text, _columns(text))
    return "\n".join("".join(line).rstrip() for line in canvas)


def text_swipe(layout: Layout, swipe: Swipe, width: int = 72, colour: bool = False) -> str:
    """Draw a swipe over the letters of a layout: braille dots for the trail, ● where it starts, ○ where it ends.

    Args:
        layout: the keyboard it was made on.
        swipe: a Gesture, (x, y, t) points, or a resampled path as an array [2, n].
        width: columns to fill; the height follows from the layout's aspect.
        colour: paint the trail from touch-down to lift-off with ANSI colours.
    """
    columns = max(width - 2, 3 * max(len(row) for row in layout.rows))
    lines = min(max(round(columns * layout.aspect / CELL_ASPECT), 2 * len(layout.rows)), MAX_LINES)
    trail = _trail(swipe)  # [n, 2]
    dots, when = _dots(trail, lines, columns)
    canvas = [[" "] * columns for _ in range(lines)]
    for line, column in zip(*np.nonzero(dots), strict=True):
        canvas[line][column] = _paint(chr(0x2800 + dots[line, column]), when[line, column], colour)
    taken = set()
    for key in layout.keys:
        text = visible(key.letter)
        line, column = min(int(key.cy * lines), lines - 1), min(int(key.cx * columns), columns - _columns(text))
        letter = _paint(text, when[line, column], colour, bold=True) if dots[line, column] else text
        _put(canvas[line], column, letter, _columns(text))
        taken |= {(line, column + offset) for offset in range(_columns(text))}
    for mark, moment, point in (("○", 1.0, trail[-1]), ("●", 0.0, trail[0])):
        line, column = _free_cell(point, lines, columns, taken)
        canvas[line][column] = _paint(mark, moment, colour, bold=True)
    rule = "─" * columns
    return "\n".join([f"╭{rule}╮", *(f"│{''.join(line)}│" for line in canvas), f"╰{rule}╯"])


def svg_layout(layout: Layout, path: Swipe | None = None, title: str = "") -> str:
    """Draw a layout, a swipe across it and a title above it, each if given, as SVG that suits light and dark pages."""
    page, heading = _page(layout, title), escape(_plain(title))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="glissando" viewBox="0 0 {page.width:g} {page.height:g}" '
        f'width="{page.width:g}" height="{page.height:g}" role="img" xml:lang={quoteattr(layout.language)}>',
        f"<title>{heading or escape(layout.name)}</title>",
        f"<style>{STYLE % LIGHT} @media (prefers-color-scheme: dark) {{{STYLE % DARK}}}</style>",
        f'<rect class="board" width="{page.width:g}" height="{page.height:g}" rx="{MARGIN:g}"/>',
    ]
    if title:
        parts.append(f'<text x="{MARGIN + KEY_GAP / 2:g}" y="{MARGIN + 14:g}" font-size="15">{heading}</text>')
    for x, y, width, height in page.boxes:
        size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        parts.append(f'<rect class="key" {size} rx="{ROUNDING:g}"/>')
    if path is not None:
        parts += _svg_trail(page.place(_trail(path)))
    parts.append(f'<g font-size="{page.font:.1f}" text-anchor="middle">')
    for letter, (x, y, width, height) in zip(layout.letters, page.boxes, strict=True):
        place = f'x="{x + width / 2:.1f}" y="{y + height / 2 + BASELINE * page.font:.1f}"'
        parts.append(f"<text {place}>{escape(visible(letter))}</text>")
    return "\n".join([*parts, "</g>", "</svg>", ""])


def save_svg(file: str | Path, layout: Layout, path: Swipe | None = None, title: str = "") -> None:
    """Save what ``svg_layout`` draws."""
    write_whole(file, svg_layout(layout, path, title).encode())


def save_png(file: str | Path, layout: Layout, path: Swipe | None = None, title: str = "") -> None:
    """Draw as ``svg_layout`` does, in its light colours, with matplotlib, and save a PNG."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import FancyBboxPatch
    except ImportError:
        raise MissingExtraError("a PNG needs matplotlib: pip install 'glissando[plot]'") from None
    page = _page(layout, title)
    ink: dict[str, Any] = {"color": LIGHT["letter"], "fontproperties": font_for(layout), "parse_math": False}
    paint: dict[str, Any] = {"facecolor": LIGHT["key"], "edgecolor": LIGHT["edge"]}
    figure = Figure(figsize=(page.width / 72, page.height / 72), dpi=144, facecolor=LIGHT["board"])
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, page.width), ylim=(page.height, 0))
    axes.axis("off")
    axes.text(MARGIN + KEY_GAP / 2, MARGIN + 14, _plain(title), fontsize=15, **ink)
    for letter, (x, y, width, height) in zip(layout.letters, page.boxes, strict=True):
        axes.add_patch(FancyBboxPatch((x, y), width, height, f"round,pad=0,rounding_size={ROUNDING}", **paint))
        baseline = y + height / 2 + BASELINE * page.font
        axes.text(x + width / 2, baseline, visible(letter), ha="center", fontsize=page.font, zorder=9, **ink)
    if path is not None:
        points = page.place(_trail(path))
        colours = _colours(len(points)) / 255
        for i in range(1, len(points)):
            axes.plot(*points[i - 1 : i + 1].T, color=colours[i], lw=STROKE, solid_capstyle="round", zorder=3)
        axes.plot(*points[-1], "o", ms=12, mfc=LIGHT["key"], mec=colours[-1], mew=3, zorder=4)
        axes.plot(*points[0], "o", ms=13, mfc=colours[0], mec=LIGHT["key"], mew=2, zorder=4)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    write_whole(file, picture.getvalue())


def _trail(swipe: Swipe) -> np.ndarray:
    """A swipe as n points to draw: enough for smooth colours, not too many, none far outside. Shape: [n, 2]."""
    if isinstance(swipe, np.ndarray) and swipe.ndim == 2 and len(swipe) == 2:
        swipe = Gesture(swipe[0], swipe[1], np.arange(swipe.shape[1]))
    gesture = as_gesture(swipe)
    steps = len(gesture) - 1
    parts = math.ceil(MIN_TRAIL / max(steps, 1))  # of each step, for colours that change gently
    index = np.linspace(0, steps, min(steps * parts + 1, MAX_TRAIL))
    trail = [np.interp(index, np.arange(steps + 1), axis) for axis in (gesture.x, gesture.y)]
    return np.clip(np.stack(trail, axis=1), -OVERSHOOT, 1 + OVERSHOOT)


def visible(letter: str) -> str:
    """A letter as it is drawn alone: a combining mark on a dotted circle."""
    return DOTTED_CIRCLE + letter if unicodedata.category(letter).startswith("M") else letter


def _columns(text: str) -> int:
    """Terminal columns of a text. Spacing marks (Mc) take one, as in most terminals."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return wide + sum(unicodedata.category(char) not in ("Mn", "Me", "Cf") for char in text)


def _put(line: list[str], column: int, text: str, columns: int) -> None:
    """Write a letter that is several columns wide: the first cell holds it, the others are empty."""
    line[column : column + columns] = [text] + [""] * (columns - 1)


def _edges(key: Key, scale: float) -> tuple[int, int]:
    """First column of a key, and the one after its last; rounding leaves no gap between neighbours."""
    return math.floor((key.cx - key.rx) * scale + 0.501), math.floor((key.cx + key.rx) * scale + 0.501)


def _box(lines: list[list[str]], start: int, end: int) -> None:
    """Draw a key's outline over three lines."""
    for line, (left, right), fill in zip(lines, (("╭", "╮"), ("│", "│"), ("╰", "╯")), "─ ─", strict=True):
        line[start:end] = [left, *fill * (end - start - 2), right]


def _dots(trail: np.ndarray, lines: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a trail in braille: each cell's dots, and when it was last touched, 0 to 1. Shapes: [lines, columns]."""
    grid = np.array([columns * 2, lines * 4])
    spots = trail * grid
    steps = np.ceil(np.abs(np.diff(spots, axis=0)).max(axis=1, initial=0)).astype(int) + 1
    index = np.concatenate([[0.0], *(i + np.arange(1, n + 1) / n for i, n in enumerate(steps))])
    along = np.stack([np.interp(index, np.arange(len(spots)), axis) for axis in spots.T])  # [2, m], every dot passed
    x, y = np.clip(along.astype(int), 0, grid[:, None] - 1)
    dots, when = np.zeros((lines, columns), dtype=int), np.zeros((lines, columns))
    np.bitwise_or.at(dots, (y // 4, x // 2), BRAILLE[y % 4, x % 2])
    when[y // 4, x // 2] = np.linspace(0, 1, len(x))
    return dots, when


def _free_cell(point: np.ndarray, lines: int, columns: int, taken: set[tuple[int, int]]) -> tuple[int, int]:
    """The cell of a point, or a cell beside it if a letter is in the way."""
    column, line = np.clip((point * [columns, lines]).astype(int), 0, [columns - 1, lines - 1]).tolist()
    beside = [(line, column + step) for step in (0, 1, -1, 2, -2) if 0 <= column + step < columns]
    return next((cell for cell in beside if cell not in taken), (line, column))


def _paint(text: str, moment: float, colour: bool, bold: bool = False) -> str:
    """Colour a piece of the trail by the moment it was touched, 0 to 1."""
    code = RAMP[round(moment * (len(RAMP) - 1))]
    return f"\x1b[{'1;' if bold else ''}38;5;{code}m{text}\x1b[0m" if colour else text


class _Page(NamedTuple):
    """The geometry of a picture in pixels; ``boxes`` holds (x, y, width, height) of every key."""

    width: float
    height: float
    area: float  # the letter area's height
    font: float
    boxes: list[tuple[float, float, float, float]]

    def place(self, points: np.ndarray) -> np.ndarray:
        """Points of the unit square in pixels, none beyond the picture's edge. Shape: [n, 2]."""
        top = self.height - MARGIN - self.area
        return np.clip(points * [WIDTH, self.area] + [MARGIN, top], STROKE, [self.width - STROKE, self.height - STROKE])


def _page(layout: Layout, title: str) -> _Page:
    """Lay out a picture."""
    top, area = MARGIN + (TITLE_HEIGHT if title else 0.0), WIDTH * layout.aspect
    boxes = []
    for key in layout.keys:
        x, y = MARGIN + (key.cx - key.rx) * WIDTH, top + (key.cy - key.ry) * area
        width, height = max(2 * key.rx * WIDTH - KEY_GAP, 1.0), max(2 * key.ry * area - KEY_GAP, 1.0)
        boxes.append((x + KEY_GAP / 2, y + KEY_GAP / 2, width, height))
    width, height = np.maximum(layout.key_size * [WIDTH, area] - KEY_GAP, 1.0).tolist()
    return _Page(WIDTH + 2 * MARGIN, top + area + MARGIN, area, min(0.55 * width, 0.42 * height, 26.0), boxes)


def _colours(count: int) -> np.ndarray:
    """The colours of a trail from touch-down to lift-off, 0 to 255. Shape: [count, 3]."""
    where = np.linspace(0, len(COLOURS) - 1, count)
    return np.stack([np.interp(where, range(len(COLOURS)), channel) for channel in np.transpose(COLOURS)], axis=1)


def _svg_trail(points: np.ndarray) -> list[str]:
    """SVG of a trail that changes colour along its way, with a dot at its start and a ring at its end."""
    colours = [f"rgb({r:.0f},{g:.0f},{b:.0f})" for r, g, b in _colours(len(points))]
    lines = [
        f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" stroke="{colour}"/>'
        for (x, y), (to_x, to_y), colour in zip(points[:-1], points[1:], colours[1:], strict=True)
    ]
    (x, y), (to_x, to_y) = points[0], points[-1]
    # One opacity for the whole group: otherwise the overlapping round ends would show as beads.
    return [
        f'<g fill="none" stroke-width="{STROKE:g}" stroke-linecap="round" opacity=".85">',
        *lines,
        "</g>",
        f'<circle class="end" cx="{to_x:.1f}" cy="{to_y:.1f}" r="6" stroke="{colours[-1]}" stroke-width="3.5"/>',
        f'<circle class="start" cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{colours[0]}" stroke-width="2"/>',
    ]


def _plain(text: str) -> str:
    """Text without the characters that neither XML nor a font can show."""
    return "".join(char for char in text if char.isprintable())


def font_for(layout: Layout) -> FontProperties:
    """Matplotlib's font for a layout: as many of the installed families as its letters need."""
    from matplotlib.font_manager import FontProperties, fontManager, get_font

    missing = {ord(char) for letter in layout.letters for char in visible(letter)}
    regular = [font for font in fontManager.ttflist if font.style == "normal" and font.weight == 400]
    families: list[str] = []
    for font in sorted(regular, key=lambda font: (font.name != "DejaVu Sans", "Noto Sans" not in font.name, font.name)):
        covered = missing & get_font(font.fname).get_charmap().keys()
        if covered:
            families.append(font.name)
            missing -= covered
        if not missing:
            return FontProperties(family=families)
    raise LayoutError(f"no installed font has {chr(min(missing))!r} of layout {layout.name!r}; save it as SVG instead")
