import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("torch")

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
    drawn = samples(HELLO, 5, seed=1, rearranged=3)
    assert len(drawn) == 9
    assert drawn[0].title == "hello, qwerty"
    assert [sample.title for sample in drawn[6:]] == ["re-arranged"] * 3
    for sample in drawn:
        assert sample.path.shape == (2, 64)
        assert sample.centres.shape == (26, 2)
        # Re-arrangement may move a finger within the key it means; the other stages move it with the key.
        assert ends(sample) < (0.2 if sample.title == "re-arranged" else 1e-4)


def test_a_seed_gives_the_same_samples_and_titles_say_what_was_done():
    one, same, other = (samples(HELLO, 30, seed=seed) for seed in (1, 1, 2))
    assert one[2].path.tolist() == same[2].path.tolist() != other[2].path.tolist()
    titles = [sample.title for sample in one[1:]]
    assert all("°" in title for title in titles)
    for change in ("flip x", "reversed"):
        assert 0 < sum(change in title for title in titles) < 30


def test_a_panel_per_sample():
    figures = [draw_samples(samples(HELLO, count)) for count in (4, 0)]
    assert [sum(bool(axes.get_title()) for axes in drawn.axes) for drawn in figures] == [5, 1]
