import numpy as np
import pytest

import glissando
from glissando.gesture import Gesture
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.synth import swipe
from glissando.web.checking import check_swipe

QWERTY = load_layout("qwerty")


@pytest.fixture(scope="module")
def keyboard():
    """The packaged networks with a few words."""
    words = dict.fromkeys(["hello", "world", "weather", "people", "Café", "question"], 1)
    return glissando.load("qwerty", lexicon=Lexicon.from_counts(words))


def gesture(word, seed=0):
    return swipe(word, QWERTY, np.random.default_rng(seed), 0.3)


@pytest.mark.parametrize("word", ["hello", "Weather,", "“people”", "CAFE", "world"])
def test_a_swipe_of_its_word(keyboard, word):
    check = check_swipe(keyboard, gesture(word), word)
    assert check.right
    assert not check.flagged
    assert check.cost < 1.5
    assert check.key_distance < 1
    assert 0.5 < check.sure <= 1


@pytest.mark.parametrize(("swiped", "asked"), [("hello", "world"), ("question", "weather"), ("people", "hello")])
def test_a_swipe_of_another_word(keyboard, swiped, asked):
    check = check_swipe(keyboard, gesture(swiped), asked)
    assert check.read == swiped
    assert not check.right
    assert check.flagged
    assert check.cost > 4


def test_scribbles_are_flagged_although_they_pass_all_keys(keyboard):
    rng = np.random.default_rng(0)
    for asked in ("hello", "weather", "people"):
        corners = rng.uniform(0, 1, (30, 2))
        steps = np.linspace(0, 29, 200)
        path = [np.interp(steps, np.arange(30), corners[:, axis]) for axis in (0, 1)]
        assert check_swipe(keyboard, Gesture(*path, steps * 60), asked).flagged


def test_a_word_that_no_list_has_is_not_flagged_for_that(keyboard):
    check = check_swipe(keyboard, gesture("zorblat"), "Zorblat")
    assert not check.flagged
    assert check.cost < 1.5


def test_a_word_too_long_for_the_network_is_judged_by_its_keys(keyboard):
    word = 3 * "antidisestablishmentarianistically"
    check = check_swipe(keyboard, gesture(word), word)
    assert check.cost is None
    assert check.key_distance < 2
    assert not check.flagged
    assert check_swipe(keyboard, gesture("hello"), word).flagged


@pytest.mark.parametrize(("x", "y", "read"), [(0.0, 0.0, "i"), (0.03, 0.1, "i"), (0.1, 0.0, "o")])
def test_a_word_of_one_letter_is_tapped(keyboard, x, y, read):
    key = QWERTY.keys[QWERTY.letters.index("i")]
    check = check_swipe(keyboard, Gesture.from_points([(key.cx + x, key.cy + y, t) for t in (0, 60)]), "“I”")
    assert (check.read, check.right, check.flagged, check.cost) == (read, read == "i", False, None)


def test_a_swipe_is_no_tap(keyboard):
    check = check_swipe(keyboard, gesture("hello"), "I")
    assert check.flagged
    assert check.key_distance > 2
