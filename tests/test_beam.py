from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import prefix_beam, spelled_log_probs

from glissando.beam import Pruning, _make_beam, _prune, greedy, search
from glissando.lexicon import Lexicon
from glissando.trie import build_trie

LETTERS = ("a", "b", "c")
PRUNING = Pruning(exponent=0.2, bonus=1.1)


def trie_of(*words):
    return build_trie(Lexicon.from_counts(dict.fromkeys(words, 1.0)), LETTERS)


def trie_with(bytes_of):
    """The trie of words with these frequency bytes."""
    return build_trie(Lexicon("test", "", tuple(bytes_of), np.array([*bytes_of.values()], np.uint8)), LETTERS)


def found(hypotheses, trie, lexicon_words):
    """Spelled words with their log-probabilities."""
    result = {}
    for node, log_prob in zip(hypotheses.nodes, hypotheses.log_probs, strict=True):
        if node >= 0:
            result[next(word for word in lexicon_words if trie.find(word) == node)] = float(log_prob)
    return result


def emissions(*rows):
    array = np.log(np.array(rows, dtype=np.float64))
    return array.astype(np.float32)


def test_two_frames_by_hand():
    # Columns: a, b, c, blank. "a" is spelled by aa, a-, -a; "ab" by ab alone.
    log_probs = emissions([0.5, 0.2, 0.1, 0.2], [0.1, 0.4, 0.1, 0.4])
    trie = trie_of("a", "ab")
    answer = found(search(log_probs, trie, replace(PRUNING, width=10)), trie, ["a", "ab"])
    assert np.exp(answer["a"]) == pytest.approx(0.5 * 0.1 + 0.5 * 0.4 + 0.2 * 0.1, rel=1e-5)
    assert np.exp(answer["ab"]) == pytest.approx(0.5 * 0.4, rel=1e-5)


def test_a_doubled_letter_needs_a_blank_between():
    log_probs = emissions([0.9, 0.03, 0.03, 0.04], [0.02, 0.03, 0.05, 0.9], [0.9, 0.03, 0.03, 0.04])
    trie = trie_of("a", "aa")
    answer = found(search(log_probs, trie, replace(PRUNING, width=10)), trie, ["a", "aa"])
    assert np.exp(answer["aa"]) == pytest.approx(0.9 * 0.9 * 0.9, rel=1e-5)


@st.composite
def cases(draw):
    words = draw(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8, unique=True))
    frames = draw(st.integers(1, 6))
    seed = draw(st.integers(0, 2**32 - 1))
    sharp = draw(st.floats(0.1, 6.0))
    logits = np.random.default_rng(seed).normal(size=(frames, 4)) * sharp
    return words, (logits - np.log(np.exp(logits).sum(-1, keepdims=True))).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([0.0, 0.03]))
def test_a_wide_beam_is_exact_and_looking_ahead_changes_nothing(case, frequency):
    words, log_probs = case
    trie = trie_with(drawn_bytes(words, len(words)))
    wide = replace(PRUNING, width=200, sure_blank=1, frequency=frequency, floor=20)
    answer = found(search(log_probs, trie, wide), trie, words)
    truth = spelled_log_probs(log_probs)
    for word in words:
        labels = tuple(LETTERS.index(letter) for letter in word)
        if labels in truth and truth[labels] > -60:
            assert answer[word] == pytest.approx(truth[labels], abs=2e-3)
        else:
            assert word not in answer or answer[word] < -59


def test_pruning_bonus_keeps_long_prefixes_alive():
    # At every frame blank is likelier than the next letter: without a bonus a beam of one stays at the root.
    log_probs = emissions([0.4, 0.01, 0.01, 0.58], [0.01, 0.4, 0.01, 0.58], [0.01, 0.01, 0.4, 0.58])
    trie = trie_of("abc")
    bare = search(log_probs, trie, Pruning(0.0, 0.0, width=1))
    assert (bare.nodes < 0).all()
    kept = search(log_probs, trie, Pruning(0.0, 1.0, width=1))
    assert kept.nodes[0] == trie.find("abc")


def test_looking_ahead_keeps_the_prefix_of_a_frequent_word():
    # After one frame "a" and "b" are equals but for a hair; a beam of one keeps what may become the frequent word.
    log_probs = emissions([0.49, 0.48, 0.01, 0.02], [0.01, 0.01, 0.96, 0.02])
    trie = trie_with({"ac": 40, "bc": 200})
    blind = search(log_probs, trie, replace(PRUNING, width=1))
    assert blind.nodes[0] == trie.find("ac")
    ahead = search(log_probs, trie, replace(PRUNING, width=1, frequency=0.01))
    assert ahead.nodes[0] == trie.find("bc")
    assert ahead.log_probs[0] == pytest.approx(np.log(0.48 * 0.96), abs=1e-5)  # the byte is not in it
    floored = search(log_probs, trie, replace(PRUNING, width=1, frequency=0.01, floor=200))
    assert floored.nodes[0] == trie.find("ac")


def drawn_bytes(words, seed):
    return dict(zip(words, np.random.default_rng(seed).integers(0, 256, len(words)).tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(
    cases(), st.integers(1, 5), st.integers(0, 99), st.sampled_from([0.0, 0.005, 0.03, 0.1]), st.sampled_from([0, 90])
)
def test_a_narrow_beam_is_that_of_the_reference(case, width, seed, frequency, floor):
    words, log_probs = case
    bytes_of = drawn_bytes(words, seed)
    trie = trie_with(bytes_of)
    pruning = replace(PRUNING, width=width, frequency=frequency, floor=floor, sure_blank=1)
    labels = {tuple(LETTERS.index(letter) for letter in word): word for word in words}
    truth, closest = prefix_beam(log_probs, {key: bytes_of[word] for key, word in labels.items()}, pruning)
    assume(closest > 1e-3)  # nearer than that, rounding decides
    answer = found(search(log_probs, trie, pruning), trie, words)
    likely = {labels[key]: log_prob for key, log_prob in truth.items() if log_prob > -60}
    assert {word: log_prob for word, log_prob in answer.items() if log_prob > -60} == pytest.approx(likely, abs=2e-3)


def test_a_sure_blank_is_waited_through():
    # The middle frame hides a faint b. Searched, "ab" is found; taken for a sure blank, it cannot be.
    log_probs = emissions([0.97, 0.01, 0.01, 0.01], [1e-6, 4e-5, 1e-6, 0.999958], [0.01, 1e-9, 0.01, 0.98])
    trie = trie_of("a", "ab")
    every = found(search(log_probs, trie, replace(PRUNING, width=10, sure_blank=1)), trie, ["a", "ab"])
    quick = found(search(log_probs, trie, replace(PRUNING, width=10)), trie, ["a", "ab"])
    assert np.exp(every["ab"]) == pytest.approx(0.97 * 4e-5 * 0.98, rel=1e-3)
    assert np.exp(quick["ab"]) < 1e-8
    assert quick["a"] == pytest.approx(every["a"], abs=1e-4)


def test_impossible_emissions_stay_finite():
    log_probs = np.full((5, 4), -1e4, dtype=np.float32)
    answer = search(log_probs, trie_of("abc", "a"), replace(PRUNING, width=3))
    assert np.isfinite(answer.log_probs).all()


def test_greedy_merges_repeats_and_drops_blanks():
    best = np.array([[0, 0, 3, 0, 1, 1, 3, 3]])
    log_probs = np.log(np.full((1, 8, 4), 0.01))
    np.put_along_axis(log_probs, best[..., None], 0.0, axis=-1)
    assert greedy(log_probs)[0].tolist() == [0, 0, 1]


@settings(deadline=None)
@given(st.lists(st.sampled_from([-2e30, -5.0, 0.0, 0.5, 7.0]) | st.floats(-9, 9, width=32), min_size=2), st.data())
def test_pruning_keeps_the_highest_ranks_and_of_equal_ones_the_first(values, data):
    width = data.draw(st.integers(1, len(values) - 1))
    beam = _make_beam(len(values), 1)
    beam.rank[:] = values
    beam.node[:] = np.arange(len(values))
    highest = np.sort(np.argsort(-np.array(values, dtype=np.float32), kind="stable")[:width])
    assert _prune(width, len(values), beam) == width
    assert beam.node[:width].tolist() == highest.tolist()
