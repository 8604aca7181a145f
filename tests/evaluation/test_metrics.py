import numpy as np
import pytest

from glissando.evaluation.metrics import Outcome, mcnemar, summarise


def test_ranks_by_hand():
    outcomes = [
        Outcome("the", ("the", "tie"), greedy="the"),
        Outcome("tie", ("the", "tie"), greedy="te"),
        Outcome("tie", ("the", "ten", "tea", "tie"), greedy="tie"),
        Outcome("xyz", ("the",), known=False, greedy=""),
    ]
    metrics = summarise(outcomes)
    assert (metrics.n, metrics.top1, metrics.top3, metrics.top10) == (4, 25.0, 50.0, 75.0)
    assert (metrics.recall, metrics.oov, metrics.greedy) == (75.0, 25.0, 50.0)
    assert metrics.half_width == pytest.approx(196 * (0.25 * 0.75 / 4) ** 0.5)
    assert metrics.by_length == {3: {"n": 4, "top1": 25.0}}


def test_word_level_counts_only_words_with_five_swipes():
    right, wrong = Outcome("the", ("the",)), Outcome("the", ("tie", "the"))
    rare = Outcome("tie", ("the",))
    metrics = summarise([right] * 4 + [wrong] + [rare] * 2)
    # "the": 4 right of 5, and it was answered 6 times; average precision (4 + 1/2) / 5. "tie" has too few swipes.
    assert metrics.macro_f1_5 == pytest.approx(100 * 2 * 4 / (5 + 6))
    assert metrics.map5 == pytest.approx(100 * 4.5 / 5)
    assert metrics.tt1mm5 == pytest.approx((metrics.top1 + metrics.top3 + metrics.map5 + metrics.macro_f1_5) / 4)


def test_a_rank_beyond_five_earns_no_precision():
    late = Outcome("the", ("a", "b", "c", "d", "e", "the"))
    assert summarise([late] * 5).map5 == 0


def test_methods_without_a_reading_have_no_greedy():
    assert summarise([Outcome("a", ("a",))]).greedy is None


def test_mcnemar_by_hand():
    # Six swipes differ, five of them gained: P(at most 1 of 6 or at least 5 of 6) = 2 (1 + 6) / 64.
    first = [True, False, False, False, False, False, True, False]
    second = [False, True, True, True, True, True, True, False]
    test = mcnemar(first, second)
    assert (test.gained, test.lost, test.p) == (5, 1, 14 / 64)
    assert mcnemar(second, first).p == test.p
    assert mcnemar(first, first).p == 1.0
    assert mcnemar([True, False], [False, True]).p == 1.0


def test_mcnemar_like_scipy_on_many():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    first, second = rng.random(9000) < 0.4, rng.random(9000) < 0.42
    test = mcnemar(first, second)
    assert test.gained + test.lost > 3000
    assert test.p == pytest.approx(stats.binomtest(test.gained, test.gained + test.lost).pvalue, rel=1e-9)
