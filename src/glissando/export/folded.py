"""The encoder in inference form: the same function from fewer, cheaper operations, for whichever file it goes into."""

from __future__ import annotations

from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.model.emissions import Emissions
from glissando.model.encoder import GRN_FLOOR, Adapter, Block, Encoder, frame_pairs, read_heads
from glissando.model.features import CHANNELS

Filled = TypeVar("Filled", nn.Linear, nn.Conv1d, nn.Conv2d)


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
        _fill(self.stem, taps.transpose(1, 2), encoder.stem.bias)
        self.blocks = nn.ModuleList(FoldedBlock(cast(Block, block), config.points) for block in encoder.blocks)
        self.heads = _folded_heads(encoder.adapter, encoder.heads)

    def forward(self, features: Tensor, layout_keys: Tensor, layout_mask: Tensor) -> Emissions:
        """As ``Encoder.forward``, its arguments named as the report's deployed encoder names them."""
        x = F.hardswish(self.stem(self.features(features))).transpose(1, 2)  # [B, n, C]
        x = x.unsqueeze(1)  # [B, 1, n, C]
        for block in self.blocks:
            x = block(x)
        heads = _flat_linear(self.heads, frame_pairs(x.squeeze(1), self.stride))  # [B, T, N * N + 1]
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


def _folded_depthwise(block: Block) -> nn.Conv2d:
    """Fold the batch norm into the depthwise convolution before it."""
    kernel, width = block.depthwise.weight.shape
    dilation = block.depthwise.dilation
    folded = nn.Conv2d(
        width, width, (1, kernel), dilation=(1, dilation), padding=(0, dilation * (kernel // 2)), groups=width
    )
    scale, shift = _affine(block.norm)
    return _fill(folded, (block.depthwise.weight * scale).T[:, None, None], shift)


def _folded_projection(block: Block) -> nn.Linear:
    """Fold the response norm's beta into the bias of the projection after it."""
    weight = block.project.weight.double()
    bias = block.project.bias + weight @ block.response.beta.double()
    return _fill(nn.Linear(weight.shape[1], weight.shape[0]), weight, bias)


def _folded_heads(adapter: Adapter, heads: nn.Linear) -> nn.Linear:
    """Multiply adapter, batch norm and heads into one linear map from two frames. Shape: 2 C -> N * N + 1."""
    scale, shift = _affine(adapter.norm)
    weight = heads.weight.double() * scale  # [N * N + 1, H]
    bias = heads.bias + heads.weight.double() @ shift
    joined = weight @ adapter.weight.weight.double()
    return _fill(nn.Linear(joined.shape[1], joined.shape[0]), joined, bias)


def _halves(linear: nn.Linear) -> tuple[nn.Linear, nn.Linear]:
    """Split the expansion into the gated linear unit's value and gate, so that neither is copied out."""
    weights, biases = linear.weight.chunk(2), linear.bias.chunk(2)
    first, second = (
        _fill(nn.Linear(linear.in_features, len(bias)), weight, bias)
        for weight, bias in zip(weights, biases, strict=True)
    )
    return first, second


def _affine(norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    """The scale and shift, in float64, that batch norm is at inference."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    return scale, norm.bias - norm.running_mean * scale


def _fill(module: Filled, weight: Tensor, bias: Tensor) -> Filled:
    """Set a layer's weight and bias and return it."""
    with torch.no_grad():
        module.weight.copy_(weight)
        module.bias.copy_(bias)  # type: ignore[union-attr]
    return module


def _flat_linear(linear: nn.Linear, x: Tensor) -> Tensor:
    """Apply a linear map with batch and time as one axis. Shape: [B, T, C] -> [B, T, D]."""
    return linear(x.flatten(0, 1)).view(-1, x.shape[1], linear.out_features)
