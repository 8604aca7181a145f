"""The beam's finalists of many swipes on disk: what a matcher is trained on.

A file is an .npz. n swipes, C finalists of each at the most, best first by the encoder's score, L letters at the most
(``runtime.LONGEST``; longer finalists are left out):

    paths        uint16  [n, 2, 64]  resampled paths, (value - LOW) / SCALE = coordinate
    keys         uint8   [n, C, L]   key indices of each finalist, NO_KEY beyond its end
    scores       float16 [n, C]      the encoder's score, in nats, 0 for the best
    frequencies  uint8   [n, C]      frequency bytes
    places       int16   [n]         where the word meant stands among the finalists, -1 where it does not
    sessions     int32   [n]         who made the swipe, -1 where unknown
    aspects      float32 [n]         height over width of the letter area it was made on
    layouts      uint8   [n]         index into meta["layouts"]
    meta         JSON as bytes: format, version, layouts, what made the file
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import CorpusError, GlissandoError
from glissando.files import replacing
from glissando.gesture import PATH_POINTS
from glissando.layout import Layout

FORMAT, VERSION = "glissando-finalists", 1
NO_KEY = 255
LOW, SCALE = 16384, 32768  # a coordinate of a path lies in [-0.5, 1.5)


@dataclass(frozen=True, eq=False)
class FinalistFile:
    """Swipes with the finalists of their beams; the module's docstring lists the arrays."""

    paths: np.ndarray
    keys: np.ndarray
    scores: np.ndarray
    frequencies: np.ndarray
    places: np.ndarray
    sessions: np.ndarray
    aspects: np.ndarray
    layouts: np.ndarray
    meta: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> FinalistFile:
        """Read a file, and check that its parts fit together."""
        try:
            with np.load(path, allow_pickle=False) as file:
                meta = json.loads(file["meta"].tobytes().decode("utf-8"))
                arrays = {entry.name: file[entry.name] for entry in fields(cls) if entry.name != "meta"}
        except (OSError, EOFError, KeyError, ValueError, AttributeError, zlib.error, zipfile.BadZipFile) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise CorpusError(f"cannot read the finalists {path}: {reason}") from None
        finalists = cls(**arrays, meta=meta)
        try:
            finalists._check()
        except (GlissandoError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorpusError(f"{path} is not a sound file of finalists: {error}") from None
        return finalists

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def layout_list(self) -> list[Layout]:
        """The layouts that ``layouts`` indexes."""
        return [Layout.from_dict(data, f"layout {index}") for index, data in enumerate(self.meta["layouts"])]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of paths and finalists, by which a run knows its corpus again."""
        digest = hashlib.sha256()
        for array in (self.paths, self.keys, self.frequencies, self.places, self.aspects):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        meta = np.frombuffer(json.dumps(self.meta, ensure_ascii=False).encode("utf-8"), dtype=np.uint8)
        arrays = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "meta"}
        with replacing(path) as temporary, temporary.open("wb") as out:
            np.savez_compressed(out, meta=meta, **arrays)

    def _check(self) -> None:
        """Refuse parts that do not fit together."""
        if (self.meta["format"], self.meta["version"]) != (FORMAT, VERSION):
            raise CorpusError(f"its format is {self.meta['format']!r}, version {self.meta['version']!r}")
        n, count, _ = self.keys.shape
        wanted = {
            "paths": (n, 2, PATH_POINTS), "scores": (n, count), "frequencies": (n, count), "places": (n,),
            "sessions": (n,), "aspects": (n,), "layouts": (n,),
        }  # fmt: skip
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise CorpusError(f"{name} has shape {getattr(self, name).shape}, needed is {shape}")
        if not n:
            raise CorpusError("it has no swipe")
        if self.places.max() >= count or self.layouts.max() >= len(self.layout_list):
            raise CorpusError("a place or a layout points to nothing")
        most = np.array([len(layout.keys) for layout in self.layout_list])[self.layouts]
        if ((self.keys != NO_KEY) & (self.keys >= most[:, None, None])).any():
            raise CorpusError("a finalist has a key that its layout lacks")


def pack_paths(paths: np.ndarray) -> np.ndarray:
    """Coordinates as whole numbers; a finger far outside the area is brought to its edge. Shape: [n, 2, 64], same."""
    return np.clip(np.rint(paths * SCALE) + LOW, 0, 65535).astype(np.uint16)


def unpack_paths(packed: Any) -> Any:
    """What ``pack_paths`` packed, for numbers that are floats already: arrays or tensors. Shape: [n, 2, 64], same."""
    return (packed - LOW) / SCALE
