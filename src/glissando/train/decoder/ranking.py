"""The decoder's losses: ranking the true word above words that look like it by eq. 3, and consistency of two views."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from glissando.scoring import score_words
from glissando.train.losses import ctc_loss


class Constants(NamedTuple):
    """The constants of eq. 3 by the names of ``glissando.scoring.Scoring``; training has no floor and no geometry."""

    length_exponent: float
    frequency_weight: Tensor
    length_bonus: Tensor
    frequency_floor: float = 0.0
    location_weight: float = 0.0
    shape_weight: float = 0.0


class Scorer(nn.Module):
    """The word score of eq. 3 with its constants: gamma is frozen, lambda_f and beta learn.

    Attributes:
        exponent: gamma; costs are divided by length^gamma.
        weight: lambda_f, per unit of the frequency byte. The byte is a logarithm already.
        bonus: beta, per letter.
    """

    def __init__(self, exponent: float, weight: float, bonus: float) -> None:
        super().__init__()
        self.exponent = exponent
        self.weight = nn.Parameter(torch.tensor(weight))
        self.bonus = nn.Parameter(torch.tensor(bonus))

    def forward(self, costs: Tensor, lengths: Tensor, frequencies: Tensor) -> Tensor:
        """Score words. Shapes: costs, lengths and bytes [B, 1 + n] -> [B, 1 + n]."""
        constants = Constants(self.exponent, self.weight, self.bonus)
        return score_words(-costs, lengths.float(), frequencies.float(), constants)

    @torch.no_grad()
    def clamp(self) -> None:
        """Keep lambda_f from going below zero: a frequent word is never less likely."""
        self.weight.clamp_(min=0.0)

    def constants(self) -> dict[str, float]:
        """The constants by name."""
        return {"gamma": self.exponent, "weight": self.weight.item(), "bonus": self.bonus.item()}


def candidate_costs(log_probs: Tensor, targets: Tensor, lengths: Tensor, *, fused: bool = False) -> Tensor:
    """CTC of several words for every swipe, in one call.

    The emissions of a swipe are copied for each of its words; the states of the recursion take far more memory.

    Args:
        log_probs: [B, T, K + 1], blank last.
        targets: [B, n, L] key indices, anything beyond the length.
        lengths: [B, n].
        fused: use the Triton kernel; see ``ctc_loss``.

    Returns:
        [B, n] costs.
    """
    count = targets.shape[1]
    shared = log_probs[:, None].expand(-1, count, -1, -1).flatten(0, 1)  # [B n, T, K + 1]
    return ctc_loss(shared, targets.flatten(0, 1), lengths.flatten(), fused=fused).unflatten(0, (-1, count))


def lambda_loss(scores: Tensor, valid: Tensor, *, mu: float = 10.0, sigma: float = 1.0) -> Tensor:
    """NDCGLoss2++ (Wang et al. 2018) where one word is right and all others are equally wrong.

    With a gain of one for the truth and none for the rest, a pair of the truth at rank i and another word at rank j
    weighs mu |1/D(|i-j|) - 1/D(|i-j|+1)| + |1/D(i) - 1/D(j)|, D(r) = log2(1 + r): what NDCG would lose. The ranks
    are those of the current scores; no gradient flows through them.

    Args:
        scores: [B, 1 + n], the truth first.
        valid: [B, 1 + n] bool, False for places without a word.
        mu: weight of NDCG2's term against LambdaRank's.
        sigma: steepness of a pair's loss.

    Returns:
        [B] sums over pairs.
    """
    kept = torch.where(valid, scores.detach(), -torch.inf)
    order = kept.argsort(dim=1, descending=True, stable=True)
    rank = torch.empty_like(order).scatter_(1, order, _counting(order)) + 1  # [B, 1 + n] from 1
    apart = (rank[:, 1:] - rank[:, :1]).abs()  # [B, n], at least 1
    ndcg2 = (1 / _discount(apart) - 1 / _discount(apart + 1)).abs()
    lambdarank = (1 / _discount(rank[:, :1]) - 1 / _discount(rank[:, 1:])).abs()
    pair = functional.softplus(-sigma * (scores[:, :1] - scores[:, 1:]))
    return torch.where(valid[:, 1:], (mu * ndcg2 + lambdarank) * pair, 0.0).sum(dim=1)


def consistency(one: Tensor, other: Tensor, lengths: Tensor) -> Tensor:
    """KL divergence of two views of the same swipes (eq. 4), both ways, summed over frames, per letter.

    Which view is a and which is b is chance, so the mean of both directions is eq. 4 with less noise.
    Shapes: [B, T, K + 1] log-probabilities twice, [B] -> scalar.
    """
    return (_divergence(one, other, lengths) + _divergence(other, one, lengths)) / 2


def _divergence(one: Tensor, other: Tensor, lengths: Tensor) -> Tensor:
    """KL divergence of one distribution from another, summed over frames, per letter, averaged over the batch."""
    gap = (other.exp() * (other - one.float())).sum(dim=(1, 2))
    return (gap / lengths.clamp(min=1)).mean()


def _discount(rank: Tensor) -> Tensor:
    """D of a rank from 1."""
    return torch.log2(1 + rank.float())


def _counting(order: Tensor) -> Tensor:
    """0, 1, 2 .. in every row. Shape: [B, n], same."""
    return torch.arange(order.shape[1], device=order.device).expand_as(order).contiguous()
