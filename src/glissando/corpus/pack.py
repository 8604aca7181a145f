"""Packing: a stream of swipes becomes the flat arrays that training reads (see packed.py), in bounded memory."""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain, islice
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
    dropped: Mapping[str, int] | None = None,
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
        dropped: what the reader and filters leave out, by reason; read after the last swipe, when it is complete.

    Raises:
        CorpusError: nothing is left to pack, or the output exists.
    """
    output, options, shelf = Path(output), options or PackOptions(), LayoutShelf(layouts)
    check_free(output, options.overwrite)
    packer, rows = Packer(shelf, options), iter(swipes)
    batches = iter(lambda: list(islice(rows, BATCH)), [])
    return write_pack(chain(map(packer.pack, batches), _left_out(dropped)), output, shelf, options)


def _left_out(dropped: Mapping[str, int] | None) -> Iterator[PackedRows]:
    """No rows, with what was left out before packing."""
    yield _no_rows(dropped or {})


def write_pack(parts: Iterable[PackedRows], output: Path, shelf: LayoutShelf, options: PackOptions) -> PackReport:
    """Write packed rows, in this order, as a pack; the arguments are those of ``pack``."""
    if output.suffix != ".npz":
        with replacing_directory(output) as folder:
            return _write(parts, folder, shelf, options)
    with tempfile.TemporaryDirectory() as temporary:
        report = _write(parts, Path(temporary), shelf, options)
        save_npz(temporary, output)
    return report


def check_free(output: Path, overwrite: bool) -> None:
    """Refuse to replace anything but a pack, and a pack unless told to."""
    if not output.exists():
        return
    if output.suffix != ".npz" and not is_pack(output):
        raise CorpusError(f"{output} exists and is not a pack; choose another place")
    if not overwrite:
        raise CorpusError(f"the pack {output} exists; --overwrite replaces it")


def _write(parts: Iterable[PackedRows], folder: Path, shelf: LayoutShelf, options: PackOptions) -> PackReport:
    """Write packed rows as the files of a pack."""
    with ExitStack() as files:
        writer = _Writer({name: files.enter_context(closing(_GrowingArray(folder, name))) for name in ARRAYS})
        for part in parts:
            writer.add(part)
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


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Some rows of a pack, with names in place of numbers. n rows.

    Attributes:
        paths: [n, 2, 64] uint16.
        targets: [letters] uint8 key indices of all words, end to end.
        lengths: [n] letters of each word.
        layouts, sessions, words: n names each; a session may be None.
        dropped: swipes that could not be packed, by reason.
    """

    paths: np.ndarray
    targets: np.ndarray
    lengths: np.ndarray
    layouts: tuple[str, ...]
    sessions: tuple[str | None, ...]
    words: tuple[str, ...]
    dropped: dict[str, int]

    def to_bytes(self) -> bytes:
        """The rows as an .npz."""
        names = {name: getattr(self, name) for name in _NAMES}
        text = np.frombuffer(json.dumps(names, ensure_ascii=False).encode("utf-8"), dtype=np.uint8)
        out = io.BytesIO()
        np.savez_compressed(out, paths=self.paths, targets=self.targets, lengths=self.lengths, names=text)
        return out.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PackedRows:
        """Read what ``to_bytes`` gave."""
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            names = json.loads(file["names"].tobytes().decode("utf-8"))
            lists = {name: tuple(names[name]) for name in _NAMES if name != "dropped"}
            return cls(file["paths"], file["targets"], file["lengths"], **lists, dropped=names["dropped"])


def _no_rows(dropped: Mapping[str, int]) -> PackedRows:
    """No rows at all, and why."""
    paths, targets = np.zeros((0, 2, 64), np.uint16), np.zeros(0, np.uint8)
    return PackedRows(paths, targets, np.zeros(0, np.int64), (), (), (), dict(dropped))


_NAMES = ("layouts", "sessions", "words", "dropped")


class Packer:
    """Turns swipes into rows of a pack."""

    def __init__(self, shelf: LayoutShelf, options: PackOptions) -> None:
        self.shelf, self.options = shelf, options
        self.spellings: dict[tuple[str, str], Spelling | str] = {}

    def pack(self, swipes: Sequence[Swipe]) -> PackedRows:
        """Pack the swipes that can be packed, and count the others by reason."""
        dropped: Counter[str] = Counter()
        usable = list(self._usable(swipes, dropped))
        if not usable:
            return _no_rows(dropped)
        paths = resample_batch([swipe.gesture for swipe, _ in usable])  # [n, 2, 64]
        targets = [
            [_nearest(keys, path, self.shelf[swipe.layout]) for keys in spelling]
            for (swipe, spelling), path in zip(usable, paths, strict=True)
        ]
        names = ((swipe.layout, swipe.session, swipe.word) for swipe, _ in usable)
        layouts, sessions, words = zip(*names, strict=True)
        return PackedRows(
            np.rint(paths * SCALE).astype(np.uint16), np.concatenate(targets).astype(np.uint8),
            np.array([len(target) for target in targets]), layouts, sessions, words, dict(dropped),
        )  # fmt: skip

    def _usable(self, swipes: Sequence[Swipe], dropped: Counter[str]) -> Iterator[tuple[Swipe, Spelling]]:
        """The swipes that can be packed, with their spellings; the others are counted."""
        for swipe in swipes:
            word = (swipe.layout, swipe.word)
            if swipe.gesture.duration > MAX_DURATION_MS:
                dropped["over a minute long"] += 1
                continue
            if word not in self.spellings:
                self.spellings[word] = self._spell(swipe)
            spelling = self.spellings[word]
            if isinstance(spelling, str):
                dropped[spelling] += 1
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
        return spelling


class _Writer:
    """Appends rows to the arrays of a pack, and numbers the words, sessions and layouts it meets."""

    def __init__(self, arrays: dict[str, _GrowingArray]) -> None:
        self.arrays = arrays
        self.layouts: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self.dropped: Counter[str] = Counter()
        self.letters = 0
        arrays["offsets"].append(np.zeros(1))

    def add(self, part: PackedRows) -> None:
        """Append some rows."""
        self.dropped.update(part.dropped)
        ends = self.letters + np.cumsum(part.lengths)
        self.letters = int(ends[-1]) if len(ends) else self.letters
        columns = {
            "paths": part.paths,
            "targets": part.targets,
            "offsets": ends,
            "layouts": np.array([_number(self.layouts, name) for name in part.layouts]),
            "sessions": np.array([_number(self.sessions, name) for name in part.sessions]),
            "words": np.array([_number(self.words, name) for name in part.words]),
        }
        if len(self.layouts) > MAX_LAYOUTS:
            raise CorpusError(f"more than {MAX_LAYOUTS} layouts in one pack")
        for name, column in columns.items():
            self.arrays[name].append(column)

    def report(self) -> PackReport:
        """What was written."""
        rows = self.arrays["paths"].rows
        return PackReport(rows, len(self.words), len(self.sessions), tuple(self.layouts), dict(self.dropped))


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
