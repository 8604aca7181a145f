"""Encoder and decoder in inference form: the same functions from fewer, cheaper operations, for every file format."""

from __future__ import annotations

import contextlib
import copy
import logging
import warnings
from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.errors import WeightsError
from glissando.model.decoder import Decoder, MemoryBlock
from glissando.model.emissions import EncoderOutput
from glissando.model.encoder import GRN_FLOOR, Adapter, Block, Encoder, frame_pairs, read_heads
from glissando.model.features import CHANNELS
from glissando.model.matcher import Matcher

Filled = TypeVar("Filled", nn.Linear, nn.Conv1d, nn.Conv2d)
Network = TypeVar("Network", Encoder, Decoder, Matcher)


@contextlib.contextmanager
def exporting() -> Iterator[None]:
    """Export without gradients, without touching the random state, and without the exporters' log messages.

    Making layers draws random numbers, and a training run may export on its way.
    """
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def check_precision(precision: str, known: Sequence[str], form: str) -> None:
    """Refuse a precision that a file format does not come in."""
    if precision not in known:
        raise WeightsError(f"no precision {precision!r} for {form}; there are {', '.join(known)}")


def plain_copy(network: Network) -> Network:
    """A copy on the CPU, in float32 and in evaluation mode, which may be taken apart."""
    return copy.deepcopy(network).cpu().float().eval()


class FoldedEncoder(nn.Module):
    """An encoder in inference form: the same emissions from fewer, cheaper operations.

    Batch norm goes into the convolution before it. No activation stands between adapter, batch norm and heads,
    so the three become one product. Means over time are products with a constant row, and the trunk is
    [B, 1, T, C], a picture of height one with channels last: onnxruntime has faster kernels for these forms.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.config = config = encoder.config
        self.features = encoder.features
        self.stride = encoder.adapter.stride
        self.stem = nn.Conv1d(CHANNELS, config.width, config.kernel, padding=config.kernel // 2)
        taps = encoder.stem.weight.view(config.width, config.kernel, CHANNELS)
        fill(self.stem, taps.transpose(1, 2), encoder.stem.bias)
        self.blocks = nn.ModuleList(FoldedBlock(cast(Block, block), config.points) for block in encoder.blocks)
        self.heads = _folded_heads(encoder.adapter, encoder.heads)

    def forward(self, features: Tensor, layout_keys: Tensor, layout_mask: Tensor) -> EncoderOutput:
        """As ``Encoder.forward``, its arguments named as the report's deployed encoder names them."""
        x = F.hardswish(self.stem(self.features(features))).transpose(1, 2)  # [B, n, C]
        x = x.unsqueeze(1)  # [B, 1, n, C]
        for block in self.blocks:
            x = block(x)
        pairs = frame_pairs(x.squeeze(1), self.stride)  # [B, T, 2 C]
        heads = self.heads(pairs.flatten(0, 1)).view(-1, pairs.shape[1], self.heads.out_features)  # [B, T, N * N + 1]
        return read_heads(self.config, heads, layout_keys, layout_mask)


class FoldedBlock(nn.Module):
    """A block of the encoder in inference form."""

    mean: Tensor
    gamma: Tensor

    def __init__(self, block: Block, points: int) -> None:
        super().__init__()
        self.depthwise = _folded_depthwise(block)
        self.value, self.gate = _halves(block.expand)
        self.project = _folded_projection(block)
        self.excite = block.excite
        self.register_buffer("gamma", block.response.gamma.detach())
        self.register_buffer("mean", torch.full((1, points), 1 / points))

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, 1, T, C] -> [B, 1, T, C]."""
        # Permuted so, the axes turn within onnxruntime's own reordering for the convolution, at no cost.
        y = self.depthwise(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        flat = y.flatten(0, 2)  # [B T, C]: two axes make it a Gemm, which adds the bias on its way
        z = (self.value(flat) * torch.sigmoid(self.gate(flat))).view(-1, 1, x.shape[2], self.value.out_features)
        energy = (self.mean @ (z * z) + GRN_FLOOR).sqrt()  # [B, 1, 1, inner]
        z = z * (1 + self.gamma * energy / (energy.mean(-1, keepdim=True) + GRN_FLOOR))
        y = self.project(z.flatten(0, 2)).view(-1, 1, x.shape[2], self.project.out_features)
        squeezed = torch.relu(self.excite.squeeze((self.mean @ y).flatten(0, 2)))  # [B, C / 4]
        return x + y * torch.sigmoid(self.excite.excite(squeezed)).view(-1, 1, 1, y.shape[-1])


class FoldedDecoder(nn.Module):
    """A decoder in inference form: the same log-probabilities from fewer, cheaper operations.

    The standardisation of the inputs goes into the first product, each norm's scale and shift into the product after
    it, and the bottleneck's own skip into the middle tap of the memory. Batch and time are one axis throughout: two
    axes make a product a Gemm, which onnxruntime fuses with its bias and its activation.
    """

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.config = decoder.config
        weight = decoder.project.weight.double() * decoder.scale.double()
        self.project = _linear(weight, decoder.project.bias - weight @ decoder.mean.double())
        self.blocks = nn.ModuleList(FoldedMemoryBlock(cast(MemoryBlock, block)) for block in decoder.blocks)
        self.head = decoder.head

    def forward(self, log_probs: Tensor, coefficients: Tensor, gate: Tensor) -> Tensor:
        """Correct an encoder's emissions.

        Args:
            log_probs: [B, T, K + 1] of the decoder's own keys, in its own order, blank last.
            coefficients: [B, T, N * N].
            gate: [B, T] logits.

        Returns:
            [B, T, K + 1] log-probabilities.
        """
        frames, floor = log_probs.shape[1], self.config.skip_floor
        inputs = torch.cat([log_probs.clamp(min=self.config.floor), coefficients, gate[..., None]], dim=-1)
        x = self.project(inputs.flatten(0, 1))  # [B T, H]
        for block in self.blocks:
            x = block(x, frames)
        skip = log_probs if floor is None else log_probs.clamp(min=floor)
        return F.log_softmax(self.by_swipe(self.head(x), frames) + skip, dim=-1)

    def by_swipe(self, x: Tensor, frames: int) -> Tensor:
        """Make batch and time two axes again. Shape: [B T, K + 1] -> [B, T, K + 1]."""
        return x.view(-1, frames, self.head.out_features)


class FoldedMemoryBlock(nn.Module):
    """A block of the decoder in inference form."""

    def __init__(self, block: MemoryBlock) -> None:
        super().__init__()
        narrow = block.narrow.weight.double()
        self.norm = nn.LayerNorm(narrow.shape[1], block.norm.eps)  # its own scale and shift: one and zero
        self.narrow = _linear(narrow * block.norm.weight.double(), narrow @ block.norm.bias.double())
        taps, width = block.memory.weight.shape
        self.memory = nn.Conv2d(width, width, (1, taps), padding=(0, taps // 2), groups=width, bias=False)
        kernel = block.memory.weight.detach().clone()
        kernel[taps // 2] += 1
        fill(self.memory, kernel.T[:, None, None])
        self.widen = block.widen

    def forward(self, x: Tensor, frames: int) -> Tensor:
        """Shape: [B T, H] -> [B T, H]."""
        return x + self.remember(self.norm(x), frames)

    def remember(self, normed: Tensor, frames: int) -> Tensor:
        """What the block adds. Shape: [B T, H] -> [B T, H]."""
        p = self.narrow(normed).view(-1, 1, frames, self.memory.in_channels)
        # A picture of height one, channels last: so permuted, the axes turn within onnxruntime's own reordering.
        p = self.memory(p.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)  # [B, 1, T, P]
        return torch.relu(self.widen(p.flatten(0, 2)))


def _folded_depthwise(block: Block) -> nn.Conv2d:
    """Fold the batch norm into the depthwise convolution before it."""
    kernel, width = block.depthwise.weight.shape
    dilation = block.depthwise.dilation
    folded = nn.Conv2d(
        width, width, (1, kernel), dilation=(1, dilation), padding=(0, dilation * (kernel // 2)), groups=width
    )
    scale, shift = _affine(block.norm)
    return fill(folded, (block.depthwise.weight * scale).T[:, None, None], shift)


def _folded_projection(block: Block) -> nn.Linear:
    """Fold the response norm's beta into the bias of the projection after it."""
    weight = block.project.weight.double()
    bias = block.project.bias + weight @ block.response.beta.double()
    return _linear(weight, bias)


def _folded_heads(adapter: Adapter, heads: nn.Linear) -> nn.Linear:
    """Multiply adapter, batch norm and heads into one linear map from two frames. Shape: 2 C -> N * N + 1."""
    scale, shift = _affine(adapter.norm)
    weight = heads.weight.double() * scale  # [N * N + 1, H]
    bias = heads.bias + heads.weight.double() @ shift
    return _linear(weight @ adapter.weight.weight.double(), bias)


def _halves(linear: nn.Linear) -> tuple[nn.Linear, nn.Linear]:
    """Split the expansion into the gated linear unit's value and gate, so that neither is copied out."""
    first, second = zip(linear.weight.chunk(2), linear.bias.chunk(2), strict=True)
    return _linear(*first), _linear(*second)


def _affine(norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    """The scale and shift, in float64, that batch norm is at inference."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    return scale, norm.bias - norm.running_mean * scale


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """A linear map with this weight and bias."""
    return fill(nn.Linear(weight.shape[1], weight.shape[0]), weight, bias)


def fill(module: Filled, weight: Tensor, bias: Tensor | None = None) -> Filled:
    """Set a layer's weight, and its bias where it has one, and return it."""
    with torch.no_grad():
        module.weight.copy_(weight)
        if bias is not None:
            cast(Tensor, module.bias).copy_(bias)
    return module
