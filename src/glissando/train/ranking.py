"""Ranking as a loss: the true word against words that look like it, by the score that ranks at inference (eq. 3)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from glissando.train.decoder_config import ProductScore
from glissando.train.losses import IMPOSSIBLE, ctc_loss, divergence, recursion
from glissando.train.pools import Candidates


class Scorer(nn.Module):
    """The word score of eq. 3 with its constants: gamma is frozen, lambda_f and beta learn.

    Attributes:
        exponent: gamma; costs are divided by length^gamma.
        weight: lambda_f, per unit of the frequency byte. The byte is a logarithm already.
        bonus: beta, per letter.
        floor: rarer words count as this frequent.
    """

    def __init__(self, exponent: float, weight: float, bonus: float, floor: float = 0.0) -> None:
        super().__init__()
        self.exponent, self.floor = exponent, floor
        self.weight = nn.Parameter(torch.tensor(weight))
        self.bonus = nn.Parameter(torch.tensor(bonus))

    def forward(self, costs: Tensor, lengths: Tensor, frequencies: Tensor) -> Tensor:
        """Score words. Shapes: costs, lengths and bytes [B, 1 + n] -> [B, 1 + n]."""
        typed = lengths.clamp(min=1).float()
        evidence = -costs / typed**self.exponent
        return evidence + self.weight * frequencies.float().clamp(min=self.floor) + self.bonus * typed

    @torch.no_grad()
    def clamp(self) -> None:
        """Keep lambda_f from going below zero: a frequent word is never less likely."""
        self.weight.clamp_(min=0.0)

    def constants(self) -> dict[str, float]:
        """The constants by name."""
        return {"gamma": self.exponent, "weight": self.weight.item(), "bonus": self.bonus.item()}


class ProductScorer(nn.Module):
    """The score that ranks finalists in a keyboard with a decoder (scoring.py), over its temperature.

    The exponent, the floor and the decoder's share are frozen; the weights and the temperature learn.
    """

    def __init__(self, start: ProductScore) -> None:
        super().__init__()
        self.exponent, self.floor, self.share = start.gamma, start.floor, start.share
        self.weight = nn.Parameter(torch.tensor(start.weight))
        self.bonus = nn.Parameter(torch.tensor(start.bonus))
        self.location = nn.Parameter(torch.tensor(start.location))
        self.shape = nn.Parameter(torch.tensor(start.shape))
        self.temperature = nn.Parameter(torch.tensor(start.temperature))

    def forward(self, costs: Tensor, searched: Tensor, words: Candidates) -> Tensor:
        """Score finalists. Shapes: CTC by the decoder and by the encoder [B, 1 + n] each -> [B, 1 + n]."""
        columns = score_columns(self.share * costs + (1 - self.share) * searched, words, self.exponent, self.floor)
        one = torch.ones_like(self.weight)
        weights = torch.stack([one, self.weight, self.bonus, self.location, self.shape])
        return (columns * weights).sum(dim=-1) / self.temperature  # no matrix product: TF32 would round the bytes

    @torch.no_grad()
    def clamp(self) -> None:
        """Keep a frequent word from being less likely for it, and the temperature above zero."""
        self.weight.clamp_(min=0.0)
        self.temperature.clamp_(min=0.1)

    def constants(self) -> dict[str, float]:
        """The constants by name."""
        frozen = {"share": self.share, "gamma": self.exponent, "floor": self.floor}
        return frozen | {name: parameter.item() for name, parameter in self.named_parameters()}


def score_columns(costs: Tensor, words: Candidates, exponent: float, floor: float) -> Tensor:
    """The terms of the product's score: evidence, frequency, length, location and shape.

    Shapes: [B, 1 + n] costs -> [B, 1 + n, 5]; their sum weighted with 1, lambda_f, beta and the two weights of
    geometry is the score.
    """
    if words.distances is None:
        raise ValueError("only finalists have distances")
    typed = words.lengths.clamp(min=1).to(costs.dtype)
    evidence = -costs / typed**exponent
    frequency = words.frequencies.to(costs.dtype).clamp(min=floor)
    return torch.stack([evidence, frequency, typed, *(-words.distances.to(costs.dtype)).unbind(dim=-1)], dim=-1)


def candidate_costs(log_probs: Tensor, targets: Tensor, lengths: Tensor, *, fused: bool = False) -> Tensor:
    """CTC of several words for every swipe, in one call.

    The words of a swipe share its emissions; copies of these are small beside the states of the recursion.

    Args:
        log_probs: [B, T, K + 1], blank last.
        targets: [B, n, L] key indices, anything beyond the length.
        lengths: [B, n].
        fused: use the Triton recursion; see ``ctc_loss``.

    Returns:
        [B, n] costs.
    """
    count = targets.shape[1]
    shared = log_probs[:, None].expand(-1, count, -1, -1).flatten(0, 1)  # [B n, T, K + 1]
    return ctc_loss(shared, targets.flatten(0, 1), lengths.flatten(), fused=fused).unflatten(0, (-1, count))


@torch.no_grad()
def searched_costs(log_probs: Tensor, targets: Tensor, lengths: Tensor, *, fused: bool = False) -> Tensor:
    """``candidate_costs`` without gradients, by the forward recursion alone: a third of the work."""
    batch, count, _ = targets.shape
    blank = log_probs.shape[2] - 1
    pairs = torch.stack([torch.full_like(targets, blank), targets], dim=3).flatten(2)
    labels = functional.pad(pairs, (0, 1), value=blank).flatten(0, 1)  # [B n, S] blank a blank b blank
    letter = torch.arange(labels.shape[1], device=labels.device) % 2 == 1
    skip = letter & functional.pad(labels[:, 2:] != labels[:, :-2], (2, 0), value=False)
    wanted = labels.unflatten(0, (batch, count)).flatten(1)[:, None].expand(-1, log_probs.shape[1], -1)
    emissions = log_probs.gather(2, wanted).unflatten(2, (count, -1)).transpose(1, 2).flatten(0, 1)  # [B n, T, S]
    emissions = emissions.contiguous()
    scores = torch.ops.glissando.ctc_recursion(emissions, skip) if fused else recursion(emissions, skip)
    place, states = torch.arange(labels.shape[1], device=labels.device), 2 * lengths.flatten()[:, None] + 1
    ends = (place == states - 1) | (place == states - 2)
    total = torch.logsumexp(torch.where(ends, scores[:, -1], IMPOSSIBLE), dim=1)
    return torch.where(total > IMPOSSIBLE / 2, -total, 0.0).unflatten(0, (batch, count))


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


def softmax_loss(scores: Tensor, valid: Tensor) -> Tensor:
    """Cross-entropy of the truth among its candidates. Shapes: [B, 1 + n], truth first, [B, 1 + n] bool -> [B]."""
    kept = torch.where(valid, scores, -1e4)
    return kept.logsumexp(dim=1) - kept[:, 0]


def consistency(one: Tensor, other: Tensor, lengths: Tensor) -> Tensor:
    """Divergence of two views of the same swipes (eq. 4), both ways, summed over frames, per letter.

    Which view is a and which is b is chance, so the mean of both directions is eq. 4 with less noise.
    Shapes: [B, T, K + 1] log-probabilities twice, [B] -> scalar.
    """
    return (divergence(one, other, lengths) + divergence(other, one, lengths)) / 2


def _discount(rank: Tensor) -> Tensor:
    """D of a rank from 1."""
    return torch.log2(1 + rank.float())


def _counting(order: Tensor) -> Tensor:
    """0, 1, 2 .. in every row. Shape: [B, n], same."""
    return torch.arange(order.shape[1], device=order.device).expand_as(order).contiguous()
