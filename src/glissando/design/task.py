"""What is asked of the search: which keys there are, which letters go on them, and which of them may move."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from glissando.errors import LayoutError
from glissando.layout import MAX_KEYS, Key, Layout, builtin_layouts, load_layout
from glissando.synth import WIDTH_MM

ROWS = re.compile(r"\d+(-\d+)*")
REPORT_GRID = "4-6-6-6-4"  # ClearFlow's and KASROZ's
LEAST_COLUMNS = 8  # a key is never wider than an eighth of the letter area, as on the report's grid
PLACEHOLDER = "x"  # stands on keys whose letter is still to be found


@dataclass(frozen=True)
class DesignTask:
    """Letters to put on keys.

    A place of the search is a list of slots, one for each symbol: the letters in order, then one symbol for each
    key that stays empty. Two symbols that change places are one step.

    Attributes:
        keys: K keys; what is written on them counts for nothing.
        aspect: height over width of the letter area.
        letters: the alphabet, at most K letters.
        language: its code, for the layouts that are found.
        start: [K] slots to begin from, or None for random ones.
        pinned: symbols that stay where ``start`` has them.
        max_swaps: how many swaps a layout may be away from ``start``; None for any number.
        width_mm: width of the letter area.
    """

    keys: tuple[Key, ...]
    aspect: float
    letters: tuple[str, ...]
    language: str = ""
    start: tuple[int, ...] | None = None
    pinned: frozenset[int] = frozenset()
    max_swaps: int | None = None
    width_mm: float = WIDTH_MM

    def __post_init__(self) -> None:
        _check_letters(self.letters, len(self.keys))

    @cached_property
    def centres(self) -> np.ndarray:
        """Key centres. Shape: [K, 2] float32."""
        return np.array([(key.cx, key.cy) for key in self.keys], dtype=np.float32)

    @cached_property
    def size_mm(self) -> np.ndarray:
        """Width and height of the letter area. Shape: [2] float32."""
        return np.array([self.width_mm, self.width_mm * self.aspect], dtype=np.float32)

    @cached_property
    def free(self) -> np.ndarray:
        """Symbols that may move. Shape: [F] int64."""
        return np.array([symbol for symbol in range(len(self.keys)) if symbol not in self.pinned], dtype=np.int64)

    @cached_property
    def swaps(self) -> np.ndarray:
        """Every step: pairs of symbols that may change places, at least one of them a letter. Shape: [P, 2] int64."""
        free = self.free.tolist()
        pairs = [(a, b) for i, a in enumerate(free) for b in free[i + 1 :] if a < len(self.letters)]
        if not pairs:
            raise LayoutError(f"all {len(self.letters)} letters are pinned: there is nothing to search")
        return np.array(pairs, dtype=np.int64)

    def layout(self, slots: Sequence[int], name: str) -> Layout:
        """The keyboard that a place of the search is, its keys row by row."""
        on = sorted((slot, letter) for slot, letter in zip(slots, self.letters, strict=False))
        keys = tuple(replace(self.keys[slot], letter=letter) for slot, letter in on)
        return Layout(name, keys, self.language, self.aspect)

    def slots(self, layout: Layout) -> tuple[int, ...]:
        """The place of the search that a keyboard with these keys and letters is."""
        slots: list[int] = []
        for letter in self.letters:
            if letter not in layout.keys_of:
                raise LayoutError(f"layout {layout.name!r} has no key for {letter!r}")
            key = layout.keys[layout.keys_of[letter][0]]
            slots.append(_slot_at(self.keys, key, f"{letter!r} of layout {layout.name!r}"))
        if len(set(slots)) < len(slots):
            raise LayoutError(f"layout {layout.name!r} puts two letters on one key of the grid")
        return (*slots, *(slot for slot in range(len(self.keys)) if slot not in slots))


def parse_grid(spec: str, stagger: float | None = None, aspect: float | None = None) -> Layout:
    """Read a grid of keys: row lengths such as "4-6-6-6-4", or a layout whose keys are taken.

    Args:
        spec: row lengths from the top, a built-in layout's name, or a layout file.
        stagger: how much further right each row starts, in key widths; rows are centred by default.
        aspect: height over width of the letter area.
    """
    if not ROWS.fullmatch(spec):
        if stagger is not None:
            raise LayoutError(f"a stagger goes with row lengths such as {REPORT_GRID}, not with the layout {spec!r}")
        grid = load_layout(Path(spec) if spec.endswith(".json") else spec)
    elif spec == REPORT_GRID and stagger is None:
        grid = load_layout("kasroz")
    else:
        lengths = [int(part) for part in spec.split("-")]
        if not all(1 <= length <= MAX_KEYS for length in lengths) or sum(lengths) > MAX_KEYS:
            raise LayoutError(f"grid {spec} has rows of {lengths} keys; it needs 1 to {MAX_KEYS} keys in all")
        grid = _even_rows(spec, lengths, stagger)
    return grid if aspect is None else replace(grid, aspect=aspect)


def parse_pins(text: str, grid: Layout, start: Layout | None) -> dict[str, int]:
    """Read which letters stay: "aeiou" keeps them where ``start`` has them, "a=2.3 e=2.4" names row and column.

    Returns:
        For every pinned letter the number of its key on the grid.
    """
    pins: dict[str, int] = {}
    for part in text.replace(",", " ").split():
        if "=" in part:
            letter, _, place = part.partition("=")
            _pin(pins, letter, _slot_of_place(grid, place, part), grid)
            continue
        for letter in part:
            if start is None:
                raise LayoutError(f"to pin {letter!r} where it is takes a layout to start from; or write {letter}=2.3")
            if letter not in start.keys_of:
                raise LayoutError(f"layout {start.name!r} has no key {letter!r} to pin")
            key = start.keys[start.keys_of[letter][0]]
            _pin(pins, letter, _slot_at(grid.keys, key, f"{letter!r} of layout {start.name!r}"), grid)
    return pins


def make_task(
    grid: Layout,
    letters: str,
    *,
    language: str = "",
    start: Layout | None = None,
    pins: Mapping[str, int] | None = None,
    max_swaps: int | None = None,
    width_mm: float = WIDTH_MM,
) -> DesignTask:
    """Bind a grid, an alphabet and what must stay, and check that they fit.

    Args:
        grid: its keys are the places for letters.
        letters: the alphabet.
        language: the layouts' language code.
        start: a layout on the grid to begin from.
        pins: for each pinned letter its key on the grid.
        max_swaps: how many swaps from ``start`` a result may be.
        width_mm: width of the letter area.
    """
    task = DesignTask(grid.keys, grid.aspect, tuple(letters), language, width_mm=width_mm)
    pins = pins or {}
    if max_swaps is not None and (start is None or max_swaps < 1):
        need = "a layout to start from" if start is None else "to be at least 1"
        raise LayoutError(f"a limit of {max_swaps} swaps needs {need}")
    if unknown := [letter for letter in pins if letter not in task.letters]:
        raise LayoutError(f"cannot pin {unknown[0]!r}: it is none of the letters {letters}")
    slots = _pinned_first(task, pins) if start is None else task.slots(start)
    for letter, slot in pins.items():
        if slots[task.letters.index(letter)] != slot:
            raise LayoutError(f"{letter!r} is pinned to another key than layout {start.name if start else ''!r} has it")
    return replace(
        task,
        start=slots if start is not None or pins else None,
        pinned=frozenset(task.letters.index(letter) for letter in pins),
        max_swaps=max_swaps,
    )


def letters_of_language(language: str) -> str:
    """The letters of the first built-in layout for a language."""
    for name in builtin_layouts():
        layout = load_layout(name)
        if layout.language == language:
            return "".join(sorted(set(layout.letters)))
    raise LayoutError(f"no built-in layout is for language {language!r}; say which letters get keys: --letters")


def _pinned_first(task: DesignTask, pins: Mapping[str, int]) -> tuple[int, ...]:
    """Any slots for all symbols with the pinned letters on theirs."""
    rest = iter(slot for slot in range(len(task.keys)) if slot not in pins.values())
    return tuple(pins[letter] if letter in pins else next(rest) for letter in task.letters) + tuple(rest)


def _pin(pins: dict[str, int], letter: str, slot: int, grid: Layout) -> None:
    """Add a pin, unless the letter or the key is pinned already."""
    if len(letter) != 1:
        raise LayoutError(f"a pin is one letter and its place, such as a=2.3; got {letter!r}")
    if letter in pins:
        raise LayoutError(f"letter {letter!r} is pinned twice")
    for other, taken in pins.items():
        if taken == slot:
            raise LayoutError(f"letters {other!r} and {letter!r} are pinned to one key")
    pins[letter] = slot


def _slot_of_place(grid: Layout, place: str, pin: str) -> int:
    """The key at a row and column, both counted from 1, such as 2.3."""
    row, dot, column = place.partition(".")
    if not (dot and row.isdecimal() and column.isdecimal()):
        raise LayoutError(f"a pinned place is row.column, both from 1; got {pin!r}")
    r, c = int(row) - 1, int(column) - 1
    if not (0 <= r < len(grid.rows) and 0 <= c < len(grid.rows[r])):
        shape = "-".join(str(len(keys)) for keys in grid.rows)
        raise LayoutError(f"pin {pin!r}: the grid {shape} has no key in row {row}, column {column}")
    return grid.rows[r][c]


def _slot_at(keys: Sequence[Key], key: Key, what: str) -> int:
    """The key of a grid under another key's centre."""
    for slot, place in enumerate(keys):
        if abs(place.cx - key.cx) <= place.rx / 2 and abs(place.cy - key.cy) <= place.ry / 2:
            return slot
    raise LayoutError(f"{what} lies at {key.cx:g}, {key.cy:g}, where the grid has no key")


def _even_rows(name: str, lengths: Sequence[int], stagger: float | None) -> Layout:
    """A grid of rows of even keys, in the middle of the letter area where they are few."""
    grid = Layout.from_rows(name, [PLACEHOLDER * length for length in lengths], stagger=stagger)
    share = min(1.0, max(lengths) / LEAST_COLUMNS)
    keys = tuple(replace(key, cx=0.5 + (key.cx - 0.5) * share, rx=key.rx * share) for key in grid.keys)
    return replace(grid, keys=keys)


def _check_letters(letters: Sequence[str], keys: int) -> None:
    """Refuse letters that do not fit on the keys."""
    doubled = sorted({letter for letter in letters if letters.count(letter) > 1})
    if doubled:
        raise LayoutError(f"letter {doubled[0]!r} is listed twice; each letter gets one key")
    if not letters:
        raise LayoutError("there are no letters to put on keys")
    if len(letters) > keys:
        raise LayoutError(f"{len(letters)} letters do not fit on {keys} keys: {''.join(letters)}")
