"""Packing: a stream of swipes becomes the flat arrays that training reads (see packed.py), in bounded memory."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from glissando.corpus.filters import typeable
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.packed import ARRAYS, FORMAT, SCALE, VERSION, is_pack, save_npz
from glissando.corpus.records import Swipe
from glissando.ctc import needed_frames
from glissando.errors import CorpusError
from glissando.files import replacing_directory
from glissando.gesture import resample_batch
from glissando.layout import Layout
from glissando.lexicon import typed_letters

FRAMES = 32  # emission steps of the default encoder: what a word must fit in
MAX_DURATION_MS = 60_000  # nobody swipes a word for a minute; such times come from a broken clock
MAX_LAYOUTS = 256  # a layout's index is a byte
BATCH = 4096  # swipes resampled together

Spelling = list[tuple[int, ...]]  # for every letter of a word, the keys that type it


@dataclass(frozen=True)
class PackReport:
    """What ``pack`` wrote: rows, words, sessions and layouts, and what it left out, by reason."""

    rows: int
    words: int
    sessions: int
    layouts: tuple[str, ...]
    dropped: dict[str, int]


@dataclass(frozen=True)
class PackOptions:
    """How to pack.

    Attributes:
        frames: emission steps of the model; a word needs one per letter and one more per doubled letter.
        drop_unknown_layouts: leave out swipes on an unknown layout, instead of stopping at the first.
        overwrite: replace a pack that is already there.
        source: a note on the origin, kept in meta.json.
    """

    frames: int = FRAMES
    drop_unknown_layouts: bool = False
    overwrite: bool = False
    source: str = ""


def pack(
    swipes: Iterable[Swipe],
    output: str | Path,
    *,
    layouts: str | Path | None = None,
    options: PackOptions | None = None,
) -> PackReport:
    """Write swipes as a pack, in bounded memory and whole or not at all.

    Words that cannot be typed on their layout or do not fit the model's frames, and swipes of over a minute, are left
    out and counted.

    Args:
        swipes: what to pack, in this order.
        output: a directory, or an .npz where the name ends so; it must not exist, unless as a pack with
            ``options.overwrite``.
        layouts: a directory of layout files, searched before the built-in layouts.
        options: see PackOptions.

    Raises:
        CorpusError: nothing is left to pack, or the output exists.
    """
    output, options = Path(output), options or PackOptions()
    _check_free(output, options.overwrite)
    shelf = LayoutShelf(layouts)
    if output.suffix != ".npz":
        with replacing_directory(output) as folder:
            return _write(swipes, folder, shelf, options)
    with tempfile.TemporaryDirectory() as temporary:
        report = _write(swipes, Path(temporary), shelf, options)
        save_npz(temporary, output)
    return report


def _check_free(output: Path, overwrite: bool) -> None:
    """Refuse to replace anything but a pack, and a pack unless told to."""
    if not output.exists():
        return
    if output.suffix != ".npz" and not is_pack(output):
        raise CorpusError(f"{output} exists and is not a pack; choose another place")
    if not overwrite:
        raise CorpusError(f"the pack {output} exists; --overwrite replaces it")


def _write(swipes: Iterable[Swipe], folder: Path, shelf: LayoutShelf, options: PackOptions) -> PackReport:
    """Write swipes as the files of a pack."""
    with ExitStack() as files:
        arrays = {name: files.enter_context(closing(_GrowingArray(folder, name))) for name in ARRAYS}
        writer = _Writer(arrays, shelf, options)
        rows = iter(swipes)
        while batch := list(islice(rows, BATCH)):
            writer.add(batch)
    report = writer.report()
    if not report.rows:
        reasons = ", ".join(f"{count:,} {why}" for why, count in report.dropped.items())
        raise CorpusError(f"no swipe left to pack ({reasons or 'the corpus is empty'})")
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "layouts": [{**shelf[name].to_dict(), "name": name} for name in report.layouts],
        "words": list(writer.words),
        "sessions": report.sessions,
        "rows": report.rows,
        "source": options.source,
        "dropped": report.dropped,
    }
    (folder / "meta.json").write_text(json.dumps(meta, ensure_ascii=False), encoding="utf-8")
    return report


class _GrowingArray:
    """An .npy file written row by row; its header gets the number of rows at the end."""

    def __init__(self, folder: Path, name: str) -> None:
        self.dtype, self.shape = ARRAYS[name]
        self.rows = 0
        self.file = (folder / f"{name}.npy").open("wb")
        self._write_header()

    def append(self, rows: np.ndarray) -> None:
        """Add rows."""
        self.file.write(np.ascontiguousarray(rows, dtype=self.dtype).data)
        self.rows += len(rows)

    def close(self) -> None:
        """Complete the header."""
        self.file.seek(0)
        self._write_header()
        self.file.close()

    def _write_header(self) -> None:
        """Write the header; numpy leaves room in it for the first axis to grow, so its length does not change."""
        header = {"descr": self.dtype, "fortran_order": False, "shape": (self.rows, *self.shape)}
        np.lib.format.write_array_header_1_0(self.file, header)


class _Writer:
    """Turns swipes into rows of a pack, and numbers the words, sessions and layouts it meets."""

    def __init__(self, arrays: dict[str, _GrowingArray], shelf: LayoutShelf, options: PackOptions) -> None:
        self.arrays, self.shelf, self.options = arrays, shelf, options
        self.layouts: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self.dropped: Counter[str] = Counter()
        self.spellings: dict[tuple[str, str], Spelling | str] = {}
        self.letters = 0
        arrays["offsets"].append(np.zeros(1))

    def add(self, batch: list[Swipe]) -> None:
        """Write the swipes of a batch that can be packed."""
        usable = list(self._usable(batch))
        if not usable:
            return
        paths = resample_batch([swipe.gesture for swipe, _ in usable])  # [B, 2, 64]
        targets = [
            [_nearest(keys, path, self.shelf[swipe.layout]) for keys in spelling]
            for (swipe, spelling), path in zip(usable, paths, strict=True)
        ]
        ends = self.letters + np.cumsum([len(target) for target in targets])
        self.letters = int(ends[-1])
        columns = {
            "paths": np.rint(paths * SCALE),
            "targets": np.concatenate(targets),
            "offsets": ends,
            "layouts": np.array([_number(self.layouts, swipe.layout) for swipe, _ in usable]),
            "sessions": np.array([_number(self.sessions, swipe.session) for swipe, _ in usable]),
            "words": np.array([_number(self.words, swipe.word) for swipe, _ in usable]),
        }
        for name, column in columns.items():
            self.arrays[name].append(column)

    def report(self) -> PackReport:
        """What was written."""
        rows = self.arrays["paths"].rows
        return PackReport(rows, len(self.words), len(self.sessions), tuple(self.layouts), dict(self.dropped))

    def _usable(self, batch: list[Swipe]) -> Iterator[tuple[Swipe, Spelling]]:
        """The swipes that can be packed, with their spellings; the others are counted."""
        for swipe in batch:
            word = (swipe.layout, swipe.word)
            if swipe.gesture.duration > MAX_DURATION_MS:
                self.dropped["over a minute long"] += 1
                continue
            if word not in self.spellings:
                self.spellings[word] = self._spell(swipe)
            spelling = self.spellings[word]
            if isinstance(spelling, str):
                self.dropped[spelling] += 1
            else:
                yield swipe, spelling

    def _spell(self, swipe: Swipe) -> Spelling | str:
        """The keys of a word on its layout, or the reason why it cannot be packed."""
        layout = self.shelf.get(swipe.layout) if self.options.drop_unknown_layouts else self.shelf[swipe.layout]
        if layout is None:
            return f"on unknown layout {swipe.layout!r}"
        letters = frozenset(layout.letters)
        if not typeable(swipe.word, letters):
            return f"not typeable on {swipe.layout}"
        spelling = [layout.keys_of[letter] for letter in typed_letters(swipe.word, letters)]
        if needed_frames([keys[0] for keys in spelling]) > self.options.frames:
            return f"longer than {self.options.frames} frames"
        if swipe.layout not in self.layouts and len(self.layouts) == MAX_LAYOUTS:
            raise CorpusError(f"more than {MAX_LAYOUTS} layouts in one pack")
        return spelling


def _number(numbers: dict[str, int], name: str | None) -> int:
    """The number of a name, the next one where it is new; -1 where there is no name."""
    return -1 if name is None else numbers.setdefault(name, len(numbers))


def _nearest(keys: tuple[int, ...], path: np.ndarray, layout: Layout) -> int:
    """Of the keys of one letter, the one to which a path [2, 64] comes closest."""
    if len(keys) == 1:
        return keys[0]
    across = path[0, :, None] - layout.centres[list(keys), 0]  # [64, keys]
    down = (path[1, :, None] - layout.centres[list(keys), 1]) * layout.aspect
    return keys[int(np.argmin(np.hypot(across, down).min(axis=0)))]
