"""onnxruntime-web, with which a page runs the networks: two files of an npm package, none of them ours.

They are fetched from the npm registry once and kept in the cache, or taken from a directory.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from glissando.corpus.fetch import RemoteFile, download
from glissando.errors import CorpusError, FileError, KitError
from glissando.files import cache_directory, replacing_directory

PACKAGE = "onnxruntime-web"
VERSION = "1.30.0"
MODULE = "ort.wasm.bundle.min.mjs"
WASM = "ort-wasm-simd-threaded.wasm"
FILES = (MODULE, WASM)

REGISTRY = "https://registry.npmjs.org"  # npm's own; npm_config_registry names another, as it does for npm
ARCHIVE = f"{PACKAGE}-{VERSION}.tgz"
SIZE = 33_106_585  # bytes of the archive
SHA512 = (  # of the archive; the registry states it as the package's integrity, in base 64
    "ab4cbe26baedba45d2cec05610c71c55fa97db92d19a8b171c5f8269126683ca"
    "590a5cdc57bb2f35ce2b298de32f4d956fb42644c0ecd528a0a91e025c07ca61"
)


@dataclass(frozen=True)
class WasmRuntime:
    """The two files in a directory, each plain or with ``.gz`` behind its name."""

    directory: Path

    @classmethod
    def cached(cls) -> WasmRuntime | None:
        """The files that were fetched before, or None where they were not or are damaged."""
        found = cls(_cache())
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
            data = plain.read_bytes() if plain.is_file() else gzip.decompress(Path(f"{plain}.gz").read_bytes())
        except FileNotFoundError:
            raise KitError(f"{self.directory} has no {name}, which is part of {PACKAGE} {VERSION}") from None
        except (OSError, EOFError, zlib.error) as error:
            raise KitError(f"cannot read {plain}: {getattr(error, 'strerror', None) or error}") from None
        if not data:
            raise KitError(f"{plain} is empty")
        return data

    @cached_property
    def digests(self) -> dict[str, str]:
        """A hash of each file."""
        return {name: hashlib.sha256(self.read(name)).hexdigest() for name in FILES}


def fetch_runtime(progress: Callable[[int, int], None] | None = None) -> WasmRuntime:
    """Fetch the runtime into the cache, if it is not there: 33 MB, of which 4 MB are kept. Whole or not at all.

    Args:
        progress: called with the bytes so far and the bytes in all; what it raises ends the download.
    """
    if (found := WasmRuntime.cached()) is not None:
        return found

    def told(_: str, done: int, total: int | None) -> None:
        if progress is not None:
            progress(done, total or SIZE)

    try:
        with tempfile.TemporaryDirectory(prefix="glissando-") as folder:
            archive = download(RemoteFile(ARCHIVE, archive_address(), SIZE, sha512=SHA512), folder, told)
            files = {name: _extract(archive, name) for name in FILES}
        with replacing_directory(_cache()) as target:
            for name, data in files.items():
                (target / f"{name}.gz").write_bytes(gzip.compress(data, 9, mtime=0))
    except (CorpusError, FileError) as error:
        reason = str(error).removesuffix("; run it again to resume")  # here it starts over
        raise KitError(f"{PACKAGE} cannot be had: {reason}; --runtime takes it from a directory") from None
    return WasmRuntime(_cache())


def archive_address() -> str:
    """The address of the npm package."""
    environment = {name.lower(): value for name, value in os.environ.items()}  # as npm reads it
    registry = environment.get("npm_config_registry") or REGISTRY
    return f"{registry.rstrip('/')}/{PACKAGE}/-/{ARCHIVE}"


def _extract(archive: Path, name: str) -> bytes:
    """One file of the package."""
    try:
        with tarfile.open(archive, "r:gz") as package:
            member = package.extractfile(f"package/dist/{name}")
            if member is not None:
                return member.read()
    except (KeyError, tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise KitError(f"{ARCHIVE} has no {name}: {error}") from None
    raise KitError(f"{ARCHIVE}: {name} is no file")


def _cache() -> Path:
    """Where the fetched files are kept."""
    return cache_directory() / f"{PACKAGE}-{VERSION}"


def _stated_version(folder: Path) -> str | None:
    """The version that the package.json above an npm install's dist says, or None where there is none."""
    try:
        package = json.loads((folder.parent / "package.json").read_text(encoding="utf-8"))
        return str(package["version"]) if package["name"] == PACKAGE else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
