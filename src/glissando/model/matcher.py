"""The matcher: does this path spell these keys? One number for each finalist of a beam, on any layout.

It sees coordinates and nothing else: no letter, word, frequency or name of a layout. Path and key centres come in key
widths, in both directions, with the middle of the letter area at (0, 0). The path is read once; the letters of every
finalist look at each other and at the path, nearby points first.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.model.config import MatcherConfig

PATH_FEATURES = 8  # besides the waves of the position: velocity, acceleration, speed, its logarithm, heading
KEY_FEATURES = 12  # besides the waves: the ways from and to the keys around, and what kind of place it is
LETTER_WAVES = 4  # of the place of a letter in its word
FAINT = 1e-3  # key widths; keeps logarithms and quotients finite
MASKED = -1e4  # fits in float16


class Matcher(nn.Module):
    """A path and the key centres of any number of finalists in, a number for each of them out."""

    def __init__(self, config: MatcherConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or MatcherConfig()
        width, waves = config.width, 4 * config.waves
        self.path_in = _two_layers(waves + PATH_FEATURES, width)
        self.path_places = nn.Parameter(0.02 * torch.randn(config.points, width))
        self.convolutions = nn.ModuleList(GatedConvolution(config, dilation) for dilation in config.dilations)
        self.path_blocks = nn.ModuleList(Block(config, looks=False) for _ in range(config.path_blocks))
        self.key_in = _two_layers(waves + KEY_FEATURES + 2 * LETTER_WAVES, width)
        self.dropout = nn.Dropout(config.dropout)
        self.word_blocks = nn.ModuleList(Block(config, looks=True) for _ in range(config.word_blocks))
        last = nn.Linear(width, 1)
        nn.init.zeros_(last.weight)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), last)

    def forward(self, path: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        """Compare finalists with a swipe.

        Args:
            path: [B, 64, 2] points in key widths.
            keys: [B, N, L, 2] key centres of each finalist's letters in key widths.
            mask: [B, N, L] True for real letters, which come first.

        Returns:
            [B, N] scores, higher is better; only differences within a swipe mean something.
        """
        seen = self.read_path(path)  # [B, 64, D]
        real = mask.to(keys.dtype)
        x = self.dropout(self.key_in(key_features(keys, mask, self.config.waves)))  # [B, N, L, D]
        far = (keys.flatten(1, 2)[:, :, None] - path[:, None]).square().sum(-1)  # [B, N * L, 64]
        far = (far + FAINT**2).sqrt().to(x.dtype)
        among = ((1 - real) * MASKED).to(x.dtype).flatten(0, 1)[:, None, None]  # [B * N, 1, 1, L]
        for block in self.word_blocks:
            x = block(x, among, seen, far)
        share = real / real.sum(-1, keepdim=True).clamp(min=1)
        return self.head((x * share[..., None]).sum(2)).squeeze(-1).float()

    def read_path(self, path: Tensor) -> Tensor:
        """Look at the path, once for all finalists. Shape: [B, 64, 2] -> [B, 64, D]."""
        x = self.path_in(path_features(path, self.config.waves)) + self.path_places
        for convolution in self.convolutions:
            x = x + convolution(x)
        for block in self.path_blocks:
            x = block(x[:, None]).squeeze(1)
        return x


class Block(nn.Module):
    """Self-attention among the tokens of a row, attention to the path if it ``looks``, a feed-forward layer."""

    def __init__(self, config: MatcherConfig, *, looks: bool) -> None:
        super().__init__()
        width, self.heads, self.looks = config.width, config.heads, looks
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        if looks:
            self.look_norm = nn.LayerNorm(width)
            self.query = nn.Linear(width, width)
            self.memory = nn.Linear(width, 2 * width)
            self.look_out = nn.Linear(width, width)
            # How much a key width of distance counts against a point of the path, head by head.
            self.penalty = nn.Parameter(torch.linspace(0.5, 8, config.heads) if config.penalty else torch.zeros(0))
        self.feed_norm = nn.LayerNorm(width)
        self.feed = nn.Sequential(
            nn.Linear(width, 3 * width), nn.GELU(), nn.Dropout(config.dropout), nn.Linear(3 * width, width)
        )

    def forward(
        self, x: Tensor, among: Tensor | None = None, seen: Tensor | None = None, far: Tensor | None = None
    ) -> Tensor:
        """Transform tokens.

        Args:
            x: [B, N, L, D] N rows of L tokens.
            among: [B * N, 1, 1, L] added to the logits of self-attention.
            seen: [B, 64, D] the path.
            far: [B, N * L, 64] distance of every token from every point, in key widths.
        """
        rows = x.flatten(0, 1)  # [B * N, L, D]
        q, k, v = self.mix(self.norm(rows)).chunk(3, -1)
        rows = rows + self.out(self._attend(q, k, v, among))
        x = rows.view_as(x)
        if seen is not None and far is not None:
            tokens = x.flatten(1, 2)  # [B, N * L, D]
            k, v = self.memory(seen).chunk(2, -1)
            bias = -self.penalty.abs()[:, None, None] * far[:, None] if len(self.penalty) else None
            x = x + self.look_out(self._attend(self.query(self.look_norm(tokens)), k, v, bias)).view_as(x)
        return x + self.feed(self.feed_norm(x))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
        """Attention of several heads. Shape: [B, Q, D], [B, K, D], [B, K, D], bias [B, heads or 1, Q or 1, K]."""
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))  # [B, heads, ., D/heads]
        if bias is not None:
            bias = bias.to(q.dtype).expand(-1, -1, q.shape[2], -1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(-2)


class GatedConvolution(nn.Module):
    """A depthwise convolution along the path, then a gated linear unit."""

    def __init__(self, config: MatcherConfig, dilation: int) -> None:
        super().__init__()
        width, reach = config.width, config.kernel // 2 * dilation
        self.depthwise = nn.Conv1d(width, width, config.kernel, padding=reach, dilation=dilation, groups=width)
        self.gate = nn.Linear(width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, 64, D] -> [B, 64, D]."""
        return F.glu(self.gate(self.depthwise(x.transpose(1, 2)).transpose(1, 2)), dim=-1)


def path_features(path: Tensor, waves: int) -> Tensor:
    """Describe the points of a path: where, how fast, which way. Shape: [B, n, 2] -> [B, n, 4 waves + 8]."""
    velocity = F.pad(path[:, 2:] - path[:, :-2], (0, 0, 1, 1))
    acceleration = F.pad(velocity[:, 2:] - velocity[:, :-2], (0, 0, 1, 1))
    speed = (velocity.square().sum(-1, keepdim=True) + FAINT**2).sqrt()
    described = [4 * velocity, 4 * acceleration, 4 * speed, speed.log(), velocity / speed]
    return torch.cat([fourier(path, waves), *described], dim=-1)


def key_features(keys: Tensor, mask: Tensor, waves: int) -> Tensor:
    """Describe the letters of finalists: where the key is, where the keys around it are, which letter of the word.

    Shape: [B, N, L, 2], [B, N, L] -> [B, N, L, 4 waves + 20].
    """
    place = torch.arange(keys.shape[2], device=keys.device)
    count = mask.sum(-1, keepdim=True)  # [B, N, 1]
    last = place == count - 1  # [B, N, L]
    before = torch.cat([keys[:, :, :1], keys[:, :, :-1]], dim=2)
    after = torch.where(last[..., None], keys, torch.cat([keys[:, :, 1:], keys[:, :, -1:]], dim=2))
    come, go = keys - before, after - keys
    come_length, go_length = ((way.square().sum(-1) + FAINT**2).sqrt() for way in (come, go))
    turn = (come * go).sum(-1) / (come_length * go_length)
    at = place.to(keys.dtype).expand_as(turn)
    numbers = [
        come_length, go_length, turn, (come.abs().sum(-1) < FAINT).to(keys.dtype), at / (count - 1).clamp(min=1),
        (count / 10).expand_as(turn), (place == 0).to(keys.dtype).expand_as(turn), last.to(keys.dtype),
    ]  # fmt: skip
    order = fourier(at[..., None] / 4, LETTER_WAVES)  # periods of 32, 16, 8 and 4 letters
    return torch.cat([fourier(keys, waves), come, go, torch.stack(numbers, dim=-1), order], dim=-1)


def fourier(values: Tensor, waves: int) -> Tensor:
    """Sines and cosines, the slowest with a period of 8. Shape: [..., D] -> [..., 2 D waves]."""
    angles = values[..., None] * (2.0 ** torch.arange(waves, device=values.device) * math.pi / 4)
    return torch.cat([angles.sin().flatten(-2), angles.cos().flatten(-2)], dim=-1)


def _two_layers(inputs: int, width: int) -> nn.Sequential:
    """Features to tokens."""
    return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, width))
