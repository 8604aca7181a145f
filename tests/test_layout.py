import json
import math
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glissando.errors import LayoutError
from glissando.layout import MAX_BYTES, Key, Layout, all_layouts, builtin_layouts, load_layout

QWERTY_STAGGER = (0, 0.5, 1.5)  # the third row leaves a key and a half for shift
HINDI = "औऐआईऊभङघधझढ ौैाीूबहगदजड ओएअइउफञखथछठ ोे्िुपरकतचट ऑँणऋृळशषः ॉंमनवलसय़"


def recipe(rows, language, **shape):
    return {"rows": rows.split(), "language": language, **shape}


# How the packaged layouts were written that are not published with recorded swipes: their rows, and where they stand.
RECIPES = {
    "qwerty": recipe("qwertyuiop asdfghjkl zxcvbnm", "en", stagger=QWERTY_STAGGER),
    "colemak": recipe("qwfpgjluy_ arstdhneio zxcvbkm", "en", stagger=(0, 0, 1.5)),
    "swedish": recipe("qwertyuiopå asdfghjklöä zxcvbnm", "sv"),
    "danish": recipe("qwertyuiopå asdfghjklæø zxcvbnm", "da"),
    "norwegian": recipe("qwertyuiopå asdfghjkløæ zxcvbnm", "nb"),
    "turkish": recipe("qwertyuıopğü asdfghjklşi zxcvbnmöç", "tr"),
    "greek": recipe("_ςερτυθιοπ ασδφγηξκλ ζχψωβνμ", "el", stagger=QWERTY_STAGGER),
    "ukrainian": recipe("йцукенгшщзхї фівапролджєґ ячсмитьбю", "uk", stagger=(0, 0, 1), aspect=0.43),
    "hindi": recipe(HINDI, "hi", aspect=0.66),
}
# Where the geometry of the recorded swipes is published.
PUBLISHED = ["azerty", "clearflow", "dvorak", "german", "kasroz", "qwerty", "qwertz", "spanish", "toki_pona"]
PUBLISHED += ["jcuken_default", "jcuken_extra", "qwerty_z15"]

THREE = ["ab", "c", "de"]
PAGE = Path(__file__).parents[1] / "docs" / "layouts.md"


def key(letter="a", cx=0.5, cy=0.5, rx=0.1, ry=0.1):
    return Key(letter, cx, cy, rx, ry)


def entry(**changed):
    return {"letter": "a", "cx": 0.5, "cy": 0.5, "rx": 0.1, "ry": 0.1} | changed


def places(layout):
    return {k.letter: (k.cx, k.cy) for k in layout.keys}


def test_rows_fill_the_square_and_are_centred():
    layout = Layout.from_rows("three", THREE)
    assert layout.letters == ("a", "b", "c", "d", "e")
    assert layout.keys[0] == Key("a", 0.25, pytest.approx(1 / 6), 0.25, pytest.approx(1 / 6))
    assert places(layout)["c"] == (0.5, 0.5)
    assert layout.rows == ((0, 1), (2,), (3, 4))
    keys = (key("a", 0.2, 0.22), key("b", 0.5, 0.18), key("c", 0.8, 0.2), key("d", 0.3, 0.6), key("e", 0.1, 0.63))
    assert Layout("uneven", keys).rows == ((0, 1, 2), (4, 3))
    assert layout.aspect == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("stagger", "expected"),
    [
        ((0, 0.5, 1), {"a": 0.5 / 3, "c": 1 / 3, "e": 2.5 / 3}),
        (0.5, {"a": 0.5 / 3, "c": 1 / 3, "e": 2.5 / 3}),
        ((2, 2, 2), {"a": 0.25, "c": 0.25, "e": 0.75}),  # only differences between rows count
        ((0, -1, 0), {"a": 0.5, "c": 0.5 / 3, "e": 2.5 / 3}),
    ],
)
def test_stagger_says_where_rows_start(stagger, expected):
    centres = places(Layout.from_rows("three", THREE, stagger=stagger))
    assert {letter: centres[letter][0] for letter in expected} == pytest.approx(expected)


def test_the_size_of_a_key_is_the_median():
    layout = Layout("two", (key("a", 0.2, rx=0.1, ry=0.3), key("b", 0.4, rx=0.2, ry=0.1), key("c", 0.8, ry=0.4)))
    assert layout.key_size.tolist() == [0.2, 0.6]
    assert layout.key_size.dtype == np.float64
    two = Layout("two", layout.keys[:2])
    assert two.key_size.tolist() == pytest.approx([0.3, 0.4])


def test_pitch_narrows_a_row_and_heights_make_it_taller():
    layout = Layout.from_rows("two", ["abcd", "ef"], stagger=(0, 1), pitch=(1, 0.5), heights=(1, 3))
    assert layout.keys[4] == Key("e", (1 + 0.25) / 4, 0.625, 0.0625, 0.375)
    assert layout.keys[5].cx == (1.5 + 0.25) / 4
    assert layout.keys[0].cy == 0.125


@pytest.mark.parametrize("gap", [" ", "_"])
def test_a_gap_leaves_room_for_one_key(gap):
    layout = Layout.from_rows("gap", [f"a{gap}b", "cde"])
    assert layout.letters == ("a", "b", "c", "d", "e")
    np.testing.assert_allclose(layout.centres[:, 0] * 6, [1, 5, 1, 3, 5], rtol=1e-6)


def test_a_row_may_be_a_list_and_a_string_is_composed():
    assert Layout.from_rows("accents", ["e\u0301A"]).letters == ("é", "a")
    assert Layout.from_dict({"keys": [entry(letter="E\u0301")]}).letters == ("é",)
    # In a string the two would become one letter; in a list they stay two keys.
    assert Layout.from_rows("nukta", [["न", "़"]]).letters == ("न", "़")
    assert Layout.from_rows("nukta", ["ऩ"]).letters == ("ऩ",)


def test_centres_are_those_of_the_keys_and_cannot_be_changed():
    layout = load_layout("qwerty")
    assert layout.centres.dtype == np.float32
    np.testing.assert_allclose(layout.centres[layout.letters.index("a")], (0.1, 0.5), atol=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        layout.centres[0] = 0
    with pytest.raises(FrozenInstanceError):
        layout.name = "other"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Layout("x", ()), "no keys"),
        (lambda: Layout.from_rows("x", ["", " _"]), "no keys"),
        (lambda: Layout.from_rows("x", [[chr(0x4E00 + i) for i in range(65)]]), "has 65 keys; it needs 1 to 64"),
        (lambda: Layout("x", (key(cx=math.nan),)), "outside the unit square: nan, 0.5"),
        (lambda: Layout("x", (key(ry=math.inf),)), "half sizes in .* got 0.1, inf"),
        (lambda: Layout("x", (key(5),)), "one visible character, got int"),
        (lambda: Layout("x", (key("A"),)), "lower case"),
        (lambda: Layout("x", (key("\u0958"),)), "NFC"),
        (lambda: Layout("x", (key("a"), key("b", cx=0.50001))), "'a' and 'b' share 0.5"),
        (lambda: Layout("x", (key(),), aspect=math.nan), "aspect"),
        (lambda: Layout("x\n", (key(),)), "printable"),
        (lambda: Layout.from_rows("x", "qwerty"), "must be a list of rows, got 'qwerty'"),
        (lambda: Layout.from_rows("x", THREE, stagger=(0, 1)), "stagger must be a list of 3 numbers"),
        (lambda: Layout.from_rows("x", THREE, pitch=(1, 0, 1)), "pitch must be positive"),
        (lambda: Layout.from_rows("x", THREE, heights=(1, math.inf, 1)), "heights must be positive"),
    ],
)
def test_what_is_no_keyboard_is_refused(make, message):
    with pytest.raises(LayoutError, match=message):
        make()


def test_the_json_form_comes_back_as_it_was():
    layout = load_layout("dvorak")
    data = layout.to_dict()
    assert Layout.from_dict(json.loads(json.dumps(data))) == layout
    data["keys"][0]["cx"] = 0.9  # a caller's copy, not the layout
    assert layout.keys[0].cx != 0.9


def test_the_aspect_of_a_file_without_one_follows_from_its_rows():
    data = load_layout("clearflow").to_dict()
    del data["aspect"]
    assert Layout.from_dict(data).aspect == pytest.approx(5 * 0.4 / 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "JSON object, got list"),
        ({}, "either a list 'keys' or a list 'rows'"),
        ({"keys": [entry()], "rows": ["ab"]}, "either a list 'keys' or a list 'rows'"),
        ({"keys": [entry(), {"letter": "b", "cx": 0.1}]}, "key 1 must be an object"),
        ({"keys": [entry(cx=True)]}, "key 0: needs a number, got bool"),
        ({"keys": [entry(cx=10**400)]}, "key 0: needs a number, got int"),
        ({"keys": [entry()], "aspect": "wide"}, "aspect: needs a number, got 'wide'"),
        ({"keys": [entry()], "name": ["x"]}, "name must be printable text, got list of 1"),
        ({"rows": [5]}, "row 1 must be text or a list of letters, got int"),
        ({"rows": ["ab"], "stagger": {}}, "stagger: needs a number, got dict of 0"),
        ({"rows": ["ab"], "pitch": 2}, "pitch must be a list of 1 number"),
    ],
)
def test_a_dict_that_is_no_layout_is_refused(data, message):
    with pytest.raises(LayoutError, match=message):
        Layout.from_dict(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b" " * (MAX_BYTES + 1), "larger than 1,000,000 bytes"),
        (b'{"rows": []}', "no keys"),
    ],
)
def test_a_file_that_is_no_layout_is_refused_by_name(tmp_path, content, message):
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    with pytest.raises(LayoutError, match=message) as caught:
        load_layout(file)
    assert "bad.json" in str(caught.value)


def test_a_file_is_read_with_or_without_name_and_byte_order_mark(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text('\ufeff{"rows": ["ab", "c"]}', encoding="utf-8")
    assert load_layout(file).name == load_layout(str(file)).name == "mine"


@pytest.mark.parametrize("name", ["missing.json", ".json", "\0.json", ""])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    with pytest.raises(LayoutError, match=rf"layout {tmp_path}"):
        load_layout(tmp_path / name)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(LayoutError, match=r"no layout 'qwertz2'; built in are azerty, clearflow, .*a file must end in"):
        load_layout("qwertz2")
    layout = Layout.from_rows("mine", THREE)
    assert load_layout(layout) is layout


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_built_in_layout_follows_from_its_rows(name):
    made, packaged = Layout.from_rows(name, **RECIPES[name]), load_layout(name)
    assert (packaged.name, packaged.language, packaged.letters) == (made.name, made.language, made.letters)
    assert packaged.aspect == pytest.approx(made.aspect, abs=1e-4)
    sizes = [[(k.cx, k.cy, k.rx, k.ry) for k in layout.keys] for layout in (made, packaged)]
    np.testing.assert_allclose(sizes[0], sizes[1], atol=1e-6)
    assert len(packaged.rows) == len(RECIPES[name]["rows"])


def test_corpora_may_call_a_layout_by_their_own_name():
    assert load_layout("jcuken_default") is load_layout("jcuken")
    assert load_layout("jcuken_extra") is load_layout("jcuken33")
    assert load_layout("qwerty_z15").keys[19].cx == pytest.approx(0.15)


@pytest.mark.data
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_keys_lie_where_the_data_say(data: Path, name: str):
    official, ours = Layout.from_json(data / "layouts" / f"{name}.json"), load_layout(name)
    assert sorted(ours.letters) == sorted(official.letters)
    assert len(set(ours.letters)) == len(ours.letters)
    order = [ours.letters.index(letter) for letter in official.letters]
    np.testing.assert_allclose(ours.centres[order], official.centres, atol=0.002)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 500), min_size=1, max_size=10), min_size=1, max_size=6))
def test_any_rows_make_keys_that_neither_leave_the_square_nor_overlap(rows):
    layout = Layout.from_rows("any", [[chr(0x4E00 + i) for i in row] for row in rows])
    assert [len(row) for row in layout.rows] == [len(row) for row in rows]
    assert min(min(k.cx - k.rx, k.cy - k.ry) for k in layout.keys) == pytest.approx(0)
    assert max(max(k.cx + k.rx, k.cy + k.ry) for k in layout.keys) == pytest.approx(1)
    for row in layout.rows:
        steps = np.diff(layout.centres[list(row), 0])
        np.testing.assert_allclose(steps, 2 * layout.keys[0].rx, atol=1e-6)


def test_the_page_on_layouts_names_all_of_them_and_its_examples_work():
    text = PAGE.read_text(encoding="utf-8")
    table = text[text.index("| name |") :]
    assert set(builtin_layouts()) <= set(re.findall(r"`(\w+)`", table))
    examples = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert [Layout.from_dict(json.loads(example)).name for example in examples] == ["mine", "two"]


def test_all_layouts_are_the_built_in_ones_and_those_of_a_directory(tmp_path):
    assert tuple(all_layouts()) == builtin_layouts()
    for name, rows in (("own", ["abc"]), ("qwerty", ["def"])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"name": "x", "rows": rows}))
    (tmp_path / "notes.txt").touch()
    layouts = all_layouts(tmp_path)
    assert set(layouts) == {*builtin_layouts(), "own"}
    assert layouts["qwerty"].letters == tuple("def")
    with pytest.raises(LayoutError, match="no directory of layouts"):
        all_layouts(tmp_path / "none")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(LayoutError, match=r"bad\.json"):
        all_layouts(tmp_path)
