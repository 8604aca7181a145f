"""Golden vectors: every awkward kind is what its name says, and every number is what decoding gives."""

import json

import numpy as np
import pytest

import glissando
from glissando.export.golden import BENDS, CANDIDATES, MARGIN, golden_lines, golden_swipes
from glissando.layout import Key, Layout

COUNT = 60
WORDS = [
    "i", "a", "to", "hello", "letter", "summer", "book", "world", "friend", "keyboard", "internationally", "because",
    "little", "animal", "it's", "its",
]  # fmt: skip


@pytest.fixture(scope="module")
def keyboard(tiny_weights):
    words = {word: 2.0**i for i, word in enumerate(WORDS)}
    return glissando.load("qwerty", lexicon=words, weights=tiny_weights, scoring="en")


@pytest.fixture(scope="module")
def swipes(keyboard):
    return golden_swipes(keyboard, COUNT)


@pytest.fixture(scope="module")
def records(keyboard, swipes):
    return [json.loads(line) for line in golden_lines(keyboard, swipes)]


def of_kind(swipes, kind):
    found = [one.gesture for one in swipes if one.kind == kind]
    assert found, kind
    return found


def test_as_many_as_asked_for_and_the_same_again(keyboard, swipes, records):
    again = [json.loads(line) for line in golden_lines(keyboard, golden_swipes(keyboard, COUNT))]
    assert len(swipes) == COUNT
    assert again == records
    assert sum(one.kind == "swipe" for one in swipes) >= 0.6 * COUNT
    assert {one.kind for one in swipes} >= set(BENDS)


def test_awkward_swipes_are_what_they_are_called(swipes):
    assert all(len(one) == 1 for one in of_kind(swipes, "one point"))
    assert all(len(one) == 2 for one in of_kind(swipes, "two points"))
    assert all(one.duration == 0 and len(one) > 2 for one in of_kind(swipes, "points at one instant"))
    assert all((np.diff(one.t) == 0).any() for one in of_kind(swipes, "pairs of points at one instant"))
    assert all(np.ptp(one.x) == 0 and one.duration > 0 for one in of_kind(swipes, "a finger that rests"))
    assert all(one.duration == 75 for one in of_kind(swipes, "half a frame"))  # 4.5 frames of 60 Hz
    assert all(one.t[0] > 1e12 for one in of_kind(swipes, "since 1970"))
    assert all(abs(one.x).max() > 1000 for one in of_kind(swipes, "far outside"))
    assert all(one.t[-1] - one.t[-2] >= 1500 for one in of_kind(swipes, "a rest at the end"))
    outside = of_kind(swipes, "outside the keyboard")
    assert any(max(one.x.max(), one.y.max()) > 1 or min(one.x.min(), one.y.min()) < 0 for one in outside)
    doubled = [one.word for one in swipes if one.kind == "doubled letters"]
    assert doubled
    assert all(word in ("hello", "letter", "summer", "book", "little") or "nn" in word for word in doubled)


def test_every_number_is_what_decoding_gives(keyboard, swipes, records):
    for one, record in zip(swipes, records, strict=True):
        np.testing.assert_array_equal(np.array(record["points"])[:, 0], one.gesture.x)
        np.testing.assert_array_equal(np.float32(record["path"]), one.gesture.path())  # to the last bit
        seen = keyboard.emissions(one.gesture).log_probs[0]
        np.testing.assert_allclose(record["emissions"], seen, atol=2e-5)
        found = keyboard.decode(one.gesture, CANDIDATES)
        assert [one["word"] for one in record["candidates"]] == [one.word for one in found]
        for candidate, expected in zip(record["candidates"], found, strict=True):
            for name in ("score", "log_prob", "probability"):
                assert candidate[name] == pytest.approx(getattr(expected, name), abs=1e-4)
            assert (candidate["letters"], candidate["frequency"]) == (expected.letters, expected.frequency)


def test_the_terms_add_up_to_the_score(keyboard, records):
    constants = keyboard.scoring
    for candidate in (candidate for record in records for candidate in record["candidates"]):
        length = len(candidate["letters"])
        score = (
            candidate["log_prob"] / length**constants.length_exponent
            + constants.frequency_weight * max(candidate["frequency"], constants.frequency_floor)
            + constants.length_bonus * length
            - constants.location_weight * candidate["location"]
            - constants.shape_weight * candidate["shape"]
        )
        assert score == pytest.approx(candidate["score"], abs=1e-4)


def test_the_best_word_is_never_a_matter_of_rounding(records):
    for record in records:
        scores = [candidate["score"] for candidate in record["candidates"][:2]]
        assert len(scores) < 2 or scores[0] == scores[1] or scores[0] - scores[1] > 0.9 * MARGIN


def test_letters_are_given_where_they_are_not_the_keys(tiny_weights, records):
    """With two keys for one letter the beam reads something else than the emissions; otherwise it is not said twice."""
    assert all("letters" not in record for record in records)
    keys = tuple(Key(letter, (i + 0.5) / 4, 0.5, 0.125, 0.5) for i, letter in enumerate("abca"))
    keyboard = glissando.load(Layout("mine", keys), lexicon={"abba": 1, "cab": 2}, weights=tiny_weights)
    record = json.loads(next(golden_lines(keyboard, golden_swipes(keyboard, 1))))
    emissions, letters = np.exp(record["emissions"]), np.exp(record["letters"])
    np.testing.assert_allclose(letters[:, 0], emissions[:, 0] + emissions[:, 3], atol=1e-4)
    np.testing.assert_allclose(letters[:, 1:], emissions[:, [1, 2, 4]], atol=1e-4)


def test_keyboards_without_geometry_have_no_distances(tiny_weights):
    keyboard = glissando.load("qwerty", lexicon={"hello": 1, "jello": 2}, weights=tiny_weights, scoring={})
    record = json.loads(next(golden_lines(keyboard, golden_swipes(keyboard, 1))))
    assert "location" not in record["candidates"][0]
