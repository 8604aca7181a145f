"""trie.bin: read by hand from its specification, round trips, and damage."""

import struct
import zlib

import numpy as np
import pytest

from glissando.errors import BundleError
from glissando.export.binary import read_trie, write_trie
from glissando.lexicon import Lexicon
from glissando.trie import build_trie

LETTERS = tuple("abcdeigknrstиé")
COUNTS = {"Kid": 5, "kind": 9, "kids": 4, "it's": 30, "its": 40, "ice": 2, "иск": 1, "café": 3, "beer": 3}


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon.from_counts(COUNTS)


@pytest.fixture(scope="module")
def trie(lexicon):
    return build_trie(lexicon, LETTERS)


@pytest.fixture(scope="module")
def data(trie, lexicon):
    return write_trie(trie, lexicon)


def sections(data):
    """The sections, read by someone who has only the document."""
    (count,) = struct.unpack_from("<I", data, 32)
    table = {}
    for i in range(count):
        tag, offset, length, checksum = struct.unpack_from("<4sIII", data, 40 + 16 * i)
        part = data[offset : offset + length]
        assert offset % 8 == 0
        assert zlib.crc32(part) == checksum
        table[tag.decode()] = part
    return table


def words_below(table, node=0, prefix=""):
    """Every (typed letters, surface form, frequency byte), by walking the arrays."""
    offset = {tag: np.frombuffer(table[tag], "<u4") for tag in ("CHLD", "ENDS", "TOFF", "LETR")}
    for index in range(offset["ENDS"][node], offset["ENDS"][node + 1]):
        text = table["TEXT"][offset["TOFF"][index] : offset["TOFF"][index + 1]].decode()
        yield prefix, text, table["FREQ"][index]
    for child in range(offset["CHLD"][node], offset["CHLD"][node + 1]):
        yield from words_below(table, child, prefix + chr(offset["LETR"][table["LABL"][child]]))


def test_header_by_hand(data, trie):
    fields = struct.unpack_from("<8s8I", data)
    assert fields[:2] == (b"GLSTRIE\0", 1)
    assert fields[2] == len(data)
    assert fields[3:8] == (len(LETTERS), len(trie), len(COUNTS), 4, 7)
    blanked = data[:36] + bytes(4) + data[40 : 40 + 16 * 7]
    assert fields[8] == zlib.crc32(blanked)


def test_a_stranger_finds_every_word(data, lexicon):
    frequency = dict(zip(lexicon.words, lexicon.frequencies.tolist(), strict=True))
    expected = {
        ("kid", "Kid"), ("kind", "kind"), ("kids", "kids"), ("its", "it's"), ("its", "its"), ("ice", "ice"),
        ("иск", "иск"), ("caé", "café"), ("beer", "beer"),
    }  # fmt: skip
    expected = {(typed.replace("с", "").replace("к", ""), word) for typed, word in expected}  # letters without a key
    walked = list(words_below(sections(data)))
    assert {(typed, word) for typed, word, _ in walked} == expected
    assert all(byte == frequency[word] for _, word, byte in walked)
    assert [word for typed, word, _ in walked if typed == "its"] == ["its", "it's"]  # the most frequent first


def test_round_trip(data, trie, lexicon):
    again, words = read_trie(data, language="en")
    for name in ("children", "labels", "depths", "parents", "endings", "best"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trie, name))
        assert getattr(again, name).dtype == getattr(trie, name).dtype
    assert again.letters == trie.letters
    assert words.language == "en"
    assert words.words == tuple(lexicon.words[i] for i in trie.words)
    np.testing.assert_array_equal(words.frequencies, lexicon.frequencies[trie.words])
    assert write_trie(again, words) == data


def test_every_truncation_and_every_flipped_byte_that_matters_is_refused(data):
    for size in range(len(data)):
        with pytest.raises(BundleError, match=r"trie\.bin"):
            read_trie(data[:size])
    covered = set(range(40 + 16 * 7))
    for tag, part in sections(data).items():
        start = data.index(part)
        covered |= set(range(start, start + len(part)))
        assert part, tag
    for at in sorted(covered):
        damaged = bytearray(data)
        damaged[at] ^= 0x41
        with pytest.raises(BundleError):
            read_trie(bytes(damaged))


def resealed(data, tag, change):
    """The file with one section changed and all checksums made right again."""
    damaged = bytearray(data)
    for i in range(7):
        at = 40 + 16 * i
        name, offset, length, _ = struct.unpack_from("<4sIII", data, at)
        if name.decode() == tag:
            part = bytearray(data[offset : offset + length])
            change(part)
            damaged[offset : offset + length] = part
            struct.pack_into("<I", damaged, at + 12, zlib.crc32(part))
    struct.pack_into("<I", damaged, 36, 0)
    struct.pack_into("<I", damaged, 36, zlib.crc32(damaged[: 40 + 16 * 7]))
    return bytes(damaged)


@pytest.mark.parametrize(
    ("tag", "at", "value", "message"),
    [
        ("CHLD", 0, 0, "breadth first"),
        ("CHLD", -1, 99_999, "must grow up to"),
        ("ENDS", 4, 99_999, "must grow up to"),
        ("TOFF", -1, 99_999, "must grow up to"),
        ("LABL", 1, 200, "not among its 14 letters"),
        ("TEXT", 0, 0xFF, "not UTF-8"),
        ("LETR", 0, 0x7FFFFFFF, "not UTF-8"),
    ],
)  # fmt: skip
def test_arrays_that_lead_astray_are_refused(data, tag, at, value, message):
    def change(part):
        view = np.frombuffer(part, "u1" if tag in ("LABL", "TEXT") else "<u4")
        view[at] = value

    with pytest.raises(BundleError, match=message):
        read_trie(resealed(data, tag, change))


def test_another_version_and_another_file_are_named(data):
    newer = bytearray(data)
    struct.pack_into("<I", newer, 8, 2)
    with pytest.raises(BundleError, match="version 2; this program reads version 1"):
        read_trie(bytes(newer))
    with pytest.raises(BundleError, match=r"words\.txt is no trie"):
        read_trie(b"hello, this is a word list of another kind", "words.txt")
