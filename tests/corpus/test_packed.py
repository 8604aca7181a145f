"""A pack that is damaged, foreign or does not fit together is refused before anyone trains on it."""

from pathlib import Path

import numpy as np
import pytest

from glissando.corpus.pack import pack
from glissando.corpus.packed import PackedCorpus, save_npz
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError
from glissando.gesture import Gesture


@pytest.fixture
def folder(tmp_path: Path, layouts: Path) -> Path:
    gesture = Gesture([0, 1], [0, 1], [0, 100])
    pack([Swipe(word, gesture, "abc") for word in ("ab", "cab")], tmp_path / "pack", layouts=layouts)
    return tmp_path / "pack"


@pytest.mark.parametrize(
    ("name", "array", "says"),
    [
        ("paths", np.zeros((2, 2, 32), np.uint16), "paths is uint16"),
        ("paths", np.zeros((3, 2, 64), np.uint16), "layouts has 2 rows, paths 3"),
        ("targets", np.array([0, 1, 2, 0, 3], np.uint8), "a word has a key its layout lacks"),
        ("offsets", np.array([0, 2, 6], np.int64), "offsets do not divide targets into words"),
        ("offsets", np.array([0, 5, 5], np.int64), "offsets do not divide targets into words"),
        ("layouts", np.array([0, 1], np.uint8), "a row is on layout 1, there are 1"),
        ("words", np.array([0, 2], np.int32), "a row has word 2, there are 2"),
        ("words", np.array([0], np.int32), "words has 1 rows, paths 2"),
    ],
)
def test_arrays_that_do_not_fit(folder: Path, name: str, array: np.ndarray, says: str) -> None:
    np.save(folder / f"{name}.npy", array)
    with pytest.raises(CorpusError, match=says):
        PackedCorpus.open(folder)


@pytest.mark.parametrize(
    ("meta", "says"),
    [
        ("[]", "meta is not an object"),
        ('{"format": "glissando-pack", "version": 2}', "format and version are"),
        ('{"format": "glissando-pack", "version": 1}', "not a sound pack"),
        ('{"format": "glissando-pack", "version": 1, "layouts": [{}], "words": []}', "not a sound pack"),
        ("{", "cannot read the pack"),
    ],
)
def test_foreign_meta(folder: Path, meta: str, says: str) -> None:
    (folder / "meta.json").write_text(meta)
    with pytest.raises(CorpusError, match=says):
        PackedCorpus.open(folder)


def test_missing_cut_and_pickled_files(folder: Path) -> None:
    whole = (folder / "paths.npy").read_bytes()
    (folder / "paths.npy").write_bytes(whole[:-10])
    with pytest.raises(CorpusError, match="cannot read the pack"):
        PackedCorpus.open(folder)
    np.save(folder / "paths.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(CorpusError, match="cannot read the pack"):
        PackedCorpus.open(folder)
    (folder / "paths.npy").unlink()
    with pytest.raises(CorpusError, match="No such file"):
        PackedCorpus.open(folder)
    with pytest.raises(CorpusError, match="No such file"):
        PackedCorpus.open(folder / "nowhere.npz")


def test_damaged_npz(folder: Path, tmp_path: Path) -> None:
    save_npz(folder, tmp_path / "a.npz")
    whole = (tmp_path / "a.npz").read_bytes()
    for number, damaged in enumerate(
        (whole[: len(whole) // 2], b"", b"PK\x03\x04", whole[:80] + b"\xff" * 40 + whole[120:])
    ):
        file = tmp_path / f"{number}.npz"
        file.write_bytes(damaged)
        with pytest.raises(CorpusError, match=r"cannot read the pack|not a sound pack"):
            PackedCorpus.open(file)
    np.savez(tmp_path / "b.npz", meta=np.zeros(3, np.uint8))
    with pytest.raises(CorpusError, match="cannot read the pack"):
        PackedCorpus.open(tmp_path / "b.npz")
    np.save(tmp_path / "c.npy", np.zeros(3))
    with pytest.raises(CorpusError, match=r"neither a directory nor an \.npz"):
        PackedCorpus.open(tmp_path / "c.npy")
