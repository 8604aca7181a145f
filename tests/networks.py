"""Small networks whose parts that start at zero, or at the identity, do not."""

import torch
from torch import nn

from glissando.model.config import DecoderConfig, EncoderConfig, MatcherConfig
from glissando.model.decoder import Decoder
from glissando.model.encoder import Encoder
from glissando.model.matcher import Matcher


def small_encoder(**changes) -> Encoder:
    """An encoder with random weights and batch statistics; its matrices are just large enough to be shrunk."""
    torch.manual_seed(0)
    encoder = Encoder(EncoderConfig(**{"width": 64, "hidden": 32, "dilations": (1, 3, 2, 1), **changes}))
    _awake(encoder)
    return encoder.eval()


def small_decoder(**changes) -> Decoder:
    """A decoder with random weights for QWERTY."""
    torch.manual_seed(1)
    decoder = Decoder(DecoderConfig(**{"hidden": 128, "bottleneck": 64, "context": 2, "blocks": 2, **changes}))
    _awake(decoder)
    return decoder.eval()


def small_matcher(**changes) -> Matcher:
    """A matcher with random weights."""
    torch.manual_seed(2)
    matcher = Matcher(MatcherConfig(**{"width": 16, "path_blocks": 1, "word_blocks": 2, **changes}))
    _awake(matcher)
    return matcher.eval()


def _awake(network: nn.Module) -> None:
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
        for module in network.modules():
            if isinstance(module, nn.BatchNorm1d):
                module.running_mean.normal_(std=0.2)
                module.running_var.uniform_(0.3, 2)
