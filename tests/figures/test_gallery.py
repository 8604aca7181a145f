import numpy as np
import pytest
from command import row

pytest.importorskip("matplotlib")

from glissando.corpus.records import swipe_from_dict
from glissando.figures import gallery as module
from glissando.figures.gallery import draw_gallery
from glissando.figures.mistakes import Mistake
from glissando.figures.style import COLOURS
from glissando.layout import load_layout


def mistake(target, answer, cause, seen):
    moments = np.linspace(0.1, 1, len(target))
    swipe, layout = swipe_from_dict(row(target)), load_layout("qwerty")
    return Mistake(swipe, layout, target, answer, 0.9, answer, moments, np.array(seen), 1.0, (9, 9), cause)


def test_mistakes_of_a_cause_stand_together(monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(module, "save", lambda made, *rest: figures.append(made) or [])
    draw_gallery(
        [
            mistake("for", "foe", "neighbours", [0.9, 0.8, 0.01]),
            mistake("too", "to", "doubled letters", [0.9, 0.02, 0.9]),
            mistake("can", "cab", "neighbours", [0.9, 0.8, 0.3]),
        ],
        tmp_path / "x",
    )
    (made,) = figures
    assert [block.get_suptitle() for block in made.subfigs] == ["doubled letters: 1 of 3", "neighbours: 2 of 3"]
    titles = [axes.get_title() for axes in made.subfigs[1].axes if axes.get_title()]
    assert titles == ["for → foe  90 %", "can → cab  90 %"]
    texts = {text.get_text(): text.get_color() for text in made.subfigs[0].axes[0].texts}
    assert texts["2"] == COLOURS[1]  # a letter as good as unseen
    assert "reads to" in texts
