"""A kit: what a page needs to decode by itself, as files that it asks for by name. docs/web.md specifies them.

An index with every constant and layout, the networks, the words of each language, which words follow which, and the
runtime of the networks. A bundle holds one keyboard; a kit holds all, and the page builds the tries.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import glissando
from glissando import context
from glissando.context import packaged_contexts
from glissando.errors import FileError, KitError
from glissando.export.constants import page_constants
from glissando.export.wasm import MODULE, WASM, WasmRuntime
from glissando.files import cache_directory, write_whole
from glissando.layout import Layout
from glissando.lexicon import Lexicon, language_source
from glissando.scoring import load_scoring, packaged_scorings
from glissando.weights import Weights

FORMAT = "glissando-kit"
VERSION = 1
INDEX = "index.json"
RUNTIME = "ort.wasm.bundle.min.js"  # not .mjs, which some web hosts do not know as a module
METHOD = "matcher"  # what helps the encoder in a page
WORDS_MAGIC = b"glswords"
WORDS_VERSION = 1
MOST_SHARED = 255  # bytes of the word before, since their number is a byte


class Part(NamedTuple):
    """A file of a kit.

    Attributes:
        source: what it is made of and how; it changes whenever the file does.
        make: makes it; a file whose name ends in .gz is compressed afterwards.
        kept: where it lies compressed already, if it does.
    """

    source: str
    make: Callable[[], bytes]
    kept: Path | None = None


@dataclass(frozen=True, eq=False)
class Kit:
    """The files of a kit, each made when it is asked for the first time and kept in the cache.

    Attributes:
        layouts: by the names that the page shows.
        languages: codes of the languages; each has a word list, or a lexicon here.
        encoder: the network.
        matcher: the network that compares the finalists.
        lexicons: word lists in place of those of their languages.
        runtime: what runs the networks in a page; without it the page asks the server.
        server: whether the API of a server is there.
    """

    layouts: Mapping[str, Layout]
    languages: tuple[str, ...]
    encoder: Weights
    matcher: Weights
    lexicons: Mapping[str, Lexicon] = field(default_factory=dict)
    runtime: WasmRuntime | None = None
    server: bool = False

    def index(self) -> dict[str, Any]:
        """The content of index.json."""
        stated = {"format": FORMAT, "version": VERSION, "glissando": glissando.__version__, "build": self.build}
        return stated | self._facts

    def file(self, name: str) -> bytes:
        """A file, from the cache where it was made before."""
        if name == INDEX:
            return (json.dumps(self.index(), ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        part = self._part(name)
        if not name.endswith(".gz"):
            return part.make()
        path = self._cached(name)
        with suppress(OSError, EOFError, zlib.error):
            data = path.read_bytes()
            if gzip.decompress(data):  # which compares the checksum
                return data
        data = gzip.compress(part.make(), 9, mtime=0)
        with suppress(FileError):  # a cache that cannot be written is slower, not an error
            write_whole(path, data)
        return data

    def is_ready(self, name: str) -> bool:
        """Whether a file need not be made first, which may take a second."""
        return not name.endswith(".gz") or self._cached(name).is_file()

    def tag(self, name: str) -> str:
        """A hash that changes whenever a file does."""
        return self.build if name == INDEX else _digest(self._part(name).source)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all files, the index first."""
        return (INDEX, *self._parts)

    @cached_property
    def build(self) -> str:
        """16 hex digits that change whenever any file does."""
        sources = {name: part.source for name, part in self._parts.items()}
        return _digest(json.dumps([glissando.__version__, self._facts, sources]))

    @cached_property
    def _facts(self) -> dict[str, Any]:
        """What index.json says besides its version."""
        scorings = {name.removesuffix(f"-{METHOD}") for name in packaged_scorings() if name.endswith(f"-{METHOD}")}
        return {
            "server": self.server,
            "constants": page_constants(),
            "scoring": {name: load_scoring(f"{name}-{METHOD}").to_dict() for name in sorted(scorings)},
            "elisions": {language: list(words) for language, words in context.ELISIONS.items()},
            "models": {"encoder": "encoder.onnx.gz", "matcher": "matcher.onnx.gz"},
            "runtime": None if self.runtime is None else {"module": RUNTIME, "wasm": f"{WASM}.gz"},
            "layouts": [layout.to_dict() | {"name": name} for name, layout in sorted(self.layouts.items())],
            "languages": {
                code: {
                    "words": f"{code}.words.gz",
                    "context": f"{code}.context.gz" if code in packaged_contexts() else None,
                }
                for code in self.languages
            },
        }

    @cached_property
    def _parts(self) -> dict[str, Part]:
        """Every file but the index, by its name."""
        parts = {
            "encoder.onnx.gz": Part(self.encoder.card["sha256"], lambda: self.encoder.data),
            "matcher.onnx.gz": Part(self.matcher.card["sha256"], lambda: self.matcher.data),
        }
        for code in self.languages:
            parts[f"{code}.words.gz"] = self._words(code)
            if code in packaged_contexts():
                parts[f"{code}.context.gz"] = _context_part(code)
        if (runtime := self.runtime) is not None:
            parts[RUNTIME] = Part(runtime.digests[MODULE], lambda: runtime.read(MODULE))
            packed = runtime.directory / f"{WASM}.gz"
            kept = packed if packed.is_file() else None
            parts[packed.name] = Part(runtime.digests[WASM], lambda: runtime.read(WASM), kept)
        return parts

    def _words(self, code: str) -> Part:
        """The words of a language."""
        own = self.lexicons.get(code)
        source = language_source(code) if own is None else own.digest
        return Part(
            f"words {WORDS_VERSION} {source}",
            lambda: word_bytes(Lexicon.from_language(code) if own is None else own),
        )

    def _part(self, name: str) -> Part:
        if name not in self._parts:
            raise KitError(f"no file {name!r} in this kit; there are {', '.join(self.names)}")
        return self._parts[name]

    def _cached(self, name: str) -> Path:
        part = self._part(name)
        return part.kept or cache_directory() / f"kit-{_digest(part.source)}.gz"


def word_bytes(lexicon: Lexicon) -> bytes:
    """The words of a language and their bytes as a file: sorted, each without what it shares with the word before.

    The bytes are in the order of the file; the order of the lexicon follows from them, as ``Lexicon.from_language``
    has it. 0.4 s for 300,000 words.
    """
    listed = sorted(zip((word.encode() for word in lexicon.words), lexicon.frequencies.tolist(), strict=True))
    pieces, before = [], b""
    for word, _ in listed:
        if b"\0" in word:
            raise KitError(f"lexicon {lexicon.name}: a word holds the character 0")
        most, shared = min(len(word), len(before), MOST_SHARED), 0
        while shared < most and word[shared] == before[shared]:
            shared += 1
        pieces.append(bytes((shared,)) + word[shared:] + b"\0")
        before = word
    frequencies = np.array([byte for _, byte in listed], dtype=np.uint8)
    return WORDS_MAGIC + struct.pack("<II", WORDS_VERSION, len(listed)) + frequencies.tobytes() + b"".join(pieces)


def _context_part(code: str) -> Part:
    """Which words follow which in a language, as packaged."""
    folder = resources.files("glissando") / "assets" / "contexts"
    card = json.loads((folder / f"{code}.json").read_text(encoding="utf-8"))
    return Part(card["sha256"], lambda: (folder / f"{code}.context").read_bytes())


def _digest(source: str) -> str:
    """16 hex digits that stand for a text."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]
