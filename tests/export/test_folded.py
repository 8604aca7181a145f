"""The decoder in inference form, in torch; test_onnx and test_executorch compare the encoder's."""

import pytest

torch = pytest.importorskip("torch")

from networks import small_decoder  # noqa: E402 (needs torch)

from glissando.export.folded import FoldedDecoder  # noqa: E402
from glissando.model.decoder import frame_features  # noqa: E402
from glissando.model.emissions import EncoderOutput  # noqa: E402

DECODERS = {
    "default": {"bottleneck": 48, "context": 7},
    "another layout": {"keys": 31, "coefficients": 25, "hidden": 32, "bottleneck": 8, "context": 3},
    "floors": {"hidden": 32, "bottleneck": 8, "floor": -3.0, "skip_floor": -5.0},
}


@pytest.mark.parametrize("name", DECODERS)
def test_a_folded_decoder_is_the_same_function_and_leaves_the_decoder_as_it_is(name):
    decoder = small_decoder(**DECODERS[name])
    torch.nn.init.normal_(decoder.mean)
    torch.nn.init.uniform_(decoder.scale, 0.3, 2)
    before = {key: tensor.clone() for key, tensor in decoder.state_dict().items()}
    config = decoder.config
    log_probs = torch.log_softmax(4 * torch.randn(3, 32, config.keys + 1), dim=-1)
    given = EncoderOutput(log_probs, torch.randn(3, 32, config.coefficients), torch.randn(3, 32))
    with torch.inference_mode():
        corrected = FoldedDecoder(decoder)(*given)
        torch.testing.assert_close(corrected, decoder(frame_features(given)), atol=1e-4, rtol=0)
    assert (corrected - log_probs).abs().max() > 0.1  # it corrects something
    assert all(torch.equal(tensor, before[key]) for key, tensor in decoder.state_dict().items())
