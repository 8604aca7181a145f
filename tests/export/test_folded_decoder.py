import pytest

torch = pytest.importorskip("torch")

from glissando.export.folded_decoder import FoldedDecoder  # noqa: E402 (needs torch)
from glissando.model.config import DecoderConfig  # noqa: E402
from glissando.model.decoder import Decoder, frame_features  # noqa: E402
from glissando.model.emissions import Emissions  # noqa: E402

CONFIGS = {
    "default": DecoderConfig(),
    "another layout": DecoderConfig(keys=31, coefficients=25, hidden=32, bottleneck=8, context=3, blocks=2),
    "floors": DecoderConfig(hidden=32, bottleneck=8, blocks=2, floor=-3.0, skip_floor=-5.0),
}


def awake(config):
    """A decoder whose every part differs from its start: norms, standard, zero head."""
    torch.manual_seed(0)
    decoder = Decoder(config).eval()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        decoder.mean.normal_()
        decoder.scale.uniform_(0.3, 2)
    return decoder


def emissions(config, frames):
    torch.manual_seed(3)
    log_probs = torch.log_softmax(4 * torch.randn(3, frames, config.keys + 1), dim=-1)
    return Emissions(log_probs, torch.randn(3, frames, config.coefficients), torch.randn(3, frames))


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("frames", [32, 64])
def test_folded_it_says_the_same(name, frames):
    config = CONFIGS[name]
    decoder, given = awake(config), emissions(config, frames)
    with torch.inference_mode():
        expected = decoder(frame_features(given))
        got = FoldedDecoder(decoder)(*given)
    torch.testing.assert_close(got, expected, atol=1e-4, rtol=0)
    assert (got - given.log_probs).abs().max() > 0.1  # it corrects something


def test_folding_leaves_the_decoder_as_it_is():
    decoder = awake(CONFIGS["floors"])
    before = {name: tensor.clone() for name, tensor in decoder.state_dict().items()}
    FoldedDecoder(decoder)
    assert all(torch.equal(tensor, before[name]) for name, tensor in decoder.state_dict().items())
