"""Packing: by hand, atomically, in bounded memory, and what is left out."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glissando.corpus import pack as pack_module
from glissando.corpus.filters import key_distance
from glissando.corpus.pack import PackOptions, pack
from glissando.corpus.packed import ARRAYS, SCALE, PackedCorpus
from glissando.corpus.records import Swipe, read_swipes
from glissando.errors import CorpusError, FileError
from glissando.gesture import Gesture
from glissando.layout import Layout


def _swipe(word: str, layout: str = "abc", session: str | None = "p1", points: int = 5) -> Swipe:
    line = np.linspace(0, 1, points)
    return Swipe(word, Gesture(line, line / 2, np.arange(points) * 16), layout, session)


def test_a_pack_by_hand(tmp_path: Path, layouts: Path) -> None:
    swipes = [_swipe("Cab"), _swipe("a'b", session=None), _swipe("cab", session="p2"), _swipe("Cab")]
    report = pack(swipes, tmp_path / "pack", layouts=layouts, options=PackOptions(source="by hand"))
    assert (report.rows, report.words, report.sessions, report.layouts, report.dropped) == (4, 3, 2, ("abc",), {})
    corpus = PackedCorpus.open(tmp_path / "pack")
    assert len(corpus) == 4
    assert corpus.targets.tolist() == [2, 0, 1, 0, 1, 2, 0, 1, 2, 0, 1]
    assert corpus.offsets.tolist() == [0, 3, 5, 8, 11]
    assert corpus.sessions.tolist() == [0, -1, 1, 0]
    assert corpus.words.tolist() == [0, 1, 2, 0]
    assert corpus.meta["words"] == ["Cab", "a'b", "cab"]
    assert (corpus.meta["rows"], corpus.meta["sessions"], corpus.meta["source"]) == (4, 2, "by hand")
    assert corpus.layout_list == [Layout.from_rows("abc", ["abc"])]
    assert corpus.word(1) == "a'b"
    assert np.abs(corpus.paths[2] / SCALE - swipes[2].gesture.path()).max() <= 0.5 / SCALE + 1e-7
    assert isinstance(corpus.paths, np.memmap)


def test_batches_do_not_show(tmp_path: Path, layouts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swipes = [_swipe("abc"[: 1 + n % 3] * 2, session=f"p{n % 4}", points=3 + n) for n in range(23)]
    pack(swipes, tmp_path / "one", layouts=layouts)
    monkeypatch.setattr(pack_module, "BATCH", 5)
    pack(swipes, tmp_path / "many", layouts=layouts)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "many" / file.name).read_bytes(), file.name


def test_of_two_keys_the_one_the_path_passes_is_the_target(tmp_path: Path, layouts: Path) -> None:
    left, right = (
        Swipe("ab", Gesture(np.linspace(start, 0.5, 9), np.full(9, 0.5), np.arange(9) * 16), "aba")
        for start in (0.1, 0.9)
    )
    pack([left, right], tmp_path / "pack", layouts=layouts)
    assert PackedCorpus.open(tmp_path / "pack").targets.tolist() == [0, 1, 2, 1]


def test_what_cannot_be_packed_is_counted(tmp_path: Path, layouts: Path) -> None:
    slow = replace(_swipe("ab"), gesture=Gesture([0, 1], [0, 1], [0, 60_001]))
    swipes = [_swipe("ab"), _swipe("abz"), _swipe("a2"), _swipe("..."), slow, _swipe("abcabca"), _swipe("aabbcc")]
    report = pack(swipes, tmp_path / "pack", layouts=layouts, options=PackOptions(frames=7))
    # aabbcc needs 6 frames and 3 blanks between its doubled letters; abcabca just fits.
    assert report.rows == 2
    assert report.dropped == {"not typeable on abc": 3, "over a minute long": 1, "longer than 7 frames": 1}
    assert PackedCorpus.open(tmp_path / "pack").meta["dropped"] == report.dropped


def test_an_unknown_layout_stops_or_is_counted(tmp_path: Path, layouts: Path) -> None:
    swipes = [_swipe("ab"), _swipe("ab", layout="nowhere")]
    with pytest.raises(CorpusError, match="no layout 'nowhere'; there are"):
        pack(swipes, tmp_path / "pack", layouts=layouts)
    assert not (tmp_path / "pack").exists()
    report = pack(swipes, tmp_path / "pack", layouts=layouts, options=PackOptions(drop_unknown_layouts=True))
    assert report.dropped == {"on unknown layout 'nowhere'": 1}


def test_nothing_left_is_an_error(tmp_path: Path, layouts: Path) -> None:
    with pytest.raises(CorpusError, match=r"no swipe left to pack \(the corpus is empty\)"):
        pack([], tmp_path / "pack", layouts=layouts)
    with pytest.raises(CorpusError, match=r"no swipe left to pack \(1 not typeable on abc\)"):
        pack([_swipe("xyz")], tmp_path / "pack", layouts=layouts)
    assert [file.name for file in tmp_path.iterdir()] == ["layouts"]


def test_a_pack_is_written_whole_or_not_at_all(tmp_path: Path, layouts: Path) -> None:
    def failing() -> Iterator[Swipe]:
        yield _swipe("ab")
        raise CorpusError("swipes.jsonl:2: not JSON")

    with pytest.raises(CorpusError, match="not JSON"):
        pack(failing(), tmp_path / "pack", layouts=layouts)
    assert [file.name for file in tmp_path.iterdir()] == ["layouts"]
    pack([_swipe("ab")], tmp_path / "pack", layouts=layouts)
    with pytest.raises(CorpusError, match="not JSON"):
        pack(failing(), tmp_path / "pack", layouts=layouts, options=PackOptions(overwrite=True))
    assert PackedCorpus.open(tmp_path / "pack").meta["words"] == ["ab"]


def test_only_a_pack_is_replaced_and_only_when_told(tmp_path: Path, layouts: Path) -> None:
    pack([_swipe("ab")], tmp_path / "pack", layouts=layouts)
    with pytest.raises(CorpusError, match="--overwrite"):
        pack([_swipe("ba")], tmp_path / "pack", layouts=layouts)
    pack([_swipe("ba")], tmp_path / "pack", layouts=layouts, options=PackOptions(overwrite=True))
    assert PackedCorpus.open(tmp_path / "pack").meta["words"] == ["ba"]
    with pytest.raises(CorpusError, match="is not a pack; choose another place"):
        pack([_swipe("ab")], layouts, layouts=layouts, options=PackOptions(overwrite=True))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["layouts", "pack"]
    with pytest.raises(FileError, match="cannot write"):
        pack([_swipe("ab")], layouts / "abc.json" / "pack", layouts=layouts)


def test_an_npz_holds_the_same(tmp_path: Path, layouts: Path) -> None:
    swipes = [_swipe("cab"), _swipe("ab", session=None)]
    assert pack(swipes, tmp_path / "pack", layouts=layouts) == pack(swipes, tmp_path / "a.npz", layouts=layouts)
    directory, packed = PackedCorpus.open(tmp_path / "pack"), PackedCorpus.open(tmp_path / "a.npz")
    assert packed.meta == directory.meta
    for array in ARRAYS:
        assert np.array_equal(getattr(packed, array), getattr(directory, array))
    with pytest.raises(CorpusError, match="exists; --overwrite replaces it"):
        pack(swipes, tmp_path / "a.npz", layouts=layouts)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npz", "layouts", "pack"]


def test_real_swipes(data: Path, tmp_path: Path) -> None:
    swipes = read_swipes(data / "swipes" / "how_we_swipe_val.jsonl.gz", max_key_distance=2.0)
    assert pack(swipes, tmp_path / "val.npz", layouts=data / "layouts").rows == 3852
    corpus = PackedCorpus.open(tmp_path / "val.npz")
    (layout,) = corpus.layout_list
    for row in range(0, len(corpus), 500):
        target = corpus.targets[corpus.offsets[row] : corpus.offsets[row + 1]]
        assert "".join(layout.letters[key] for key in target) == corpus.word(row)
        x, y = corpus.paths[row] / SCALE
        distance = key_distance(corpus.word(row), Gesture(x, y, np.arange(64)), layout)
        assert distance is not None
        assert distance.max < 2.5
    # The whole training set, 17 times as many rows, must come to at most 40 MB.
    assert (tmp_path / "val.npz").stat().st_size * 66794 / 3852 < 40e6
