"""A kit: its index, its files as a page reads them, and when their tags change."""

import gzip
import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from glissando.context import ELISIONS, packaged_contexts
from glissando.errors import KitError
from glissando.export.constants import decode_constants
from glissando.export.kit import RUNTIME, Kit, word_bytes
from glissando.export.wasm import MODULE, WASM, WasmRuntime
from glissando.files import cache_directory
from glissando.layout import Layout, builtin_layouts, load_layout
from glissando.lexicon import Lexicon
from glissando.literal import gram_order
from glissando.scoring import Scoring, load_scoring
from glissando.trie import build_trie
from glissando.weights import load_weights


@pytest.fixture(scope="module")
def kit():
    layouts = {name: load_layout(name) for name in ("qwerty", "toki_pona")}
    return Kit(layouts, ("en", "tok"), load_weights("encoder"), load_weights("matcher"))


def read_words(data):
    """The words and bytes of a file, in the order of the lexicon: what a page does."""
    assert data[:8] == b"glswords"
    version, count = struct.unpack_from("<II", data, 8)
    assert version == 1
    words, before, at = [], b"", 16 + count
    for _ in range(count):
        end = data.index(b"\0", at + 1)
        before = before[: data[at]] + data[at + 1 : end]
        words.append(before)
        at = end + 1
    assert at == len(data)
    order = np.argsort(-np.frombuffer(data, np.uint8, count, 16).astype(int), kind="stable")
    return [words[i].decode() for i in order], np.frombuffer(data, np.uint8, count, 16)[order]


def test_a_languages_words_are_restored_in_the_order_of_its_lexicon(kit):
    for language in ("en", "tok"):
        words, frequencies = read_words(gzip.decompress(kit.file(f"{language}.words.gz")))
        lexicon = Lexicon.from_language(language)
        assert words == list(lexicon.words)
        assert np.array_equal(frequencies, lexicon.frequencies)
    letters = load_layout("toki_pona").letters
    again = build_trie(Lexicon("file", "tok", words, frequencies), letters)
    trie = build_trie(lexicon, letters)
    assert all(np.array_equal(getattr(again, name), getattr(trie, name)) for name in ("children", "labels", "words"))


def test_words_are_written_as_specified():
    lexicon = Lexicon("test", "", ("öd", "an", "ö", "ande"), np.array([3, 9, 200, 0], np.uint8))
    head = b"glswords" + struct.pack("<II", 1, 4) + bytes([9, 0, 200, 3])
    assert word_bytes(lexicon) == head + b"\0an\0" + b"\2de\0" + b"\0\xc3\xb6\0" + b"\2d\0"
    assert read_words(word_bytes(lexicon))[0] == ["ö", "an", "öd", "ande"]
    with pytest.raises(KitError, match="character 0"):
        word_bytes(Lexicon("test", "", ("a\0b",), np.zeros(1, np.uint8)))


def test_a_word_longer_than_a_byte_can_count():
    words = ("a" * 300, "a" * 300 + "b")
    assert read_words(word_bytes(Lexicon("test", "", words, np.zeros(2, np.uint8))))[0] == list(words)


def test_the_index_names_everything_and_every_name_is_a_file(kit):
    index = json.loads(kit.file("index.json"))
    assert index == kit.index()
    assert (index["format"], index["version"], index["server"], index["runtime"]) == ("glissando-kit", 1, False, None)
    assert [Layout.from_dict(one) for one in index["layouts"]] == [load_layout("qwerty"), load_layout("toki_pona")]
    assert index["languages"]["en"] == {"words": "en.words.gz", "context": "en.context.gz"}
    assert index["languages"]["tok"] == {"words": "tok.words.gz", "context": None}
    named = {*index["models"].values(), *(name for files in index["languages"].values() for name in files.values())}
    assert named - {None} == set(kit.names) - {"index.json"}
    for name, weights in (("encoder", kit.encoder), ("matcher", kit.matcher)):
        assert gzip.decompress(kit.file(index["models"][name])) == weights.data
    assert gzip.decompress(kit.file("en.context.gz"))[:8] == b"glissctx"


def test_the_index_has_the_numbers_of_the_library(kit):
    index = kit.index()
    constants = index["constants"]
    assert decode_constants().items() <= constants.items()
    assert constants["search"]["width"] == 100
    assert constants["fluency"]["order"] == gram_order(26)
    assert set(constants["languages"]) == {"decade", "tail", "memory", "switch", "main", "lacking", "typed"}
    assert constants["sentence"]["window"] == 3
    for language, name in (("en", "en"), ("de", "general"), ("de,en", "general")):
        assert Scoring.from_dict(index["scoring"][name]) == load_scoring("auto", language, "matcher")
    assert set(index["scoring"]) == {"en", "general"}
    assert index["elisions"]["fr"] == list(ELISIONS["fr"])


def test_a_file_is_made_once_and_made_again_where_the_cache_is_damaged(kit, tmp_path, monkeypatch):
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path))
    assert not kit.is_ready("tok.words.gz")
    data = kit.file("tok.words.gz")
    assert kit.is_ready("tok.words.gz")
    (kept,) = tmp_path.glob("kit-*.gz")
    assert kept.read_bytes() == data
    for damaged in (data[:-3], b"", data[:40] + bytes([data[40] ^ 1]) + data[41:]):
        kept.write_bytes(damaged)
        assert kit.file("tok.words.gz") == data
        assert kept.read_bytes() == data
    blocked = tmp_path / "a file"
    blocked.touch()
    monkeypatch.setenv("GLISSANDO_CACHE", str(blocked))
    assert kit.file("tok.words.gz") == data  # slower, not an error


def test_the_build_changes_whenever_a_file_does(kit, tmp_path):
    own = Lexicon.from_counts({"hello": 3, "world": 1})
    runtime = WasmRuntime(tmp_path)
    (tmp_path / MODULE).write_bytes(b"module")
    (tmp_path / WASM).write_bytes(b"\0asm")
    variants = [
        kit, replace(kit, server=True), replace(kit, lexicons={"en": own}), replace(kit, languages=("en",)),
        replace(kit, layouts={"mine": load_layout("qwerty")}), replace(kit, runtime=runtime),
        replace(kit, matcher=replace(kit.matcher, card={"sha256": "0" * 64})),
    ]  # fmt: skip
    assert len({one.build for one in variants}) == len(variants)
    assert all(len(one.build) == 16 and set(one.build) <= set("0123456789abcdef") for one in variants)
    assert replace(kit).build == kit.build
    assert variants[2].tag("en.words.gz") != kit.tag("en.words.gz")
    assert variants[2].tag("tok.words.gz") == kit.tag("tok.words.gz")
    assert read_words(gzip.decompress(variants[2].file("en.words.gz")))[0] == ["hello", "world"]


def test_the_runtime_is_part_of_the_kit(kit, tmp_path):
    (tmp_path / MODULE).write_bytes(b"module")
    (tmp_path / f"{WASM}.gz").write_bytes(gzip.compress(b"\0asm"))
    full = replace(kit, runtime=WasmRuntime.from_directory(tmp_path))
    assert full.index()["runtime"] == {"module": RUNTIME, "wasm": f"{WASM}.gz"}
    assert full.file(RUNTIME) == b"module"
    assert full.file(f"{WASM}.gz") == (tmp_path / f"{WASM}.gz").read_bytes()
    assert not (cache_directory() / f"{WASM}.gz").exists()


@pytest.mark.parametrize("name", ["", "nothing.gz", "../index.json", "de.words.gz", RUNTIME])
def test_other_names_are_refused(kit, name):
    with pytest.raises(KitError, match="no file"):
        kit.file(name)


def test_every_built_in_layout_has_a_language_of_a_kit():
    from glissando.lexicon import available_languages

    assert {load_layout(name).language for name in builtin_layouts()} <= set(available_languages())
    assert set(packaged_contexts()) <= set(available_languages())
