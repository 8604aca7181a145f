import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glissando.beam import Hypotheses, search_batch
from glissando.evaluation.metrics import Outcome, summarise
from glissando.evaluation.stored import best_shares, store_beams, tt1mm5
from glissando.lexicon import Lexicon
from glissando.scoring import Scoring, score_words, softmax
from glissando.trie import build_trie

WORDS = ("ab", "ba", "a", "b", "aba", "bab", "c", "cab", "abc", "cc")


def beams_and_rankings(seed, swipes, scoring):
    """Stored beams, and the same ranked word by word with the plain scoring function."""
    rng = np.random.default_rng(seed)
    lexicon = Lexicon("test", "", WORDS, rng.integers(0, 255, len(WORDS)).astype(np.uint8))
    trie = build_trie(lexicon, ("a", "b", "c"))
    logits = rng.normal(size=(swipes, 6, 4)).astype(np.float32) * 2
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    found = search_batch(log_probs, trie, width=6, pruning_exponent=0.2, pruning_bonus=1.0)
    targets = [WORDS[i] for i in rng.integers(0, 3, swipes)]
    rankings = []
    for nodes, evidence in zip(found.nodes, found.log_probs, strict=True):
        spelled = [next(word for word in WORDS if trie.find(word) == node) for node in nodes if node >= 0]
        bytes_ = np.array([lexicon.frequencies[WORDS.index(word)] for word in spelled])
        lengths = np.array([len(word) for word in spelled])
        scores = score_words(evidence[: len(spelled)], lengths, bytes_, scoring) if spelled else []
        rankings.append(tuple(spelled[i] for i in np.argsort(scores)[::-1]))
    return store_beams(found, trie, lexicon.frequencies, targets), targets, rankings


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(-0.5, 1.0), st.floats(0, 0.1), st.floats(-1, 3))
def test_stored_beams_count_as_the_metrics_do(seed, exponent, weight, bonus):
    scoring = Scoring(exponent, weight, bonus)
    beams, targets, rankings = beams_and_rankings(seed, 40, scoring)
    plain = summarise([Outcome(target, ranking) for target, ranking in zip(targets, rankings, strict=True)])
    quick = tt1mm5(beams, scoring)
    for name in ("top1", "top3", "map5", "macro_f1_5", "tt1mm5"):
        assert quick[name] == pytest.approx(getattr(plain, name), abs=1e-6), name
    assert beams.recall == pytest.approx(plain.recall)


def test_ties_are_ranked_as_decoding_does():
    """By the byte, and at the same byte as the beam has them: a tie is no hit for free."""
    letters = ("a", "b", "c")
    lexicon = Lexicon("test", "", letters, np.array([50, 60, 60], np.uint8))
    trie = build_trie(lexicon, letters)
    nodes = np.array([[trie.find(letter) for letter in letters]] * 3, np.int32)
    hypotheses = Hypotheses(nodes, np.full((3, 3), -2.0, np.float32))
    beams = store_beams(hypotheses, trie, lexicon.frequencies, letters)
    ranks, first = beams.ranks(Scoring(0.0, 0.02, 0.0, frequency_floor=90.0))
    assert ranks.tolist() == [3, 1, 2]  # b, c, a
    assert first.tolist() == [1, 1, 1]


def test_a_selection_ranks_as_the_whole_does():
    scoring = Scoring(0.3, 0.02, 1.0)
    beams, _, _ = beams_and_rankings(3, 40, scoring)
    odd = np.arange(40) % 2 == 1
    ranks, _ = beams.ranks(scoring)
    chosen, _ = beams.select(odd).ranks(scoring)
    assert chosen.tolist() == ranks[odd].tolist()


def test_a_selection_may_predict_a_word_that_only_others_meant():
    scoring = Scoring(0.3, 0.02, 1.0)
    beams, targets, rankings = beams_and_rankings(5, 60, scoring)
    for word in set(targets):
        rows = np.array([target == word for target in targets])
        outcomes = [Outcome(t, r) for t, r, chosen in zip(targets, rankings, rows, strict=True) if chosen]
        assert tt1mm5(beams.select(rows), scoring)["tt1mm5"] == pytest.approx(summarise(outcomes).tt1mm5)


def test_the_best_share_is_that_of_a_softmax():
    scoring = Scoring(0.3, 0.02, 1.0, temperature=1.7)
    beams, _, _ = beams_and_rankings(7, 40, scoring)
    said, right = best_shares(beams, scoring)
    scores = np.split(beams.scores(scoring), beams.offsets[1:-1])
    np.testing.assert_allclose(said, [softmax(part, 1.7).max() for part in scores if len(part)])
    kept = np.diff(beams.offsets) > 0
    assert right.tolist() == (beams.ranks(scoring)[0][kept] == 1).tolist()
