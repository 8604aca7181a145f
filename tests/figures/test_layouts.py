from types import SimpleNamespace

import pytest

pytest.importorskip("matplotlib")

from glissando.design.report import Letter
from glissando.figures.layouts import draw_confidence, draw_layouts, draw_paths
from glissando.figures.style import COLOURS
from glissando.layout import builtin_layouts, load_layout


def named(*names):
    return [load_layout(name) for name in names]


def test_paths_have_a_panel_per_layout_and_a_line_per_word():
    drawn = draw_paths(named("qwerty", "kasroz"), ["stream", "steam"])
    assert [axes.get_title() for axes in drawn.axes] == ["qwerty", "kasroz"]
    for axes in drawn.axes:
        first, _, second, _ = axes.lines
        assert first.get_linewidth() > second.get_linewidth()  # so that both show where they overlap
        assert first.get_color() != second.get_color()
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["stream", "steam"]


def test_confidence_shows_every_letter_and_marks_those_missed():
    letters = {"ab": (Letter("a", 0, 0.9), Letter("b", 5, 0.05))}
    one = SimpleNamespace(layout=load_layout("qwerty"), letters=letters)
    drawn = draw_confidence(SimpleNamespace(layouts=(one, one)))
    assert len(drawn.axes) == 2
    axes = drawn.axes[0]
    assert [bar.get_height() for bar in axes.patches] == [90, 5]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
    assert [text.get_text() for text in axes.texts] == ["90", "5"]
    assert axes.texts[1].get_color() == COLOURS[1]


def test_any_number_of_layouts_side_by_side():
    for count in (1, 3, 4):
        drawn = draw_layouts(named(*builtin_layouts()[:count]))
        assert sum(bool(axes.get_title()) for axes in drawn.axes) == count
