"""Yandex curves and grids."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glissando.corpus.readers import read_corpus
from glissando.corpus.readers.yandex import layout_of_grid, letter_area, read_grids
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError
from glissando.layout import Layout

ROW: dict[str, Any] = {
    "word": "все",
    "curve": {"x": [0, 540, 1080], "y": [15, 246, 477], "t": [0, 17, 53], "grid_name": "default"},
}
# Two rows of letters, 100 pixels each, under a row of 50 pixels of digits.
GRID = {
    "width": 200,
    "height": 300,
    "keys": [
        {"label": "1", "hitbox": {"x": 0, "y": 0, "w": 200, "h": 50}},
        {"label": "а", "hitbox": {"x": 0, "y": 50, "w": 100, "h": 100}},
        {"label": "б", "hitbox": {"x": 100, "y": 150, "w": 100, "h": 100}},
        {"action": "space", "hitbox": {"x": 0, "y": 250, "w": 200, "h": 50}},
    ],
}


def _read(folder: Path, *rows: dict[str, Any], grids: Path | None = None) -> tuple[list[Swipe], Counter[str]]:
    file = folder / "valid.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    dropped: Counter[str] = Counter()
    return list(read_corpus(file, dropped, "yandex", grids=grids)), dropped


def test_a_curve_by_hand(tmp_path: Path) -> None:
    (swipe,), _ = _read(tmp_path, ROW)
    assert (swipe.word, swipe.layout, swipe.language, swipe.session) == ("все", "jcuken_default", "ru", None)
    assert swipe.gesture.x.tolist() == [0, 0.5, 1]
    assert swipe.gesture.y.tolist() == [0, 0.5, 1]
    assert swipe.aspect == pytest.approx(462 / 1080)


def test_a_grid_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "grids.json").write_text(json.dumps({"mine": GRID}))
    curve = {"x": [50, 150], "y": [100, 200], "t": [0, 9], "grid_name": "mine"}
    (swipe,), _ = _read(tmp_path, {"word": "аб", "curve": curve}, grids=tmp_path / "grids.json")
    layout = layout_of_grid("mine", GRID)
    assert swipe.layout == layout.name == "jcuken_mine"
    assert swipe.gesture.x.tolist() == [key.cx for key in layout.keys] == [0.25, 0.75]
    assert swipe.gesture.y.tolist() == [key.cy for key in layout.keys] == [0.25, 0.75]
    assert layout.aspect == 1.0
    assert (letter_area(GRID).top, letter_area(GRID).height) == (50, 200)


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    curve = ROW["curve"]
    kept, dropped = _read(
        tmp_path,
        {"curve": curve},
        ROW | {"curve": curve | {"t": [0, 5, 4]}},
        ROW | {"curve": curve | {"x": [1, None, 3]}},
        ROW | {"curve": curve | {"x": [1, 2]}},
        ROW | {"word": "?"},
    )
    assert kept == []
    assert dropped == {"no word": 1, "time runs backwards": 1, "unusable points": 2, "no letter in the word": 1}


@pytest.mark.parametrize(
    ("curve", "says"),
    [
        (None, "a curve with lists x, y and t"),
        ({"x": [1]}, "a curve with lists x, y and t"),
        (ROW["curve"] | {"grid_name": "other"}, "unknown grid 'other'; known are default, extra; --grids"),
        (ROW["curve"] | {"grid_name": None}, "unknown grid None"),
    ],
)
def test_a_foreign_row_is_an_error(tmp_path: Path, curve: Any, says: str) -> None:
    with pytest.raises(CorpusError, match=rf"valid\.jsonl:2: .*{says}"):
        _read(tmp_path, ROW, ROW | {"curve": curve})


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"a": {}}', '{"a": {"width": 1, "keys": [{"label": "а"}]}}', '{"a": {"width": 1, "keys": []}}']
)
def test_broken_grid_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "grids.json").write_text(text)
    with pytest.raises(CorpusError):
        read_grids(tmp_path / "grids.json")


def test_the_contests_grids_are_the_layouts_we_have(data: Path) -> None:
    for name, grid in read_grids(data / "layouts" / "yandex_grids_raw.json").items():
        made, stored = layout_of_grid(name, grid), Layout.from_json(data / "layouts" / f"jcuken_{name}.json")
        assert made.letters == stored.letters
        assert np.allclose(made.centres, stored.centres)
