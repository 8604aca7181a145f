import json

import numpy as np
import pytest
from design.fakes import ALPHABET

from glissando.design.task import letters_of_language, make_task, parse_grid
from glissando.errors import LayoutError
from glissando.layout import Layout, load_layout

REPORT, QWERTY = parse_grid("4-6-6-6-4"), load_layout("qwerty")


def test_rows_are_centred_and_keys_no_wider_than_an_eighth():
    np.testing.assert_array_equal(REPORT.centres, load_layout("kasroz").centres)
    grid = parse_grid("3-2")
    assert [key.cx for key in grid.keys] == pytest.approx([0.375, 0.5, 0.625, 0.4375, 0.5625])
    assert {round(key.rx, 6) for key in grid.keys} == {0.0625}
    assert [key.cx for key in parse_grid("10-9-7").keys[:2]] == pytest.approx([0.05, 0.15])


def test_a_staggered_grid_and_grids_that_are_none():
    grid = parse_grid("10-10-10", stagger=0.5)
    first = [grid.keys[row[0]].cx for row in grid.rows]
    assert np.diff(first) == pytest.approx([grid.keys[0].rx] * 2)
    with pytest.raises(LayoutError, match="stagger goes with row lengths"):
        parse_grid("qwerty", stagger=0.5)
    for spec in ("0-4", "30-40", "65"):
        with pytest.raises(LayoutError, match="1 to 64 keys"):
            parse_grid(spec)


def test_a_layout_becomes_slots_and_back():
    task, clearflow = make_task(REPORT, ALPHABET), load_layout("clearflow")
    back = task.layout(task.slots(clearflow), "back")
    assert [key.letter for key in back.keys] == [key.letter for key in clearflow.keys]
    np.testing.assert_array_equal(back.centres, clearflow.centres)
    assert back.language == "en"
    assert Layout.from_dict(json.loads(json.dumps(back.to_dict()))) == back


def test_empty_keys_are_symbols_that_only_letters_are_swapped_with():
    task = make_task(parse_grid("3-3"), "abcd")
    assert len(task.swaps) == 6 + 4 * 2  # pairs of letters, and a letter with an empty key
    assert all(a < 4 for a in task.swaps[:, 0])
    assert len(task.layout((5, 0, 1, 2, 3, 4), "gaps").keys) == 4


def test_pins_do_not_move_by_a_start_or_by_row_and_column():
    vowels = {ALPHABET.index(letter) for letter in "aeiou"}
    task = make_task(QWERTY, ALPHABET, start=QWERTY, pins="aeiou", max_swaps=6)
    assert task.pinned == vowels
    assert vowels.isdisjoint(task.swaps.flatten().tolist())
    assert len(task.swaps) == 21 * 20 // 2
    task, kasroz = make_task(REPORT, ALPHABET, pins="a=2.2, e=3.2"), load_layout("kasroz")
    assert [task.start[ALPHABET.index(letter)] for letter in "ae"] == [kasroz.letters.index(letter) for letter in "ae"]
    assert sorted(task.start) == list(range(26))


@pytest.mark.parametrize(
    ("grid", "letters", "options", "message"),
    [
        (parse_grid("5-5-5-5-5"), ALPHABET, {}, "26 letters do not fit on 25 keys"),
        (parse_grid("3-3"), "abca", {}, "'a' is listed twice"),
        (parse_grid("3-3"), "", {}, "no letters"),
        (REPORT, ALPHABET, {"start": QWERTY}, "where the grid has no key"),
        (REPORT, ALPHABET, {"start": load_layout("jcuken")}, "no key for 'a'"),
        (REPORT, ALPHABET, {"max_swaps": 3}, "needs a layout to start from"),
        (REPORT, ALPHABET, {"pins": "a=1.1 b=1.1"}, "'a' and 'b' are pinned to one key"),
        (REPORT, ALPHABET, {"pins": "a=1.1 a=1.2"}, "'a' is pinned twice"),
        (REPORT, ALPHABET, {"pins": "a=9.1"}, "no key in row 9, column 1"),
        (REPORT, ALPHABET, {"pins": "a=1"}, "row.column"),
        (REPORT, ALPHABET, {"pins": "ab=1.1"}, "one letter and its place"),
        (REPORT, ALPHABET, {"pins": "a"}, "takes a layout to start from"),
        (REPORT, ALPHABET, {"pins": "é=1.1"}, "cannot pin 'é'"),
        (REPORT, ALPHABET, {"pins": "é", "start": load_layout("kasroz")}, "no key 'é' to pin"),
        (QWERTY, ALPHABET, {"pins": "a=1.1", "start": QWERTY}, "'a' is pinned to another key"),
        (QWERTY, ALPHABET, {"pins": ALPHABET, "start": QWERTY}, "nothing to search"),
    ],
)
def test_tasks_that_contradict_themselves(grid, letters, options, message):
    with pytest.raises(LayoutError, match=message):
        _ = make_task(grid, letters, **options).swaps


def test_alphabets_come_from_the_built_in_layouts():
    assert letters_of_language("en") == ALPHABET
    assert "ñ" in letters_of_language("es")
    with pytest.raises(LayoutError, match="--letters"):
        letters_of_language("xx")
