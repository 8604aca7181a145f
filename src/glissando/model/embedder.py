"""The trajectory embedding: swipes and words as neighbours in one space, for finding words that look alike.

A word enters as the path of an even finger over its keys, so words without swipes have a place too. The two towers have
the same shape but their own weights: a swipe wanders and cuts corners, a word's own path does not.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.model.config import EmbedderConfig
from glissando.model.features import CHANNELS, PathFeatures

SPEEDS = 20.0  # brings steps of a path, hundredths of a keyboard, near the size of its places
LEG_POWER = 0.47  # a leg takes time like its length to this power
DWELL = 0.25  # rest on a doubled letter, in the time of a leg one keyboard long


class Embedder(nn.Module):
    """Paths of one layout in, unit vectors out."""

    def __init__(self, config: EmbedderConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or EmbedderConfig()
        self.swipes = Tower(config)
        self.words = Tower(config)
        self.sharpness = nn.Parameter(torch.tensor(2.5))  # logarithm of the inverse temperature

    def embed_swipes(self, path: Tensor, keys: Tensor) -> Tensor:
        """Place swipes. Shapes: path [B, 2, n], keys [K, 4] -> [B, D], of length one."""
        return F.normalize(self.swipes(path, keys), dim=-1)

    def embed_words(self, targets: Tensor, lengths: Tensor, keys: Tensor) -> Tensor:
        """Place words by their letters alone. Shapes: [B, L], [B], keys [K, 4] -> [B, D], of length one."""
        path = word_paths(targets, lengths, keys[:, :2], self.config.points)
        return F.normalize(self.words(path, keys), dim=-1)


class Tower(nn.Module):
    """Features of every point, convolutions that halve the points, and a linear head over all remaining points."""

    def __init__(self, config: EmbedderConfig) -> None:
        super().__init__()
        self.reach = config.reach
        self.features = PathFeatures(config.points)
        self.stem = nn.Linear(CHANNELS + config.keys, config.width)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(config.width, config.width, 4, stride=2, padding=1) for _ in range(config.blocks)
        )
        left = config.points // 2**config.blocks
        self.norm = nn.LayerNorm(config.width * left)
        self.dropout = nn.Dropout(config.dropout)
        self.head = nn.Linear(config.width * left, config.dimensions)

    def forward(self, path: Tensor, keys: Tensor) -> Tensor:
        """Shapes: path [B, 2, n], keys [K, 4] -> [B, D]."""
        motion = self.features(path).transpose(1, 2)  # [B, n, 8]
        motion = torch.cat([motion[..., :2], motion[..., 2:7] * SPEEDS, motion[..., 7:]], dim=-1)
        x = F.gelu(self.stem(torch.cat([motion, nearness(path, keys, self.reach)], dim=-1)))
        x = x.transpose(1, 2)  # [B, C, n]
        for convolution in self.convolutions:
            x = F.gelu(convolution(x))
        return self.head(self.dropout(self.norm(x.flatten(1))))


def nearness(path: Tensor, keys: Tensor, reach: float) -> Tensor:
    """How near every point is to every key, 1 at its centre. Shapes: [B, 2, n], [K, 4] -> [B, n, K]."""
    offset = path.transpose(1, 2)[:, :, None] - keys[:, :2]  # [B, n, K, 2]
    widths = offset / (2 * keys[:, 2:].clamp(min=1e-3))  # in key widths and heights
    return torch.exp(-widths.square().sum(dim=-1) / (2 * reach**2))


def word_paths(targets: Tensor, lengths: Tensor, centres: Tensor, points: int = 64) -> Tensor:
    """The paths of an even finger over the keys of words: longer legs take longer, doubled letters a rest.

    Args:
        targets: [B, L] key indices, anything beyond the length.
        lengths: [B], at least 1.
        centres: [K, 2] key centres.
        points: instants of a path.

    Returns:
        [B, 2, points]; a word of one letter, or of one letter over and over, stays on its key.
    """
    place = torch.arange(targets.shape[1], device=targets.device)
    last = targets.gather(1, lengths[:, None] - 1)
    stops = centres[torch.where(place < lengths[:, None], targets, last)]  # [B, L, 2], the end repeated
    legs = (stops[:, 1:] - stops[:, :-1]).norm(dim=-1)  # [B, L - 1]
    inside = place[1:] < lengths[:, None]
    time = torch.where(legs > 0, legs.clamp(min=1e-9) ** LEG_POWER, DWELL)
    time = F.pad(torch.where(inside, time, 0.0).cumsum(dim=1), (1, 0))  # [B, L] when each stop is reached
    at = torch.linspace(0, 1, points, device=centres.device) * time[:, -1:]  # [B, points]
    after = torch.searchsorted(time.contiguous(), at.contiguous()).clamp(max=targets.shape[1] - 1)
    before = (after - 1).clamp(min=0)
    start, end = time.gather(1, before), time.gather(1, after)
    share = ((at - start) / (end - start).clamp(min=1e-9)).clamp(0, 1)[..., None]  # [B, points, 1]
    pick = [stops.gather(1, index[..., None].expand(-1, -1, 2)) for index in (before, after)]
    return (pick[0] + share * (pick[1] - pick[0])).transpose(1, 2)
