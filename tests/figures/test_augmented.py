import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("torch")

from glissando.figures import augmented as module
from glissando.figures.augmented import draw_samples, samples
from glissando.figures.examples import Example
from glissando.layout import load_layout
from glissando.synth import swipe

QWERTY = load_layout("qwerty")
HELLO = Example("hello", QWERTY, swipe("hello", QWERTY), "made up")


def ends(sample):
    """Distance of the path's ends from the keys of h and o, either way round."""
    first, last = (sample.centres[sample.layout.letters.index(letter)] for letter in "ho")
    forward = np.linalg.norm(sample.path[:, 0] - first) + np.linalg.norm(sample.path[:, -1] - last)
    backward = np.linalg.norm(sample.path[:, 0] - last) + np.linalg.norm(sample.path[:, -1] - first)
    return min(forward, backward)


def test_path_and_keys_move_together():
    made = samples(HELLO, 5, seed=1, rearranged=3)
    assert len(made) == 9
    assert made[0].title == "hello, qwerty"
    assert [sample.title for sample in made[6:]] == ["re-arranged"] * 3
    for sample in made:
        assert sample.path.shape == (2, 64)
        assert sample.centres.shape == (26, 2)
        # Re-arrangement may move a finger within the key it means; the other stages move it with the key.
        assert ends(sample) < (0.2 if sample.title == "re-arranged" else 1e-4)


def test_a_seed_gives_the_same_samples():
    one, same, other = (samples(HELLO, 2, seed=seed)[2] for seed in (1, 1, 2))
    assert one.path.tolist() == same.path.tolist() != other.path.tolist()


def test_titles_say_what_was_done():
    titles = [sample.title for sample in samples(HELLO, 60)[1:]]
    assert all("°" in title for title in titles)
    assert 20 <= sum("flip x" in title for title in titles) <= 40
    assert 1 <= sum("reversed" in title for title in titles) <= 15


def test_a_panel_per_sample(monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(module, "save", lambda made, *rest: figures.append(made) or [])
    draw_samples(samples(HELLO, 4), tmp_path / "x")
    draw_samples(samples(HELLO, 0), tmp_path / "x")
    assert [sum(bool(axes.get_title()) for axes in made.axes) for made in figures] == [5, 1]
