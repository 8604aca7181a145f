"""Strings read without a lexicon, against all alignments and against counts by hand."""

import math

import numpy as np
import pytest
from reference import spelled_log_probs

from glissando.layout import load_layout
from glissando.lexicon import Lexicon, load_lexicon
from glissando.literal import FLUENCY, LETTER, STEP, Fluency, build_fluency, gram_order, read_letters
from glissando.synth import swipe
from glissando.trie import NO_AFFIXES, Affixes

LETTERS = ("a", "b", "c")


def flat(letters=LETTERS, order=2):
    """An n-gram for which all letters are alike."""
    return Fluency(letters, order, np.full((len(letters) + 1) ** order, round(math.log(4) / STEP), np.uint8))


def emissions(seed, frames=5, letters=3):
    logits = 2 * np.random.default_rng(seed).normal(size=(frames, letters + 1)).astype(np.float32)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def read(log_probs, fluency, affixes=NO_AFFIXES):
    """What was read, best first, as strings with their log-probability and fluency."""
    found = read_letters(log_probs, fluency, affixes)
    rows = zip(found.nodes.tolist(), found.log_probs.tolist(), found.fluency.tolist(), strict=True)
    return {found.tree.text(node): (log_prob, fluent) for node, log_prob, fluent in rows}


@pytest.mark.parametrize("seed", range(8))
def test_strings_are_those_of_all_alignments(seed):
    log_probs = emissions(seed, 3, 2)  # 14 strings, fewer than the beam holds
    found = read(log_probs, flat(LETTERS[:2]))
    exact = {"".join(LETTERS[i] for i in labels): p for labels, p in spelled_log_probs(log_probs).items() if labels}
    cost = STEP * round(math.log(4) / STEP)
    rank = {text: p - FLUENCY * cost * (len(text) + 1) + LETTER * len(text) for text, p in exact.items()}
    assert list(found)[:5] == sorted(rank, key=rank.__getitem__, reverse=True)[:5]
    for text in list(found)[:5]:
        assert found[text][0] == pytest.approx(exact[text], abs=5e-3)  # letters below 1e-4 are not tried
        assert found[text][1] == pytest.approx(-cost * (len(text) + 1), abs=1e-4)


def test_doubled_letters_need_a_blank_between():
    frames = np.log(np.array([[0.9, 0.02, 0.02, 0.06], [0.05, 0.02, 0.03, 0.9], [0.9, 0.02, 0.02, 0.06]], np.float32))
    assert next(iter(read(frames, flat()))) == "aa"
    assert next(iter(read(frames[[0, 2]], flat()))) == "a"


def test_strings_begin_and_end_with_what_was_tapped():
    log_probs = emissions(3, 8)
    free = read(log_probs, flat())
    begun = read(log_probs, flat(), Affixes(prefix=(1, 0)))
    assert begun
    assert all(text.startswith("ba") for text in begun)
    ended = read(log_probs, flat(), Affixes(suffix=(2,)))
    assert ended
    assert all(text.endswith("c") for text in ended)
    assert not all(text.endswith("c") for text in free)
    assert read(log_probs[:1], flat(), Affixes(prefix=(1, 0))) == {}  # two letters do not fit in one frame


def test_fluency_is_a_probability_and_prefers_what_the_words_have():
    lexicon = Lexicon("test", "", ("abab", "abc", "cab", "it's"), np.array([200, 100, 50, 9], np.uint8))
    fluency = build_fluency(lexicon, LETTERS)
    assert fluency.order == 4
    table = np.exp(-STEP * fluency.costs.reshape((4,) * 4).astype(float))
    assert table.sum(axis=-1) == pytest.approx(1, abs=0.05)  # costs are rounded to a sixteenth
    assert fluency.of((0, 1, 0, 1)) > fluency.of((1, 0, 1, 0)) > -100
    assert fluency.of((0, 1)) == pytest.approx(
        -STEP * sum(fluency.costs.reshape((4,) * 4)[gram] for gram in ((3, 3, 3, 0), (3, 3, 0, 1), (3, 0, 1, 3)))
    )


def test_grams_are_counted_by_hand():
    """Without interpolation's help: where one letter always follows, nearly all the mass is on it."""
    words = ("abc", "abc'", "ab")
    lexicon = Lexicon("test", "", words, np.zeros(3, np.uint8))
    costs = build_fluency(lexicon, LETTERS).costs.reshape((4,) * 4)
    padded = [f"   {word} " for word in ("abc", "abc", "ab")]
    seen = {word[at : at + 4] for word in padded for at in range(len(word) - 3)}
    label = {"a": 0, "b": 1, "c": 2, " ": 3}
    for gram in seen:
        place = tuple(label[sign] for sign in gram)
        others = [costs[(*place[:3], last)] for sign, last in label.items() if gram[:3] + sign not in seen]
        assert all(costs[place] < other for other in others)


def test_large_alphabets_have_shorter_grams():
    assert (gram_order(26), gram_order(33), gram_order(60), gram_order(2000)) == (4, 4, 3, 1)
    letters = tuple(chr(0x4E00 + i) for i in range(60))
    fluency = build_fluency(Lexicon.from_counts({"".join(letters[:3]): 1}), letters)
    assert len(fluency.costs) == 61**3 < 2_000_000


def test_a_name_is_read_from_a_real_swipe():
    import glissando

    layout = load_layout("qwerty")
    board = glissando.load(layout, "en")
    gesture = swipe("taigang", layout, np.random.default_rng(0))
    assert "taigang" not in load_lexicon("en").words
    found = board.dictionary.read(board.read([gesture]).log_probs[0])
    assert "taigang" in found.texts()[:3]
