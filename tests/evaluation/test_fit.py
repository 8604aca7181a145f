from dataclasses import fields, replace

import numpy as np
import pytest

from glissando.errors import ScoringError
from glissando.evaluation.beams import StoredBeams, TuningSet
from glissando.evaluation.fit import (
    CONSTANTS,
    FLAT,
    FURTHER_SPACE,
    PRUNING_SPACE,
    SCORING_SPACE,
    SHARK2_SPACE,
    choose_constants,
    cross_entropy,
    fit_matched,
    fit_scoring,
    mean_tt1mm5,
    search_pruning,
    search_scoring,
    search_shark2,
)
from glissando.evaluation.study import Plan, Range
from glissando.scoring import Scoring
from glissando.shark2 import Shark2Constants
from glissando.synth import swipe

TRUTH = Scoring(
    length_exponent=0.3, frequency_weight=0.04, length_bonus=1.2, frequency_floor=45.0,
    location_weight=5.0, shape_weight=8.0, temperature=1.4,
)  # fmt: skip
PLAIN = Scoring(length_exponent=0.0, frequency_weight=0.0, length_bonus=0.0)


def drawn_beams(truth, swipes=3000, width=8, seed=0):
    """Beams whose targets are drawn by the softmax of a known scoring."""
    rng = np.random.default_rng(seed)
    count = swipes * width
    beams = StoredBeams(
        log_probs=(-rng.exponential(6, count)).astype(np.float32),
        lengths=rng.integers(2, 12, count).astype(np.uint8),
        frequencies=rng.integers(0, 220, count).astype(np.uint8),
        distances=rng.exponential(0.3, (count, 2)).astype(np.float32),
        offsets=np.arange(0, count + 1, width),
        places=np.zeros(swipes, dtype=np.int64),
        spellings=np.full(count, -1, dtype=np.int32),
        targets=np.zeros(swipes, dtype=np.int32),
        words=("any",),
    )
    scores = beams.scores(truth).reshape(swipes, width) / truth.temperature
    drawn = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)  # a softmax draw
    return replace(beams, places=np.arange(swipes) * width + drawn)


@pytest.fixture(scope="module")
def drawn():
    return drawn_beams(TRUTH, seed=1)


def test_the_constants_behind_the_choices_are_found(drawn):
    fitted = fit_scoring([drawn], Scoring())
    assert fitted.length_exponent == pytest.approx(0.3, abs=0.11)
    assert fitted.frequency_floor == pytest.approx(45, abs=16)
    assert fitted.frequency_weight == pytest.approx(0.04, rel=0.2)
    assert fitted.location_weight == pytest.approx(5, rel=0.25)
    assert fitted.shape_weight == pytest.approx(8, rel=0.25)
    assert fitted.pruning_bonus == Scoring().pruning_bonus
    other = drawn_beams(TRUTH, seed=2)
    assert cross_entropy(drawn, fitted) <= cross_entropy(drawn, TRUTH) + 1e-9
    assert cross_entropy(other, fitted) == pytest.approx(cross_entropy(other, TRUTH), abs=0.01)


def test_constants_that_are_not_fitted_keep_their_values(drawn):
    fitted = fit_scoring([drawn], replace(TRUTH, frequency_weight=0.0), ["frequency_weight"])
    assert fitted.frequency_weight == pytest.approx(0.04, rel=0.1)
    assert replace(fitted, frequency_weight=0.04, temperature=1.4) == TRUTH
    assert not fit_scoring([drawn], Scoring(), FLAT).geometric
    # The scale of the evidence is not taken for the frequency.
    sharper, scaled = replace(drawn, log_probs=3 * drawn.log_probs), replace(PLAIN, length_exponent=0.3)
    weights = [fit_scoring([beams], scaled, ["frequency_weight"]).frequency_weight for beams in (drawn, sharper)]
    assert weights[1] == pytest.approx(3 * weights[0], rel=0.02)


def test_swipes_whose_target_was_lost_do_not_count(drawn):
    lost = np.arange(len(drawn.places)) % 4 == 0
    without = replace(drawn, places=np.where(lost, -1, drawn.places))
    assert cross_entropy(without, TRUTH) == pytest.approx(cross_entropy(drawn.select(~lost), TRUTH))


def test_the_temperature_is_the_scale_at_which_shares_are_right(beams_of):
    # Two hypotheses a score of 1 apart; the better one is meant in 3 of 4 swipes: its share is 3/4 at 1 / ln 3.
    swipes = [([(0.0, 3, 0, i % 4 != 0), (-1.0, 3, 0, i % 4 == 0)], 1) for i in range(400)]
    fitted = fit_scoring([beams_of(swipes)], replace(PLAIN, temperature=3.0), ())
    assert fitted.temperature == pytest.approx(1 / np.log(3), rel=0.01)
    assert replace(fitted, temperature=1.0) == PLAIN


def test_swipes_that_contradict_their_labels_are_refused(beams_of):
    swipes = [([(0.0, 3, 0, i % 4 == 0), (-1.0, 3, 0, i % 4 != 0)], 1) for i in range(400)]
    with pytest.raises(ScoringError, match="the swipes contradict their labels"):
        fit_scoring([beams_of(swipes)], PLAIN, ())


def test_the_spaces_name_constants_that_exist_and_hold_the_defaults():
    for space, constants in ((PRUNING_SPACE, Scoring()), (SCORING_SPACE, Scoring()), (SHARK2_SPACE, Shark2Constants())):
        assert all(getattr(constants, name) in end for name, end in space.items())
    assert {*SCORING_SPACE, *FURTHER_SPACE} == set(CONSTANTS) <= {field.name for field in fields(Scoring)}
    assert list(choose_constants(["length_bonus", "shape_weight"])) == ["length_bonus", "shape_weight"]
    with pytest.raises(ScoringError, match=r"no scoring constant 'gamma' to tune; there are length_exponent, .*shape"):
        choose_constants(["gamma"])


@pytest.fixture
def frequency_decides(beams_of):
    """100 swipes whose target is less likely by 1 but more frequent by 100, and of the same length."""
    return beams_of([([(-1.0, 3, 50, -1), (-2.0, 3, 150, i % 2)], i % 2) for i in range(100)])


def test_the_weight_with_the_best_ranking_is_found(frequency_decides):
    # By hand: the target wins as soon as 100 * weight exceeds the gap of 1.
    beams, space = [frequency_decides], {"frequency_weight": Range(0, 0.1)}
    assert mean_tt1mm5(beams, replace(PLAIN, frequency_weight=0.0099)) < 100
    result = search_scoring(beams, PLAIN, Plan(space, 20))
    assert result.history[0].constants == {"frequency_weight": 0.0}
    assert result.best["frequency_weight"] > 0.01
    assert result.value == result.objective(result.best) == 100
    shark2 = replace(Shark2Constants(), frequency_weight=0.0)
    assert search_shark2(beams, shark2, Plan(space, 20)).best["frequency_weight"] > 0.01


def test_every_corpus_counts_the_same(beams_of, frequency_decides):
    light = beams_of([([(-1.0, 3, 50, i % 2), (-2.0, 3, 150, -1)], i % 2) for i in range(10_000)])
    for weight in (0.0, 0.05):
        scoring = replace(PLAIN, frequency_weight=weight)
        values = [part.accuracy(scoring)["tt1mm5"] for part in (frequency_decides, light)]
        assert mean_tt1mm5([frequency_decides, light], scoring) == pytest.approx(np.mean(values))
        assert min(values) < 100 == max(values)


def test_pruning_that_keeps_more_targets_is_found(keyboard):
    rng = np.random.default_rng(0)
    words = [keyboard.lexicon.words[i % 10] for i in range(60)]
    corpora = [[TuningSet.encode(keyboard, [swipe(word, keyboard.layout, rng) for word in words], words)]]
    result = search_pruning(corpora, Scoring(pruning_exponent=1.4, pruning_bonus=-0.9), Plan(PRUNING_SPACE, 20))
    assert result.value > result.history[0].value


def test_the_weight_of_context_is_found_where_swipes_have_a_text():
    truth = replace(TRUTH, context_weight=0.7)
    beams = drawn_beams(truth)
    told = replace(beams, gains=np.random.default_rng(3).exponential(1.0, len(beams.log_probs)).astype(np.float32))
    scores = (told.scores(truth) / truth.temperature).reshape(len(beams.places), -1)
    drawn = (scores + np.random.default_rng(4).gumbel(size=scores.shape)).argmax(axis=1)
    told = replace(told, places=np.arange(len(drawn)) * scores.shape[1] + drawn)
    assert fit_scoring([told], truth, ("context_weight",)).context_weight == pytest.approx(0.7, rel=0.1)
    assert fit_scoring([beams], truth, ("context_weight",)).context_weight == 0.7  # nothing to learn it from


def test_the_matchers_weight_is_found_where_it_was_asked():
    beams = drawn_beams(PLAIN, swipes=2000)
    rng = np.random.default_rng(3)
    matches = rng.normal(0, 3, len(beams.log_probs)).astype(np.float32)
    asked = rng.random(2000) < 0.5
    matches[np.repeat(~asked, 8)] = 0
    truth = replace(PLAIN, matched=replace(PLAIN, matcher_weight=0.7, temperature=2.0))
    beams = replace(beams, matches=matches, asked=asked)
    logits = beams.logits(truth).reshape(2000, 8)
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    places = np.array([rng.choice(8, p=row) for row in shares]) + beams.offsets[:-1]
    fitted = fit_matched([replace(beams, places=places)], PLAIN, ("matcher_weight",))
    assert replace(fitted, matched=None) == PLAIN
    assert fitted.matched.matcher_weight == pytest.approx(0.7, rel=0.15)
    assert fitted.matched.temperature == pytest.approx(2.0, rel=0.15)


def test_a_corpus_counts_by_its_share(drawn):
    one, other = drawn, drawn_beams(replace(TRUTH, frequency_weight=0.0), seed=5)
    names = ("frequency_weight",)
    weights = [
        fit_scoring([one, other], TRUTH, names, shares).frequency_weight for shares in ((1, 0.01), (1, 1), (0.01, 1))
    ]
    assert weights[0] > weights[1] > weights[2]
    assert fit_scoring([one, other], TRUTH, names, (1, 1)) == fit_scoring([one, other], TRUTH, names)
