"""Files written whole or not at all, JSON read with care, and arrays kept between runs.

A file is written beside its place and then moved there, so no reader meets half of it and a full disk or a killed
process leaves the old file as it was.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import FileError, GlissandoError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file that takes the place of ``path`` when the body ends well, and is removed when it fails."""
    path = Path(path)
    with _staging(path) as folder:
        temporary = folder / path.name
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)


@contextmanager
def replacing_directory(path: str | Path) -> Iterator[Path]:
    """Give a temporary directory that takes the place of ``path``, as ``replacing`` does for a file."""
    path = Path(path)
    with _staging(path) as folder:
        temporary = folder / "new"
        temporary.mkdir()
        yield temporary
        if path.exists():
            path.rename(folder / "old")
        temporary.rename(path)


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def _staging(path: Path) -> Iterator[Path]:
    """Give a temporary directory beside ``path``: moving a file within one file system is atomic."""
    folder: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
        yield folder
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def read_object(path: str | os.PathLike[str], kind: str, error: type[GlissandoError], most: int) -> dict[str, Any]:
    """The JSON object in a file of a person's; an ``error`` names the file where it holds anything else.

    Args:
        path: the file.
        kind: what it should be, for messages: "vocabulary".
        error: the class of the error.
        most: bytes at the most; a longer file is not read.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except OSError as reason:
        raise error(f"cannot read {kind} {path}: {reason.strerror or reason}") from None
    if len(data) > most:
        raise error(f"{kind} {path} is longer than {most:,} bytes")
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as reason:
        raise error(f"{kind} {path} is not JSON: {reason}") from None
    if not isinstance(found, dict):
        raise error(f"{kind} {path} must be a JSON object")
    return found


def cache_directory() -> Path:
    """Where parsed word lists and built tries are kept: ``GLISSANDO_CACHE``, else the user's cache directory."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glissando"
    return Path(os.environ.get("GLISSANDO_CACHE") or default)


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays to the cache; a cache that cannot be written is slower, not an error."""
    with suppress(FileError), replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def load_arrays(path: Path) -> dict[str, np.ndarray] | None:
    """Read arrays from the cache; None where the file is missing or damaged, so that it is made again."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile):
        return None
