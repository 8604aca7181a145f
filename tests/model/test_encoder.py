import pytest
import torch
import torch.nn.functional as F
from torch import nn

from glissando.model.config import EncoderConfig
from glissando.model.encoder import Adapter, Block, DepthwiseConv, Encoder

TINY = {"width": 16, "hidden": 32, "dilations": (1, 2)}


def awake(config):
    """An encoder whose zero-initialised parts and batch statistics are not those of step zero."""
    torch.manual_seed(0)
    encoder = Encoder(config)
    for name, parameter in encoder.named_parameters():
        if name.startswith("heads") or "response" in name:
            nn.init.normal_(parameter, std=0.3)
    for module in encoder.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.running_mean.normal_(std=0.2)
            module.running_var.uniform_(0.5, 2)
    return encoder.eval()


def swipes(batch=3, keys=26):
    torch.manual_seed(1)
    path = (torch.randn(batch, 2, 64).cumsum(-1) / 40 + 0.5).clamp(0, 1)
    return path, torch.rand(batch, keys, 2), torch.ones(batch, keys).bool()


def test_parameter_count_is_the_reports():
    encoder = Encoder(EncoderConfig())
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 634_849


@pytest.mark.parametrize("training", [True, False])
def test_step_zero_says_nothing_yet(training):
    path, keys, mask = swipes(keys=26)
    out = Encoder().train(training)(path, keys, mask)
    probs = out.log_probs.exp()
    torch.testing.assert_close(probs[..., -1], torch.full((3, 32), 0.5))
    torch.testing.assert_close(probs[..., :-1], torch.full((3, 32, 26), 0.5 / 26))


@pytest.mark.parametrize("frames", [32, 64])
@pytest.mark.parametrize("blank", ["gate", "joint"])
def test_emissions_sum_to_one(frames, blank):
    path, keys, mask = swipes(keys=31)
    mask[0, 20:] = False
    out = awake(EncoderConfig(**TINY, frames=frames, blank=blank))(path, keys, mask)
    assert out.log_probs.shape == (3, frames, 32)
    assert out.gate.shape == (3, frames)
    torch.testing.assert_close(out.log_probs.exp().sum(-1), torch.ones(3, frames))
    assert (out.log_probs[0, :, 20:31].exp() == 0).all()


@pytest.mark.parametrize("basis", ["cosine", "grid"])
def test_permuting_keys_permutes_their_log_probs_and_padding_changes_nothing(basis):
    encoder = awake(EncoderConfig(**TINY, basis=basis))
    path, keys, mask = swipes()
    straight, order = encoder(path, keys, mask).log_probs, torch.randperm(26)
    assert straight.std() > 0.1
    padded = encoder(path, F.pad(keys[:, order], (0, 0, 0, 38)), F.pad(mask, (0, 38))).log_probs
    torch.testing.assert_close(padded[..., :26], straight[..., order])
    torch.testing.assert_close(padded[..., -1], straight[..., -1])


@pytest.mark.parametrize("dilation", [1, 3, 8])
def test_shifted_sum_is_the_depthwise_convolution(dilation):
    conv, x = DepthwiseConv(6, 7, dilation), torch.randn(2, 64, 6, requires_grad=True)
    trained = conv.train()(x)
    (gradient,) = torch.autograd.grad(trained.square().sum(), x)
    plain = conv.eval()(x)
    torch.testing.assert_close(trained, plain)
    torch.testing.assert_close(gradient, torch.autograd.grad(plain.square().sum(), x)[0])


@pytest.mark.parametrize("frames", [32, 64])
def test_adapter_is_a_convolution_of_two_frames(frames):
    adapter = Adapter(EncoderConfig(**TINY, frames=frames)).eval()
    x = torch.randn(2, 64, 16)
    filters = adapter.weight.weight.view(32, 2, 16).transpose(1, 2)
    padded = F.pad(x.transpose(1, 2), (0, 1 if frames == 64 else 0))
    expected = F.conv1d(padded, filters, stride=64 // frames) / (1 + adapter.norm.eps) ** 0.5
    torch.testing.assert_close(adapter(x).transpose(1, 2), expected)


def test_block_against_channels_first_convolutions():
    block = Block(EncoderConfig(**TINY, dropout=0.0), dilation=2)
    nn.init.normal_(block.response.gamma)
    nn.init.normal_(block.response.beta)
    x = torch.randn(4, 16, 64)
    y = F.conv1d(x, block.depthwise.weight.T[:, None], padding=6, dilation=2, groups=16)
    y = F.batch_norm(y, None, None, block.norm.weight, block.norm.bias, training=True)
    y = F.glu(F.conv1d(y, block.expand.weight[..., None], block.expand.bias), dim=1)
    energy = (y.square().mean(2, keepdim=True) + 1e-6).sqrt()
    gamma, beta = block.response.gamma[:, None], block.response.beta[:, None]
    y = y + gamma * y * energy / (energy.mean(1, keepdim=True) + 1e-6) + beta
    y = F.conv1d(y, block.project.weight[..., None], block.project.bias)
    squeezed = torch.relu(block.excite.squeeze(y.mean(2)))
    expected = x + y * torch.sigmoid(block.excite.excite(squeezed))[..., None]
    torch.testing.assert_close(block.train()(x.transpose(1, 2)).transpose(1, 2), expected, atol=1e-5, rtol=1e-4)


def test_autocast_keeps_the_ends_in_float32_and_the_trunk_in_bfloat16():
    encoder = awake(EncoderConfig(**TINY))
    args = swipes()
    seen = []
    encoder.blocks[1].register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].dtype))
    with torch.autocast("cpu", torch.bfloat16):
        half = encoder(*args)
    assert seen == [torch.bfloat16]
    assert {tensor.dtype for tensor in half} == {torch.float32}
    torch.testing.assert_close(half.coefficients, encoder(*args).coefficients, atol=0.1, rtol=0.1)
