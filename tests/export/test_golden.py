"""Golden vectors: every number is what decoding gives, and none depends on rounding."""

import json
from datetime import date

import numpy as np
import pytest

import glissando
from glissando.export.awkward import BENDS, OWN, TAPPED, TEXTS, UNLISTED
from glissando.export.golden import CANDIDATES, DOUBT, MARGIN, golden_lines, golden_swipes
from glissando.gesture import Gesture
from glissando.keyboard import PLAIN
from glissando.layout import Key, Layout
from glissando.scoring import load_scoring
from glissando.vocabulary import Vocabulary

COUNT = 45
WORDS = [
    "i", "a", "to", "hello", "letter", "summer", "book", "world", "friend", "keyboard", "internationally", "because",
    "little", "animal", "it's", "its",
]  # fmt: skip


@pytest.fixture(scope="module")
def keyboard(tiny_weights):
    words = {word: 2.0**i for i, word in enumerate(WORDS)}
    closed = load_scoring("en").closed()  # without literals
    return glissando.load("qwerty", lexicon=words, weights=tiny_weights, scoring=closed)


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


def decoded_as(keyboard, record, count=CANDIDATES):
    """Decode the swipe of a record with all that it says."""
    own = Vocabulary()
    for word, uses in record.get("own", {}).items():
        own.learn(word, uses, date.max)
    board = keyboard.replace(vocabulary=own)
    return board.decode(
        record["points"], count, record.get("context"), record.get("prefix", ""), record.get("suffix", "")
    )


def test_as_many_as_asked_for_and_the_same_again(keyboard, swipes):
    assert len(swipes) == COUNT
    assert [one.gesture.x.tolist() for one in golden_swipes(keyboard, COUNT)] == [
        one.gesture.x.tolist() for one in swipes
    ]
    assert {one.kind for one in swipes} >= {"swipe", *BENDS, *TAPPED, *OWN}
    assert not {one.kind for one in swipes} & {*TEXTS, *UNLISTED}  # it has no context and reads no literals
    assert sum(one.kind == "swipe" for one in golden_swipes(keyboard, 2 * COUNT)) >= 0.6 * 2 * COUNT


def test_every_number_is_what_decoding_gives(keyboard, swipes, records):
    for one, record in zip(swipes, records, strict=True):
        np.testing.assert_array_equal(np.array(record["points"])[:, 0], one.gesture.x)
        np.testing.assert_array_equal(np.float32(record["path"]), one.gesture.path())  # to the last bit
        seen = keyboard.emissions(one.gesture).log_probs[0]
        np.testing.assert_allclose(record["emissions"], seen, atol=2e-5)
        decoded = decoded_as(keyboard, record)
        assert record["none"] == pytest.approx(decoded.none, abs=1e-4)
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
                    + constants.frequency_weight
                    * max(candidate["frequency"], constants.frequency_floor)
                    * ("literal" not in candidate)
                    + ("literal" in candidate) * constants.literal_bonus
                    + constants.fluency_weight * candidate.get("fluency", 0)
                    + constants.length_bonus * length
                    - constants.location_weight * candidate["location"]
                    - constants.shape_weight * candidate["shape"]
                    + constants.matcher_weight * candidate.get("match", 0)
                    + constants.context_weight * candidate.get("gain", 0)
                )
                # The byte of an own word has decimals, which a record leaves out.
                assert score == pytest.approx(candidate["score"], abs=1e-4 + ("own" in record) * 0.03)
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
        alone = record["kind"] != "one letter" and not {"prefix", "suffix", "own"} & set(record)
        for board in nearly if alone else ():
            assert (board.stages([gesture]).matches[0] is None) == (record["matches"] is None), record["kind"]
        matched = record["matches"]
        assert all(("match" in candidate) == (matched is not None) for candidate in record["candidates"])
        if matched is not None:
            lowest = min(candidate["match"] for candidate in record["candidates"])
            for candidate in record["candidates"]:
                assert matched.get(candidate["letters"], lowest) == candidate["match"]


def test_gains_are_those_of_the_context(helped, helped_records):
    for record in helped_records:
        decoded = decoded_as(helped, record)
        assert [one["word"] for one in record["candidates"]] == [one.word for one in decoded]
        assert all(("gain" in one) == ("context" in record) for one in record["candidates"])
    gained = {record["kind"] for record in helped_records if any(one.get("gain") for one in record["candidates"])}
    assert {"after two words", "after a sentence and two words", "after emoji", "after a long text"} <= gained
    assert not gained & {"after an unknown word", "after another script", "after one long word", "swipe"}


def test_literals_are_read_in_some_swipes_and_never_by_rounding(helped, helped_records):
    literal = [record for record in helped_records if any("literal" in one for one in record["candidates"])]
    assert {record["kind"] for record in literal} & set(UNLISTED)
    assert len(literal) < len(helped_records)
    for record in literal:
        for one in record["candidates"]:
            assert ("fluency" in one) == ("literal" in one)
            if "literal" in one:
                assert (one["word"], one["frequency"]) == (one["letters"], 0)
                labels = helped.trie.labels_of(one["letters"])
                assert one["fluency"] == pytest.approx(helped.dictionary.fluency.of(labels))
    listed = [record for record in helped_records if record["candidates"] and "literal" not in record["candidates"][0]]
    assert all(abs(record["candidates"][0]["log_prob"] - PLAIN) > 0.005 for record in listed if "own" not in record)


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
