import pytest
import torch

from glissando.model.config import DecoderConfig
from glissando.model.decoder import Decoder, Memory, frame_features
from glissando.model.emissions import EncoderOutput, gated_log_probs

SMALL = DecoderConfig(keys=5, coefficients=4, hidden=16, bottleneck=8, context=2, blocks=2)


def emissions(config: DecoderConfig, batch: int = 3, frames: int = 12) -> EncoderOutput:
    logits, gate = 5 * torch.randn(batch, frames, config.keys), torch.randn(batch, frames)
    coefficients = torch.randn(batch, frames, config.coefficients)
    return EncoderOutput(gated_log_probs(logits, gate), coefficients, gate)


def stirred(config: DecoderConfig) -> Decoder:
    """A decoder as training might leave it: nothing at its initial zero or one."""
    torch.manual_seed(1)
    decoder = Decoder(config)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return decoder


def test_it_has_the_reports_size():
    assert sum(parameter.numel() for parameter in Decoder().parameters()) == 304_667  # 304K, within 2K
    assert DecoderConfig().inputs == 92


@pytest.mark.parametrize("training", [True, False])
def test_it_begins_as_the_identity(training):
    torch.manual_seed(0)
    found = emissions(DecoderConfig(), frames=64)
    corrected = Decoder().train(training)(frame_features(found))
    torch.testing.assert_close(corrected, found.log_probs, rtol=0, atol=1e-5)


def test_both_forms_of_the_memory_are_one_convolution_with_a_skip_and_have_one_gradient():
    torch.manual_seed(0)
    memory, x = Memory(4, 5).double(), torch.randn(2, 9, 4, dtype=torch.float64)
    slow = x.clone()
    for frame in range(9):
        for tap in range(5):
            if 0 <= frame + tap - 2 < 9:
                slow[:, frame] += memory.weight[tap].detach() * x[:, frame + tap - 2]
    gradients = []
    for training in (True, False):
        y = memory.train(training)(x)
        torch.testing.assert_close(y, slow)
        gradients.append(torch.autograd.grad(y.square().sum(), memory.weight)[0])
    torch.testing.assert_close(*gradients)


def test_a_frame_is_corrected_by_what_is_within_its_context_only():
    torch.manual_seed(0)
    decoder = stirred(SMALL).eval()
    features = frame_features(emissions(SMALL, frames=20))
    changed = features.clone()
    changed[:, 0, -3:] += 1.0
    gap = (decoder(changed) - decoder(features)).abs().amax(dim=(0, 2))
    reach = SMALL.blocks * SMALL.context
    assert gap[reach] > 1e-6
    assert gap[reach + 1 :].max() == 0


def test_impossible_keys_look_alike_below_the_floor_and_stay_impossible():
    torch.manual_seed(0)
    decoder = stirred(SMALL).eval()
    features = frame_features(emissions(SMALL))
    features[..., 2] = -40.0
    lower = features.clone()
    lower[..., 2] = -400.0
    torch.testing.assert_close(decoder.standardise(features), decoder.standardise(lower), rtol=0, atol=0)
    assert decoder(lower)[..., 2].max() < -300
    floored = Decoder(DecoderConfig(**{**SMALL.to_dict(), "skip_floor": -12.0})).eval()
    assert floored(lower)[..., 2].min() > -14  # within reach of a correction


def test_inputs_are_standardised_but_small_ones_are_not_blown_up():
    torch.manual_seed(0)
    decoder = Decoder(SMALL)
    features = torch.randn(500, 8, SMALL.inputs) * 6 + 2
    features[..., -1] *= 1e-3
    decoder.fit_standard(features)
    inputs = decoder.standardise(features).flatten(0, 1)
    assert inputs.mean(dim=0).abs().max() < 1e-3
    assert inputs[:, 6:-1].std(dim=0).sub(1).abs().max() < 0.05
    assert inputs[:, -1].std() < 0.02
