"""A trie with its words as one little-endian file that other languages can read: trie.bin of a bundle.

docs/deployment.md specifies it byte by byte. Sections are flat arrays at multiples of eight bytes, so a program may
map the file into memory and use them where they lie; each has a checksum.
"""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from glissando.errors import BundleError
from glissando.lexicon import Lexicon
from glissando.trie import MAX_DEPTH, Trie, best_below

MAGIC = b"GLSTRIE\0"
VERSION = 1
ALIGNMENT = 8  # bytes
HEADER = struct.Struct("<8s8I")
ENTRY = struct.Struct("<4s3I")  # of the table of sections
CHECKSUM_AT = HEADER.size - 4
# Sections in the order of the file, with the type of their items.
SECTIONS: dict[str, np.dtype] = {
    "LETR": np.dtype("<u4"),
    "CHLD": np.dtype("<u4"),
    "LABL": np.dtype("u1"),
    "ENDS": np.dtype("<u4"),
    "FREQ": np.dtype("u1"),
    "TOFF": np.dtype("<u4"),
    "TEXT": np.dtype("u1"),
}


class Counts(NamedTuple):
    """The header's fields between magic and checksum, in their order."""

    version: int
    size: int  # of the file, in bytes
    letters: int
    nodes: int
    words: int
    depth: int  # letters of the longest word
    sections: int


def write_trie(trie: Trie, lexicon: Lexicon) -> bytes:
    """The file's bytes: the trie, and the words that end in it with their frequencies, in the trie's order."""
    words = [lexicon.words[index].encode() for index in trie.words]
    offsets = np.cumsum([0] + [len(word) for word in words])
    arrays = {
        "LETR": np.array([ord(letter) for letter in trie.letters]),
        "CHLD": trie.children,
        "LABL": trie.labels,
        "ENDS": trie.endings,
        "FREQ": lexicon.frequencies[trie.words],
        "TOFF": offsets,
        "TEXT": np.frombuffer(b"".join(words), np.uint8),
    }
    parts = {tag: arrays[tag].astype(dtype).tobytes() for tag, dtype in SECTIONS.items()}
    table, at = b"", _aligned(HEADER.size + ENTRY.size * len(parts))
    body = bytearray()
    start = at
    for tag, part in parts.items():
        table += ENTRY.pack(tag.encode(), at, len(part), zlib.crc32(part))
        body += part + bytes(-len(part) % ALIGNMENT)
        at = start + len(body)
    counts = Counts(VERSION, at, len(trie.letters), len(trie), len(words), int(trie.depths.max()), len(parts))
    head = HEADER.pack(MAGIC, *counts, 0) + table
    sealed = head[:CHECKSUM_AT] + struct.pack("<I", zlib.crc32(head)) + head[HEADER.size :]
    return sealed.ljust(start, b"\0") + bytes(body)


def read_trie(data: bytes, source: str = "trie.bin", language: str = "") -> tuple[Trie, Lexicon]:
    """Read what ``write_trie`` wrote; the lexicon holds the trie's words in the trie's order.

    Args:
        data: the file's bytes.
        source: what to call it in errors.
        language: of the lexicon; the file does not know it.
    """
    counts, places = _read_header(data, source)
    arrays = {tag: _section(data, tag, places, source) for tag in SECTIONS}
    _check_sizes(arrays, counts, source)
    text, offsets = arrays["TEXT"].tobytes(), arrays["TOFF"].tolist()
    try:
        words = tuple(text[low:high].decode() for low, high in pairwise(offsets))
        letters = tuple(map(chr, arrays["LETR"].tolist()))
    except (UnicodeDecodeError, ValueError, OverflowError) as error:
        raise BundleError(f"{source}: its text is not UTF-8: {error}") from None
    children = arrays["CHLD"].astype(np.int32)
    depths, parents = _ancestry(children, source)
    endings = arrays["ENDS"].astype(np.int32)
    trie = Trie(
        letters, arrays["LABL"], depths, parents, children, endings, np.arange(counts.words, dtype=np.int32),
        best_below(depths, parents, endings, arrays["FREQ"]),
    )  # fmt: skip
    return trie, Lexicon(source, language, words, arrays["FREQ"])


def _read_header(data: bytes, source: str) -> tuple[Counts, dict[str, tuple[int, int, int]]]:
    """The counts, and each section's (offset, bytes, checksum)."""
    if len(data) < HEADER.size or not data.startswith(MAGIC):
        raise BundleError(f"{source} is no trie: it must begin with {MAGIC!r}, got {bytes(data[:8])!r}")
    _, *fields, checksum = HEADER.unpack_from(data)
    counts = Counts(*fields)
    if counts.version != VERSION:
        raise BundleError(f"{source} is a trie of version {counts.version}; this program reads version {VERSION}")
    if counts.size != len(data):
        raise BundleError(f"{source} is damaged: it has {len(data):,} bytes, and {counts.size:,} by its header")
    end = HEADER.size + ENTRY.size * counts.sections
    head = data[:CHECKSUM_AT] + bytes(4) + data[HEADER.size : end]
    if end > len(data) or zlib.crc32(head) != checksum:
        raise BundleError(f"{source} is damaged: its header does not match its checksum")
    table = (ENTRY.unpack_from(data, HEADER.size + ENTRY.size * i) for i in range(counts.sections))
    return counts, {tag.decode("latin-1"): tuple(place) for tag, *place in table}


def _section(data: bytes, tag: str, places: dict[str, tuple[int, int, int]], source: str) -> np.ndarray:
    """One section as an array, its checksum compared."""
    if tag not in places:
        raise BundleError(f"{source} has no section {tag}; it has {', '.join(places)}")
    at, size, checksum = places[tag]
    part = data[at : at + size]
    if len(part) != size or zlib.crc32(part) != checksum or size % SECTIONS[tag].itemsize:
        raise BundleError(f"{source} is damaged: section {tag} does not match its checksum")
    return np.frombuffer(part, SECTIONS[tag])


def _check_sizes(arrays: dict[str, np.ndarray], counts: Counts, source: str) -> None:
    """Refuse a file whose checksums hold but whose arrays would lead a reader out of bounds."""
    wanted = {
        "LETR": counts.letters, "CHLD": counts.nodes + 1, "LABL": counts.nodes, "ENDS": counts.nodes + 1,
        "FREQ": counts.words, "TOFF": counts.words + 1,
    }  # fmt: skip
    for tag, size in wanted.items():
        if len(arrays[tag]) != size:
            raise BundleError(f"{source}: section {tag} has {len(arrays[tag]):,} items, its header says {size:,}")
    ends = {"CHLD": counts.nodes, "ENDS": counts.words, "TOFF": len(arrays["TEXT"])}
    for tag, end in ends.items():
        offsets = arrays[tag].astype(np.int64)
        if offsets[-1] != end or (np.diff(offsets) < 0).any():
            raise BundleError(f"{source}: section {tag} must grow up to {end:,}")
    if not counts.words or not counts.nodes or arrays["ENDS"][0] != 0 or arrays["TOFF"][0] != 0:
        raise BundleError(f"{source}: a trie needs a word, and offsets that begin at 0")
    # Breadth first: the root's children are the first, and every node's come after it.
    if arrays["CHLD"][0] != 1 or (arrays["CHLD"][:-1] <= np.arange(counts.nodes)).any():
        raise BundleError(f"{source}: its nodes are not numbered breadth first")
    if (arrays["LABL"][1:] >= counts.letters).any():
        raise BundleError(f"{source}: a node's letter is not among its {counts.letters} letters")


def _ancestry(children: np.ndarray, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Depth and parent of every node. Shape: [M + 1] -> [M] uint8, [M] int32."""
    nodes = len(children) - 1
    parents = np.zeros(nodes, np.int32)
    parents[1:] = np.repeat(np.arange(nodes), np.diff(children))
    depths = np.zeros(nodes, np.uint8)
    low, high, depth = 1, int(children[1]), 1  # the nodes of one depth lie together
    while low < high:
        if depth > MAX_DEPTH:
            raise BundleError(f"{source}: a word has more than {MAX_DEPTH} letters")
        depths[low:high] = depth
        low, high, depth = high, int(children[high]), depth + 1
    return depths, parents


def _aligned(size: int) -> int:
    """The next multiple of the alignment."""
    return size + -size % ALIGNMENT
