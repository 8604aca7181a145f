"""Packing: a stream of swipes becomes the flat arrays that training reads (see packed.py), in bounded memory."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from glissando.corpus.filters import typeable
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.npy import GrowingArray
from glissando.corpus.packed import ARRAYS, FORMAT, SCALE, VERSION, PackedCorpus, is_pack, pack_npz
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError
from glissando.files import replacing_directory
from glissando.gesture import resample_batch
from glissando.layout import Layout
from glissando.lexicon import typed_letters

__all__ = ["PackOptions", "PackReport", "PackedCorpus", "pack", "pack_file", "pack_npz"]

FRAMES = 32  # emission steps of the default encoder: what a word must fit in
MAX_DURATION_MS = 60_000  # nobody swipes a word for a minute; such times are a broken clock
MAX_LAYOUTS = 256  # layouts are counted in a byte
BATCH = 4096  # swipes resampled together

Spelling = list[tuple[int, ...]]  # for every letter of a word, the keys that type it


@dataclass(frozen=True)
class PackReport:
    """What ``pack`` wrote: rows, words, sessions and layouts, and what it left out and why."""

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
        drop_unknown_layouts: leave out swipes on a layout nobody knows, instead of stopping at the first.
        overwrite: replace a pack that is already there.
        source: a note on the origin, kept in meta.json.
    """

    frames: int = FRAMES
    drop_unknown_layouts: bool = False
    overwrite: bool = False
    source: str = ""


def pack(
    swipes: Iterable[Swipe],
    directory: str | Path,
    *,
    layouts: str | Path | None = None,
    options: PackOptions | None = None,
) -> PackReport:
    """Write swipes as a pack, in bounded memory.

    Words that cannot be typed on their layout, do not fit the model's frames, or take over a minute are left
    out and counted. The directory appears when it is complete.

    Args:
        swipes: what to pack, in this order.
        directory: where; must not exist, unless as a pack with ``options.overwrite``.
        layouts: a directory of layout files, asked before the built-in ones.
        options: see PackOptions.

    Raises:
        CorpusError: nothing is left to pack, or the directory is taken.
    """
    options = options or PackOptions()
    directory = Path(directory)
    _check_free(directory, options.overwrite)
    writer = _Writer(LayoutShelf(layouts), options)
    with replacing_directory(directory) as temporary, writer.open(temporary):
        rows = iter(swipes)
        while batch := list(islice(rows, BATCH)):
            writer.add(batch)
        writer.finish(temporary)
    return writer.report()


def pack_file(
    swipes: Iterable[Swipe],
    output: str | Path,
    *,
    layouts: str | Path | None = None,
    options: PackOptions | None = None,
) -> PackReport:
    """Pack to a directory, or to an .npz where the name ends so; the arguments are those of ``pack``."""
    output = Path(output)
    if output.suffix != ".npz":
        return pack(swipes, output, layouts=layouts, options=options)
    if output.exists() and not (options and options.overwrite):
        raise CorpusError(f"{output} exists; --overwrite replaces it")
    with tempfile.TemporaryDirectory() as folder:
        report = pack(swipes, Path(folder) / "arrays", layouts=layouts, options=options)
        pack_npz(Path(folder) / "arrays", output)
    return report


class _Writer:
    """The state of one packing: open arrays, and what words, sessions and layouts were met."""

    def __init__(self, shelf: LayoutShelf, options: PackOptions) -> None:
        self.shelf, self.options = shelf, options
        self.layouts: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self.dropped: Counter[str] = Counter()
        self.spelled: dict[tuple[str, str], Spelling | str] = {}
        self.arrays: dict[str, GrowingArray] = {}
        self.letters = 0

    @contextmanager
    def open(self, directory: Path) -> Iterator[None]:
        """Keep the array files open for the body."""
        try:
            for name, (dtype, shape) in ARRAYS.items():
                self.arrays[name] = GrowingArray(directory / f"{name}.npy", dtype, shape)
            self.arrays["offsets"].append(np.zeros(1))
            yield
        finally:
            for array in self.arrays.values():
                array.file.close()

    def add(self, batch: list[Swipe]) -> None:
        """Write the swipes of a batch that can be packed."""
        spelled = [(swipe, spelling) for swipe in batch if (spelling := self._spelling(swipe)) is not None]
        if not spelled:
            return
        paths = resample_batch([swipe.gesture for swipe, _ in spelled])  # [B, 2, 64]
        targets = [
            _nearest_keys(spelling, path, self.shelf[swipe.layout])
            for (swipe, spelling), path in zip(spelled, paths, strict=True)
        ]
        ends = self.letters + np.cumsum([len(target) for target in targets])
        self.letters = int(ends[-1])
        columns = {
            "paths": np.rint(paths * SCALE),
            "targets": np.concatenate(targets),
            "offsets": ends,
            "layouts": np.array([_number(self.layouts, swipe.layout) for swipe, _ in spelled]),
            "sessions": np.array([self._session(swipe) for swipe, _ in spelled]),
            "words": np.array([_number(self.words, swipe.word) for swipe, _ in spelled]),
        }
        for name, column in columns.items():
            self.arrays[name].append(column)

    def finish(self, directory: Path) -> None:
        """Complete the files."""
        rows = self.arrays["paths"].rows
        if not rows:
            reasons = ", ".join(f"{count:,} {why}" for why, count in self.dropped.items())
            raise CorpusError(f"no swipe left to pack ({reasons or 'the corpus is empty'})")
        for array in self.arrays.values():
            array.close()
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "layouts": [{**self.shelf[name].to_dict(), "name": name} for name in self.layouts],
            "words": list(self.words),
            "sessions": len(self.sessions),
            "rows": rows,
            "source": self.options.source,
            "dropped": dict(self.dropped),
        }
        (directory / "meta.json").write_text(json.dumps(meta, ensure_ascii=False), encoding="utf-8")

    def report(self) -> PackReport:
        """What was written."""
        rows = self.arrays["paths"].rows
        return PackReport(rows, len(self.words), len(self.sessions), tuple(self.layouts), dict(self.dropped))

    def _spelling(self, swipe: Swipe) -> Spelling | None:
        """The keys of a swipe's word, or None, counted, where it cannot be packed."""
        if swipe.gesture.duration > MAX_DURATION_MS:
            self.dropped["over a minute long"] += 1
            return None
        word = (swipe.layout, swipe.word)
        if word not in self.spelled:
            self.spelled[word] = self._spell(swipe)
        spelling = self.spelled[word]
        if isinstance(spelling, str):
            self.dropped[spelling] += 1
            return None
        return spelling

    def _spell(self, swipe: Swipe) -> Spelling | str:
        """The keys of a word on its layout, or why there are none."""
        layout = self.shelf.get(swipe.layout) if self.options.drop_unknown_layouts else self.shelf[swipe.layout]
        if layout is None:
            return f"on unknown layout {swipe.layout!r}"
        letters = frozenset(layout.letters)
        typed = typed_letters(swipe.word, letters)
        if not typeable(swipe.word, letters):
            return f"not typeable on {swipe.layout}"
        if len(typed) + sum(a == b for a, b in pairwise(typed)) > self.options.frames:
            return f"longer than {self.options.frames} frames"
        if swipe.layout not in self.layouts and len(self.layouts) == MAX_LAYOUTS:
            raise CorpusError(f"more than {MAX_LAYOUTS} layouts in one pack")
        return [layout.keys_of[letter] for letter in typed]

    def _session(self, swipe: Swipe) -> int:
        """The number of a swipe's session, -1 where it has none."""
        return -1 if swipe.session is None else _number(self.sessions, swipe.session)


def _number(numbers: dict[str, int], name: str) -> int:
    """The number of a name, the next one where it is new."""
    return numbers.setdefault(name, len(numbers))


def _nearest_keys(spelling: Spelling, path: np.ndarray, layout: Layout) -> list[int]:
    """One key per letter: of several, the one the path comes closest to. Path: [2, 64]."""
    return [keys[0] if len(keys) == 1 else _nearest(keys, path, layout) for keys in spelling]


def _nearest(keys: tuple[int, ...], path: np.ndarray, layout: Layout) -> int:
    """The key that a path comes closest to."""
    across = path[0, :, None] - layout.centres[list(keys), 0]  # [64, keys]
    down = (path[1, :, None] - layout.centres[list(keys), 1]) * layout.aspect
    return keys[int(np.argmin(np.hypot(across, down).min(axis=0)))]


def _check_free(directory: Path, overwrite: bool) -> None:
    """Refuse to write over anything but a pack, and over a pack unless told."""
    if not directory.exists():
        return
    if not is_pack(directory):
        raise CorpusError(f"{directory} exists and is not a pack; choose another place")
    if not overwrite:
        raise CorpusError(f"the pack {directory} exists; --overwrite replaces it")
