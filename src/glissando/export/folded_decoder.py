"""The decoder in inference form: the same function from fewer, cheaper operations."""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.model.decoder import Decoder, MemoryBlock


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
        return F.log_softmax(self.head(x).view(-1, frames, self.head.out_features) + skip, dim=-1)


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
        with torch.no_grad():
            self.memory.weight.copy_(kernel.T[:, None, None])
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


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """A layer with this weight and bias."""
    linear = nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return linear
