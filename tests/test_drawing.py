import re
import sys
import unicodedata
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glissando.drawing import save_png, save_svg, svg_layout, text_layout, text_swipe
from glissando.errors import FileError, GestureError, LayoutError, MissingExtraError
from glissando.gesture import Gesture
from glissando.layout import Key, Layout, builtin_layouts, load_layout

SVG = "{http://www.w3.org/2000/svg}"
SMALL = Layout.from_rows("small", ["ab", "c"])
ACROSS = Gesture([0.05, 0.95], [1 / 6, 1 / 6], [0, 300])  # q to p
SWIPES = [ACROSS, [(0.5, 0.5, 0)], [(0.5, 0.5, 0), (0.5, 0.5, 0)], [(-1e300, 7, 0), (1e300, -7, 9)]]


def columns(line):
    """Columns of a line in a terminal that gives spacing marks one of their own."""
    zero, wide = ("Mn", "Me"), "WF"
    return sum(
        (c not in zero) + (unicodedata.east_asian_width(x) in wide) for x in line for c in [unicodedata.category(x)]
    )


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_keys_are_boxes_with_the_letter_in_the_middle():
    assert text_layout(SMALL, 10).splitlines() == [
        "╭───╮╭───╮",
        "│ a ││ b │",
        "╰───╯╰───╯",
        "   ╭───╮",
        "   │ c │",
        "   ╰───╯",
    ]


def test_where_boxes_do_not_fit_letters_stand_alone_and_a_gap_stays_open():
    assert text_layout(SMALL, 5).splitlines() == text_layout(SMALL, 0).splitlines() == ["a b", " c"]
    assert text_layout(Layout.from_rows("gap", ["a_b"]), 15).splitlines()[1] == "│ a │     │ b │"


def test_a_mark_stands_on_a_dotted_circle_and_wide_letters_take_two_columns():
    text = text_layout(Layout.from_rows("marks", [["क", "ा", "ि", "़"], ["中", "文", "e", "é"]]), 28)
    assert "◌ा" in text
    assert "◌़" in text
    assert {columns(line) for line in text.splitlines()} == {28}


@pytest.mark.parametrize("name", builtin_layouts())
def test_every_built_in_layout_is_drawn_with_every_letter(name):
    layout = load_layout(name)
    for width in (40, 72, 120):
        lines = text_layout(layout, width).splitlines()
        assert max(map(columns, lines)) <= width
        shown = re.findall(r"[^\s│◌╭╮╰╯─]", "".join(lines))
        assert "".join(shown) == "".join(layout.letters[index] for row in layout.rows for index in row)
    svg = svg_layout(layout)
    assert [text.removeprefix("◌") for text in texts(svg)] == list(layout.letters)
    root = ElementTree.fromstring(svg)
    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("class") == "key"]
    assert len(boxes) == len(layout.keys)
    for side, size in (("x", "width"), ("y", "height")):
        assert all(float(box.get(side)) > 0 for box in boxes)
        assert all(float(box.get(side)) + float(box.get(size)) < float(root.get(size)) for box in boxes)


def test_a_swipe_is_dots_from_its_first_key_to_its_last():
    lines = text_swipe(load_layout("qwerty"), ACROSS, width=72).splitlines()
    assert {len(line) for line in lines} == {72}
    assert len(lines) == 2 + 14  # 70 columns at aspect .40, cells twice as high as wide
    (row,) = [line for line in lines if re.search("[\u2801-\u28ff]", line)]  # a level swipe keeps to its line
    assert [char for char in row if char.isalpha()] == list("qwertyuiop")
    assert row.index("●") < row.index("w") < row.index("o") < row.index("○")


def test_dots_stand_where_the_finger_was():
    # A straight line from corner to corner of 4 x 2 cells, 8 x 8 dots: every dot of the diagonal.
    grid = Layout("grid", (Key("a", 1.0, 0.0, 0.1, 0.1),), aspect=1.0)
    path = np.stack([np.linspace(0, 0.999, 9), np.linspace(0, 0.999, 9)])
    lines = text_swipe(grid, path, width=6).splitlines()
    assert lines[1:-1] == ["│●⢄ a│", "│  ⠑○│"]


def test_letters_stay_visible_under_the_trail():
    layout = load_layout("clearflow")
    over = Gesture.from_points([(*centre, 50 * i) for i, centre in enumerate(layout.centres)])
    assert sorted(char for char in text_swipe(layout, over) if char.isalpha()) == sorted(layout.letters)


def test_a_gesture_its_points_and_its_path_look_alike():
    layout = load_layout("qwerty")
    gesture = Gesture.from_points(points := [(0.05, 0.2, 0), (0.95, 0.2, 300)])
    assert text_swipe(layout, points) == text_swipe(layout, gesture) == text_swipe(layout, gesture.path())


def test_colours_run_along_the_trail_and_can_be_taken_away():
    coloured = text_swipe(load_layout("qwerty"), ACROSS, colour=True)
    codes = [int(code) for code in re.findall(r"38;5;(\d+)m[\u2801-\u28ff]", coloured)]
    assert (codes[0], codes[-1]) == (51, 203)
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == text_swipe(load_layout("qwerty"), ACROSS)


@pytest.mark.parametrize("draw", [text_swipe, svg_layout])
@pytest.mark.parametrize("swipe", [[], [(0, np.nan, 0)], np.zeros((2, 0)), np.full((2, 5), np.inf), "word"])
def test_what_is_no_swipe_is_refused(draw, swipe):
    with pytest.raises(GestureError):
        draw(SMALL, swipe)


def test_an_svg_shows_the_trail_from_start_to_end():
    root = ElementTree.fromstring(svg_layout(load_layout("qwerty"), ACROSS, title="qp"))
    end, start = root.findall(f"{SVG}circle")
    assert (start.get("class"), start.get("fill")) == ("start", "rgb(34,184,207)")
    assert float(start.get("cx")) == pytest.approx(14 + 0.05 * 640)
    assert float(end.get("cx")) == pytest.approx(14 + 0.95 * 640)
    strokes = [path.get("stroke") for path in root.findall(f"{SVG}g/{SVG}path")]
    assert len(strokes) == 64
    assert "prefers-color-scheme: dark" in root.findtext(f"{SVG}style")
    assert strokes[-1] == end.get("stroke") == "rgb(230,73,128)"


def test_what_would_break_xml_is_escaped():
    layout = Layout('<a&"b>', (Key("<", 0.2, 0.5, 0.1, 0.1), Key("&", 0.8, 0.5, 0.1, 0.1)), language="\"'<>")
    assert texts(svg_layout(layout, title="x < y & \x00\ud800]]>")) == ["x < y & ]]>", "<", "&"]
    assert ElementTree.fromstring(svg_layout(layout)).findtext(f"{SVG}title") == '<a&"b>'


def test_an_svg_file_is_what_was_drawn(tmp_path):
    save_svg(tmp_path / "q.svg", load_layout("hindi"), title="हिन्दी")
    assert (tmp_path / "q.svg").read_text(encoding="utf-8") == svg_layout(load_layout("hindi"), title="हिन्दी")
    with pytest.raises(FileError, match=r"cannot write .*x\.svg"):
        save_svg(tmp_path / "q.svg" / "x.svg", SMALL)


def test_a_png_has_the_size_and_the_trail(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    save_png(tmp_path / "q.png", load_layout("qwerty"), ACROSS, title="$q$ to $")
    picture = imread(tmp_path / "q.png")
    assert picture.shape == (2 * 314, 2 * 668, 4)
    row = 2 * (14 + 30) + round(2 * 256 / 6)
    violet = np.array([112, 72, 232]) / 255
    assert np.abs(picture[row, 640:660, :3] - violet).max() < 0.2  # half way from q to p


def test_a_letter_no_font_has_is_named(tmp_path, monkeypatch):
    manager = pytest.importorskip("matplotlib.font_manager").fontManager
    monkeypatch.setattr(manager, "ttflist", [font for font in manager.ttflist if font.name == "DejaVu Sans"])
    save_png(tmp_path / "ru.png", load_layout("jcuken"))
    with pytest.raises(LayoutError, match="no installed font has 'ँ' of layout 'hindi'; save it as SVG"):
        save_png(tmp_path / "hi.png", load_layout("hindi"))
    assert [file.name for file in tmp_path.iterdir()] == ["ru.png"]


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # importing it fails
    with pytest.raises(MissingExtraError, match=r"pip install 'glissando\[plot\]'"):
        save_png(tmp_path / "x.png", SMALL)


sizes = st.floats(1e-9, 1)
keys = st.builds(Key, st.sampled_from("aй'़"), st.floats(0, 1), st.floats(0, 1), sizes, sizes)


@given(st.lists(keys, min_size=1, max_size=12), st.floats(0.05, 20), st.integers(-5, 150), st.sampled_from(SWIPES))
@settings(max_examples=60, deadline=None)
def test_any_layout_can_be_drawn_with_taps_and_strays(some, aspect, width, swipe):
    try:
        layout = Layout("any", tuple(some), aspect=aspect)
    except LayoutError:  # two keys at one place
        return
    assert len(text_layout(layout, width)) < 100_000
    picture = text_swipe(layout, swipe, width)
    assert "●" in picture
    assert len({columns(line) for line in picture.splitlines()}) == 1
    ElementTree.fromstring(svg_layout(layout, swipe))
