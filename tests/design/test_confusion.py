import numpy as np
import pytest

from glissando.design.confusion import _pairs, confusions
from glissando.design.words import RunningText
from glissando.keyboard import Keyboard
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.runtime import EncoderRuntime
from glissando.scoring import Scoring
from glissando.synth import swipe
from glissando.weights import load_weights

QWERTY = load_layout("qwerty")


def judged(*words):
    lexicon = Lexicon("test", "en", words, np.full(len(words), 150, dtype=np.uint8))
    text = RunningText.of(lexicon, [QWERTY], 99)
    keyboard = Keyboard(QWERTY, text.lexicon, EncoderRuntime(load_weights()), Scoring())
    return confusions(keyboard, text, [swipe(word, QWERTY) for word in text.lexicon.words])


def test_both_directions_of_a_pair_are_weighed_by_their_words():
    shares = np.array([0.5, 0.3, 0.2])
    mistaken = {(0, 1): 0.1, (1, 0): 0.2, (2, 0): 0.05}
    first, second = _pairs(("aa", "bb", "cc"), shares, mistaken, 9)
    assert first.words == ("aa", "bb")
    assert first.mistaken == (0.1, 0.2)
    assert first.per_10000 == pytest.approx(10_000 * (0.5 * 0.1 + 0.3 * 0.2))
    assert (second.words, second.mistaken) == (("aa", "cc"), (0.0, 0.05))
    assert len(_pairs(("aa", "bb", "cc"), shares, mistaken, 1)) == 1


def test_words_along_one_line_are_mistaken_rather_than_others():
    found = judged("pit", "put", "mango", "quiz")
    assert found.pairs[0].words == ("pit", "put")
    assert 0 <= found.per_10000 <= 10_000
    assert found.per_10000 == pytest.approx(sum(pair.per_10000 for pair in found.pairs))


def test_a_lone_word_is_never_mistaken():
    found = judged("hello")
    assert (found.per_10000, found.pairs) == (0.0, ())
    assert found.cost > 0


def test_taps_are_left_out():
    assert judged("a", "s", "as").per_10000 == pytest.approx(judged("as", "a", "s").per_10000)
    assert all("as" in pair.words for pair in judged("a", "s", "as").pairs)
