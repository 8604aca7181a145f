import itertools
import math

import numpy as np
import pytest
from reference import collapse

from glissando.beam import Pruning, search
from glissando.ctc import IMPOSSIBLE, align, needed_frames, word_costs, word_log_probs
from glissando.errors import LexiconError
from glissando.lexicon import Lexicon
from glissando.trie import build_trie

LETTERS = tuple("abcde")
SPELLINGS = ["a", "ab", "abba", "bee", "deed", "cabbed", "dead", "decade", "aaa"]


@pytest.fixture(scope="module")
def trie():
    return build_trie(Lexicon.from_counts(dict.fromkeys(SPELLINGS, 1.0)), LETTERS)


def emissions(rng, frames, letters):
    logits = 2 * rng.normal(size=(frames, letters + 1))
    return (logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))).astype(np.float32)


def ways(log_probs, labels):
    """Every class per frame that reads as the word, with its log-probability."""
    frames, classes = log_probs.shape
    for way in itertools.product(range(classes), repeat=frames):
        if collapse(way, classes - 1) == tuple(labels):
            yield way, float(log_probs[np.arange(frames), way].astype(np.float64).sum())


def brute_align(log_probs, labels):
    """The best way of all, and in it the surest frame of each run of a letter."""
    way, _ = max(ways(log_probs, labels), key=lambda one: one[1])
    frames, start = [], 0
    for label, run in itertools.groupby(way):
        size = len(list(run))
        if label != log_probs.shape[1] - 1:
            frames.append(start + int(log_probs[start : start + size, label].argmax()))
        start += size
    return frames


WORDS = [[0], [1, 0], [0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1, 0]]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("labels", WORDS, ids=str)
def test_alignment_is_that_of_all_ways(labels, seed):
    log_probs = emissions(np.random.default_rng(seed), 6, 2)
    assert list(align(log_probs, labels).frames) == brute_align(log_probs, labels)


@pytest.mark.parametrize("seed", range(4))
def test_costs_sum_all_ways_of_words_of_any_length(seed):
    rng = np.random.default_rng(seed)
    batch = np.stack([emissions(rng, 6, 2) for _ in WORDS])
    expected = [-np.logaddexp.reduce([p for _, p in ways(one, word)]) for one, word in zip(batch, WORDS, strict=True)]
    np.testing.assert_allclose(word_costs(batch, WORDS), expected, rtol=1e-6)


def test_by_hand():
    """Letter 0 is certain in frame 1, letter 1 in frame 3; elsewhere blank is."""
    probs = np.full((5, 3), 0.01)
    probs[[0, 2, 4], 2] = probs[1, 0] = probs[3, 1] = 0.98
    found = align(np.log(probs), [0, 1])
    assert found.frames == (1, 3)
    assert found.costs == pytest.approx((-np.log(0.98), -np.log(0.98)))
    assert found.gaps == pytest.approx(-3 * np.log(0.98))
    assert word_costs(np.log(probs)[None], [[0, 1]])[0] == pytest.approx(-5 * np.log(0.98), abs=0.05)


def test_doubled_letters_need_a_frame_between_them():
    assert needed_frames([0, 0, 1]) == 4
    log_probs = emissions(np.random.default_rng(0), 3, 2)
    assert align(log_probs, [0, 0]).frames == (0, 2)
    with pytest.raises(LexiconError, match="a word of 3 letters takes 4 frames; the encoder has 3"):
        align(log_probs, [0, 0, 1])
    with pytest.raises(LexiconError, match="a word of 0 letters"):
        align(log_probs, [])
    with pytest.raises(LexiconError, match="takes 4 frames"):
        word_costs(log_probs[None], [[0, 0, 1]])


def test_agrees_with_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    batch = np.stack([emissions(rng, 32, 26) for _ in range(5)])
    words = [rng.integers(0, 26, size).tolist() for size in (1, 4, 7, 12, 15)]
    targets = torch.zeros(5, 15, dtype=torch.long)
    for row, word in zip(targets, words, strict=True):
        row[: len(word)] = torch.tensor(word)
    found = torch.nn.functional.ctc_loss(
        torch.tensor(batch).transpose(0, 1), targets, torch.full((5,), 32), torch.tensor([len(word) for word in words]),
        blank=26, reduction="none",
    )  # fmt: skip
    np.testing.assert_allclose(word_costs(batch, words), found.numpy(), rtol=1e-4)


def nodes_of(trie, *words):
    return np.array([trie.find(word) if word else -1 for word in words], dtype=np.int32)


def test_hypotheses_of_a_wide_beam_have_the_same_sums(trie):
    log_probs = emissions(np.random.default_rng(7), 12, len(LETTERS))
    hypotheses = search(log_probs, trie, Pruning(0.2, 1.0, width=1000, sure_blank=1.0))
    real = hypotheses.nodes >= 0
    assert real.sum() == len(SPELLINGS)
    totals = word_log_probs(log_probs, hypotheses.nodes, trie)
    assert (totals[~real] == IMPOSSIBLE).all()
    np.testing.assert_allclose(totals[real], hypotheses.log_probs[real], rtol=1e-4)
    labels = [[LETTERS.index(letter) for letter in word] for word in SPELLINGS]
    costs = word_costs(np.repeat(log_probs[None], len(labels), axis=0), labels)
    np.testing.assert_allclose(word_log_probs(log_probs, nodes_of(trie, *SPELLINGS), trie), -costs, rtol=1e-5)


def test_a_word_far_below_the_smallest_float_keeps_its_cost(trie):
    log_probs = np.full((64, len(LETTERS) + 1), -30.0, dtype=np.float32)
    log_probs[:, 0] = 0.0
    sure, unlikely = word_log_probs(log_probs, nodes_of(trie, "a", "bee"), trie)
    assert sure == pytest.approx(0.0, abs=1e-6)
    assert word_log_probs(log_probs[:2], nodes_of(trie, "abba"), trie) == [IMPOSSIBLE]  # four letters in two frames
    # Each of the 64 frames costs 30 nats, whichever letter or blank it is; "bee" has 66 over 6 alignments.
    assert unlikely == pytest.approx(-64 * 30 + np.log(math.comb(66, 6)), abs=1e-3)
