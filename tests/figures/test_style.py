import sys

import pytest

pytest.importorskip("matplotlib")

from glissando.errors import GlissandoError, LayoutError, MissingExtraError
from glissando.figures.style import COLOURS, draw_keys, draw_trail, figure, save
from glissando.gesture import resample
from glissando.layout import load_layout
from glissando.synth import swipe


def test_keys_and_trail_share_one_frame():
    made = figure(3, 2)
    axes = made.subplots()
    layout = load_layout("clearflow")
    draw_keys(axes, layout, {"e"})
    draw_trail(axes, layout, resample(swipe("fire", layout)), COLOURS[0])
    places = {text.get_text(): text.get_position() for text in axes.texts}
    (line, dot) = axes.lines
    assert places["f"] == pytest.approx((line.get_xdata()[0], line.get_ydata()[0]), abs=1e-6)
    assert places["e"] == pytest.approx((line.get_xdata()[-1], line.get_ydata()[-1]), abs=1e-6)
    assert len(dot.get_xdata()) == 1
    assert len(axes.patches) == len(layout.keys)
    assert [text.get_text() for text in axes.texts] == list(layout.letters)
    assert {text.get_text() for text in axes.texts if text.get_fontweight() == "bold"} == {"e"}  # lit letters stand out


def test_both_formats_are_saved_in_a_folder_that_is_made_and_a_bad_place_is_named(tmp_path):
    files = save(figure(1, 1), tmp_path / "new" / "a.b")
    assert [file.name for file in files] == ["a.b.png", "a.b.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in files[1].read_bytes()
    with pytest.raises(GlissandoError, match=r"cannot save the picture .*a\.b\.png"):
        save(figure(1, 1), files[0] / "x")


def test_all_text_is_in_a_font_that_has_the_letters(tmp_path, recwarn):
    try:
        made = figure(2, 2)
        axes = made.subplots()
        axes.set_title("नमस्ते")
        axes.set_xticks([0], ["न"])
        save(made, tmp_path / "x", [load_layout("hindi")])
    except LayoutError as error:
        pytest.skip(str(error))
    assert not [str(one.message) for one in recwarn if "missing from font" in str(one.message)]


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"glissando\[plot\]"):
        figure(1, 1)
