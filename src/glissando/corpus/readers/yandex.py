"""Yandex Cup 2023 NeuroSwipe: JSON lines of curves in pixels of a named grid of keys.

    {"word", "curve": {"x": [..], "y": [..], "t": [..], "grid_name": "default"}}

The grid file maps names to {"width", "height", "keys": [{"label" | "action", "hitbox": {"x", "y", "w", "h"}}]}.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from glissando.corpus.lines import LineError, UnusableRowError
from glissando.corpus.records import Swipe, bare_word, usable_gesture
from glissando.errors import CorpusError
from glissando.layout import Key, Layout


class LetterArea(NamedTuple):
    """The letter rows of a grid, in its pixels; they begin at the left edge."""

    top: float
    width: float
    height: float


# Both of the contest's grids are 1080 x 667 pixels with letters from y = 15 to 477.
KNOWN_AREAS = {name: LetterArea(15, 1080, 462) for name in ("default", "extra")}


def yandex_maker(grids: str | Path | None = None) -> Callable[[dict[str, Any]], Swipe]:
    """The function that makes one row of the Yandex data a Swipe; an unusable one raises UnusableRowError.

    A swipe's layout is named jcuken_ and its grid; ``layout_of_grid`` makes those layouts of a grid file.

    Args:
        grids: the grid file; None for the contest's own two grids.
    """
    areas = KNOWN_AREAS if grids is None else {name: letter_area(grid) for name, grid in read_grids(grids).items()}
    return partial(_swipe, areas=areas)


def read_grids(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read a grid file: the grids by name."""
    try:
        grids = json.loads(Path(path).read_text(encoding="utf-8"))
        for grid in grids.values():
            letter_area(grid)
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path} is not JSON: {error}") from None
    except (AttributeError, KeyError, TypeError):
        raise CorpusError(f"{path} is not a grid file: a grid has width and keys with a label and a hitbox") from None
    return grids


def letter_area(grid: dict[str, Any]) -> LetterArea:
    """Where a grid's letters are: its whole width, and the rows that hold letters."""
    boxes = [key["hitbox"] for key in grid["keys"] if _is_letter(key)]
    if not boxes:
        raise CorpusError("a grid has no letter keys")
    top = min(box["y"] for box in boxes)
    return LetterArea(top, grid["width"], max(box["y"] + box["h"] for box in boxes) - top)


def layout_of_grid(name: str, grid: dict[str, Any], language: str = "ru") -> Layout:
    """A grid's letter keys as a Layout."""
    area = letter_area(grid)
    keys = []
    for key in filter(_is_letter, grid["keys"]):
        box = key["hitbox"]
        width, height = box["w"] / area.width, box["h"] / area.height
        cx, cy = box["x"] / area.width + width / 2, (box["y"] - area.top) / area.height + height / 2
        keys.append(Key(key["label"], cx, cy, width / 2, height / 2))
    keys.sort(key=lambda key: key.letter)
    return Layout(f"jcuken_{name}", tuple(keys), language, area.height / area.width)


def _is_letter(key: dict[str, Any]) -> bool:
    """Whether a key of a grid types a letter."""
    return len(key.get("label", "")) == 1 and key["label"].isalpha()


def _swipe(row: dict[str, Any], areas: dict[str, LetterArea]) -> Swipe:
    """One row as a Swipe."""
    curve = row.get("curve")
    if not isinstance(curve, dict) or not all(isinstance(curve.get(name), list) for name in ("x", "y", "t")):
        raise LineError("a row of the Yandex data has a curve with lists x, y and t")
    if not isinstance(row.get("word"), str):
        raise UnusableRowError("no word")
    grid = curve.get("grid_name")
    area = areas.get(grid) if isinstance(grid, str) else None
    if area is None:
        raise LineError(f"unknown grid {grid!r}; known are {', '.join(sorted(areas))}; --grids names a file of more")
    try:
        x = [pixel / area.width for pixel in curve["x"]]
        y = [(pixel - area.top) / area.height for pixel in curve["y"]]
    except (TypeError, OverflowError):
        raise UnusableRowError("unusable points") from None
    return Swipe(
        word=bare_word(row["word"]),
        gesture=usable_gesture(x, y, curve["t"]),
        layout=f"jcuken_{grid}",
        canvas_width=area.width,
        canvas_height=area.height,
        source="yandex-cup-2023-neuroswipe",
        language="ru",
    )
