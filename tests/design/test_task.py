import json

import numpy as np
import pytest

from glissando.design.task import letters_of_language, make_task, parse_grid, parse_pins
from glissando.errors import LayoutError
from glissando.layout import Layout, load_layout

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def test_the_reports_grid_is_kasrozs():
    grid = parse_grid("4-6-6-6-4")
    np.testing.assert_array_equal(grid.centres, load_layout("kasroz").centres)


def test_rows_are_centred_and_keys_no_wider_than_an_eighth():
    grid = parse_grid("3-2")
    assert [key.cx for key in grid.keys] == pytest.approx([0.375, 0.5, 0.625, 0.4375, 0.5625])
    assert {round(key.rx, 6) for key in grid.keys} == {0.0625}
    wide = parse_grid("10-9-7")
    assert [key.cx for key in wide.keys[:2]] == pytest.approx([0.05, 0.15])


def test_a_staggered_grid():
    grid = parse_grid("10-10-10", stagger=0.5)
    first = [grid.keys[row[0]].cx for row in grid.rows]
    width = 2 * grid.keys[0].rx
    assert np.diff(first) == pytest.approx([width / 2, width / 2])


def test_a_grid_from_a_layout_file(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps({"name": "mine", "rows": ["ab", "cd"]}))
    assert len(parse_grid(str(tmp_path / "mine.json")).keys) == 4
    with pytest.raises(LayoutError, match="stagger goes with row lengths"):
        parse_grid("qwerty", stagger=0.5)


@pytest.mark.parametrize("spec", ["0-4", "30-40", "65"])
def test_a_grid_of_too_few_or_too_many_keys(spec):
    with pytest.raises(LayoutError, match="1 to 64 keys"):
        parse_grid(spec)


def test_a_layout_becomes_slots_and_back():
    task = make_task(parse_grid("4-6-6-6-4"), ALPHABET, language="en")
    clearflow = load_layout("clearflow")
    back = task.layout(task.slots(clearflow), "back")
    assert [key.letter for key in back.keys] == [key.letter for key in clearflow.keys]
    np.testing.assert_array_equal(back.centres, clearflow.centres)
    assert back.language == "en"
    assert Layout.from_dict(json.loads(json.dumps(back.to_dict()))) == back


def test_empty_keys_are_symbols_that_only_letters_trade_with():
    task = make_task(parse_grid("3-3"), "abcd")
    assert len(task.keys) == 6
    assert len(task.swaps) == 6 + 4 * 2  # pairs of letters, and a letter with an empty key
    assert all(a < 4 for a in task.swaps[:, 0])
    layout = task.layout((5, 0, 1, 2, 3, 4), "gaps")
    assert len(layout.keys) == 4


def test_more_letters_than_keys():
    with pytest.raises(LayoutError, match="26 letters do not fit on 25 keys"):
        make_task(parse_grid("5-5-5-5-5"), ALPHABET)


def test_a_letter_twice():
    with pytest.raises(LayoutError, match="'a' is listed twice"):
        make_task(parse_grid("3-3"), "abca")


def test_a_layout_of_other_keys():
    task = make_task(parse_grid("4-6-6-6-4"), ALPHABET)
    with pytest.raises(LayoutError, match="where the grid has no key"):
        task.slots(load_layout("qwerty"))
    with pytest.raises(LayoutError, match="no key for 'a'"):
        task.slots(load_layout("jcuken"))


def test_pins_of_a_start_do_not_move():
    qwerty = load_layout("qwerty")
    task = make_task(qwerty, ALPHABET, start=qwerty, pins=parse_pins("aeiou", qwerty, qwerty), max_swaps=6)
    vowels = {ALPHABET.index(letter) for letter in "aeiou"}
    assert task.pinned == vowels
    assert vowels.isdisjoint(task.swaps.flatten().tolist())
    assert len(task.swaps) == 21 * 20 // 2


def test_pins_by_row_and_column():
    grid = parse_grid("4-6-6-6-4")
    pins = parse_pins("a=2.2, e=3.2", grid, None)
    kasroz = load_layout("kasroz")
    assert pins == {"a": kasroz.letters.index("a"), "e": kasroz.letters.index("e")}
    task = make_task(grid, ALPHABET, pins=pins)
    assert task.start is not None
    assert task.start[0] == pins["a"]
    assert sorted(task.start) == list(range(26))


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ("a=1.1 b=1.1", "'a' and 'b' are pinned to one key"),
        ("a=1.1 a=1.2", "'a' is pinned twice"),
        ("a=9.1", "no key in row 9, column 1"),
        ("a=1", "row.column"),
        ("ab=1.1", "one letter and its place"),
        ("a", "takes a layout to start from"),
    ],
)
def test_pins_that_clash(pins, message):
    with pytest.raises(LayoutError, match=message):
        parse_pins(pins, parse_grid("4-6-6-6-4"), None)


def test_a_pin_that_contradicts_the_start():
    qwerty = load_layout("qwerty")
    with pytest.raises(LayoutError, match="'a' is pinned to another key"):
        make_task(qwerty, ALPHABET, start=qwerty, pins=parse_pins("a=1.1", qwerty, qwerty))


def test_a_pin_that_is_no_letter_and_one_the_start_lacks():
    grid = parse_grid("4-6-6-6-4")
    with pytest.raises(LayoutError, match="cannot pin 'é'"):
        make_task(grid, ALPHABET, pins={"é": 3})
    with pytest.raises(LayoutError, match="no key 'é' to pin"):
        parse_pins("é", grid, load_layout("kasroz"))


def test_everything_pinned_leaves_nothing_to_search():
    qwerty = load_layout("qwerty")
    task = make_task(qwerty, ALPHABET, start=qwerty, pins=parse_pins(ALPHABET, qwerty, qwerty))
    with pytest.raises(LayoutError, match="nothing to search"):
        _ = task.swaps


def test_a_limit_of_swaps_needs_a_start():
    with pytest.raises(LayoutError, match="needs a layout to start from"):
        make_task(parse_grid("4-6-6-6-4"), ALPHABET, max_swaps=3)


def test_alphabets_come_from_the_built_in_layouts():
    assert letters_of_language("en") == ALPHABET
    assert "ñ" in letters_of_language("es")
    with pytest.raises(LayoutError, match="--letters"):
        letters_of_language("xx")
