"""The fixed-layout decoder: a correction of the encoder's emissions, learned where a layout has data.

A deep feed-forward sequential memory network (DFSMN) reads the frames of the frozen encoder and adds to its
log-emissions. Its head starts at zero, so the untrained decoder changes nothing.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.model.config import DecoderConfig
from glissando.model.emissions import EncoderOutput


class Decoder(nn.Module):
    """Frames of an encoder in, corrected log-probabilities of the same keys out."""

    mean: Tensor
    scale: Tensor

    def __init__(self, config: DecoderConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or DecoderConfig()
        self.register_buffer("mean", torch.zeros(config.inputs))
        self.register_buffer("scale", torch.ones(config.inputs))
        self.project = nn.Linear(config.inputs, config.hidden)
        self.blocks = nn.ModuleList(MemoryBlock(config) for _ in range(config.blocks))
        self.head = nn.Linear(config.hidden, config.keys + 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, features: Tensor) -> Tensor:
        """Correct the emissions of swipes.

        Args:
            features: [B, T, K + 1 + N * N + 1] from ``frame_features``.

        Returns:
            [B, T, K + 1] log-probabilities, blank last.
        """
        return self.correct(self.emissions_of(features), self.standardise(features))

    def emissions_of(self, features: Tensor) -> Tensor:
        """The log-emissions to be corrected. Shape: [B, T, inputs] -> [B, T, K + 1]."""
        log_probs = features[..., : self.config.keys + 1]
        return log_probs if self.config.skip_floor is None else log_probs.clamp(min=self.config.skip_floor)

    def standardise(self, features: Tensor) -> Tensor:
        """The network's inputs: floored, centred and scaled features. Shape: [B, T, inputs], same."""
        return (self._floored(features) - self.mean) * self.scale

    def correct(self, log_probs: Tensor, inputs: Tensor) -> Tensor:
        """Add the network's correction and normalise.

        Args:
            log_probs: [B, T, K + 1] the encoder's, the residual skip.
            inputs: [B, T, inputs] from ``standardise``, in training with noise.
        """
        x = self.project(inputs)  # [B, T, H]
        for block in self.blocks:
            x = block(x)
        return F.log_softmax(self.head(x) + log_probs, dim=-1)

    @torch.no_grad()
    def fit_standard(self, features: Tensor) -> None:
        """Take the mean and spread of the inputs from a sample. Shape: [B, T, inputs].

        A spread far below one nat changes no emission, so it is not scaled up to one.
        """
        flat = self._floored(features).flatten(0, 1)
        self.mean.copy_(flat.mean(dim=0))
        self.scale.copy_((flat.var(dim=0) + 1).rsqrt())

    def _floored(self, features: Tensor) -> Tensor:
        """Features whose log-emissions are at least ``config.floor``. Shape: [B, T, inputs], same."""
        keys = self.config.keys + 1
        return torch.cat([features[..., :keys].clamp(min=self.config.floor), features[..., keys:]], dim=-1)


class MemoryBlock(nn.Module):
    """Norm, bottleneck, a memory of the frames around, back to full width, skip. Only the norm carries a bias."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.hidden)
        self.narrow = nn.Linear(config.hidden, config.bottleneck, bias=False)
        self.memory = Memory(config.bottleneck, 2 * config.context + 1)
        self.widen = nn.Linear(config.bottleneck, config.hidden, bias=False)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, T, H] -> [B, T, H]."""
        p = self.narrow(self.norm(x))  # [B, T, P]
        return x + self.dropout(torch.relu(self.widen(self.memory(p))))


class Memory(nn.Module):
    """A convolution along time, one filter per channel, and a skip.

    The skip is part of the filter, one on its middle tap, so it costs nothing.
    """

    skip: Tensor

    def __init__(self, width: int, taps: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(taps, width).uniform_(-(taps**-0.5), taps**-0.5))
        middle = torch.arange(taps) == taps // 2
        self.register_buffer("skip", middle.float()[:, None], persistent=False)  # [taps, 1]

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, T, P] -> [B, T, P].

        Training multiplies by the filters written as banded matrices, a batched product that a GPU does far faster
        than a depthwise convolution and its gradients; elsewhere it is the plain convolution. The two are equal.
        """
        taps, width = self.weight.shape
        filters = (self.weight + self.skip).T  # [P, taps]
        if self.training:
            y = torch.bmm(x.permute(2, 0, 1), bands(filters, x.shape[1]))  # [P, B, T]
            return y.permute(1, 2, 0)
        # In two dimensions, one of them single: onnxruntime has a quick depthwise kernel for that form only.
        image = x.transpose(1, 2).unsqueeze(2)  # [B, P, 1, T]
        y = F.conv2d(image, filters[:, None, None], padding=(0, taps // 2), groups=width)
        return y.squeeze(2).transpose(1, 2)


def bands(filters: Tensor, frames: int) -> Tensor:
    """Filters along time as matrices from frames to frames. Shapes: [P, taps] -> [P, T, T]."""
    taps = torch.arange(filters.shape[1], device=filters.device)
    place = torch.arange(frames, device=filters.device)
    tap = place[:, None] - place + len(taps) // 2  # [T, T] what leads from input frame (rows) to output frame
    # A product, not an index: its gradient is a product too, where an index's is a slow scatter.
    spread = filters @ (taps[:, None, None] == tap).to(filters.dtype).flatten(1)  # [P, T * T]
    return spread.unflatten(1, (frames, frames))


def frame_features(output: EncoderOutput) -> Tensor:
    """Lay the encoder's frames out for the decoder. Shape: [B, T, K + 1 + N * N + 1]."""
    return torch.cat([output.log_probs, output.coefficients.float(), output.gate.float()[..., None]], dim=-1)
