"""A keyboard: which letters it has and where their keys are.

A layout is data, never training: the encoder reads the key centres at run time.
It comes built in, from a JSON file, or from rows of letters.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import LayoutError

MAX_KEYS = 64  # K_max of the exported encoder
MAX_BYTES = 1_000_000  # of a layout file; one with 64 keys takes about 5,000
ROW_HEIGHT = 0.40 / 3  # of the letter area's width: swipe.futo.org's QWERTY, 426 x 170.4 pixels, three rows
SAME_PLACE = 1e-4  # of the letter area: no finger can tell keys nearer than this in x and in y apart
GAPS = (" ", "_")
# Names that public corpora give to built-in layouts.
ALIASES = {"jcuken_default": "jcuken", "jcuken_extra": "jcuken33"}


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
        language: the code of the language it is usually used with, or "".
        aspect: height over width of the letter area, for drawing and for distances.
    """

    name: str
    keys: tuple[Key, ...]
    language: str = ""
    aspect: float = 0.40

    def __post_init__(self) -> None:
        for field, text in (("name", self.name), ("language", self.language)):
            if not isinstance(text, str) or not text.isprintable():
                raise LayoutError(f"a layout's {field} must be printable text, got {_shown(text)}")
        object.__setattr__(self, "keys", tuple(self.keys))
        if not 1 <= len(self.keys) <= MAX_KEYS:
            raise LayoutError(f"layout {self.name!r} has {len(self.keys) or 'no'} keys; it needs 1 to {MAX_KEYS}")
        if not 0.05 <= _number(f"layout {self.name!r}: aspect", self.aspect) <= 20:
            raise LayoutError(f"layout {self.name!r}: aspect must lie between 0.05 and 20, got {self.aspect}")
        for key in self.keys:
            _check_key(self.name, key)
        _check_places(self.name, self.keys)

    @cached_property
    def centres(self) -> np.ndarray:
        """Key centres. Shape: [K, 2] float32, read-only."""
        return _read_only(np.array([(key.cx, key.cy) for key in self.keys], dtype=np.float32))

    @cached_property
    def key_size(self) -> np.ndarray:
        """Width and height of the median key, in fractions of the letter area. Shape: [2] float64, read-only."""
        half_sizes = np.array([(key.rx, key.ry) for key in self.keys], dtype=np.float64)  # [K, 2]
        return _read_only(2 * np.median(half_sizes, axis=0))

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letter of every key. Shape: K."""
        return tuple(key.letter for key in self.keys)

    @cached_property
    def keys_of(self) -> dict[str, tuple[int, ...]]:
        """For every letter, the indices of its keys."""
        return {a: tuple(i for i, b in enumerate(self.letters) if a == b) for a in self.letters}

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
        rows: Sequence[str | Sequence[str]],
        *,
        stagger: Sequence[float] | float | None = None,
        pitch: Sequence[float] | None = None,
        heights: Sequence[float] | None = None,
        language: str = "",
        aspect: float | None = None,
    ) -> Layout:
        """Lay out rows of letters so that they fill the unit square.

        The widest row fills the width and sets the unit, one key width; rows share the height evenly. A
        space or an underscore leaves a gap the width of one key.

        Args:
            name: the layout's name.
            rows: letters row by row, "qwertyuiop", "asdfghjkl", "zxcvbnm"; a row may also be a list of letters.
            stagger: where each row starts, in key widths from the left; one number shifts each row by that much
                more than the row above. By default rows are centred.
            pitch: the width of each row's keys, in key widths; by default all are 1.
            heights: the height of each row, relative to the others.
            language: a language code such as "en".
            aspect: height over width of the letter area; by default 0.133 for each row, a phone's.
        """
        cells = _row_cells(name, rows)
        pitches = _per_row(name, "pitch", pitch, len(cells))
        starts = _row_starts(name, cells, pitches, stagger)
        width = max(start + size * len(row) for start, size, row in zip(starts, pitches, cells, strict=True))
        tall = _per_row(name, "heights", heights, len(cells))
        keys = []
        for r, row in enumerate(cells):
            cy, rx, ry = (sum(tall[:r]) + tall[r] / 2) / sum(tall), pitches[r] / 2 / width, tall[r] / 2 / sum(tall)
            centres = [starts[r] / width + rx * (2 * column + 1) for column in range(len(row))]
            keys += [Key(letter, cx, cy, rx, ry) for letter, cx in zip(row, centres, strict=True) if letter not in GAPS]
        return cls(name, tuple(keys), language, ROW_HEIGHT * len(cells) if aspect is None else aspect)

    @classmethod
    def from_dict(cls, data: Any, source: str = "layout") -> Layout:
        """Read the JSON form: ``{"name", "keys": [{"letter", "cx", "cy", "rx", "ry"}]}``.

        Instead of keys it may hold what ``from_rows`` takes: ``{"name", "rows": ["qwertyuiop", ...], "stagger"}``.
        """
        if not isinstance(data, dict):
            raise LayoutError(f"{source}: a layout is a JSON object, got {_shown(data)}")
        name, language = data.get("name") or source, data.get("language") or ""
        aspect = None if data.get("aspect") is None else _number(f"{source}: aspect", data["aspect"])
        keys, rows = data.get("keys"), data.get("rows")
        if isinstance(keys, list) and rows is None:
            layout = cls(name, tuple(_key(f"{source}: key {i}", entry) for i, entry in enumerate(keys)), language)
            return replace(layout, aspect=ROW_HEIGHT * len(layout.rows) if aspect is None else aspect)
        if isinstance(rows, list) and keys is None:
            shape = {field: data.get(field) for field in ("stagger", "pitch", "heights")}
            return cls.from_rows(name, rows, **shape, language=language, aspect=aspect)
        raise LayoutError(f"{source}: a layout holds either a list 'keys' or a list 'rows'")

    @classmethod
    def from_json(cls, path: str | Path) -> Layout:
        """Read a layout file."""
        try:
            with Path(path).open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:
                raise LayoutError(f"larger than {MAX_BYTES:,} bytes")
            return cls.from_dict(json.loads(content.decode("utf-8-sig")), Path(path).stem)
        except OSError as error:
            raise LayoutError(f"cannot read layout {path}: {error.strerror or error}") from None
        except LayoutError as error:
            raise LayoutError(f"{path}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise LayoutError(f"layout {path} is not JSON: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that ``from_dict`` reads."""
        return {
            "name": self.name,
            "language": self.language,
            "aspect": self.aspect,
            "letters": "".join(sorted(set(self.letters))),
            "keys": [dict(vars(key)) for key in self.keys],
        }


def builtin_layouts() -> tuple[str, ...]:
    """Names of the layouts that come with the package."""
    folder = resources.files("glissando") / "assets" / "layouts"
    return tuple(sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json")))


def load_layout(layout: str | Path | Layout) -> Layout:
    """Load a built-in layout by its name (or a corpus's name for it) or a JSON file; a Layout is returned as it is."""
    if isinstance(layout, Layout):
        return layout
    name = ALIASES.get(str(layout), str(layout))
    if name in builtin_layouts():
        return _builtin(name)
    if isinstance(layout, Path) or name.endswith(".json"):
        return Layout.from_json(layout)
    raise LayoutError(f"no layout {name!r}; built in are {', '.join(builtin_layouts())}; a file must end in .json")


def all_layouts(directory: str | Path | None = None) -> dict[str, Layout]:
    """The built-in layouts by name, and those of a directory by the names of their files, which come first."""
    layouts = {name: _builtin(name) for name in builtin_layouts()}
    if directory is None:
        return layouts
    if not Path(directory).is_dir():
        raise LayoutError(f"no directory of layouts {directory}")
    return layouts | {file.stem: Layout.from_json(file) for file in sorted(Path(directory).glob("*.json"))}


@cache
def _builtin(name: str) -> Layout:
    """Read a packaged layout, once."""
    text = (resources.files("glissando") / "assets" / "layouts" / f"{name}.json").read_text(encoding="utf-8")
    return Layout.from_dict(json.loads(text), name)


def _read_only(array: np.ndarray) -> np.ndarray:
    """The same array, which can no longer be changed."""
    array.setflags(write=False)
    return array


def _check_key(layout: str, key: Key) -> None:
    """Refuse a key without a letter, a place in the unit square or a size."""
    if not isinstance(key.letter, str) or len(key.letter) != 1 or key.letter.isspace() or not key.letter.isprintable():
        raise LayoutError(f"layout {layout!r}: a key carries one visible character, got {_shown(key.letter)}")
    if key.letter != _fold(key.letter):
        raise LayoutError(f"layout {layout!r}: key {key.letter!r} must be in lower case and in Unicode's NFC")
    for size in (key.cx, key.cy, key.rx, key.ry):
        _number(f"layout {layout!r}: key {key.letter!r}", size)
    if not (0 <= key.cx <= 1 and 0 <= key.cy <= 1):
        raise LayoutError(f"layout {layout!r}: key {key.letter!r} lies outside the unit square: {key.cx}, {key.cy}")
    if not (0 < key.rx <= 1 and 0 < key.ry <= 1):
        raise LayoutError(f"layout {layout!r}: key {key.letter!r} needs half sizes in (0, 1], got {key.rx}, {key.ry}")


def _check_places(layout: str, keys: Sequence[Key]) -> None:
    """Refuse two keys at one place: no swipe could tell them apart."""
    for a, b in combinations(keys, 2):
        if abs(a.cx - b.cx) < SAME_PLACE and abs(a.cy - b.cy) < SAME_PLACE:
            raise LayoutError(f"layout {layout!r}: {a.letter!r} and {b.letter!r} share {b.cx:g}, {b.cy:g}")


def _fold(letter: str) -> str:
    """A letter as layouts and lexicons write it: in lower case and composed (NFC)."""
    return unicodedata.normalize("NFC", letter.lower())


def _row_cells(name: str, rows: Any) -> list[list[str]]:
    """Split rows into the cells of a grid, one letter or gap each."""
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise LayoutError(f"layout {name!r}: rows must be a list of rows, got {_shown(rows)}")
    cells = []
    for index, row in enumerate(rows):
        if not isinstance(row, Sequence) or not all(isinstance(letter, str) and letter for letter in row):
            raise LayoutError(f"layout {name!r}: row {index + 1} must be text or a list of letters, got {_shown(row)}")
        # A string is composed as a whole: a typed "e" and a combining accent are one key.
        cells.append([_fold(letter) for letter in (unicodedata.normalize("NFC", row) if isinstance(row, str) else row)])
    if not any(cells):
        raise LayoutError(f"layout {name!r} has no keys; it needs 1 to {MAX_KEYS}")
    return cells


def _row_starts(name: str, rows: Sequence[Sequence[str]], pitch: Sequence[float], stagger: Any) -> list[float]:
    """The start of every row in key widths, the leftmost at zero."""
    lengths = [size * len(row) for size, row in zip(pitch, rows, strict=True)]
    if stagger is None:
        return [(max(lengths) - length) / 2 for length in lengths]
    if isinstance(stagger, Sequence):
        starts = _per_row(name, "stagger", stagger, len(rows), positive=False)
    else:
        starts = [_number(f"layout {name!r}: stagger", stagger) * index for index in range(len(rows))]
    return [start - min(starts) for start in starts]


def _per_row(name: str, field: str, values: Any, rows: int, positive: bool = True) -> list[float]:
    """One checked number for every row; 1 where none are given."""
    values = [1.0] * rows if values is None else values
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != rows:
        raise LayoutError(f"layout {name!r}: {field} must be a list of {rows} numbers, one a row, got {_shown(values)}")
    numbers = [_number(f"layout {name!r}: {field}", value) for value in values]
    if positive and not all(0 < number < math.inf for number in numbers):
        raise LayoutError(f"layout {name!r}: {field} must be positive, got {numbers}")
    return numbers


def _key(what: str, entry: Any) -> Key:
    """Read one key of the JSON form."""
    try:
        sizes = [_number(what, entry[field]) for field in ("cx", "cy", "rx", "ry")]
        return Key(_fold(entry["letter"]), *sizes)
    except (TypeError, KeyError, AttributeError):
        raise LayoutError(f"{what} must be an object with a letter and numbers cx, cy, rx, ry") from None


def _number(what: str, value: Any) -> float:
    """Read a number; truth values and text, which float() accepts, are refused."""
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise LayoutError(f"{what}: needs a number, got {_shown(value)}") from None


def _shown(value: Any) -> str:
    """A value for an error message: the repr of text, but only the type of what may be nested or very long."""
    if isinstance(value, (str, list, tuple, dict)):
        return repr(value[:40]) if isinstance(value, str) else f"{type(value).__name__} of {len(value)}"
    return type(value).__name__
