"""The swipes of golden vectors: every awkward kind is what its name says."""

from itertools import pairwise

import numpy as np
import pytest

import glissando
from glissando.errors import BundleError
from glissando.export.awkward import BENDS, DOUBLED, OWN, TAPPED, TEXTS, UNLISTED, WORDS, Source, single_context
from glissando.lexicon import typed_letters

LEXICON = [
    "i", "a", "to", "hello", "letter", "summer", "book", "world", "friend", "keyboard", "internationally", "because",
    "little", "animal", "it's", "its",
]  # fmt: skip
LITERALS = {"fluency_weight": 0.4, "literal_bonus": 5.0, "none_bonus": -1.0}


@pytest.fixture(scope="module")
def keyboard(tiny_weights):
    """With the packaged English context."""
    words = {word: 2.0**i for i, word in enumerate(LEXICON)}
    return glissando.load("qwerty", "en", lexicon=words, weights=tiny_weights, scoring=LITERALS)


@pytest.fixture(scope="module")
def source(keyboard):
    return Source(keyboard)


@pytest.fixture
def drawn(source):
    """Four swipes of a kind."""
    return lambda kind: [source.draw(kind, np.random.default_rng(seed)) for seed in range(4)]


def test_the_kinds_are_those_that_a_keyboard_can_tell_apart(keyboard, source):
    assert source.kinds == [*BENDS, *WORDS, *TAPPED, *OWN, *UNLISTED, *TEXTS]
    plain = keyboard.replace(scoring=keyboard.scoring.closed(), context=None)
    assert Source(plain).kinds == [*BENDS, *WORDS, *TAPPED, *OWN]


def test_bent_swipes_are_what_they_are_called(drawn):
    def of_kind(kind):
        return [one.gesture for one in drawn(kind)]

    assert all(len(one) == 1 for one in of_kind("one point"))
    assert all(len(one) == 2 for one in of_kind("two points"))
    assert all(one.duration == 0 and len(one) > 2 for one in of_kind("points at one instant"))
    assert all((np.diff(one.t) == 0).any() for one in of_kind("pairs of points at one instant"))
    assert all(np.ptp(one.x) == 0 and one.duration > 0 for one in of_kind("a finger that rests"))
    assert all(one.duration == 75 for one in of_kind("half a frame"))  # 4.5 frames of 60 Hz
    assert all(one.t[0] > 1e12 for one in of_kind("since 1970"))
    assert all(abs(one.x).max() > 1000 for one in of_kind("far outside"))
    assert all(one.t[-1] - one.t[-2] >= 1499 for one in of_kind("a rest at the end"))
    outside = of_kind("outside the keyboard")
    assert any(max(one.x.max(), one.y.max()) > 1 or min(one.x.min(), one.y.min()) < 0 for one in outside)
    assert all(any(a == b for a, b in pairwise(one.word)) for one in drawn("doubled letters"))


def test_texts_are_what_they_are_called(keyboard, drawn):
    state = {kind: keyboard.context.state(drawn(kind)[0].context) for kind in TEXTS}
    assert state["at the beginning of a text"] == state["after a sentence"] == (0,)
    assert len(state["after two words"]) == 3
    assert state["after an unknown word"][-1] == state["after another script"][-1] == state["after a number"][-1] == -1
    assert state["after an unknown word and a known one"][1] == -1 < state["after an unknown word and a known one"][2]
    assert state["after one long word"] == ()
    assert len(state["after a long text"]) == 2
    assert (state["after emoji"][0], len(state["after emoji"])) == (0, 3)
    assert state["after control characters"][0] == 0  # the sentence before it has ended
    assert state["after an accent in two parts"][-1] == keyboard.context.numbers["café"]


def test_tapped_letters_are_those_of_the_word(keyboard, drawn):
    letters = frozenset(keyboard.layout.letters)
    for kind in TAPPED | UNLISTED:
        for one in drawn(kind):
            typed = "".join(typed_letters(one.word, letters))
            assert typed.startswith(one.prefix.lower())
            assert typed.endswith(one.suffix)
            assert bool(one.prefix or one.suffix) == ("tapped" in kind)
    assert all(one.prefix.isupper() for one in drawn("a tapped capital"))


def test_words_in_no_list_are_in_none_and_own_words_are_said(keyboard, drawn):
    for kind in (*UNLISTED, "an own word"):
        for one in drawn(kind):
            assert keyboard.trie.find(one.word) < 0 or one.word not in LEXICON
            assert one.word.isalpha()
    assert all(any(a == b for a, b in pairwise(one.word)) for one in drawn(DOUBLED))
    assert all(one.word in one.own and one.word not in LEXICON for one in drawn("an own word"))
    assert all(set(one.own) == {one.word} <= set(LEXICON) for one in drawn("an own word that is listed"))
    for one in drawn("an own word typed as a listed one"):
        other = (set(one.own) - set(LEXICON)).pop()
        assert typed_letters(other, frozenset(keyboard.layout.letters)) == typed_letters(
            one.word, frozenset(keyboard.layout.letters)
        )


def test_a_word_is_made_up_of_a_few_words_too(tiny_weights):
    keyboard = glissando.load("qwerty", lexicon={"a": 1, "to": 2}, weights=tiny_weights, scoring=LITERALS)
    made = Source(keyboard).draw("in no list", np.random.default_rng(0)).word
    assert len(made) >= 4
    assert keyboard.trie.find(made) < 0


def test_a_bundle_has_the_context_of_one_language(keyboard):
    assert single_context(keyboard) is keyboard.context
    with pytest.raises(BundleError, match="one language, and this keyboard has en"):
        single_context(keyboard.replace(context=Mixed()))


class Mixed:
    """A context of several languages."""
