import numpy as np
import pytest

from glissando.geometry import POINTS, Ruler, distances
from glissando.layout import Key, Layout, load_layout
from glissando.lexicon import Lexicon
from glissando.shark2 import Shark2
from glissando.synth import swipe
from glissando.templates import match_locations, normalise
from glissando.trie import build_trie
from glissando.walk import cost_tables

WORDS = ("hello", "help", "held", "world", "word", "a", "to", "too", "stream", "steam")


def ruler_of(layout):
    half_sizes = np.array([(key.rx, key.ry) for key in layout.keys])
    return Ruler.of(layout.centres, half_sizes, list(layout.keys_of.values()))


def measured(layout, gesture, words=WORDS):
    """Location and shape of every word. Shape: [W, 2]."""
    trie = build_trie(Lexicon.from_counts(dict.fromkeys(words, 1.0)), tuple(layout.keys_of))
    nodes = np.array([[trie.find(word) for word in words]], dtype=np.int32)
    ruler = ruler_of(layout)
    return distances(ruler.trace(gesture.x, gesture.y, gesture.t)[None], nodes, trie, ruler)[0]


@pytest.mark.parametrize("layout", ["qwerty", "clearflow"])
def test_the_distances_are_shark2s(layout):
    layout = load_layout(layout)
    gesture = swipe("hello", layout, np.random.default_rng(0))
    shark = Shark2(layout, Lexicon.from_counts(dict.fromkeys(WORDS, 1.0)))
    templates = shark._templates
    trace = ruler_of(layout).trace(gesture.x, gesture.y, gesture.t)
    visits, strays = cost_tables(trace, templates.keys, templates.key_starts, shark._weights)
    order = np.array([shark.spellings.index(word) for word in WORDS])
    location = match_locations(order, visits, strays, templates)
    shape = np.sqrt(((templates.shapes[order] - normalise(trace)) ** 2).sum(1) / POINTS)
    np.testing.assert_allclose(measured(layout, gesture), np.column_stack([location, shape]), atol=1e-5)


@pytest.mark.parametrize("word", ["hello", "held", "word"])
def test_the_word_that_was_swiped_is_nearest(word):
    layout = load_layout("qwerty")
    found = measured(layout, swipe(word, layout))
    assert WORDS[int(found[:, 0].argmin())] == word


def test_a_doubled_letter_changes_nothing():
    layout = load_layout("qwerty")
    found = dict(zip(WORDS, measured(layout, swipe("to", layout)), strict=True))
    np.testing.assert_array_equal(found["to"], found["too"])


def test_shape_does_not_see_place_or_size():
    layout = load_layout("qwerty")
    gesture = swipe("world", layout)
    small = type(gesture)(0.3 + 0.5 * gesture.x, 0.1 + 0.5 * gesture.y, gesture.t)
    np.testing.assert_allclose(measured(layout, gesture)[:, 1], measured(layout, small)[:, 1], atol=1e-4)
    assert not np.allclose(measured(layout, gesture)[:, 0], measured(layout, small)[:, 0], atol=1e-2)


def test_of_several_keys_the_nearest_counts():
    # Two keys for a, at either end; b in the middle.
    keys = [Key("a", 0.1, 0.5, 0.1, 0.5), Key("b", 0.5, 0.5, 0.1, 0.5), Key("a", 0.9, 0.5, 0.1, 0.5)]
    layout = Layout("two", tuple(keys))
    one = Layout("one", tuple(keys[:2]))
    gesture = type(swipe("ab", one))([0.9, 0.7, 0.5], [0.5, 0.5, 0.5], [0, 100, 200])
    near, far = measured(layout, gesture, ("ab", "b")), measured(one, gesture, ("ab", "b"))
    assert near[0, 0] < far[0, 0]


def test_no_hypothesis_no_distance():
    layout = load_layout("qwerty")
    trie = build_trie(Lexicon.from_counts({"to": 1.0}), tuple(layout.keys_of))
    ruler = ruler_of(layout)
    gesture = swipe("to", layout, np.random.default_rng(0))
    trace = ruler.trace(gesture.x, gesture.y, gesture.t)
    nodes = np.array([[trie.find("to"), -1, -1]] * 3, dtype=np.int32)
    found = distances(np.stack([trace] * 3), nodes, trie, ruler)
    assert (found[:, 1:] == 0).all()
    assert (found[:, 0] > 0).all()
    np.testing.assert_array_equal(found[0], found[2])


def test_a_tap_and_a_far_finger_stay_finite():
    layout = load_layout("qwerty")
    for x, y, t in (([0.5], [0.5], [0.0]), ([1e9, -1e9], [0.0, 1e12], [0.0, 1.0])):
        gesture = type(swipe("to", layout))(x, y, t)
        assert np.isfinite(measured(layout, gesture)).all()
