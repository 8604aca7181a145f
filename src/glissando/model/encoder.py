"""The encoder: a temporal convolutional network over the path, and a field over whatever keyboard it is given.

Activations are [B, T, C], channels last, so that every 1x1 convolution is one matrix product and every other
convolution is a few shifted copies of its input.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.model.basis import cosine_basis, grid_basis
from glissando.model.config import EncoderConfig
from glissando.model.emissions import EncoderOutput, gated_log_probs, joint_log_probs, key_logits
from glissando.model.features import CHANNELS, PathFeatures

GRN_FLOOR = 1e-6  # keeps the root and the quotient of a silent channel finite
SQUEEZE = 4  # the squeeze-and-excitation gate sees the trunk through a bottleneck this much narrower


class Encoder(nn.Module):
    """Path in, log-probabilities of keys out, for any layout of keys."""

    def __init__(self, config: EncoderConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or EncoderConfig()
        self.features = PathFeatures(config.points)
        self.stem = nn.Linear(CHANNELS * config.kernel, config.width)
        self.blocks = nn.ModuleList(Block(config, dilation) for dilation in config.dilations)
        self.adapter = Adapter(config)
        # Coefficients and gate in one product; zero at first: all keys equally likely, the gate at one half.
        self.heads = nn.Linear(config.hidden, config.resolution**2 + 1)
        nn.init.zeros_(self.heads.weight)
        nn.init.zeros_(self.heads.bias)

    def forward(self, path: Tensor, keys: Tensor, mask: Tensor) -> EncoderOutput:
        """Encode swipes, each on its own layout.

        The ends, from path to stem and from heads to emissions, are in float32 even under autocast: positions
        and log-probabilities need the digits, and cost little.

        Args:
            path: [B, 2, n] points in the unit square.
            keys: [B, K, 2] key centres, anything where padded.
            mask: [B, K] True for real keys.

        Returns:
            All three tensors in float32.
        """
        device = path.device.type
        trunk = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else self.stem.weight.dtype
        with _full_precision(device):
            features = self.features(path).transpose(1, 2)  # [B, n, 8]
            x = F.hardswish(self.stem(torch.cat(shifted(features, self.config.kernel), dim=-1)))
        x = x.to(trunk)  # [B, n, C]
        for block in self.blocks:
            x = block(x)
        x = self.adapter(x)  # [B, T, H]
        with _full_precision(device):
            return read_heads(self.config, self.heads(x.float()), keys, mask)


class Block(nn.Module):
    """Depthwise convolution, gated expansion, response normalisation, projection, excitation, residual sum."""

    def __init__(self, config: EncoderConfig, dilation: int) -> None:
        super().__init__()
        inner = config.width * config.expansion // 2
        self.depthwise = DepthwiseConv(config.width, config.kernel, dilation)
        self.norm = nn.BatchNorm1d(config.width)
        self.expand = nn.Linear(config.width, 2 * inner)
        self.response = ResponseNorm(inner)
        self.project = nn.Linear(inner, config.width)
        self.excite = Excitation(config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, T, C] -> [B, T, C]."""
        y = _batch_norm(self.norm, self.depthwise(x))
        y = F.glu(self.expand(y), dim=-1)  # [B, T, inner]
        y = self.project(self.response(y))  # [B, T, C]
        return x + self.dropout(y * self.excite(y))


class DepthwiseConv(nn.Module):
    """A dilated convolution along time, one filter per channel, same length, no bias."""

    def __init__(self, width: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.dilation = dilation
        self.weight = nn.Parameter(torch.empty(kernel, width).uniform_(-(kernel**-0.5), kernel**-0.5))

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, T, C] -> [B, T, C].

        Training sums shifted copies, which the compiler fuses into one kernel where cuDNN's depthwise
        convolution is slow; elsewhere it is the plain convolution. The two are equal.
        """
        kernel, width = self.weight.shape
        if self.training:
            copies = shifted(x, kernel, self.dilation)
            total = copies[0] * self.weight[0]
            for copy, tap in zip(copies[1:], self.weight[1:], strict=True):
                total = total + copy * tap
            return total.to(x.dtype)
        filters = self.weight.T[:, None]  # [C, 1, kernel]
        padding = self.dilation * (kernel // 2)
        y = F.conv1d(x.transpose(1, 2), filters, padding=padding, dilation=self.dilation, groups=width)
        return y.transpose(1, 2)


class ResponseNorm(nn.Module):
    """Global response normalisation: a channel is weighted by its energy over time relative to the other channels'."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.zeros(width))
        self.beta = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, T, C] -> [B, T, C]."""
        energy = (x.float().square().mean(1, keepdim=True) + GRN_FLOOR).sqrt()  # [B, 1, C]
        response = energy / (energy.mean(-1, keepdim=True) + GRN_FLOOR)
        return (x * (1 + self.gamma * response) + self.beta).to(x.dtype)


class Excitation(nn.Module):
    """Squeeze-and-excitation: a gate per channel from the mean over time."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.squeeze = nn.Linear(width, width // SQUEEZE)
        self.excite = nn.Linear(width // SQUEEZE, width)

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, T, C] -> [B, 1, C], between 0 and 1."""
        mean = x.float().mean(1, keepdim=True)
        return torch.sigmoid(self.excite(torch.relu(self.squeeze(mean)))).to(x.dtype)


class Adapter(nn.Module):
    """A convolution of two frames, no bias, and batch norm: from the trunk to the width of the heads.

    With stride 2 it halves the frames; with stride 1 the last frame meets one of zeros.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.stride = config.points // config.frames
        self.weight = nn.Linear(2 * config.width, config.hidden, bias=False)
        self.norm = nn.BatchNorm1d(config.hidden)

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, n, C] -> [B, T, H]."""
        return _batch_norm(self.norm, self.weight(frame_pairs(x, self.stride)))


def read_heads(config: EncoderConfig, heads: Tensor, keys: Tensor, mask: Tensor) -> EncoderOutput:
    """Turn the heads' outputs into emissions on a layout.

    Args:
        config: which basis, which blank.
        heads: [B, T, N * N + 1] coefficients, then the gate.
        keys: [B, K, 2] key centres.
        mask: [B, K] True for real keys.
    """
    coefficients, gate = heads[..., :-1], heads[..., -1]
    basis = cosine_basis if config.basis == "cosine" else grid_basis
    logits = key_logits(coefficients, basis(keys.float(), config.resolution), mask)
    log_probs = gated_log_probs if config.blank == "gate" else joint_log_probs
    return EncoderOutput(log_probs(logits, gate), coefficients, gate)


def frame_pairs(x: Tensor, stride: int) -> Tensor:
    """Lay every frame, or every second one, beside its successor. Shape: [B, n, C] -> [B, T, 2 C]."""
    batch, points, width = x.shape
    if stride == 2:
        return x.reshape(batch, points // 2, 2 * width)
    return torch.cat([x, F.pad(x, (0, 0, 0, 1))[:, 1:]], dim=-1)


def shifted(x: Tensor, kernel: int, dilation: int = 1) -> list[Tensor]:
    """The inputs of each tap of a convolution along time, zeros beyond the ends. Shape: [B, T, C] -> kernel x same."""
    frames, reach = x.shape[1], dilation * (kernel // 2)
    padded = F.pad(x, (0, 0, reach, reach))
    return [padded[:, tap * dilation : tap * dilation + frames] for tap in range(kernel)]


def _batch_norm(norm: nn.Module, x: Tensor) -> Tensor:
    """Normalise channels over batch and time. Shape: [B, T, C] -> [B, T, C]."""
    normed: Tensor = norm(x.flatten(0, 1))
    return normed.view_as(x)


def _full_precision(device: str) -> torch.autocast:
    """Switch autocast off."""
    return torch.autocast(device, enabled=False)
