"""onnxruntime-web, with which a page runs the networks: two files of an npm package, none of them ours."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from glissando.errors import KitError
from glissando.files import cache_directory

PACKAGE = "onnxruntime-web"
VERSION = "1.30.0"
MODULE = "ort.wasm.bundle.min.mjs"
WASM = "ort-wasm-simd-threaded.wasm"
FILES = (MODULE, WASM)


@dataclass(frozen=True)
class WasmRuntime:
    """The two files in a directory, each plain or with ``.gz`` behind its name."""

    directory: Path

    @classmethod
    def cached(cls) -> WasmRuntime | None:
        """The files that were fetched before, or None where they were not or are damaged."""
        found = cls(cache_directory() / f"{PACKAGE}-{VERSION}")
        try:
            found.digests  # noqa: B018 (reads them, which checks their checksums)
        except KitError:
            return None
        return found

    @classmethod
    def from_directory(cls, directory: str | Path) -> WasmRuntime:
        """The files of an npm install (``node_modules/onnxruntime-web/dist``), or the two files by themselves."""
        folder = Path(directory)
        if not folder.is_dir():
            raise KitError(f"no directory {folder}; the runtime is {MODULE} and {WASM} of {PACKAGE} {VERSION}")
        folder = folder / "dist" if (folder / "dist").is_dir() else folder
        found = cls(folder)
        for name in FILES:
            found.read(name)
        if not found.read(WASM).startswith(b"\0asm"):
            raise KitError(f"{folder / WASM} is no WebAssembly")
        if (version := _stated_version(folder)) not in (None, VERSION):
            raise KitError(f"{folder} is {PACKAGE} {version}; this version of glissando needs {VERSION}")
        return found

    def read(self, name: str) -> bytes:
        """One of the files, decompressed."""
        plain = self.directory / name
        try:
            return plain.read_bytes() if plain.is_file() else gzip.decompress(Path(f"{plain}.gz").read_bytes())
        except FileNotFoundError:
            raise KitError(f"{self.directory} has no {name}, which is part of {PACKAGE} {VERSION}") from None
        except (OSError, EOFError, zlib.error) as error:
            raise KitError(f"cannot read {plain}: {getattr(error, 'strerror', None) or error}") from None

    @cached_property
    def digests(self) -> dict[str, str]:
        """A hash of each file."""
        return {name: hashlib.sha256(self.read(name)).hexdigest() for name in FILES}


def _stated_version(folder: Path) -> str | None:
    """The version that the package.json above an npm install's dist says, or None where there is none."""
    try:
        package = json.loads((folder.parent / "package.json").read_text(encoding="utf-8"))
        return str(package["version"]) if package["name"] == PACKAGE else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
