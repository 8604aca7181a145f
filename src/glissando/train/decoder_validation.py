"""How good a decoder is on held-out swipes, without a beam: CTC, greedy, and the truth against its hard negatives.

Constants of eq. 3 that suit one network do not suit another, so every network is judged with its own: a small grid,
searched on the validation swipes and used for all sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from glissando.train.frozen import Frames
from glissando.train.losses import greedy_matches
from glissando.train.pools import PoolTable
from glissando.train.ranking import Scorer, candidate_costs

ROWS = {"cuda": 512, "cpu": 64}  # swipes judged at a time

# (gamma, lambda_f, beta): around the report's tunes and ours; beta grows where gamma divides less.
GRID = tuple(
    product(
        (0.0, 0.15, 0.3, 0.45, 0.6),
        (0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06),
        (-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5),
    )
)


@dataclass(frozen=True, eq=False)
class Judgement:
    """Swipes with a name: frames, and the places [n] of their negatives in a table."""

    frames: Frames
    place: Tensor


class Judged(NamedTuple):
    """A set of swipes after judging.

    Attributes:
        costs: [n, 1 + m] CTC of the truth and its negatives.
        lengths: [n, 1 + m] letters.
        frequencies: [n, 1 + m] bytes.
        valid: [n, 1 + m] bool.
        greedy: [n] bool, the truth is spelled by the best classes of the frames.
    """

    costs: Tensor
    lengths: Tensor
    frequencies: Tensor
    valid: Tensor
    greedy: Tensor


def judge_pools(
    network: Callable[[Tensor], Tensor],
    sets: Mapping[str, Judgement],
    table: PoolTable,
    learned: Scorer,
    count: int,
    *,
    fused: bool,
) -> dict[str, float]:
    """The figures of held-out sets against mined negatives; the first chooses the constants of all.

    Args:
        network: from features to log-probabilities.
        sets: held-out swipes by name.
        table: the negatives.
        learned: constants from training.
        count: negatives of each word.
        fused: use the Triton recursion.
    """
    found: dict[str, float] = {}
    tuned = None
    for name, part in sets.items():
        judged = judge(network, part.frames, part.place, table, count, fused=fused)
        first, tuned = tuned is None, tuned or best_scorer(judged)
        found |= measures(judged, tuned, learned, name)
        if first:
            constants = tuned.exponent, tuned.weight.item(), tuned.bonus.item()
            found |= dict(zip(("tuned_gamma", "tuned_weight", "tuned_bonus"), constants, strict=True))
    return found


@torch.no_grad()
def judge(
    correct: Callable[[Tensor], Tensor], frames: Frames, place: Tensor, table: PoolTable, count: int, *, fused: bool
) -> Judged:
    """Score every swipe's word and its most frequent negatives.

    Args:
        correct: from features to log-probabilities.
        frames: the swipes.
        place: [n] their words' pools.
        table: the negatives.
        count: negatives of each word.
        fused: use the Triton recursion.
    """
    parts = []
    for index in torch.arange(len(frames), device=place.device).split(ROWS[place.device.type]):
        log_probs = correct(frames.features(index)).float()
        words = table.first(place[index], count)
        costs = candidate_costs(log_probs, words.targets, words.lengths, fused=fused)
        greedy = greedy_matches(log_probs, words.targets[:, 0], words.lengths[:, 0])
        parts.append(Judged(costs, words.lengths, words.frequencies, words.valid, greedy))
    return Judged(*(torch.cat(part) for part in zip(*parts, strict=True)))


def hits(judged: Judged, scorer: Scorer) -> Tensor:
    """How many negatives beat or equal the truth. Shape: [n]."""
    scores = scorer(judged.costs, judged.lengths, judged.frequencies)
    return ((scores[:, 1:] >= scores[:, :1]) & judged.valid[:, 1:]).sum(dim=1)


@torch.no_grad()
def best_scorer(judged: Judged) -> Scorer:
    """The point of the grid with the best top-1."""
    scorers = [Scorer(*point).to(judged.costs.device) for point in GRID]
    shares = torch.stack([(hits(judged, scorer) == 0).float().mean() for scorer in scorers])
    return scorers[int(shares.argmax())]


@torch.no_grad()
def measures(judged: Judged, tuned: Scorer, learned: Scorer, name: str) -> dict[str, float]:
    """The figures of a set: CTC, greedy, top-1 and top-3 by tuned constants, top-1 by learned ones."""
    cost, length = judged.costs[:, 0].double(), judged.lengths[:, 0]
    beaten, with_learned = hits(judged, tuned), hits(judged, learned)
    found = {
        "ctc": cost.mean(),
        "ctc_per_letter": (cost / length).mean(),
        "greedy": judged.greedy.double().mean(),
        "top1": (beaten == 0).double().mean(),
        "top3": (beaten < 3).double().mean(),
        "top1_learned": (with_learned == 0).double().mean(),
    }
    return {f"{name}_{key}": value.item() for key, value in found.items()}
