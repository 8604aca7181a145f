"""Encoder and decoder as ExecuTorch programs (``.pte``) for XNNPACK, one swipe at a time.

Shapes are fixed, as in the report's deployment appendix. The trunk is spelled in the operations that XNNPACK takes, so
that it is one delegated call: a picture of height one, convolutions throughout, means as pooling.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.errors import MissingExtraError, WeightsError
from glissando.export.folded import FoldedBlock, FoldedEncoder
from glissando.export.folded_decoder import FoldedDecoder, FoldedMemoryBlock
from glissando.files import write_whole
from glissando.layout import MAX_KEYS
from glissando.model.decoder import Decoder
from glissando.model.encoder import GRN_FLOOR, Encoder, read_heads
from glissando.model.features import CHANNELS

PRECISIONS = ("fp32", "mixed")
FRAMES = 64  # of the shipped encoder
# Blocks of the encoder that stay in float32 in a mixed file. The first take differences of close frames by taps that
# reach the hundreds, so their rounding goes furthest: with none in float32 the log-emissions of the shipped weights are
# off by 0.055, with two by 0.024, with three by 0.019 (the 99.9th percentile of the likely ones).
FULL_BLOCKS = 3
# And of the decoder: with none the shipped one is off by 0.020, with the first in float32 by 0.014.
FULL_DECODER_BLOCKS = 1


def export_encoder(
    encoder: Encoder, path: str | os.PathLike[str], precision: str = "fp32", max_keys: int = MAX_KEYS
) -> None:
    """Write an encoder as an ExecuTorch program, atomically.

    Inputs and outputs are those of the ONNX file, in the same order, with B = 1.

    Args:
        encoder: the trained encoder; it is left as it is.
        path: the file to write.
        precision: "fp32", or "mixed": the later blocks in half precision, path, heads and emissions in float32.
        max_keys: the most keys a layout may have.
    """
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        network = DeviceEncoder(copy.deepcopy(encoder).cpu().float().eval(), _checked(precision) == "mixed")
    example = (torch.zeros(1, 2, encoder.config.points), torch.zeros(1, max_keys, 2), torch.ones(1, max_keys).bool())
    write_whole(path, _lower(network, example))


def export_decoder(
    decoder: Decoder, path: str | os.PathLike[str], precision: str = "fp32", frames: int = FRAMES
) -> None:
    """Write a decoder as an ExecuTorch program, atomically.

    Inputs and outputs are those of the ONNX file, in the same order, with B = 1.

    Args:
        decoder: the trained decoder; it is left as it is.
        path: the file to write.
        precision: "fp32", or "mixed": the later blocks in half precision, the first and both ends in float32.
        frames: T, the frames of the encoder it corrects.
    """
    config = decoder.config
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        network = DeviceDecoder(copy.deepcopy(decoder).cpu().float().eval(), _checked(precision) == "mixed")
    example = (torch.zeros(1, frames, config.keys + 1), torch.zeros(1, frames, config.coefficients))
    write_whole(path, _lower(network, (*example, torch.zeros(1, frames))))


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
        _fill(self.stem, folded.stem.weight[:, :, None], folded.stem.bias)
        self.early = nn.ModuleList()
        self.late = nn.ModuleList()
        for index, block in enumerate(folded.blocks):
            halved = mixed and index >= FULL_BLOCKS
            made = DeviceBlock(cast(FoldedBlock, block), halved)
            (self.late if halved else self.early).append(made.half() if halved else made)
        self.stride = folded.stride
        self.heads = nn.Conv2d(config.width, folded.heads.out_features, (1, 2), stride=(1, self.stride))
        pair = folded.heads.weight.unflatten(1, (2, config.width))  # [N * N + 1, 2, C]
        _fill(self.heads, pair.transpose(1, 2)[:, :, None], folded.heads.bias)

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


class DeviceDecoder(nn.Module):
    """A folded decoder, for one swipe.

    Mixed precision halves the products of the later blocks. What they are added to, and its norm, stay in float32: over
    256 channels ExecuTorch's layer norm of half floats is wrong by units, over 128 it is not.
    """

    def __init__(self, decoder: Decoder, mixed: bool) -> None:
        super().__init__()
        self.folded = FoldedDecoder(decoder)
        self.mixed = mixed
        if mixed:
            for block in self.folded.blocks[FULL_DECODER_BLOCKS:]:
                for part in (block.narrow, block.memory, block.widen):
                    cast(nn.Module, part).half()

    def forward(self, log_emissions: Tensor, coefficients: Tensor, gate: Tensor) -> Tensor:
        """Shape: [1, T, K + 1], [1, T, N * N], [1, T] -> [1, T, K + 1]."""
        if not self.mixed:
            corrected: Tensor = self.folded(log_emissions, coefficients, gate)
            return corrected
        config, frames = self.folded.config, log_emissions.shape[1]
        inputs = torch.cat([log_emissions.clamp(min=config.floor), coefficients, gate[..., None]], dim=-1)
        x = self.folded.project(inputs.flatten(0, 1))  # [T, H]
        for index, part in enumerate(self.folded.blocks):
            block = cast(FoldedMemoryBlock, part)
            normed = block.norm(x)
            halved = index >= FULL_DECODER_BLOCKS
            x = x + (block.remember(normed.half(), frames).float() if halved else block.remember(normed, frames))
        skip = log_emissions if config.skip_floor is None else log_emissions.clamp(min=config.skip_floor)
        return F.log_softmax(self.folded.head(x)[None] + skip, dim=-1)


def _checked(precision: str) -> str:
    if precision not in PRECISIONS:
        raise WeightsError(f"no precision {precision!r} for ExecuTorch; there are {', '.join(PRECISIONS)}")
    return precision


def _pointwise(linear: nn.Linear) -> nn.Conv2d:
    """A linear map of channels as a convolution of width one."""
    return _fill(nn.Conv2d(linear.in_features, linear.out_features, 1), linear.weight[:, :, None, None], linear.bias)


def _fill(conv: nn.Conv2d, weight: Tensor, bias: Tensor | None) -> nn.Conv2d:
    """Set a convolution's weight and bias and return it."""
    assert bias is not None
    with torch.no_grad():
        conv.weight.copy_(weight)
        cast(Tensor, conv.bias).copy_(bias)
    return conv


def _lower(network: nn.Module, example: tuple[Tensor, ...]) -> bytes:
    """Export a network, give XNNPACK what it takes, and serialise the program."""
    with quiet():
        try:
            from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
            from executorch.exir import to_edge_transform_and_lower
        except ImportError:
            raise MissingExtraError("exporting to .pte needs executorch: pip install 'glissando[executorch]'") from None
        with torch.no_grad():
            exported = torch.export.export(network.eval(), example)
            lowered: Any = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
            return bytes(lowered.to_executorch().buffer)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the notes of executorch and of what it imports off the terminal."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
