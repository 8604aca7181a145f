import numpy as np
import pytest

from glissando.errors import WeightsError
from glissando.layout import load_layout
from glissando.runtime import DecoderRuntime, Emissions, EncoderRuntime
from glissando.weights import Weights, load_weights


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


def test_a_batch_equals_one_by_one(encoder):
    keys, batch = load_layout("qwerty").centres, paths(4)
    together = encoder.run(batch, keys).log_probs
    alone = np.concatenate([encoder.run(batch[i : i + 1], keys).log_probs for i in range(4)])
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_permuting_keys_permutes_emissions(encoder):
    keys = load_layout("qwerty").centres
    order = np.random.default_rng(1).permutation(len(keys))
    plain, moved = encoder.run(paths(2), keys).log_probs, encoder.run(paths(2), keys[order]).log_probs
    np.testing.assert_allclose(plain[..., :-1][..., order], moved[..., :-1], atol=1e-4)


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
    assert (decoder.language, decoder.encoder) == ("en", encoder.weights.card["sha256"])
    assert decoder.frames == encoder.frames == 32


def test_corrected_emissions_are_distributions_and_keep_field_and_gate(decoder, encoder):
    plain = encoder.run(paths(3), decoder.layout.centres)
    corrected = decoder.run(plain)
    np.testing.assert_allclose(np.exp(corrected.log_probs).sum(-1), 1, atol=1e-4)
    assert np.abs(corrected.log_probs - plain.log_probs).max() > 0.1
    assert corrected.coefficients is plain.coefficients
    assert corrected.gate is plain.gate


def test_columns_in_another_order_are_corrected_alike(decoder, encoder):
    plain = encoder.run(paths(2), decoder.layout.centres)
    order = np.append(np.random.default_rng(2).permutation(26), 26)  # place of each given column among the decoder's
    shuffled = Emissions(plain.log_probs[..., order], plain.coefficients, plain.gate)
    corrected = decoder.run(shuffled, np.argsort(order))
    np.testing.assert_allclose(corrected.log_probs, decoder.run(plain).log_probs[..., order], atol=1e-5)


def test_an_encoder_is_no_decoder_and_the_other_way_round(tiny_weights, tiny_decoder):
    encoder, decoder = load_weights(tiny_weights), load_weights(tiny_decoder)
    with pytest.raises(WeightsError, match="no decoder: the JSON beside them names no layout"):
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
