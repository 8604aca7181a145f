"""Arrays kept between runs: parsed word lists and built tries, keyed by their content."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np


def cache_directory() -> Path:
    """Where they are kept: ``GLISSANDO_CACHE``, else the user's cache directory."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glissando"
    return Path(os.environ.get("GLISSANDO_CACHE") or default)


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays, whole or not at all; a cache that cannot be written is no error, only slower."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()


def load_arrays(path: Path) -> dict[str, np.ndarray] | None:
    """Read arrays; None where there are none or the file is damaged (it is then made anew)."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile):
        return None
