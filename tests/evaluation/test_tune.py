from dataclasses import fields, replace

import numpy as np
import pytest

from glissando.errors import CorpusError, ScoringError
from glissando.evaluation.stored import StoredBeams, tt1mm5
from glissando.evaluation.study import Plan, Range
from glissando.evaluation.tune import (
    FURTHER_SPACE,
    PRUNING_SPACE,
    SCORING_SPACE,
    SHARK2_SPACE,
    TuningCorpus,
    TuningSet,
    choose_constants,
    fit_temperature,
    join_beams,
    quality,
    recall,
    search_scoring,
    tune_pruning,
    tune_scoring,
)
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import Lexicon
from glissando.runtime import EncoderRuntime
from glissando.scoring import Scoring
from glissando.shark2 import Shark2Constants
from glissando.synth import swipe
from glissando.weights import load_weights

WORDS = ("ab", "abc", "bad", "cab", "dab", "fed", "bead", "deaf", "face", "fade")
PLAIN = Scoring(length_exponent=0.0, frequency_weight=0.0, length_bonus=0.0)


def beams_of(swipes):
    """Stored beams from (hypotheses, spelling meant); a hypothesis is (log_prob, length, byte, spelling)."""
    rows = [hypothesis for hypotheses, _ in swipes for hypothesis in hypotheses]
    offsets = np.cumsum([0] + [len(hypotheses) for hypotheses, _ in swipes])
    places = [
        next((start + i for i, one in enumerate(hypotheses) if one[3] == meant), -1)
        for start, (hypotheses, meant) in zip(offsets, swipes, strict=False)
    ]
    column = [np.array(values) for values in zip(*rows, strict=True)]
    return StoredBeams(
        log_probs=column[0].astype(np.float32), lengths=column[1].astype(np.uint8),
        frequencies=column[2].astype(np.uint8), distances=np.zeros((len(rows), 2), np.float32), offsets=offsets,
        places=np.array(places), spellings=column[3].astype(np.int32),
        targets=np.array([meant for _, meant in swipes], np.int32),
    )  # fmt: skip


def frequency_decides(count, gap=1.0):
    """Swipes whose target is less likely by ``gap`` but more frequent by 100, and of the same length."""
    return beams_of([([(-1.0, 3, 50, -1), (-1.0 - gap, 3, 150, i % 2)], i % 2) for i in range(count)])


@pytest.fixture(scope="module")
def keyboard(tiny_weights):
    layout = Layout.from_rows("tiny", ["abc", "def"])
    lexicon = Lexicon("tiny", "", WORDS, np.arange(20, 20 + 20 * len(WORDS), 20).astype(np.uint8))
    return Keyboard(layout, lexicon, EncoderRuntime(load_weights(tiny_weights)), Scoring(), 4)


def swipes_for(keyboard, count):
    rng = np.random.default_rng(0)
    words = [WORDS[i % len(WORDS)] for i in range(count)]
    return [swipe(word, keyboard.layout, rng) for word in words], words


def test_the_spaces_name_constants_that_exist_and_hold_the_defaults():
    for space, constants in ((PRUNING_SPACE, Scoring()), (SCORING_SPACE, Scoring()), (SHARK2_SPACE, Shark2Constants())):
        for name, end in space.items():
            assert getattr(constants, name) in end
    assert {*FURTHER_SPACE} <= {field.name for field in fields(Scoring)}


def test_the_frequency_weight_that_ranks_right_is_found():
    # By hand: the target wins as soon as 100 * weight exceeds the gap of 1.
    beams = frequency_decides(100)
    assert quality([beams], replace(PLAIN, frequency_weight=0.0099)) < 100
    assert quality([beams], replace(PLAIN, frequency_weight=0.0101)) == 100
    tuned = tune_scoring([beams], PLAIN, trials=60)
    assert tuned.frequency_weight > 0.01
    assert quality([beams], tuned) == 100


def test_constants_outside_the_space_keep_their_values():
    base = replace(PLAIN, length_bonus=0.7, pruning_bonus=0.9, temperature=2.0)
    found = search_scoring([frequency_decides(100)], base, Plan({"frequency_weight": Range(0, 0.1)}, 10), None)
    assert found.best.keys() == {"frequency_weight"}
    tuned = tune_scoring([frequency_decides(100)], base, trials=10)
    assert (tuned.pruning_bonus, tuned.temperature) == (0.9, 2.0)


def test_every_corpus_counts_the_same():
    # A hundred swipes want a heavy frequency, ten thousand a light one; each is half of the mean.
    heavy = frequency_decides(100)
    light = beams_of([([(-1.0, 3, 50, i % 2), (-2.0, 3, 150, -1)], i % 2) for i in range(10_000)])
    for weight in (0.0, 0.05):
        values = [tt1mm5(part, replace(PLAIN, frequency_weight=weight))["tt1mm5"] for part in (heavy, light)]
        assert quality([heavy, light], replace(PLAIN, frequency_weight=weight)) == pytest.approx(np.mean(values))
        assert sorted(values)[1] == 100
        assert sorted(values)[0] < 100


def test_joined_beams_count_like_one():
    first = beams_of([([(-1.0, 3, 50, 0), (-2.0, 3, 50, 1)], 0), ([(-1.0, 2, 10, 1)], 1)])  # means "ab", "ba"
    second = beams_of([([(-3.0, 3, 90, 1), (-1.0, 4, 50, 0)], 0), ([(-1.0, 2, 10, -1)], 1)])  # means "ba", "cab"
    joined = join_beams([first, second], [("ab", "ba"), ("ba", "cab")])
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


def test_temperature_is_the_scale_at_which_shares_come_true():
    # Two hypotheses a score of 1 apart; the better one is meant in 3 of 4 swipes: its share is 3/4 at 1 / ln 3.
    swipes = [([(0.0, 3, 0, i % 4 != 0), (-1.0, 3, 0, i % 4 == 0)], 1) for i in range(400)]
    fitted = fit_temperature([beams_of(swipes)], replace(PLAIN, temperature=3.0))
    assert fitted.temperature == pytest.approx(1 / np.log(3), rel=0.06)


def test_constants_are_chosen_by_name():
    assert list(choose_constants(["length_bonus", "shape_weight"])) == ["length_bonus", "shape_weight"]
    with pytest.raises(ScoringError, match=r"no scoring constant 'gamma' to tune; there are length_exponent, .*shape"):
        choose_constants(["gamma"])


def test_words_outside_the_lexicon_are_refused(keyboard):
    gestures, words = swipes_for(keyboard, 3)
    with pytest.raises(CorpusError, match=r"1 of the 3 words meant are not in lexicon tiny \(dead, .*--add-targets"):
        TuningSet.encode(keyboard, gestures, [*words[:2], "dead"])


def test_a_handful_of_swipes_is_refused(keyboard):
    part = TuningSet.encode(keyboard, *swipes_for(keyboard, 99))
    with pytest.raises(CorpusError, match=r"mine.jsonl: tuning needs at least 100 usable swipes, got 99"):
        TuningCorpus("mine.jsonl", (part,))


def test_a_set_searches_as_its_keyboard_does(keyboard):
    gestures, words = swipes_for(keyboard, 20)
    scoring = Scoring(pruning_exponent=0.0, pruning_bonus=2.0, shape_weight=1.0)
    beams = TuningSet.encode(keyboard, gestures, words).beams(scoring, measured=True)
    other = Keyboard(keyboard.layout, keyboard.lexicon, keyboard.encoder, scoring, keyboard.width)
    ranks, _ = beams.ranks(scoring)
    for row, (gesture, word) in enumerate(zip(gestures, words, strict=True)):
        found = [candidate.word for candidate in other.decode(gesture, k=10)]
        assert ranks[row] == (found.index(word) + 1 if word in found else 0)
    assert keyboard.scoring == Scoring()  # untouched


def test_pruning_that_keeps_more_targets_is_found(keyboard):
    sets = [TuningCorpus("mine", (TuningSet.encode(keyboard, *swipes_for(keyboard, 100)),))]
    bad = Scoring(pruning_exponent=1.4, pruning_bonus=-0.9)
    tuned = tune_pruning(sets, bad, trials=20)
    assert recall(sets, tuned) > recall(sets, bad)
    assert replace(tuned, pruning_exponent=1.4, pruning_bonus=-0.9, pruning_frequency=0.0) == bad
