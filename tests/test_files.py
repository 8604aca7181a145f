"""Files are written whole or not at all; a cache never gets in the way."""

from pathlib import Path

import numpy as np
import pytest

from glissando.errors import FileError, ScoringError
from glissando.files import cache_directory, load_arrays, read_object, replacing_directory, save_arrays, write_whole

ARRAYS = {"a": np.arange(5, dtype=np.uint8), "b": np.array([[0.5, 1.5]])}


def test_arrays_come_back_as_they_were(tmp_path):
    path = tmp_path / "new" / "folder" / "x.npz"
    save_arrays(path, ARRAYS)
    found = load_arrays(path)
    assert set(found) == {"a", "b"}
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
    assert [file.name for file in path.parent.iterdir()] == ["x.npz"]


def test_what_is_not_there_or_damaged_is_none(tmp_path):
    assert load_arrays(tmp_path / "none.npz") is None
    path = tmp_path / "x.npz"
    save_arrays(path, ARRAYS)
    whole = path.read_bytes()
    for damaged in (b"", b"nonsense", whole[: len(whole) // 2], whole[:80] + b"\xff" * 40 + whole[120:]):
        path.write_bytes(damaged)
        assert load_arrays(path) is None
    np.savez(path, a=np.array([{"any": "thing"}], dtype=object))  # objects are not unpickled
    assert load_arrays(path) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    save_arrays(tmp_path / "file" / "x.npz", ARRAYS)  # a file where a folder is needed
    (tmp_path / "taken.npz").mkdir()
    save_arrays(tmp_path / "taken.npz", ARRAYS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken.npz"]


def test_where_it_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path / "mine"))
    assert cache_directory() == tmp_path / "mine"
    monkeypatch.delenv("GLISSANDO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "xdg" / "glissando"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_directory() == Path.home() / ".cache" / "glissando"


def test_a_damaged_cache_is_made_anew(tmp_path, monkeypatch):
    """The whole way: a word list read, its cache destroyed, read again."""
    from glissando.lexicon import Lexicon
    from glissando.trie import build_trie

    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "words.txt").write_text("hello 9\nworld 8\n")
    first = Lexicon.from_file(tmp_path / "words.txt")
    trie = build_trie(first, tuple("dehlorw"))
    files = list((tmp_path / "cache").iterdir())
    assert len(files) == 2
    for file in files:
        file.write_bytes(file.read_bytes()[:50])
    again = Lexicon.from_file(tmp_path / "words.txt")
    assert again.words == first.words
    assert np.array_equal(build_trie(again, tuple("dehlorw")).labels, trie.labels)


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path, monkeypatch):
    write_whole(tmp_path / "x", b"before")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match=r"cannot write .*x: No space left"):
        write_whole(tmp_path / "x", b"half of it")
    assert (tmp_path / "x").read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_a_directory_is_replaced_whole_or_stays_as_it_was(tmp_path):
    for content in ("old", "new"):
        with replacing_directory(tmp_path / "d") as temporary:
            (temporary / "file").write_text(content)
    with pytest.raises(FileError), replacing_directory(tmp_path / "d") as temporary:
        (temporary / "file" / "below a file").write_text("broken")
    assert (tmp_path / "d" / "file").read_text() == "new"
    assert list(tmp_path.iterdir()) == [tmp_path / "d"]


def test_an_object_is_read_and_anything_else_refused_by_name(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": "é"}', encoding="utf-8")
    assert read_object(path, "thing", ScoringError, 20) == {"a": "é"}
    with pytest.raises(ScoringError, match=r"thing .*x.json is longer than 3 bytes"):
        read_object(path, "thing", ScoringError, 3)
    with pytest.raises(ScoringError, match=r"cannot read thing .*none.json: No such file"):
        read_object(tmp_path / "none.json", "thing", ScoringError, 20)
    with pytest.raises(ScoringError, match=r"cannot read thing"):
        read_object(tmp_path, "thing", ScoringError, 20)
    for bad, reason in ((b"[" * 9999, "is not JSON"), (b"\xff", "is not JSON"), (b"[1]", "must be a JSON object")):
        path.write_bytes(bad)
        with pytest.raises(ScoringError, match=rf"thing .*x.json {reason}"):
            read_object(path, "thing", ScoringError, 10_000)
