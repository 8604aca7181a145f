import numpy as np
import pytest

from glissando.alignment import word_costs
from glissando.beam import search
from glissando.lexicon import Lexicon
from glissando.rescore import IMPOSSIBLE, word_log_probs
from glissando.trie import build_trie

LETTERS = tuple("abcde")
WORDS = ["a", "ab", "abba", "bee", "deed", "cabbed", "dead", "decade", "aaa"]


@pytest.fixture(scope="module")
def trie():
    return build_trie(Lexicon.from_counts(dict.fromkeys(WORDS, 1.0)), LETTERS)


def emissions(seed, swipes=3, frames=16):
    logits = 2 * np.random.default_rng(seed).normal(size=(swipes, frames, len(LETTERS) + 1))
    return (logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))).astype(np.float32)


def test_two_frames_by_hand(trie):
    # Columns: a, b, c, d, e, blank. "a" is spelled by aa, a-, -a; "ab" by ab alone.
    probs = np.array([[0.5, 0.2, 0.05, 0.03, 0.02, 0.2], [0.1, 0.4, 0.05, 0.03, 0.02, 0.4]])
    nodes = np.array([[trie.find("a"), trie.find("ab"), -1, trie.find("abba")]], dtype=np.int32)
    found = word_log_probs(np.log(probs)[None].astype(np.float32), nodes, trie)[0]
    assert np.exp(found[0]) == pytest.approx(0.5 * 0.1 + 0.5 * 0.4 + 0.2 * 0.1, rel=1e-5)
    assert np.exp(found[1]) == pytest.approx(0.5 * 0.4, rel=1e-5)
    assert found[2] == IMPOSSIBLE  # no node
    assert found[3] == IMPOSSIBLE  # four letters in two frames


@pytest.mark.parametrize("seed", range(3))
def test_every_word_as_ctc_has_it_one_by_one_and_in_a_batch(trie, seed):
    log_probs = emissions(seed)
    nodes = np.tile(np.array([trie.find(word) for word in WORDS], dtype=np.int32), (len(log_probs), 1))
    labels = [[LETTERS.index(letter) for letter in word] for word in WORDS]
    wanted = [-word_costs(np.repeat(one[None], len(WORDS), axis=0), labels) for one in log_probs]
    together = word_log_probs(log_probs, nodes, trie)
    np.testing.assert_allclose(together, wanted, rtol=1e-5)
    alone = [word_log_probs(log_probs[row : row + 1], nodes[row : row + 1], trie)[0] for row in range(len(nodes))]
    np.testing.assert_array_equal(together, alone)


def test_a_wide_beam_finds_the_same_sums(trie):
    log_probs = emissions(7, swipes=1, frames=12)
    found = search(log_probs[0], trie, width=1000, pruning_exponent=0.2, pruning_bonus=1.0, sure_blank=1.0)
    exact = word_log_probs(log_probs, found.nodes, trie)
    real = found.nodes[0] >= 0
    assert real.sum() == len(WORDS)
    np.testing.assert_allclose(exact[0][real], found.log_probs[0][real], rtol=1e-4)


def test_words_too_unlikely_for_a_float_are_impossible_not_infinite(trie):
    log_probs = np.full((1, 64, len(LETTERS) + 1), -30.0, dtype=np.float32)
    log_probs[..., 0] = 0.0
    nodes = np.array([[trie.find("a"), trie.find("bee")]], dtype=np.int32)
    found = word_log_probs(log_probs, nodes, trie)[0]
    assert found[0] == pytest.approx(0.0, abs=1e-6)
    assert found[1] == IMPOSSIBLE
