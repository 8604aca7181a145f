from dataclasses import replace

import numpy as np
import pytest

import glissando
from glissando.decoders import choose_decoder, match_keys
from glissando.errors import WeightsError
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.layout import Key, Layout, load_layout
from glissando.lexicon import Lexicon
from glissando.rescore import word_log_probs
from glissando.runtime import DecoderRuntime, EncoderRuntime
from glissando.scoring import Scoring
from glissando.weights import Weights, load_weights

SCORING = Scoring(length_exponent=0.0, frequency_weight=0.0, length_bonus=0.0)
SWIPE = Gesture([0.1, 0.5, 0.9], [0.5, 0.5, 0.5], [0, 100, 200])
QWERTY = load_layout("qwerty")
WORDS = {"type": 3, "were": 5, "poet": 2, "it": 9}


def moved(shift):
    """QWERTY with its b moved."""
    dx, dy = shift
    return Layout(
        "moved",
        tuple(replace(key, cx=key.cx + dx, cy=key.cy + dy) if key.letter == "b" else key for key in QWERTY.keys),
    )


def turned(layout=QWERTY):
    """The layout with its keys in another order."""
    return Layout("turned", tuple(layout.keys[::-1]))


def swapped():
    """QWERTY with a and l where the other was."""
    places = {"a": "l", "l": "a"}
    return Layout("swapped", tuple(replace(key, letter=places.get(key.letter, key.letter)) for key in QWERTY.keys))


@pytest.mark.parametrize(
    "layout",
    [
        QWERTY,
        replace(QWERTY, aspect=1.2),
        moved((0.05, 0)),
        moved((0, -0.05)),
        moved((0.1, -0.1)),
        load_layout("qwerty_z15"),
    ],
    ids=["itself", "taller", "right", "up", "just", "z15"],
)
def test_the_same_keyboard_within_a_tenth(layout):
    np.testing.assert_array_equal(match_keys(layout, QWERTY), np.arange(26))


@pytest.mark.parametrize(
    "layout",
    [
        moved((0.2, -0.02)),
        moved((0, -0.2)),
        moved((0.11, 0)),
        swapped(),
        Layout("extra", (*QWERTY.keys, Key("é", 0.05, 0.9, 0.05, 0.1))),
        Layout("second a", (*QWERTY.keys, Key("a", 0.05, 0.9, 0.05, 0.1))),
        Layout("fewer", QWERTY.keys[:-1]),
        Layout("e twice", tuple(replace(key, letter="e") if key.letter == "q" else key for key in QWERTY.keys)),
        *map(load_layout, ("jcuken", "azerty", "qwertz", "clearflow")),
    ],
    ids=lambda layout: layout.name,
)
def test_not_the_same_keyboard(layout):
    assert not len(match_keys(layout, QWERTY))


def test_keys_in_another_order_are_found_where_they_are():
    places = match_keys(turned(), QWERTY)
    assert [turned().letters[place] for place in places] == list(QWERTY.letters)


def load(layout="qwerty", **options):
    return glissando.load(layout, lexicon=WORDS, **options)


@pytest.fixture
def packaged(monkeypatch, tiny_weights, tiny_decoder):
    """The tiny networks in place of the packaged ones."""
    files = {"encoder": tiny_weights, "decoder": tiny_decoder}
    for module in ("keyboard", "decoders"):
        monkeypatch.setattr(f"glissando.{module}.load_weights", lambda name: load_weights(files.get(name, name)))
    monkeypatch.setattr("glissando.decoders.packaged_weights", lambda: ("decoder", "encoder"))


@pytest.mark.usefixtures("packaged")
def test_the_decoder_reads_its_own_layout_and_the_encoder_the_others():
    assert load().method == "decoder"
    assert load(moved((0.05, 0))).method == "decoder"
    assert load(moved((0, -0.2))).method == "encoder"
    assert load("jcuken").method == "encoder"
    assert load(method="encoder").method == "encoder"
    assert load(language="en").method == "decoder"
    assert load(language="de").method == "encoder"  # it was trained on English words
    assert load(language="de", method="decoder").method == "decoder"


@pytest.mark.usefixtures("packaged")
def test_a_decoder_asked_for_where_there_is_none_is_an_error():
    with pytest.raises(WeightsError, match=r"no decoder for layout 'jcuken': .* layout 'qwerty'.*use method 'encoder'"):
        load("jcuken", method="decoder")
    with pytest.raises(WeightsError, match="no method 'shark2'; a keyboard has encoder, decoder"):
        load(method="shark2")


def test_a_decoder_is_not_used_over_another_encoder(tiny_weights, tiny_decoder):
    weights = load_weights(tiny_weights)
    other = EncoderRuntime(Weights("other", weights.data, {**weights.card, "sha256": "f" * 64}))
    assert choose_decoder(QWERTY, "en", other, decoder=tiny_decoder) is None
    with pytest.raises(WeightsError, match=r"belongs to the encoder .* not to other"):
        Keyboard(QWERTY, Lexicon.from_counts(WORDS), other, SCORING, decoder=DecoderRuntime(load_weights(tiny_decoder)))


def test_a_decoder_of_other_frames_is_refused(tiny_weights, tiny_decoder):
    decoder = DecoderRuntime(load_weights(tiny_decoder))
    decoder.frames = 64
    with pytest.raises(WeightsError, match="takes 64 frames, the encoder gives 32"):
        Keyboard(
            QWERTY, Lexicon.from_counts(WORDS), EncoderRuntime(load_weights(tiny_weights)), SCORING, decoder=decoder
        )


def test_without_a_packaged_decoder_the_encoder_decodes(monkeypatch, tiny_weights):
    monkeypatch.setattr("glissando.decoders.packaged_weights", lambda: ("encoder",))
    assert load(weights=tiny_weights).method == "encoder"
    with pytest.raises(WeightsError, match="no decoder for layout 'qwerty': none is packaged"):
        load(weights=tiny_weights, method="decoder")


@pytest.mark.usefixtures("packaged")
def test_the_decoders_words_do_not_depend_on_the_order_of_keys():
    plain, other = load(), load(turned())
    found, again = plain.decode(SWIPE), other.decode(SWIPE)
    assert [one.word for one in found] == [one.word for one in again]
    np.testing.assert_allclose([one.score for one in found], [one.score for one in again], rtol=1e-4)
    alone = load(method="encoder").decode(SWIPE)
    assert abs(found[0].score - alone[0].score) > 1e-3  # the decoder had its say


@pytest.mark.usefixtures("packaged")
def test_the_encoder_searches_and_the_decoder_weighs_what_was_found():
    board, alone = load(), load(method="encoder")
    readings = board.read([SWIPE])
    seen = alone.emissions(SWIPE)
    np.testing.assert_array_equal(readings.log_probs, alone.read([SWIPE]).log_probs)
    corrected = board.decoder.run(seen, np.append(match_keys(QWERTY, board.decoder.layout), 26))
    np.testing.assert_allclose(readings.corrected, corrected.log_probs, atol=1e-5)
    found = alone.hypotheses(alone.read([SWIPE]))
    judged = word_log_probs(readings.corrected, found.nodes, board.trie)
    for share in (0.0, 0.3, 1.0):
        board.scoring = replace(board.scoring, decoder_share=share)
        weighed = board.hypotheses(readings)
        np.testing.assert_array_equal(weighed.nodes, found.nodes)
        real = found.nodes >= 0
        wanted = (1 - share) * found.log_probs + share * judged
        np.testing.assert_allclose(weighed.log_probs[real], wanted[real], rtol=1e-5)
        np.testing.assert_array_equal(weighed.log_probs[~real], found.log_probs[~real])
    batch = board.decode_batch([SWIPE, SWIPE], k=2)
    assert [one.word for one in batch[0]] == [one.word for one in board.decode(SWIPE, k=2)]
