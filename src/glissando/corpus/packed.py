"""A corpus as flat arrays that memory-map: what training reads.

A pack is a directory, or an .npz of the same arrays to carry to another machine:

    paths.npy     uint16 [n, 2, 64]  resampled paths, value / 65535 = coordinate
    targets.npy   uint8  [letters]   key indices of all words, end to end
    offsets.npy   int64  [n + 1]     where each row's letters begin
    layouts.npy   uint8  [n]         index into meta["layouts"]
    sessions.npy  int32  [n]         who made it, -1 where unknown
    words.npy     int32  [n]         index into meta["words"]
    meta.json     format, version, layouts, words, sessions, rows, source, dropped
"""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import CorpusError, GlissandoError
from glissando.files import replacing
from glissando.gesture import PATH_POINTS
from glissando.layout import Layout

FORMAT, VERSION = "glissando-pack", 1
SCALE = 65535  # of a coordinate stored as uint16, in steps of a sixtieth of a phone's pixel
ARRAYS: dict[str, tuple[str, tuple[int, ...]]] = {
    "paths": ("<u2", (2, PATH_POINTS)),
    "targets": ("|u1", ()),
    "offsets": ("<i8", ()),
    "layouts": ("|u1", ()),
    "sessions": ("<i4", ()),
    "words": ("<i4", ()),
}


@dataclass(frozen=True, eq=False)
class PackedCorpus:
    """An open pack: the arrays that the module's docstring lists, and ``meta``."""

    paths: np.ndarray
    targets: np.ndarray
    offsets: np.ndarray
    layouts: np.ndarray
    sessions: np.ndarray
    words: np.ndarray
    meta: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> PackedCorpus:
        """Open a directory (memory-mapped) or an .npz (in memory), and check that its parts fit together."""
        path = Path(path)
        try:
            corpus = cls(**(_load_directory(path) if path.is_dir() else _load_npz(path)))
        except (OSError, EOFError, KeyError, ValueError, RecursionError, zlib.error, zipfile.BadZipFile) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise CorpusError(f"cannot read the pack {path}: {reason}") from None
        try:
            corpus._check()
        except (GlissandoError, KeyError, TypeError, ValueError) as error:
            raise CorpusError(f"{path} is not a sound pack: {error}") from None
        return corpus

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def layout_list(self) -> list[Layout]:
        """The layouts that ``layouts`` indexes."""
        return [Layout.from_dict(data, f"layout {index}") for index, data in enumerate(self.meta["layouts"])]

    def word(self, row: int) -> str:
        """The word of one row, as the corpus writes it."""
        return self.meta["words"][self.words[row]]

    def _check(self) -> None:
        """Refuse parts that do not fit together, before anyone trains on them."""
        if not isinstance(self.meta, dict):
            raise CorpusError("meta is not an object")
        got, needed = (self.meta.get("format"), self.meta.get("version")), (FORMAT, VERSION)
        if got != needed:
            raise CorpusError(f"format and version are {got}, needed are {needed}")
        rows = len(self.paths)
        for name, (dtype, shape) in ARRAYS.items():
            array = getattr(self, name)
            if array.dtype != np.dtype(dtype) or array.ndim != 1 + len(shape) or array.shape[1:] != shape:
                raise CorpusError(f"{name} is {array.dtype}{list(array.shape)}, needed is {dtype}{['n', *shape]}")
            if name in ("layouts", "sessions", "words") and len(array) != rows:
                raise CorpusError(f"{name} has {len(array)} rows, paths {rows}")
        if not rows:
            raise CorpusError("it has no rows")
        self._check_indices()

    def _check_indices(self) -> None:
        """Refuse offsets and indices that point to nothing."""
        lengths, ends = np.diff(self.offsets), self.offsets[[0, -1]].tolist()
        if len(lengths) != len(self) or ends != [0, len(self.targets)] or lengths.min() < 1:
            raise CorpusError("offsets do not divide targets into words")
        if self.layouts.max() >= len(self.layout_list):
            raise CorpusError(f"a row is on layout {self.layouts.max()}, there are {len(self.layout_list)}")
        if self.words.min() < 0 or self.words.max() >= len(self.meta["words"]):
            raise CorpusError(f"a row has word {self.words.max()}, there are {len(self.meta['words'])}")
        keys = np.array([len(layout.keys) for layout in self.layout_list])
        if (self.targets >= np.repeat(keys[self.layouts], lengths)).any():
            raise CorpusError("a word has a key its layout lacks")


def save_npz(directory: str | Path, file: str | Path) -> None:
    """Write a pack as one compressed .npz."""
    corpus = PackedCorpus.open(directory)
    meta = np.frombuffer(json.dumps(corpus.meta, ensure_ascii=False).encode("utf-8"), dtype=np.uint8)
    with replacing(file) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, meta=meta, **{name: getattr(corpus, name) for name in ARRAYS})


def is_pack(path: str | Path) -> bool:
    """Whether the meta.json of a directory is that of a pack."""
    try:
        return json.loads((Path(path) / "meta.json").read_text(encoding="utf-8")).get("format") == FORMAT
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def _load_directory(path: Path) -> dict[str, Any]:
    """The parts of a pack that is a directory; the arrays stay on disk."""
    meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
    return {"meta": meta} | {name: np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS}


def _load_npz(path: Path) -> dict[str, Any]:
    """The parts of a pack that is an .npz."""
    file = np.load(path, allow_pickle=False)
    if not isinstance(file, np.lib.npyio.NpzFile):
        raise ValueError("it is neither a directory nor an .npz")
    with file:
        meta = json.loads(file["meta"].tobytes().decode("utf-8"))
        return {"meta": meta} | {name: file[name] for name in ARRAYS}
