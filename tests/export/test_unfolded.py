"""An exported encoder becomes one that can be trained: the same function."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

import numpy as np  # noqa: E402 (after torch)

from glissando.errors import WeightsError  # noqa: E402
from glissando.export.unfolded import unfold_encoder  # noqa: E402
from glissando.runtime import EncoderRuntime  # noqa: E402
from glissando.weights import Weights, load_weights  # noqa: E402


def test_what_was_folded_comes_back_as_the_same_function(tiny_weights):
    weights = load_weights(tiny_weights)
    rng = np.random.default_rng(0)
    paths = rng.random((3, 2, 64), dtype=np.float32).cumsum(-1) / 64
    keys = rng.random((9, 2), dtype=np.float32)
    known = EncoderRuntime(weights).run(paths, keys)
    encoder = unfold_encoder(weights)
    with torch.inference_mode():
        found = encoder(torch.from_numpy(paths), torch.from_numpy(keys).expand(3, -1, -1), torch.ones(3, 9).bool())
    np.testing.assert_allclose(found.log_probs, known.log_probs, atol=1e-4)
    np.testing.assert_allclose(found.coefficients, known.coefficients, atol=1e-4)
    np.testing.assert_allclose(found.gate, known.gate, atol=1e-4)


def test_what_cannot_be_trained_on_is_refused(tiny_weights):
    whole = load_weights(tiny_weights)
    config = whole.card["config"]
    for name, data, card, why in [
        ("half", whole.data, whole.card | {"precision": "fp16"}, "cannot be trained on"),
        ("narrow", whole.data, {"config": config | {"hidden": 16}}, "cannot be trained on"),
        ("other", whole.data, {}, "not an encoder's"),
        ("deeper", whole.data, {"config": config | {"dilations": [1] * 9}}, "not an encoder's"),
        ("cut", whole.data[:-200], whole.card, "no ONNX file"),
    ]:
        with pytest.raises(WeightsError, match=why):
            unfold_encoder(Weights(name, data, card))
