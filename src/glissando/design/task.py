"""What a search is asked for: the keys, the letters to put on them, and the letters that must not move."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
PLACEHOLDER = "x"  # stands on keys whose letter is not yet chosen


@dataclass(frozen=True)
class DesignTask:
    """Letters to put on keys.

    The search describes a layout by its slots: for each symbol the number of its key. The symbols are the letters in
    order, then one symbol for each key that stays empty. A step of the search swaps two symbols.

    Attributes:
        grid: K keys; the letters written on them do not matter. Its language is given to the layouts that are found.
        letters: the alphabet, at most K letters.
        start: [K] slots to begin from, or None for random ones.
        pinned: symbols that stay where ``start`` has them.
        max_swaps: the most swaps a layout may be away from ``start``; None for any number.
    """

    grid: Layout
    letters: tuple[str, ...]
    start: tuple[int, ...] | None = None
    pinned: frozenset[int] = frozenset()
    max_swaps: int | None = None

    def __post_init__(self) -> None:
        doubled = sorted({letter for letter in self.letters if self.letters.count(letter) > 1})
        if doubled:
            raise LayoutError(f"letter {doubled[0]!r} is listed twice; each letter gets one key")
        if not self.letters:
            raise LayoutError("there are no letters to put on keys")
        if len(self.letters) > self.size:
            text = "".join(self.letters)
            raise LayoutError(f"{len(self.letters)} letters do not fit on {self.size} keys: {text}")

    @property
    def size(self) -> int:
        """K, the number of keys and of symbols."""
        return len(self.grid.keys)

    @cached_property
    def size_mm(self) -> np.ndarray:
        """Width and height of the letter area. Shape: [2] float32."""
        return np.array([WIDTH_MM, WIDTH_MM * self.grid.aspect], dtype=np.float32)

    @cached_property
    def free(self) -> np.ndarray:
        """Symbols that may move. Shape: [F] int64."""
        return np.array([symbol for symbol in range(self.size) if symbol not in self.pinned], dtype=np.int64)

    @cached_property
    def swaps(self) -> np.ndarray:
        """Every step: pairs of symbols that may be swapped, at least one of them a letter. Shape: [P, 2] int64."""
        free = self.free.tolist()
        pairs = [(a, b) for i, a in enumerate(free) for b in free[i + 1 :] if a < len(self.letters)]
        if not pairs:
            raise LayoutError(f"all {len(self.letters)} letters are pinned: there is nothing to search")
        return np.array(pairs, dtype=np.int64)

    def layout(self, slots: Sequence[int], name: str) -> Layout:
        """The keyboard with the letters on these slots, its keys row by row."""
        placed = sorted(zip(slots, self.letters, strict=False))
        keys = tuple(replace(self.grid.keys[slot], letter=letter) for slot, letter in placed)
        return Layout(name, keys, self.grid.language, self.grid.aspect)

    def slots(self, layout: Layout) -> tuple[int, ...]:
        """The slots of a keyboard that has these keys and letters. Shape: [K]."""
        slots: list[int] = []
        for letter in self.letters:
            if letter not in layout.keys_of:
                raise LayoutError(f"layout {layout.name!r} has no key for {letter!r}")
            slots.append(_slot_of_letter(self.grid, letter, layout))
        if len(set(slots)) < len(slots):
            raise LayoutError(f"layout {layout.name!r} puts two letters on one key of the grid")
        return (*slots, *(slot for slot in range(self.size) if slot not in slots))


def make_task(
    grid: Layout, letters: str, *, start: Layout | None = None, pins: str = "", max_swaps: int | None = None
) -> DesignTask:
    """Combine a grid, an alphabet and what must stay, and check that they fit.

    Args:
        grid: its keys take the letters.
        letters: the alphabet.
        start: a layout on the grid to begin from.
        pins: letters that stay: "aeiou" where ``start`` has them, "a=2.3 e=2.4" in this row and column, from 1.
        max_swaps: the most swaps a result may be away from ``start``.
    """
    task = DesignTask(grid, tuple(letters))
    pinned = _read_pins(pins, grid, start)
    if max_swaps is not None and (start is None or max_swaps < 1):
        need = "a layout to start from" if start is None else "to be at least 1"
        raise LayoutError(f"a limit of {max_swaps} swaps needs {need}")
    if unknown := [letter for letter in pinned if letter not in task.letters]:
        raise LayoutError(f"cannot pin {unknown[0]!r}: it is none of the letters {letters}")
    slots = task.slots(start) if start is not None else _any_slots(task, pinned)
    for letter, slot in pinned.items():
        if slots[task.letters.index(letter)] != slot:
            raise LayoutError(f"{letter!r} is pinned to another key than layout {start.name if start else ''!r} has it")
    return replace(
        task,
        start=slots if start is not None or pinned else None,
        pinned=frozenset(task.letters.index(letter) for letter in pinned),
        max_swaps=max_swaps,
    )


def parse_grid(spec: str, stagger: float | None = None) -> Layout:
    """Read a grid of keys: row lengths such as "4-6-6-6-4", or a layout whose keys are taken.

    Args:
        spec: row lengths from the top, a built-in layout's name, or a layout file.
        stagger: how much further right each row starts, in key widths; rows are centred by default.
    """
    if not ROWS.fullmatch(spec):
        if stagger is not None:
            raise LayoutError(f"a stagger goes with row lengths such as {REPORT_GRID}, not with the layout {spec!r}")
        return load_layout(Path(spec) if spec.endswith(".json") else spec)
    if spec == REPORT_GRID and stagger is None:
        return load_layout("kasroz")
    lengths = [int(part) for part in spec.split("-")]
    if not all(1 <= length <= MAX_KEYS for length in lengths) or sum(lengths) > MAX_KEYS:
        raise LayoutError(f"grid {spec} has rows of {lengths} keys; it needs 1 to {MAX_KEYS} keys in all")
    grid = Layout.from_rows(spec, [PLACEHOLDER * length for length in lengths], stagger=stagger)
    share = min(1.0, max(lengths) / LEAST_COLUMNS)  # narrow grids lie in the middle of the letter area
    keys = tuple(replace(key, cx=0.5 + (key.cx - 0.5) * share, rx=key.rx * share) for key in grid.keys)
    return replace(grid, keys=keys)


def letters_of_language(language: str) -> str:
    """The letters of the first built-in layout for a language."""
    for name in builtin_layouts():
        layout = load_layout(name)
        if layout.language == language:
            return "".join(sorted(set(layout.letters)))
    raise LayoutError(f"no built-in layout is for language {language!r}; name the letters that get keys: --letters")


def _any_slots(task: DesignTask, pinned: Mapping[str, int]) -> tuple[int, ...]:
    """Some slots for all symbols, with the pinned letters on theirs."""
    rest = iter(slot for slot in range(task.size) if slot not in pinned.values())
    return tuple(pinned[letter] if letter in pinned else next(rest) for letter in task.letters) + tuple(rest)


def _read_pins(text: str, grid: Layout, start: Layout | None) -> dict[str, int]:
    """For every pinned letter the number of its key on the grid."""
    pins: dict[str, int] = {}
    for letter, slot in _pins(text, grid, start):
        if letter in pins:
            raise LayoutError(f"letter {letter!r} is pinned twice")
        if slot in pins.values():
            other = next(other for other, taken in pins.items() if taken == slot)
            raise LayoutError(f"letters {other!r} and {letter!r} are pinned to one key")
        pins[letter] = slot
    return pins


def _pins(text: str, grid: Layout, start: Layout | None) -> Iterator[tuple[str, int]]:
    """The letters of a pin text and their keys, in order."""
    for part in text.replace(",", " ").split():
        letter, equals, place = part.partition("=")
        if equals:
            if len(letter) != 1:
                raise LayoutError(f"a pin is one letter and its place, such as a=2.3; got {letter!r}")
            yield letter, _slot_of_place(grid, place, part)
            continue
        for letter in part:
            if start is None:
                raise LayoutError(f"to pin {letter!r} where it is takes a layout to start from; or write {letter}=2.3")
            if letter not in start.keys_of:
                raise LayoutError(f"layout {start.name!r} has no key {letter!r} to pin")
            yield letter, _slot_of_letter(grid, letter, start)


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


def _slot_of_letter(grid: Layout, letter: str, layout: Layout) -> int:
    """The key of the grid under the key that a letter has on another layout."""
    key: Key = layout.keys[layout.keys_of[letter][0]]
    for slot, place in enumerate(grid.keys):
        if abs(place.cx - key.cx) <= place.rx / 2 and abs(place.cy - key.cy) <= place.ry / 2:
            return slot
    raise LayoutError(f"{letter!r} of layout {layout.name!r} lies at {key.cx:g}, {key.cy:g}, where the grid has no key")
