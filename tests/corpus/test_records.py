"""Swipes in our own format: what is read, what is refused, and that writing and reading agree."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glissando.corpus.lines import UnusableRowError
from glissando.corpus.records import (
    MAX_POINTS,
    bare_word,
    read_swipes,
    swipe_from_dict,
    swipe_to_dict,
    usable_gesture,
    write_swipes,
)
from glissando.errors import CorpusError

ROW: dict[str, Any] = {
    "word": "will",
    "x": [0.1889, 0.5, 0.9],
    "y": [0.2316, -0.1, 0.5],
    "t": [0, 133, 150.5],
    "layout": "qwerty",
    "session": "p1",
    "canvas_width": 360.0,
    "canvas_height": 180.0,
    "sentence": "will it be",
    "key_dist_mean": 0.325,
    "key_dist_max": 0.495,
    "source": "how-we-swipe",
    "language": "en",
}


def _file(folder: Path, *rows: dict[str, Any] | str) -> Path:
    file = folder / "swipes.jsonl"
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return file


def test_a_row_by_hand() -> None:
    swipe = swipe_from_dict(ROW | {"study": "ignored"})
    assert swipe.word == "will"
    assert swipe.gesture.x.tolist() == [0.1889, 0.5, 0.9]
    assert swipe.gesture.t.tolist() == [0, 133, 150.5]
    assert (swipe.layout, swipe.session, swipe.sentence) == ("qwerty", "p1", "will it be")
    assert (swipe.key_distance, swipe.key_distance_mean) == (0.495, 0.325)
    assert swipe.aspect == 0.5
    assert swipe_to_dict(swipe) == ROW
    bare = swipe_from_dict({name: ROW[name] for name in ("word", "x", "y", "t", "layout")})
    assert (bare.session, bare.sentence, bare.key_distance, bare.aspect) == (None, None, None, None)
    assert (bare.source, bare.language) == ("", "")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"word": ""}, "must not be empty"),
        ({"word": "\ud800"}, "half a character"),
        *[({name: None}, f"{name} must be ") for name in ("word", "x", "y", "t", "layout")],
        ({"x": [0.5] * (MAX_POINTS + 1)}, "100,001 points; a swipe has at most 100,000"),
        ({"x": [0.1, 0.2]}, "x, y and t differ in length: 2, 3, 3"),
        ({"x": [0.1, "0.2", 0.3]}, "x must hold numbers only, got str"),
        ({"x": [0.1, True, 0.3]}, "x must hold numbers only, got bool"),
        ({"y": [0.1, float("nan"), 0.3]}, "y[1] is NaN"),
        ({"y": [0.1, 10**400, 0.3]}, "y must be numbers"),
        ({"t": [0, 20, 10]}, "time runs backwards at point 2"),
        ({"canvas_width": "360"}, "canvas_width must be a number"),
        ({"canvas_width": -1}, "canvas_width must be a finite number, not negative, got -1"),
        ({"key_dist_max": True}, "key_dist_max must be a number"),
        ({"key_dist_max": 10**4000}, "key_dist_max must be a finite number"),
    ],
)
def test_a_bad_line_seven_is_one_clear_line(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    file = _file(tmp_path, *[ROW] * 6, ROW | change)
    with pytest.raises(CorpusError) as caught:
        list(read_swipes(file))
    message = str(caught.value)
    assert message.startswith(f"{file}:7: ")
    assert says in message
    assert "\n" not in message
    assert len(message) < len(str(file)) + 150


def test_limit_and_distance(tmp_path: Path) -> None:
    rows = [ROW | {"word": word, "key_dist_max": distance} for word, distance in (("aa", 1), ("bb", 3), ("cc", 2))]
    file = _file(tmp_path, *rows, "not JSON")
    assert [swipe.word for swipe in read_swipes(file, max_key_distance=2.0, limit=2)] == ["aa", "cc"]
    assert list(read_swipes(file, limit=0)) == []
    with pytest.raises(CorpusError, match=":4: not JSON"):
        list(read_swipes(file))
    file = _file(tmp_path, {name: value for name, value in ROW.items() if name != "key_dist_max"})
    with pytest.raises(CorpusError, match="no key_dist_max to filter by"):
        list(read_swipes(file, max_key_distance=2.0))


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_what_is_written_reads_back(tmp_path: Path, name: str) -> None:
    swipes = [swipe_from_dict(ROW), swipe_from_dict(ROW | {"word": "всё", "language": "", "session": None})]
    assert write_swipes(tmp_path / name, swipes) == 2
    again = list(read_swipes(tmp_path / name))
    assert [swipe_to_dict(swipe) for swipe in again] == [swipe_to_dict(swipe) for swipe in swipes]
    assert write_swipes(tmp_path / name, []) == 0
    assert list(read_swipes(tmp_path / name)) == []


_leaf = st.sampled_from(
    [None, True, 0, -1, 2, 0.5, 1e300, -0.0, float("nan"), float("inf"), 10**400, "", "a", "\udfff"]
)
_json = st.recursive(
    _leaf, lambda inner: st.lists(inner, max_size=4) | st.fixed_dictionaries({"a": inner}), max_leaves=8
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(ROW)), _json, max_size=4))
def test_any_json_is_a_swipe_or_a_corpus_error(change: dict[str, Any]) -> None:
    try:
        swipe = swipe_from_dict(ROW | change)
    except CorpusError:
        return
    json.dumps(swipe_to_dict(swipe), ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (([0, 0], [0, 0], [5, 4]), "time runs backwards"),
        (([0, float("nan")], [0, 0], [5, 6]), "unusable points"),
        (([0], [0, 0], [5, 6]), "unusable points"),
        (([0, 0], [0, 0], ["5", "6"]), "unusable points"),
    ],
)
def test_points_of_public_corpora(columns: tuple[list[Any], list[Any], list[Any]], reason: str) -> None:
    assert usable_gesture([0.1, 0.2], [0.3, 0.4], [1576480557856, 1576480557864]).t.tolist() == [0, 8]
    with pytest.raises(UnusableRowError, match=reason):
        usable_gesture(*columns)


def test_words_of_public_corpora() -> None:
    words = {"“Isn't,": "isn't", "Well-known.": "well-known", "É": "é", "7th": "7th"}
    assert [bare_word(word) for word in words] == list(words.values())
    with pytest.raises(UnusableRowError, match="no letter in the word"):
        bare_word("--")
