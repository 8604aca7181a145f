import builtins

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


def test_lit_letters_stand_out():
    axes = figure(3, 2).subplots()
    draw_keys(axes, load_layout("greek"), {"α"})
    assert [text.get_text() for text in axes.texts] == list(load_layout("greek").letters)
    assert {text.get_text() for text in axes.texts if text.get_fontweight() == "bold"} == {"α"}


def test_both_formats_are_saved_in_a_folder_that_is_made(tmp_path):
    made = figure(1, 1)
    files = save(made, tmp_path / "new" / "a.b")
    assert [file.name for file in files] == ["a.b.png", "a.b.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in files[1].read_bytes()


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


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(GlissandoError, match=r"cannot save the picture .*file"):
        save(figure(1, 1), tmp_path / "file" / "x")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"glissando\[plot\]"):
        figure(1, 1)
