"""How good a decoder is on held-out swipes, by the beam's own finalists: what the product would answer.

Each network is judged with constants of its own. The exponent and the floor stay; the weights are those under which
the words meant are likeliest, a conditional logit as in evaluation/fit.py, for several shares of the decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from glissando.train.decoder_validation import ROWS, Judgement
from glissando.train.finalists import FinalistTable
from glissando.train.losses import greedy_matches
from glissando.train.pools import Candidates
from glissando.train.ranking import ProductScorer, score_columns, searched_costs

SHARES = (0.2, 0.35, 0.5, 0.65, 0.8, 1.0)  # of the decoder
STEPS = 30  # of Newton's method
RIDGE = 1e-4  # on standardised weights


class Finals(NamedTuple):
    """A set of swipes after judging; every finalist is there.

    Attributes:
        costs: [n, 1 + m] CTC by the network.
        searched: [n, 1 + m] CTC by the encoder.
        words: truth and finalists.
        found: [n] bool, the beam held the truth.
        greedy: [n] bool, the truth is spelled by the best classes of the frames.
    """

    costs: Tensor
    searched: Tensor
    words: Candidates
    found: Tensor
    greedy: Tensor


class Constants(NamedTuple):
    """What a set is ranked by: the decoder's share, the weights [5] of ``score_columns``, exponent and floor."""

    share: float
    weights: Tensor
    exponent: float
    floor: float


def judge_finalists(
    network: Callable[[Tensor], Tensor],
    sets: Mapping[str, Judgement],
    table: FinalistTable,
    learned: ProductScorer,
    *,
    fused: bool,
) -> dict[str, float]:
    """The figures of held-out sets; the first chooses the constants of all.

    Args:
        network: from features to log-probabilities.
        sets: held-out swipes by name.
        table: the finalists.
        learned: constants from training.
        fused: use the Triton recursion.
    """
    found: dict[str, float] = {}
    constants = None
    for name, part in sets.items():
        finals = judge_finals(network, part, table, fused=fused)
        if constants is None:
            constants = fit_constants(finals, learned.exponent, learned.floor)
            found["tuned_share"] = constants.share
        found |= measure_finals(finals, constants, learned, name)
    return found


@torch.no_grad()
def judge_finals(network: Callable[[Tensor], Tensor], part: Judgement, table: FinalistTable, *, fused: bool) -> Finals:
    """Score the truth and all finalists of every swipe, by the network and by the encoder that it corrects."""
    parts: list[tuple[Tensor | None, ...]] = []
    most = table.words.shape[1] - 1
    for index in torch.arange(len(part.frames), device=part.place.device).split(ROWS[part.place.device.type]):
        features = part.frames.features(index)
        log_probs = network(features).float()
        place = part.place[index]
        words = table.first(place, most)
        costs = searched_costs(log_probs, words.targets, words.lengths, fused=fused)
        searched = searched_costs(features[..., : log_probs.shape[2]], words.targets, words.lengths, fused=fused)
        greedy = greedy_matches(log_probs, words.targets[:, 0], words.lengths[:, 0])
        parts.append((costs, searched, *words, table.found[place], greedy))
    costs, searched, *columns, found, greedy = (torch.cat(column) for column in zip(*parts, strict=True))  # type: ignore[arg-type]
    return Finals(costs, searched, Candidates(*columns), found, greedy)


def rank_scores(finals: Finals, constants: Constants) -> Tensor:
    """The product's scores, in float64. Shape: [n, 1 + m]."""
    return (_columns(finals, constants.share, constants.exponent, constants.floor) * constants.weights).sum(dim=-1)


def better(scores: Tensor, valid: Tensor) -> Tensor:
    """How many finalists beat or equal the truth. Shapes: [n, 1 + m], [n, 1 + m] bool -> [n]."""
    return ((scores[:, 1:] >= scores[:, :1]) & valid[:, 1:]).sum(dim=1)


@torch.no_grad()
def measure_finals(finals: Finals, constants: Constants, learned: ProductScorer, name: str) -> dict[str, float]:
    """The figures of a set: CTC, greedy, cross-entropy of the ranking, tops by fitted and by learned constants."""
    cost, length = finals.costs[:, 0].double(), finals.words.lengths[:, 0]
    scores = rank_scores(finals, constants)
    by_fit = better(scores, finals.words.valid)
    by_learning = better(learned(finals.costs, finals.searched, finals.words), finals.words.valid)
    figures = {
        "ctc": cost.mean(),
        "ctc_per_letter": (cost / length).mean(),
        "greedy": finals.greedy.double().mean(),
        "entropy": _entropies(scores, finals.words.valid)[finals.found].mean(),
        "top1": (finals.found & (by_fit == 0)).double().mean(),
        "top3": (finals.found & (by_fit < 3)).double().mean(),
        "top1_learned": (finals.found & (by_learning == 0)).double().mean(),
        "top3_learned": (finals.found & (by_learning < 3)).double().mean(),
    }
    return {f"{name}_{key}": value.item() for key, value in figures.items()}


@torch.no_grad()
def fit_constants(finals: Finals, exponent: float, floor: float) -> Constants:
    """The share and the weights under which the truths are likeliest."""
    fits = [_fit_weights(finals, share, exponent, floor) for share in SHARES]
    return min(fits, key=lambda fit: fit[1])[0]


def _fit_weights(finals: Finals, share: float, exponent: float, floor: float) -> tuple[Constants, float]:
    """The best weights for a share, and their cross-entropy: a convex problem, by Newton's method."""
    columns, valid = _columns(finals, share, exponent, floor)[finals.found], finals.words.valid[finals.found]
    spread = columns[valid].std(dim=0) + 1e-9  # [5]
    ridge = RIDGE * spread**2
    weights = torch.zeros_like(spread)
    weights[0] = 1.0
    for _ in range(STEPS):
        scores = (columns * weights).sum(dim=-1)
        mass = torch.where(valid, scores, -torch.inf).softmax(dim=1)[..., None]  # [n, 1 + m, 1]
        mean = (mass * columns).sum(dim=1)  # [n, 5]
        centred = columns - mean[:, None]
        gradient = (mean - columns[:, 0]).mean(dim=0) + ridge * weights
        curvature = ((mass * centred).flatten(0, 1).T @ centred.flatten(0, 1)) / len(columns) + torch.diag(ridge)
        step = torch.linalg.solve(curvature, gradient)
        weights = weights - step
        if (step * spread).abs().max() < 1e-6:
            break
    constants = Constants(share, weights, exponent, floor)
    return constants, _entropies((columns * weights).sum(dim=-1), valid).mean().item()


def _entropies(scores: Tensor, valid: Tensor) -> Tensor:
    """Cross-entropy of every truth, in nats. Shape: [n, 1 + m] -> [n]."""
    return torch.where(valid, scores, -torch.inf).logsumexp(dim=1) - scores[:, 0]


def _columns(finals: Finals, share: float, exponent: float, floor: float) -> Tensor:
    """The terms of the score for a share of the decoder. Shape: [n, 1 + m, 5] float64."""
    mixed = share * finals.costs.double() + (1 - share) * finals.searched.double()
    return score_columns(mixed, finals.words, exponent, floor)
