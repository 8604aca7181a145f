"""A keyboard: which letters it has and where their keys are.

A layout is data, never training: the encoder reads the key centres at run time.
It comes built in, from a JSON file, or from rows of letters.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import LayoutError

MAX_KEYS = 64  # K_max of the exported encoder


@dataclass(frozen=True)
class Key:
    """One key: its letter, centre (cx, cy) and half size (rx, ry) in fractions of the letter area."""

    letter: str
    cx: float
    cy: float
    rx: float
    ry: float


@dataclass(frozen=True)
class Layout:
    """Keys over the unit square of the letter area; a letter may have several keys.

    Attributes:
        name: what the layout is called.
        keys: its keys, in the order in which the encoder's emissions count them.
        language: the language code it is usually used with, or "".
        aspect: height over width of the letter area, for drawing and for distances.
    """

    name: str
    keys: tuple[Key, ...]
    language: str = ""
    aspect: float = 0.40  # swipe.futo.org's QWERTY, 426 x 170.4 pixels

    def __post_init__(self) -> None:
        if not self.keys:
            raise LayoutError(f"layout {self.name!r} has no keys")
        if len(self.keys) > MAX_KEYS:
            raise LayoutError(f"layout {self.name!r} has {len(self.keys)} keys; at most {MAX_KEYS} are possible")
        if not (math.isfinite(self.aspect) and self.aspect > 0):
            raise LayoutError(f"layout {self.name!r}: aspect must be a positive number, got {self.aspect}")
        for key in self.keys:
            _check_key(self.name, key)

    @cached_property
    def centres(self) -> np.ndarray:
        """Key centres. Shape: [K, 2] float32."""
        return np.array([(key.cx, key.cy) for key in self.keys], dtype=np.float32)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letter of every key. Shape: K."""
        return tuple(key.letter for key in self.keys)

    @cached_property
    def keys_of(self) -> dict[str, tuple[int, ...]]:
        """For every letter, the indices of its keys."""
        found: dict[str, list[int]] = {}
        for index, key in enumerate(self.keys):
            found.setdefault(key.letter, []).append(index)
        return {letter: tuple(indices) for letter, indices in found.items()}

    @cached_property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """Key indices row by row, top to bottom, each from left to right."""
        rows: list[list[int]] = []
        for index in sorted(range(len(self.keys)), key=lambda i: (self.keys[i].cy, self.keys[i].cx)):
            if rows and abs(self.keys[index].cy - self.keys[rows[-1][0]].cy) < self.keys[index].ry:
                rows[-1].append(index)
            else:
                rows.append([index])
        return tuple(tuple(sorted(row, key=lambda i: self.keys[i].cx)) for row in rows)

    @classmethod
    def from_rows(
        cls,
        name: str,
        rows: Sequence[str],
        *,
        stagger: Sequence[float] | float | None = None,
        language: str = "",
        aspect: float | None = None,
    ) -> Layout:
        """Lay out rows of letters on a grid that fills the unit square.

        Every key is as wide as the widest row allows, and rows share the height evenly. A space or an
        underscore leaves a gap the width of one key.

        Args:
            name: the layout's name.
            rows: letters row by row, "qwertyuiop", "asdfghjkl", "zxcvbnm".
            stagger: where each row starts, in key widths from the left; one number shifts each row by that
                much more than the one above. By default rows are centred.
            language: a language code such as "en".
            aspect: height over width; by default keys are 1.33 times as high as wide, a phone's keys.
        """
        cells = [[char for char in unicodedata.normalize("NFC", row)] for row in rows]
        if not any(cells):
            raise LayoutError(f"layout {name!r} has no keys")
        starts = _row_starts(name, cells, stagger)
        width = max(start + len(row) for start, row in zip(starts, cells, strict=True))
        keys = [
            Key(char.lower(), (start + column + 0.5) / width, (r + 0.5) / len(cells), 0.5 / width, 0.5 / len(cells))
            for r, (start, row) in enumerate(zip(starts, cells, strict=True))
            for column, char in enumerate(row)
            if char not in " _"
        ]
        return cls(name, tuple(keys), language, aspect or 1.33 * len(cells) / width)

    @classmethod
    def from_dict(cls, data: Any, source: str = "layout") -> Layout:
        """Read the JSON form: ``{"name", "keys": [{"letter", "cx", "cy", "rx", "ry"}]}``."""
        if not isinstance(data, dict) or not isinstance(data.get("keys"), list):
            raise LayoutError(f"{source}: a layout is an object with a list 'keys'")
        keys = []
        for index, entry in enumerate(data["keys"]):
            try:
                sizes = [float(entry[field]) for field in ("cx", "cy", "rx", "ry")]
                keys.append(Key(unicodedata.normalize("NFC", str(entry["letter"])).lower(), *sizes))
            except (TypeError, KeyError, ValueError) as error:
                raise LayoutError(f"{source}: key {index} needs letter, cx, cy, rx, ry as numbers ({error!r})") from None
        try:
            aspect = float(data.get("aspect") or 0.40)
        except (TypeError, ValueError):
            raise LayoutError(f"{source}: aspect must be a number, got {data['aspect']!r}") from None
        return cls(str(data.get("name") or source), tuple(keys), str(data.get("language") or ""), aspect)

    @classmethod
    def from_json(cls, path: str | Path) -> Layout:
        """Read a layout file."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise LayoutError(f"cannot read layout {path}: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise LayoutError(f"layout {path} is not JSON: {error}") from None
        return cls.from_dict(data, str(path))

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that ``from_dict`` reads."""
        return {
            "name": self.name,
            "language": self.language,
            "aspect": self.aspect,
            "letters": "".join(sorted(set(self.letters))),
            "keys": [vars(key) for key in self.keys],
        }


def builtin_layouts() -> tuple[str, ...]:
    """Names of the layouts that come with the package."""
    folder = resources.files("glissando") / "assets" / "layouts"
    return tuple(sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json")))


def load_layout(layout: str | Path | Layout) -> Layout:
    """Find a layout: one given as such, a built-in name, or the path of a JSON file."""
    if isinstance(layout, Layout):
        return layout
    name = str(layout)
    if name in builtin_layouts():
        text = (resources.files("glissando") / "assets" / "layouts" / f"{name}.json").read_text(encoding="utf-8")
        return Layout.from_dict(json.loads(text), name)
    if isinstance(layout, Path) or name.endswith(".json"):
        return Layout.from_json(layout)
    raise LayoutError(f"no layout {name!r}; built in are {', '.join(builtin_layouts())}; a file must end in .json")


def _check_key(layout: str, key: Key) -> None:
    """Refuse a key that is no place on a keyboard."""
    sizes = (key.cx, key.cy, key.rx, key.ry)
    if len(key.letter) != 1 or key.letter.isspace():
        raise LayoutError(f"layout {layout!r}: a key carries one character, got {key.letter!r}")
    if not all(math.isfinite(size) for size in sizes):
        raise LayoutError(f"layout {layout!r}: key {key.letter!r} has a size that is not finite: {sizes}")
    if not (0 <= key.cx <= 1 and 0 <= key.cy <= 1):
        raise LayoutError(f"layout {layout!r}: key {key.letter!r} lies outside the unit square: {key.cx}, {key.cy}")
    if not (0 < key.rx <= 1 and 0 < key.ry <= 1):
        raise LayoutError(f"layout {layout!r}: key {key.letter!r} needs half sizes in (0, 1], got {key.rx}, {key.ry}")


def _row_starts(name: str, rows: Sequence[Sequence[str]], stagger: Sequence[float] | float | None) -> list[float]:
    """Where every row starts, in key widths, the leftmost at zero."""
    widest = max(len(row) for row in rows)
    if stagger is None:
        starts = [(widest - len(row)) / 2 for row in rows]
    elif isinstance(stagger, (int, float)):
        starts = [stagger * index for index in range(len(rows))]
    else:
        if len(stagger) != len(rows):
            raise LayoutError(f"layout {name!r} has {len(rows)} rows but {len(stagger)} stagger values")
        starts = [float(value) for value in stagger]
    return [start - min(starts) for start in starts]
