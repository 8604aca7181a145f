"""swipe.futo.org rows of all five runs."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from glissando.corpus.readers import read_corpus
from glissando.errors import CorpusError

FIRST: dict[str, Any] = {
    "id": 3,
    "session": "s1",
    "word": "Hello,",
    "data": [{"x": 0.55, "y": 0.5, "t": 1700000000000}, {"t": 1700000000016, "x": 0.25, "y": 0.17}],
    "canvas_width": 426,
    "canvas_height": 170.4,
    "orientation": "portrait-primary",
    "sentence": "Hello, world.",
    "word_idx": 0,
}
FIFTH = FIRST | {"layout": "azerty", "language": "fr", "distance": 12.5, "dual_finger": 0}


def _read(folder: Path, *rows: dict[str, Any]) -> tuple[list[Any], Counter[str]]:
    file = folder / "train.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    dropped: Counter[str] = Counter()
    return list(read_corpus(file, dropped, "futo")), dropped


def test_the_first_run_by_hand(tmp_path: Path) -> None:
    (swipe,), dropped = _read(tmp_path, FIRST)
    assert (swipe.word, swipe.layout, swipe.language, swipe.session) == ("hello", "qwerty", "en", "s1")
    assert (swipe.gesture.x.tolist(), swipe.gesture.t.tolist()) == ([0.55, 0.25], [0, 16])
    assert swipe.aspect == pytest.approx(0.4)
    assert swipe.sentence == "Hello, world."
    assert not dropped


def test_the_fifth_run_brings_layout_and_language_and_single_points_are_kept(tmp_path: Path) -> None:
    (swipe,), _ = _read(tmp_path, FIFTH | {"word": "I", "data": FIRST["data"][:1]})
    assert (swipe.layout, swipe.language, len(swipe.gesture)) == ("azerty", "fr", 1)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    point = FIRST["data"][0]
    kept, dropped = _read(
        tmp_path,
        FIFTH | {"dual_finger": 1},
        FIFTH | {"data": {"L": [[0.1, 0.2, 0]], "R": []}},
        FIFTH | {"distance": 1000},
        FIFTH | {"distance": 999.9},
        FIFTH | {"data": []},
        FIFTH | {"data": None},
        FIFTH | {"word": None},
        FIFTH | {"word": "—"},
        FIFTH | {"data": [point, point | {"t": 5}]},
        FIFTH | {"data": [point, point | {"x": None}]},
        FIFTH | {"session": 17, "canvas_width": -1, "sentence": 5, "distance": None},
    )
    assert [swipe.session for swipe in kept] == ["s1", "17"]
    assert (kept[1].canvas_width, kept[1].sentence) == (None, None)
    assert dropped == {
        "two fingers": 2,
        "does not follow its word": 1,
        "skipped word": 3,
        "no letter in the word": 1,
        "time runs backwards": 1,
        "unusable points": 1,
    }


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"word": "a"}, "has word and data, got word"),
        (FIRST | {"data": "x"}, "data must be a list of points, got 'x'"),
        (FIRST | {"data": [{"x": 1, "y": 2}]}, "data must be a list of {x, y, t}"),
        (FIRST | {"data": [[1, 2, 3]]}, "data must be a list of {x, y, t}"),
        (FIRST | {"word": 5}, "word must be text, got 5"),
    ],
)
def test_a_foreign_row_is_an_error(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    with pytest.raises(CorpusError) as caught:
        _read(tmp_path, FIRST, row)
    assert f"train.jsonl:2: {says}" in str(caught.value).replace("a row of swipe.futo.org ", "")
