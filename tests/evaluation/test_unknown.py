"""Constants of literals and of none, fitted to choices that were drawn from known ones."""

import numpy as np
import pytest
from scripted import SCORING

from glissando.evaluation.beams import StoredBeams
from glissando.evaluation.unknown import _choices, _fit, _weights

TRUE = {"literal_bonus": 2.0, "fluency_weight": 0.3, "none_bonus": -1.0, "none_share": 0.4}


def drawn(swipes, seed=0):
    """Beams of three words and two literals whose meant spelling was drawn by the true constants."""
    rng = np.random.default_rng(seed)
    scoring = SCORING.changed(TRUE)
    count = 5 * swipes
    fluency = np.tile([0, 0, 0, -1, -1], swipes) * rng.uniform(3, 20, count)
    beams = StoredBeams(
        rng.normal(-3, 2, count).astype(np.float32), np.full(count, 4), np.zeros(count),
        np.zeros((count, 2), np.float32), np.arange(0, count + 1, 5), np.full(swipes, -1), np.full(count, -1, np.int32),
        np.zeros(swipes, np.int32), ("word",), fluency=fluency.astype(np.float32),
    )  # fmt: skip
    logits = beams.scores(scoring).reshape(swipes, 5)
    none = scoring.none_bonus + scoring.none_share * logits.max(axis=1)
    gumbel = np.column_stack([logits, none]) + rng.gumbel(size=(swipes, 6))
    place = gumbel.argmax(axis=1)
    places = np.where(place < 5, np.arange(swipes) * 5 + place, -1)
    return StoredBeams(**{**{name: getattr(beams, name) for name in beams.__dataclass_fields__}, "places": places})


def test_the_constants_that_drew_the_words_are_found():
    fitted = _fit([drawn(20_000)], SCORING, None)
    for name, value in TRUE.items():
        assert getattr(fitted, name) == pytest.approx(value, abs=0.15), name
    assert fitted.temperature == pytest.approx(1, abs=0.1)


def test_probabilities_are_true():
    beams = drawn(5_000)
    scoring = SCORING.changed(TRUE)
    shares, right = beams.best_shares(scoring)
    assert shares.mean() == pytest.approx(right.mean(), abs=0.02)
    choices = _choices(beams, scoring)
    assert choices.shares(_weights(scoring)).reshape(-1, 6)[:, :5].max(axis=1) == pytest.approx(shares)


def test_a_swipe_without_spellings_means_none():
    beams = drawn(3)
    empty = StoredBeams(**{
        **{name: getattr(beams, name) for name in beams.__dataclass_fields__},
        "offsets": np.array([0, 5, 5, 15]), "places": np.array([2, -1, 7]),
    })  # fmt: skip
    choices = _choices(empty, SCORING.changed(TRUE))
    assert choices.starts.tolist() == [0, 6, 7]
    assert choices.targets.tolist() == [2, 6, 9]
