"""Stored beams rank and count as decoding again does."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glissando.beam import Hypotheses, Pruning, search
from glissando.errors import CorpusError
from glissando.evaluation.beams import StoredBeams, TuningSet, as_scoring, join_beams, store_beams, store_matches
from glissando.evaluation.metrics import Outcome, summarise
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.ngrams import build_context
from glissando.scoring import Scoring, score_words, softmax
from glissando.shark2 import Shark2, Shark2Constants
from glissando.stages import LEXICON, Spellings, Stages
from glissando.synth import swipe
from glissando.trie import build_trie

WORDS = ("ab", "ba", "a", "b", "aba", "bab", "c", "cab", "abc", "cc")
QWERTY_WORDS = ("to", "too", "ti", "tie", "the", "tge", "for", "foe", "fir", "got", "hot", "hit", "git", "rot", "rit")
MEASURES = ("top1", "top3", "map5", "macro_f1_5", "tt1mm5")


def beams_and_rankings(seed, swipes, scoring):
    """Stored beams, and the same ranked word by word with the plain scoring function."""
    rng = np.random.default_rng(seed)
    lexicon = Lexicon("test", "", WORDS, rng.integers(0, 255, len(WORDS)).astype(np.uint8))
    trie = build_trie(lexicon, ("a", "b", "c"))
    logits = rng.normal(size=(swipes, 6, 4)).astype(np.float32) * 2
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    rows = [search(frames, trie, Pruning(0.2, 1.0, width=6)) for frames in log_probs]
    targets = [WORDS[i] for i in rng.integers(0, 3, swipes)]
    rankings = []
    for row in rows:
        spelled = [next(word for word in WORDS if trie.find(word) == node) for node in row.nodes if node >= 0]
        bytes_ = np.array([lexicon.frequencies[WORDS.index(word)] for word in spelled])
        lengths = np.array([len(word) for word in spelled])
        scores = score_words(row.log_probs[: len(spelled)], lengths, bytes_, scoring) if spelled else []
        rankings.append(tuple(spelled[i] for i in np.argsort(scores)[::-1]))
    return stored(rows, trie, lexicon.frequencies, targets), targets, rankings


def stored(rows, trie, frequencies, targets):
    """What was found of some swipes, none of which the matcher was asked about."""
    found = [
        Spellings.of_words(LEXICON, trie, row.nodes, row.log_probs, frequencies[trie.words[trie.endings[row.nodes]]])
        for row in rows
    ]
    return store_beams(Stages(None, found, [None] * len(found), [], []), targets)


def counted(targets, rankings):
    return summarise([Outcome(target, ranking) for target, ranking in zip(targets, rankings, strict=True)])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(-0.5, 1.0), st.floats(0, 0.1), st.floats(-1, 3))
def test_stored_beams_count_as_decoding_does(seed, exponent, weight, bonus):
    scoring = Scoring(exponent, weight, bonus)
    beams, targets, rankings = beams_and_rankings(seed, 40, scoring)
    plain, quick = counted(targets, rankings), beams.accuracy(scoring)
    assert quick == pytest.approx({name: getattr(plain, name) for name in MEASURES}, abs=1e-6)
    assert beams.recall == pytest.approx(plain.recall)


def test_ties_are_ranked_as_decoding_does():
    """By the byte, and at the same byte in the beam's order: a tie is no hit for free."""
    letters = ("a", "b", "c")
    lexicon = Lexicon("test", "", letters, np.array([50, 60, 60], np.uint8))
    trie = build_trie(lexicon, letters)
    found = Hypotheses(np.array([trie.find(letter) for letter in letters], np.int32), np.full(3, -2.0, np.float32))
    beams = stored([found] * 3, trie, lexicon.frequencies, letters)
    ranks, first = beams.ranks(Scoring(0.0, 0.02, 0.0, frequency_floor=90.0))
    assert ranks.tolist() == [3, 1, 2]  # b, c, a
    assert first.tolist() == [1, 1, 1]


def test_a_selection_counts_as_the_whole_does():
    """Also where it predicts a word that only other swipes mean."""
    scoring = Scoring(0.3, 0.02, 1.0)
    beams, targets, rankings = beams_and_rankings(5, 60, scoring)
    for word in set(targets):
        rows = np.array([target == word for target in targets])
        chosen = beams.select(rows)
        assert chosen.ranks(scoring)[0].tolist() == beams.ranks(scoring)[0][rows].tolist()
        plain = counted(np.array(targets)[rows], [rankings[i] for i in np.flatnonzero(rows)])
        assert chosen.accuracy(scoring)["tt1mm5"] == pytest.approx(plain.tt1mm5)


def test_the_best_share_is_that_of_a_softmax():
    scoring = Scoring(0.3, 0.02, 1.0, temperature=1.7)
    beams, _, _ = beams_and_rankings(7, 40, scoring)
    shares, right = beams.best_shares(scoring)
    scores = np.split(beams.scores(scoring), beams.offsets[1:-1])
    np.testing.assert_allclose(shares, [softmax(part, 1.7).max() for part in scores if len(part)])
    assert right.tolist() == (beams.ranks(scoring)[0][np.diff(beams.offsets) > 0] == 1).tolist()


def test_joined_beams_count_like_one(beams_of):
    first = beams_of([([(-1.0, 3, 50, 0), (-2.0, 3, 50, 1)], 0), ([(-1.0, 2, 10, 1)], 1)], ("ab", "ba"))
    second = beams_of([([(-3.0, 3, 90, 1), (-1.0, 4, 50, 0)], 0), ([(-1.0, 2, 10, -1)], 1)], ("ba", "cab"))
    joined = join_beams([first, second])
    whole = beams_of(
        [
            ([(-1.0, 3, 50, 0), (-2.0, 3, 50, 1)], 0),
            ([(-1.0, 2, 10, 1)], 1),
            ([(-3.0, 3, 90, 2), (-1.0, 4, 50, 1)], 1),
            ([(-1.0, 2, 10, -1)], 2),
        ]
    )
    for field in fields(StoredBeams):
        np.testing.assert_array_equal(getattr(joined, field.name), getattr(whole, field.name), field.name)


def test_a_set_searches_as_its_keyboard_does(keyboard):
    rng = np.random.default_rng(0)
    words = [keyboard.lexicon.words[i % 10] for i in range(20)]
    gestures = [swipe(word, keyboard.layout, rng) for word in words]
    scoring = Scoring(pruning_exponent=0.0, pruning_bonus=2.0, shape_weight=1.0)
    ranks, _ = TuningSet.encode(keyboard, gestures, words).beams(scoring, measured=True).ranks(scoring)
    other = keyboard.replace(scoring=scoring)
    for rank, gesture, word in zip(ranks, gestures, words, strict=True):
        candidates = [candidate.word for candidate in other.decode(gesture, k=10)]
        assert rank == (candidates.index(word) + 1 if word in candidates else 0)
    with pytest.raises(CorpusError, match=r"1 of the 3 words meant are not in lexicon tiny \(dead, .*--add-targets"):
        TuningSet.encode(keyboard, gestures[:3], [*words[:2], "dead"])


@pytest.fixture(scope="module")
def labelled():
    """SHARK2 over words of which half lie below its floor, where "to" and "too" tie but for their bytes."""
    lexicon = Lexicon("tiny", "", QWERTY_WORDS, np.linspace(10, 120, len(QWERTY_WORDS)).astype(np.uint8))
    shark2, rng = Shark2(load_layout("qwerty"), lexicon), np.random.default_rng(1)
    words = [QWERTY_WORDS[i % len(QWERTY_WORDS)] for i in range(60)]
    return shark2, [swipe(word, shark2.layout, rng) for word in words], words


@pytest.mark.parametrize(("location", "frequency"), [(11.7, 0.0545), (2.0, 0.2), (30.0, 0.0)])
def test_stored_matches_count_as_shark2_does(labelled, location, frequency):
    shark2, gestures, words = labelled
    constants = replace(Shark2Constants(), location_weight=location, frequency_weight=frequency)
    again = Shark2(shark2.layout, shark2.lexicon, constants)
    rankings = [tuple(dict.fromkeys(one.letters for one in again.decode(gesture, k=100))) for gesture in gestures]
    plain, quick = counted(words, rankings), store_matches(shark2, gestures, words).accuracy(as_scoring(constants))
    assert quick == pytest.approx({name: getattr(plain, name) for name in MEASURES})
    with pytest.raises(CorpusError, match="not in lexicon tiny"):
        store_matches(shark2, gestures[:1], ["tiger"])


def test_the_texts_before_swipes_are_stored_as_gains(keyboard, tmp_path):
    (tmp_path / "text.txt").write_text(f"{keyboard.lexicon.words[0]} {keyboard.lexicon.words[1]}\n" * 3)
    board = keyboard.replace(context=build_context([tmp_path / "text.txt"], {}, 10_000))
    words = [board.lexicon.words[1]] * 2
    gestures = [swipe(word, board.layout) for word in words]
    scoring = Scoring(pruning_exponent=0.0, pruning_bonus=2.0)
    told = TuningSet.encode(board, gestures, words, [board.lexicon.words[0], None]).beams(scoring)
    assert told.gains[: told.offsets[1]].max() > 0
    assert not told.gains[told.offsets[1] :].any()
    before = replace(scoring, context_weight=0.0)
    np.testing.assert_allclose(told.scores(scoring) - told.scores(before), told.gains, rtol=1e-5, atol=1e-6)
    assert not TuningSet.encode(board, gestures, words).beams(scoring).gains.any()
