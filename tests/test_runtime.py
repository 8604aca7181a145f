from dataclasses import replace

import numpy as np
import pytest

from glissando.errors import WeightsError
from glissando.layout import Key, Layout, load_layout
from glissando.runtime import DecoderRuntime, EncoderRuntime, match_keys, misfit
from glissando.weights import Weights, load_weights

QWERTY = load_layout("qwerty")


@pytest.fixture(scope="module")
def encoder(tiny_weights):
    return EncoderRuntime(load_weights(tiny_weights))


def paths(count, seed=0):
    steps = np.random.default_rng(seed).normal(size=(count, 2, 64)) * 0.03
    return np.clip(0.5 + steps.cumsum(-1), 0, 1).astype(np.float32)


@pytest.mark.parametrize("name", ["qwerty", "jcuken", "hindi", "toki_pona"])
def test_emissions_are_distributions_over_the_layouts_keys(encoder, name):
    keys = load_layout(name).centres
    emissions = encoder.run(paths(3), keys)
    assert emissions.log_probs.shape == (3, 32, len(keys) + 1)
    assert emissions.coefficients.shape == (3, 32, 64)
    assert emissions.gate.shape == (3, 32)
    np.testing.assert_allclose(np.exp(emissions.log_probs).sum(-1), 1, atol=1e-4)


def test_bytes_that_are_no_model():
    with pytest.raises(WeightsError, match="not a model"):
        EncoderRuntime(Weights("junk", b"junk", {}))


def test_a_model_of_other_shapes(tmp_path):
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["features"], ["log_emissions"])],
        "other",
        [value("features", 1, ["b", 3, 64])],
        [value("log_emissions", 1, ["b", 3, 64])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    with pytest.raises(WeightsError, match=r"take inputs .*\(3, 64\)"):
        EncoderRuntime(Weights("other", model.SerializeToString(), {}))


@pytest.fixture(scope="module")
def decoder(tiny_decoder):
    return DecoderRuntime(load_weights(tiny_decoder))


def test_the_decoder_says_what_it_belongs_to(decoder, encoder):
    assert "".join(decoder.layout.letters) == "abcdefghijklmnopqrstuvwxyz"
    assert decoder.encoder == encoder.weights.card["sha256"]
    assert decoder.frames == encoder.frames == 32


def test_corrected_emissions_are_distributions_and_keep_field_and_gate(decoder, encoder):
    plain = encoder.run(paths(3), decoder.layout.centres)
    corrected = decoder.run(plain)
    np.testing.assert_allclose(np.exp(corrected.log_probs).sum(-1), 1, atol=1e-4)
    assert np.abs(corrected.log_probs - plain.log_probs).max() > 0.1
    assert corrected.coefficients is plain.coefficients
    assert corrected.gate is plain.gate


def test_an_encoder_is_no_decoder_and_the_other_way_round(tiny_weights, tiny_decoder):
    encoder, decoder = load_weights(tiny_weights), load_weights(tiny_decoder)
    with pytest.raises(WeightsError, match="not a decoder: the JSON beside them names no layout"):
        DecoderRuntime(encoder)
    with pytest.raises(WeightsError, match="the encoder takes"):
        EncoderRuntime(decoder)
    with pytest.raises(WeightsError, match="the decoder takes"):
        DecoderRuntime(Weights("mixed", encoder.data, decoder.card))
    with pytest.raises(WeightsError, match="no usable layout"):
        DecoderRuntime(Weights("broken", decoder.data, {"layout": {"keys": []}}))


def test_a_decoder_of_more_keys_than_its_layout_is_refused(tiny_decoder):
    weights = load_weights(tiny_decoder)
    layout = {**weights.card["layout"], "keys": weights.card["layout"]["keys"][:-1]}
    with pytest.raises(WeightsError, match=r"\(32, 27\).* the decoder takes .*\(32, 26\)"):
        DecoderRuntime(Weights("fewer", weights.data, {**weights.card, "layout": layout}))


def moved(shift):
    """QWERTY with its b moved."""
    dx, dy = shift
    return Layout(
        "moved",
        tuple(replace(key, cx=key.cx + dx, cy=key.cy + dy) if key.letter == "b" else key for key in QWERTY.keys),
    )


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
    turned = Layout("turned", layout.keys[::-1])
    assert [turned.letters[place] for place in match_keys(turned, QWERTY)] == list(QWERTY.letters)


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


def test_a_decoder_fits_its_layout_and_encoder_and_what_does_not_fit_is_named(encoder, decoder, tiny_decoder):
    assert not misfit(decoder, QWERTY, encoder)
    assert not misfit(decoder, moved((0.05, 0)), encoder)
    other = EncoderRuntime(Weights("other", encoder.weights.data, {**encoder.weights.card, "sha256": "f" * 64}))
    assert "not over other" in misfit(decoder, QWERTY, other)
    assert "layout 'qwerty'" in misfit(decoder, load_layout("jcuken"), encoder)
    longer = DecoderRuntime(load_weights(tiny_decoder))
    longer.frames = 64
    assert misfit(longer, QWERTY, encoder) == "the decoder takes 64 frames, the encoder gives 32"
