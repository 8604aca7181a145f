"""Golden vectors: every awkward kind is what its name says, and every number is what decoding gives."""

import json
from itertools import pairwise

import numpy as np
import pytest

import glissando
from glissando.export.golden import BENDS, CANDIDATES, DOUBT, MARGIN, TEXTS, golden_lines, golden_swipes
from glissando.gesture import Gesture
from glissando.layout import Key, Layout

COUNT = 45
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
    return list(golden_swipes(keyboard, COUNT))


@pytest.fixture(scope="module")
def records(keyboard, swipes):
    return [json.loads(line) for line in golden_lines(keyboard, swipes)]


@pytest.fixture(scope="module")
def helped(tiny_weights):
    """With the packaged matcher and the packaged English context."""
    words = {word: 2.0**i for i, word in enumerate(WORDS)}
    return glissando.load("qwerty", "en", lexicon=words, weights=tiny_weights, scoring="en-matcher")


@pytest.fixture(scope="module")
def helped_records(helped):
    return [json.loads(line) for line in golden_lines(helped, list(golden_swipes(helped, COUNT)))]


def of_kind(swipes, kind):
    gestures = [one.gesture for one in swipes if one.kind == kind]
    assert gestures, kind
    return gestures


def test_as_many_as_asked_for_and_the_same_again(keyboard, swipes):
    assert len(swipes) == COUNT
    assert [one.gesture.x.tolist() for one in golden_swipes(keyboard, COUNT)] == [
        one.gesture.x.tolist() for one in swipes
    ]
    assert sum(one.kind == "swipe" for one in swipes) >= 0.6 * COUNT
    assert {one.kind for one in swipes} >= set(BENDS)
    assert not {one.kind for one in swipes} & set(TEXTS)  # it has no context


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
    assert all(any(a == b for a, b in pairwise(word)) for word in doubled)


def test_every_number_is_what_decoding_gives(keyboard, swipes, records):
    for one, record in zip(swipes, records, strict=True):
        np.testing.assert_array_equal(np.array(record["points"])[:, 0], one.gesture.x)
        np.testing.assert_array_equal(np.float32(record["path"]), one.gesture.path())  # to the last bit
        seen = keyboard.emissions(one.gesture).log_probs[0]
        np.testing.assert_allclose(record["emissions"], seen, atol=2e-5)
        decoded = keyboard.decode(one.gesture, CANDIDATES)
        assert [one["word"] for one in record["candidates"]] == [one.word for one in decoded]
        for candidate, expected in zip(record["candidates"], decoded, strict=True):
            for name in ("score", "log_prob", "probability"):
                assert candidate[name] == pytest.approx(getattr(expected, name), abs=1e-4)
            assert (candidate["letters"], candidate["frequency"]) == (expected.letters, expected.frequency)


def test_the_terms_add_up_to_the_score_and_the_best_word_never_depends_on_rounding(
    keyboard, records, helped, helped_records
):
    for scoring, some in ((keyboard.scoring, records), (helped.scoring, helped_records)):
        for record in some:
            constants = scoring.matched if record.get("matches") else scoring
            for candidate in record["candidates"]:
                length = len(candidate["letters"])
                score = (
                    candidate["log_prob"] / length**constants.length_exponent
                    + constants.frequency_weight * max(candidate["frequency"], constants.frequency_floor)
                    + constants.length_bonus * length
                    - constants.location_weight * candidate["location"]
                    - constants.shape_weight * candidate["shape"]
                    + constants.matcher_weight * candidate.get("match", 0)
                    + constants.context_weight * candidate.get("gain", 0)
                )
                assert score == pytest.approx(candidate["score"], abs=1e-4)
            best, *others = (candidate["score"] for candidate in record["candidates"][:2])
            assert all(best == other or best - other > 0.9 * MARGIN for other in others)


def test_the_matcher_is_asked_about_some_and_never_by_rounding(helped, helped_records):
    assert {record["matches"] is None for record in helped_records} == {True, False}
    nearly = [
        helped.replace(scoring=helped.scoring.changed({"doubt": helped.scoring.doubt + shift}))
        for shift in (-0.9 * DOUBT, 0.9 * DOUBT)
    ]
    for record in helped_records:
        gesture = Gesture.from_points(record["points"])
        # Swipes for one letter hardly differ from each other, so that none may be clear.
        for board in nearly if record["kind"] != "one letter" else ():
            assert (board.stages([gesture]).matches[0] is None) == (record["matches"] is None), record["kind"]
        matched = record["matches"]
        assert all(("match" in candidate) == (matched is not None) for candidate in record["candidates"])
        if matched is not None:
            lowest = min(candidate["match"] for candidate in record["candidates"])
            for candidate in record["candidates"]:
                assert matched.get(candidate["letters"], lowest) == candidate["match"]


def test_texts_are_what_they_are_called(helped, helped_records):
    texts = {record["kind"]: record["context"] for record in helped_records if "context" in record}
    assert set(texts) == set(TEXTS)
    state = {kind: helped.context.state(text) for kind, text in texts.items()}
    assert state["at the beginning of a text"] == state["after a sentence"] == (0,)
    assert len(state["after two words"]) == 3
    assert state["after an unknown word"][-1] == state["after another script"][-1] == state["after a number"][-1] == -1
    assert state["after an unknown word and a known one"][1] == -1 < state["after an unknown word and a known one"][2]
    assert state["after one long word"] == ()
    assert len(state["after a long text"]) == 2
    assert (state["after emoji"][0], len(state["after emoji"])) == (0, 3)
    assert state["after control characters"][0] == 0  # the sentence before it has ended
    assert state["after an accent in two parts"][-1] == helped.context.numbers["café"]


def test_gains_are_those_of_the_context(helped, helped_records):
    for record in helped_records:
        decoded = helped.decode(record["points"], CANDIDATES, record.get("context"))
        assert [one["word"] for one in record["candidates"]] == [one.word for one in decoded]
        assert all(("gain" in one) == ("context" in record) for one in record["candidates"])
    gained = {record["kind"] for record in helped_records if any(one.get("gain") for one in record["candidates"])}
    assert {"after two words", "after a sentence and two words", "after emoji", "after a long text"} <= gained
    assert not gained & {"after an unknown word", "after another script", "after one long word", "swipe"}


def test_letters_are_given_where_they_are_not_the_keys_and_distances_where_there_is_geometry(tiny_weights, records):
    """With two keys for one letter the beam does not read the emissions themselves."""
    assert all("letters" not in record for record in records)
    keys = tuple(Key(letter, (i + 0.5) / 4, 0.5, 0.125, 0.5) for i, letter in enumerate("abca"))
    keyboard = glissando.load(Layout("mine", keys), lexicon={"abba": 1, "cab": 2}, weights=tiny_weights, scoring={})
    record = json.loads(next(golden_lines(keyboard, [next(golden_swipes(keyboard, 1))])))
    emissions, letters = np.exp(record["emissions"]), np.exp(record["letters"])
    np.testing.assert_allclose(letters[:, 0], emissions[:, 0] + emissions[:, 3], atol=1e-4)
    np.testing.assert_allclose(letters[:, 1:], emissions[:, [1, 2, 4]], atol=1e-4)
    assert all("location" in one for record in records for one in record["candidates"])
    assert "location" not in record["candidates"][0]
