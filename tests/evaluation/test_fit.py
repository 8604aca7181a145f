from dataclasses import replace

import numpy as np
import pytest

from glissando.evaluation.fit import cross_entropy, fit_scoring
from glissando.evaluation.stored import StoredBeams
from glissando.scoring import Scoring

TRUTH = Scoring(
    length_exponent=0.3, frequency_weight=0.04, length_bonus=1.2, frequency_floor=45.0,
    location_weight=5.0, shape_weight=8.0, temperature=1.4,
)  # fmt: skip


def made_up_beams(truth, swipes=3000, width=8, seed=0):
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
    )
    scores = beams.scores(truth).reshape(swipes, width) / truth.temperature
    drawn = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)  # a softmax draw
    return replace(beams, places=np.arange(swipes) * width + drawn)


def test_the_constants_behind_made_up_choices_are_found():
    found = fit_scoring([made_up_beams(TRUTH)], Scoring())
    assert found.length_exponent == pytest.approx(0.3, abs=0.11)
    assert found.frequency_floor == pytest.approx(45, abs=16)
    assert found.frequency_weight == pytest.approx(0.04, rel=0.2)
    assert found.location_weight == pytest.approx(5, rel=0.25)
    assert found.shape_weight == pytest.approx(8, rel=0.25)
    assert found.pruning_bonus == Scoring().pruning_bonus


def test_the_fit_is_better_than_the_truth_on_its_own_swipes_and_near_it_on_others():
    mine, other = made_up_beams(TRUTH, seed=1), made_up_beams(TRUTH, seed=2)
    found = fit_scoring([mine], Scoring())
    assert cross_entropy(mine, found) <= cross_entropy(mine, TRUTH) + 1e-9
    assert cross_entropy(other, found) == pytest.approx(cross_entropy(other, TRUTH), abs=0.01)
    assert cross_entropy(other, found) < cross_entropy(other, Scoring())


def test_without_geometry_the_distances_do_not_count():
    found = fit_scoring([made_up_beams(TRUTH, 500)], Scoring(), geometric=False)
    assert found.location_weight == found.shape_weight == 0
    assert not found.geometric


def test_swipes_whose_target_was_lost_do_not_count():
    beams = made_up_beams(TRUTH, 400)
    lost = replace(beams, places=np.where(np.arange(400) % 4 == 0, -1, beams.places))
    kept = beams.select(np.arange(400) % 4 != 0)
    assert cross_entropy(lost, TRUTH) == pytest.approx(cross_entropy(kept, TRUTH))
