"""How We Swipe logs and their traps."""

import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from glissando.corpus.readers.how_we_swipe import read_how_we_swipe
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError

HEADER = "sentence timestamp keyb_width keyb_height event x_pos y_pos x_radius y_radius angle word is_err"


def _touch(
    word: str, start: int, *, wrong: int = 0, sentence: str = "it_is", events: str = "smme", extra: str = ""
) -> list[str]:
    names = {"s": "touchstart", "m": "touchmove", "e": "touchend"}
    return [
        f"{sentence} {start + 16 * n} 360 222 {names[event]} {36 * n} {60 * n} 1.5 1.5 0 {word} {wrong}{extra}"
        for n, event in enumerate(events)
    ]


def _read(folder: Path, lines: Iterable[str], name: str = "abc123.log") -> tuple[list[Swipe], Counter[str]]:
    (folder / name).write_text("\n".join([HEADER, *lines]) + "\n")
    dropped: Counter[str] = Counter()
    return list(read_how_we_swipe(folder / name, dropped)), dropped


def test_a_touch_by_hand(tmp_path: Path) -> None:
    (swipe,), dropped = _read(tmp_path, _touch("it", 1000))
    assert (swipe.word, swipe.session, swipe.sentence, swipe.layout) == ("it", "abc123", "it is", "qwerty")
    assert swipe.gesture.x.tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    # The canvas of 222 pixels is 3.7 rows high, so three rows are 180 pixels.
    assert swipe.gesture.y.tolist() == pytest.approx([0, 60 / 180, 120 / 180, 1.0])
    assert swipe.gesture.t.tolist() == [0, 16, 32, 48]  # the lift-off is a point too
    assert (swipe.canvas_width, swipe.canvas_height) == (360, 180)
    assert not dropped


def test_retries_and_extra_columns(tmp_path: Path) -> None:
    lines = _touch("it", 1000, wrong=1) + _touch("it", 2000, extra=" 1 1") + _touch("is", 3000)
    swipes, dropped = _read(tmp_path, lines)
    assert [(swipe.word, len(swipe.gesture)) for swipe in swipes] == [("it", 4), ("is", 4)]
    assert dropped == {"marked wrong": 1}


def test_touches_cut_off_at_either_end(tmp_path: Path) -> None:
    lines = _touch("it", 1000, events="mme") + _touch("it", 2000, events="smm") + _touch("it", 3000)
    lines += _touch("is", 4000, events="smm") + _touch("on", 5000, events="e") + _touch("on", 6000)
    swipes, dropped = _read(tmp_path, lines)
    assert [swipe.word for swipe in swipes] == ["it", "on"]
    assert dropped == {"no touchstart": 2, "no touchend": 2}


def test_rows_stored_twice_count_once(tmp_path: Path) -> None:
    touch = _touch("it", 1000)
    doubled = [line for line in _touch("is", 2000) for _ in range(2)]
    swipes, dropped = _read(tmp_path, touch + touch + doubled)
    assert [(swipe.word, len(swipe.gesture)) for swipe in swipes] == [("it", 4), ("is", 4)]
    assert dropped == {"line stored twice": 8}


def test_ill_formed_lines_are_passed_over(tmp_path: Path) -> None:
    lines = _touch("it", 1000)
    lines[1:1] = [
        "it_is 1001 360",
        "it_is x 360 222 touchmove 1 1 1 1 0 it 0",
        "it_is 1001 0 222 touchmove 1 1 1 1 0 it 0",
        "it_is 1001 360 222 pinch 1 1 1 1 0 it 0",
        "",
    ]
    swipes, dropped = _read(tmp_path, lines)
    assert [len(swipe.gesture) for swipe in swipes] == [4]
    assert dropped == {"ill-formed line": 4}


def test_a_clock_that_runs_backwards_and_nan(tmp_path: Path) -> None:
    backwards = _touch("it", 1000)
    backwards[2] = backwards[2].replace(" 1032 ", " 900 ")
    nan = _touch("is", 2000)
    nan[1] = nan[1].replace("touchmove 36 ", "touchmove nan ")
    swipes, dropped = _read(tmp_path, backwards + nan)
    assert swipes == []
    assert dropped == {"time runs backwards": 1, "unusable points": 1}


def test_another_file_and_a_broken_zip_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"a\.log: not a log of How We Swipe"):
        _read(tmp_path, ["hello world", "and more"], "a.log")
    file = tmp_path / "swipelogs.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.log", "\n".join([HEADER, *(_touch("it", 1000) * 40)]))
    whole = file.read_bytes()
    file.write_bytes(whole[:60] + b"\xff" * 30 + whole[90:])
    with pytest.raises(CorpusError, match="cannot read"):
        list(read_how_we_swipe(file, Counter()))
