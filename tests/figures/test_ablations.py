import numpy as np
import pytest

from glissando.evaluation.scaling import extrapolate

pytest.importorskip("matplotlib")


def texts(figure) -> list[str]:
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    from glissando.figures import ablations

    kept = []
    save = ablations.save
    monkeypatch.setattr(ablations, "save", lambda made, path: kept.append(made) or save(made, path))
    return kept


def variant(title: str, blank: float):
    """Three letters, the last one doubled, with a blank between; a fifth letter is never meant."""
    from glissando.figures.ablations import Variant

    probs = np.full((8, 5), (1 - blank) / 4)
    probs[:, -1] = blank
    for frame, label in ((1, 0), (3, 1), (5, 2), (7, 2)):
        probs[frame] = 0.025
        probs[frame, label] = 0.9
    return Variant(title, probs, np.linspace(0.5, 9, 50))


def test_every_letter_of_the_word_stands_at_its_own_frame(tmp_path, drawn):
    from glissando.figures.ablations import draw_blanks

    files = draw_blanks([variant("gate", 0.98), variant("joint", 0.6)], "abcc", "abcd", tmp_path / "blank")
    assert [file.name for file in files] == ["blank.png", "blank.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    axes = drawn[0].axes[0]
    assert [(note.get_text(), note.xy[0]) for note in axes.texts] == [("a", 1), ("b", 3), ("c", 5), ("c", 7)]
    assert {"gate", "joint"} < set(texts(drawn[0]))


def test_all_swipes_are_in_the_histogram(tmp_path, drawn):
    from glissando.figures.ablations import draw_blanks

    draw_blanks([variant("gate", 0.98)], "abcc", "abcd", tmp_path / "blank")
    bars = drawn[0].axes[1].patches
    assert sum(bar.get_height() for bar in bars) == pytest.approx(1)
    assert bars[-1].get_height() > 0.5  # more than 3 a letter


def test_a_panel_for_each_set_with_its_laws(tmp_path, drawn):
    from glissando.figures.ablations import Trend, draw_scaling

    wrong = np.random.default_rng(0).uniform(size=(3, 400)) < np.array([[0.3], [0.2], [0.1]])
    found = extrapolate([100, 200, 400], wrong, list(range(400)), np.geomspace(100, 1e4, 20), draws=50)
    trend = Trend("val", np.array([100, 200, 400]), wrong.mean(axis=1), {"law": found})
    draw_scaling([trend, trend], 1e4, "a lot", tmp_path / "data")
    assert len(drawn[0].axes) == 2
    line, points, _ = drawn[0].axes[0].get_lines()
    assert points.get_ydata() == pytest.approx(100 * wrong.mean(axis=1))
    assert line.get_ydata()[-1] == pytest.approx(100 * found.law.at(1e4))
    assert "a lot " in texts(drawn[0])
