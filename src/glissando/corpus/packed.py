"""A corpus as flat arrays that memory-map: what training reads.

A pack is a directory, or an .npz of the same arrays for carrying about:

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
SCALE = 65535  # of a coordinate stored as uint16: a sixtieth of a phone's pixel
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
    """A pack, opened: arrays as the module's docstring lists them, and ``meta``."""

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
        """The layouts that ``layouts`` counts."""
        return [Layout.from_dict(data, f"layout {index}") for index, data in enumerate(self.meta["layouts"])]

    def path(self, row: int) -> np.ndarray:
        """The path of one row. Shape: [2, 64] float32 in [0, 1]."""
        return np.asarray(self.paths[row], dtype=np.float32) / SCALE

    def target(self, row: int) -> np.ndarray:
        """The key indices of one row's word. Shape: [L] uint8."""
        return self.targets[self.offsets[row] : self.offsets[row + 1]]

    def word(self, row: int) -> str:
        """The word of one row, as the corpus writes it."""
        return self.meta["words"][self.words[row]]

    def _check(self) -> None:
        """Refuse arrays that do not belong together, before anyone trains on them."""
        if not isinstance(self.meta, dict):
            raise CorpusError("meta is not an object")
        if self.meta.get("format") != FORMAT or self.meta.get("version") != VERSION:
            found = self.meta.get("format"), self.meta.get("version")
            raise CorpusError(f"format and version are {found}, needed are {(FORMAT, VERSION)}")
        for name, (dtype, shape) in ARRAYS.items():
            array = getattr(self, name)
            if array.dtype != np.dtype(dtype) or array.ndim != 1 + len(shape) or array.shape[1:] != shape:
                raise CorpusError(f"{name} is {array.dtype}{list(array.shape)}, needed is {dtype}{['n', *shape]}")
        rows = len(self.paths)
        for name in ("layouts", "sessions", "words"):
            if len(getattr(self, name)) != rows:
                raise CorpusError(f"{name} has {len(getattr(self, name))} rows, paths {rows}")
        if not rows:
            raise CorpusError("it has no rows")
        lengths = np.diff(self.offsets)
        if len(lengths) != rows or self.offsets[0] != 0 or self.offsets[-1] != len(self.targets) or lengths.min() < 1:
            raise CorpusError("offsets do not divide targets into words")
        if self.layouts.max() >= len(self.layout_list):
            raise CorpusError(f"a row is on layout {self.layouts.max()}, there are {len(self.layout_list)}")
        if self.words.min() < 0 or self.words.max() >= len(self.meta["words"]):
            raise CorpusError(f"a row has word {self.words.max()}, there are {len(self.meta['words'])}")
        keys = np.array([len(layout.keys) for layout in self.layout_list])
        if (self.targets >= np.repeat(keys[self.layouts], lengths)).any():
            raise CorpusError("a word has a key its layout lacks")


def pack_npz(directory: str | Path, file: str | Path) -> int:
    """Write a pack as one compressed .npz, for carrying to another machine; returns its bytes."""
    corpus = PackedCorpus.open(directory)
    meta = np.frombuffer(json.dumps(corpus.meta, ensure_ascii=False).encode("utf-8"), dtype=np.uint8)
    with replacing(file) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, meta=meta, **{name: getattr(corpus, name) for name in ARRAYS})
    return Path(file).stat().st_size


def is_pack(path: str | Path) -> bool:
    """Whether a directory says it is a pack."""
    try:
        return json.loads((Path(path) / "meta.json").read_text(encoding="utf-8")).get("format") == FORMAT
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def _load_directory(path: Path) -> dict[str, Any]:
    """The parts of a pack that is a directory; arrays stay on disk."""
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
