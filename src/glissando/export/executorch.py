"""Encoder, decoder and matcher as ExecuTorch programs (``.pte``) for XNNPACK, one swipe at a time.

Shapes are fixed, as in the report's deployment appendix. The trunk is spelled in the operations that XNNPACK takes, so
that it is one delegated call: a picture of height one, convolutions throughout, means as pooling.
"""

from __future__ import annotations

import os
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.errors import MissingExtraError
from glissando.export.folded import (
    FoldedBlock,
    FoldedDecoder,
    FoldedEncoder,
    FoldedMemoryBlock,
    check_precision,
    exporting,
    fill,
    plain_copy,
)
from glissando.export.onnx import FRAMES
from glissando.files import write_whole
from glissando.keyboard import MATCHED
from glissando.layout import MAX_KEYS
from glissando.model.config import MatcherConfig
from glissando.model.decoder import Decoder
from glissando.model.encoder import GRN_FLOOR, Encoder, read_heads
from glissando.model.features import CHANNELS
from glissando.model.matcher import Block, Matcher
from glissando.runtime import LONGEST

PRECISIONS = ("fp32", "mixed")
# Blocks of the encoder that stay in float32 in a mixed file. The first take differences of close frames by taps that
# reach the hundreds, so their rounding goes furthest: with none in float32 the log-emissions of the shipped weights are
# off by 0.055, with two by 0.024, with three by 0.019 (the 99.9th percentile of the likely ones).
FULL_BLOCKS = 3
# And of the decoder: with none the shipped one is off by 0.020, with the first in float32 by 0.014.
FULL_DECODER_BLOCKS = 1


def export_encoder(encoder: Encoder, path: str | os.PathLike[str], precision: str = "fp32") -> None:
    """Write an encoder as an ExecuTorch program, whole or not at all.

    Inputs and outputs are those of the ONNX file, in the same order, with B = 1.

    Args:
        encoder: the trained encoder; it is left as it is.
        path: the file to write.
        precision: "fp32", or "mixed": the later blocks in half precision, path, heads and emissions in float32.
    """
    check_precision(precision, PRECISIONS, "ExecuTorch")
    example = (torch.zeros(1, 2, encoder.config.points), torch.zeros(1, MAX_KEYS, 2), torch.ones(1, MAX_KEYS).bool())
    with exporting():
        write_whole(path, _lower(DeviceEncoder(plain_copy(encoder), precision == "mixed"), example))


def export_decoder(
    decoder: Decoder, path: str | os.PathLike[str], frames: int = FRAMES, precision: str = "fp32"
) -> None:
    """Write a decoder as an ExecuTorch program, whole or not at all.

    Inputs and outputs are those of the ONNX file, in the same order, with B = 1.

    Args:
        decoder: the trained decoder; it is left as it is.
        path: the file to write.
        frames: T, the frames of the encoder it corrects.
        precision: "fp32", or "mixed": the later blocks in half precision, the first and both ends in float32.
    """
    check_precision(precision, PRECISIONS, "ExecuTorch")
    config = decoder.config
    example = (torch.zeros(1, frames, config.keys + 1), torch.zeros(1, frames, config.coefficients))
    with exporting():
        network = (MixedDecoder if precision == "mixed" else FoldedDecoder)(plain_copy(decoder))
        write_whole(path, _lower(network, (*example, torch.zeros(1, frames))))


def export_matcher(matcher: Matcher, path: str | os.PathLike[str], precision: str = "fp32") -> None:
    """Write a matcher as an ExecuTorch program, whole or not at all.

    Inputs and outputs are those of the ONNX file, in the same order, with B = 1, N = 16 finalists and L = 20 letters.
    Finalists and letters that are fewer are filled up with zeros and a mask that is False.

    Args:
        matcher: the trained matcher; it is left as it is.
        path: the file to write.
        precision: "fp32", the only one.
    """
    check_precision(precision, ("fp32",), "a matcher as ExecuTorch")
    example = (torch.zeros(1, matcher.config.points, 2), torch.zeros(1, MATCHED, LONGEST, 2))
    with exporting():
        network = spell_attention(plain_copy(matcher))
        write_whole(path, _lower(network, (*example, torch.ones(1, MATCHED, LONGEST).bool())))


class DeviceEncoder(nn.Module):
    """A folded encoder in XNNPACK's operations, for one swipe."""

    def __init__(self, encoder: Encoder, mixed: bool) -> None:
        super().__init__()
        folded = FoldedEncoder(encoder)
        self.config = config = folded.config
        self.features = folded.features
        for buffer in ("first", "second"):  # executorch knows no buffer that a checkpoint would leave out
            self.features.register_buffer(buffer, getattr(self.features, buffer), persistent=True)
        self.stem = nn.Conv2d(CHANNELS, config.width, (1, config.kernel), padding=(0, config.kernel // 2))
        fill(self.stem, folded.stem.weight[:, :, None], folded.stem.bias)
        self.early = nn.ModuleList()
        self.late = nn.ModuleList()
        for index, block in enumerate(folded.blocks):
            halved = mixed and index >= FULL_BLOCKS
            device = DeviceBlock(cast(FoldedBlock, block), halved)
            (self.late if halved else self.early).append(device.half() if halved else device)
        self.stride = folded.stride
        self.heads = nn.Conv2d(config.width, folded.heads.out_features, (1, 2), stride=(1, self.stride))
        pair = folded.heads.weight.unflatten(1, (2, config.width))  # [N * N + 1, 2, C]
        fill(self.heads, pair.transpose(1, 2)[:, :, None], folded.heads.bias)

    def forward(self, features: Tensor, layout_keys: Tensor, layout_mask: Tensor) -> tuple[Tensor, ...]:
        """As ``Encoder.forward``, its arguments named as the report's deployed encoder names them."""
        x = F.hardswish(self.stem(self.features(features).unsqueeze(2)))  # [1, C, 1, n]
        for block in self.early:
            x = block(x)
        if len(self.late):
            x = x.half()
            for block in self.late:
                x = block(x)
            x = x.float()
        if self.stride == 1:
            x = F.pad(x, (0, 1))
        heads = self.heads(x).squeeze(2).transpose(1, 2)  # [1, T, N * N + 1]
        return tuple(read_heads(self.config, heads, layout_keys, layout_mask))


class DeviceBlock(nn.Module):
    """A folded block in XNNPACK's operations."""

    gamma: Tensor

    def __init__(self, block: FoldedBlock, halved: bool) -> None:
        super().__init__()
        point = HalfPointwise if halved else _pointwise
        self.depthwise = block.depthwise
        self.value, self.gate, self.project = point(block.value), point(block.gate), point(block.project)
        self.squeeze, self.excite = point(block.excite.squeeze), point(block.excite.excite)
        self.register_buffer("gamma", block.gamma[None, :, None, None].clone())
        # XNNPACK has no mean over channels, but a product with equal weights is one.
        self.mean = nn.Conv2d(block.value.out_features, 1, 1)
        nn.init.constant_(self.mean.weight, 1 / block.value.out_features)
        nn.init.constant_(cast(Tensor, self.mean.bias), GRN_FLOOR)

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [1, C, 1, T] -> [1, C, 1, T]."""
        y = self.depthwise(x)
        z = self.value(y) * torch.sigmoid(self.gate(y))
        energy = ((z * z).mean((2, 3), keepdim=True) + GRN_FLOOR).sqrt()  # [1, inner, 1, 1]
        y = self.project(z * (1 + self.gamma * (energy / self.mean(energy))))
        squeezed = torch.relu(self.squeeze(y.mean((2, 3), keepdim=True)))
        return x + y * torch.sigmoid(self.excite(squeezed))


class HalfPointwise(nn.Module):
    """A linear map of channels in half precision. As a convolution, executorch would store it in float32."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [1, C, 1, T] -> [1, D, 1, T]."""
        mapped: Tensor = self.linear(x.permute(0, 2, 3, 1))
        return mapped.permute(0, 3, 1, 2)


class HalfMemoryBlock(nn.Module):
    """A folded block of the decoder whose products are in half precision.

    What they are added to, and its norm, stay in float32: over 256 channels ExecuTorch's layer norm of half floats is
    wrong by units, over 128 it is not.
    """

    def __init__(self, block: FoldedMemoryBlock) -> None:
        super().__init__()
        self.block = block
        for part in (block.narrow, block.memory, block.widen):
            part.half()

    def forward(self, x: Tensor, frames: int) -> Tensor:
        """Shape: [T, H] -> [T, H]."""
        return x + self.block.remember(self.block.norm(x).half(), frames).float()


class MixedDecoder(FoldedDecoder):
    """A folded decoder for one swipe, its later blocks in half precision."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__(decoder)
        for index in range(FULL_DECODER_BLOCKS, len(self.blocks)):
            self.blocks[index] = HalfMemoryBlock(cast(FoldedMemoryBlock, self.blocks[index]))

    def by_swipe(self, x: Tensor, frames: int) -> Tensor:
        """Shape: [T, K + 1] -> [1, T, K + 1]."""
        return x[None]


class SpelledBlock(Block):
    """A matcher's block whose attention is spelled in products and a softmax.

    torch's own attention looks for rows that are masked whole, in operations that XNNPACK lacks: 8.6 ms for the shipped
    matcher in place of 3.7. No row is masked so: the mask is a large number, not minus infinity.
    """

    def __init__(self, block: Block, config: MatcherConfig) -> None:
        super().__init__(config, looks=block.looks)
        self.load_state_dict(block.state_dict())

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
        """As ``Block``'s."""
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))  # [B, heads, ., D/heads]
        logits = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        shares = torch.softmax(logits if bias is None else logits + bias, dim=-1)
        return (shares @ v).transpose(1, 2).flatten(-2)


def spell_attention(matcher: Matcher) -> Matcher:
    """Replace the blocks of a matcher by blocks that spell their attention; it is changed in place."""
    for blocks in (matcher.path_blocks, matcher.word_blocks):
        for index, block in enumerate(blocks):
            blocks[index] = SpelledBlock(cast(Block, block), matcher.config)
    return matcher


def _pointwise(linear: nn.Linear) -> nn.Conv2d:
    """A linear map of channels as a convolution of width one."""
    return fill(nn.Conv2d(linear.in_features, linear.out_features, 1), linear.weight[:, :, None, None], linear.bias)


def _lower(network: nn.Module, example: tuple[Tensor, ...]) -> bytes:
    """Export a network, give XNNPACK what it takes, and serialise the program."""
    try:
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import to_edge_transform_and_lower
    except ImportError:
        raise MissingExtraError("exporting to .pte needs executorch: pip install 'glissando[executorch]'") from None
    exported = torch.export.export(network.eval(), example)
    lowered: Any = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    return bytes(lowered.to_executorch().buffer)
