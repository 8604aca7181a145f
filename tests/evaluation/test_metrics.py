import json

import numpy as np
import pytest

from glissando.evaluation.metrics import Bin, Outcome, Tally, calibration_error, coverage, reliability, summarise


def test_ranks_by_hand():
    outcomes = [
        Outcome("the", ("the", "tie"), greedy="the"),
        Outcome("tie", ("the", "tie"), greedy="te"),
        Outcome("tie", ("the", "ten", "tea", "tie"), greedy="tie"),
        Outcome("xyz", (), known=False, greedy=""),
    ]
    metrics = summarise(outcomes)
    assert (metrics.n, metrics.top1, metrics.top3, metrics.top10) == (4, 25.0, 50.0, 75.0)
    assert (metrics.recall, metrics.oov, metrics.greedy) == (75.0, 25.0, 50.0)
    assert metrics.half_width == pytest.approx(196 * (0.25 * 0.75 / 4) ** 0.5)
    assert metrics.by_length == {3: {"n": 4, "top1": 25.0}}
    assert summarise([Outcome("a", ("a",))]).greedy is None  # the method reads no letters


def test_word_level_counts_only_words_with_five_swipes():
    right, wrong = Outcome("the", ("the",)), Outcome("the", ("tie", "the"))
    rare = Outcome("tie", ("the",))
    metrics = summarise([right] * 4 + [wrong] + [rare] * 2)
    # "the": 4 right of 5, and it was answered 6 times; average precision (4 + 1/2) / 5. "tie" has too few swipes.
    assert metrics.macro_f1_5 == pytest.approx(100 * 2 * 4 / (5 + 6))
    assert metrics.map5 == pytest.approx(100 * 4.5 / 5)
    assert summarise([Outcome("the", (*"abcde", "the"))] * 5).map5 == 0  # no precision beyond rank five
    assert metrics.tt1mm5 == pytest.approx((metrics.top1 + metrics.top3 + metrics.map5 + metrics.macro_f1_5) / 4)


def test_bins_hold_probabilities_beside_the_share_that_is_right():
    bins = reliability([0.05, 0.15, 0.95, 0.85, 1.0], [False, True, True, False, True], bins=2)
    assert bins == [Bin(2, pytest.approx(0.1), 0.5), Bin(3, pytest.approx(2.8 / 3), pytest.approx(2 / 3))]
    # By hand: |.1 - .5| * 2/5 + |.9333 - .6667| * 3/5
    assert calibration_error(bins) == pytest.approx(100 * (0.4 * 0.4 + (2.8 - 2) / 5))
    assert calibration_error([]) == 0


def test_honest_probabilities_have_no_error_and_overconfident_ones_do():
    rng = np.random.default_rng(0)
    given = rng.uniform(size=20_000)
    right = rng.uniform(size=20_000) < given
    assert calibration_error(reliability(given, right)) < 1.5
    assert calibration_error(reliability(given, right & (rng.uniform(size=20_000) < 0.8))) > 8


def test_outcomes_without_a_probability_do_not_count():
    sure, wrong = Outcome("a", ("a",), probability=0.9), Outcome("a", ("b", "a"), probability=0.9)
    assert summarise([sure, wrong, Outcome("a", ("a",))]).calibration_error == pytest.approx(40)
    assert summarise([Outcome("a", ("a",))]).calibration_error is None


def test_coverage_by_hand():
    outcomes = [
        Outcome("a", ("a",), probability=0.9), Outcome("a", ("b",), probability=0.5),
        Outcome("a", ("a",), probability=0.7), Outcome("a", ("a",), probability=0.5), Outcome("a", ()),
    ]  # fmt: skip
    found = coverage(outcomes)
    assert found.threshold.tolist() == [0.9, 0.7, 0.5]  # equal probabilities are answered together
    assert found.answered.tolist() == [20, 40, 80]  # no candidate, no answer
    assert found.accuracy.tolist() == [100, 100, 75]
    assert found.expected.tolist() == pytest.approx([90, 80, 65])
    assert found.at(95) == (40, 0.7)
    assert found.at(75) == (80, 0.5)
    assert coverage(outcomes[1:2]).at(95) is None
    assert len(coverage([Outcome("a", ())]).threshold) == 0


def test_tallies_of_parts_give_the_same_digits_in_any_order():
    rng = np.random.default_rng(1)
    words = ["the", "tie", "ten", "to", "a", "lonely"]
    outcomes = [
        Outcome(
            str(rng.choice(words)), tuple(rng.permutation(words)[: rng.integers(0, 6)].tolist()),
            bool(rng.uniform() < 0.9), str(rng.choice(words)), float(rng.uniform()),
        )
        for _ in range(300)
    ]  # fmt: skip
    whole = summarise(outcomes)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(outcomes))
        sum_ = Tally()
        for part in np.array_split(order, seed + 2):
            tally = Tally.of([outcomes[row] for row in part])
            sum_.add(Tally.from_dict(json.loads(json.dumps(tally.to_dict()))))
        assert sum_.metrics() == whole  # to the last digit
    assert Tally().n == 0
