"""Judge a decoder on held-out swipes without a beam: CTC, greedy, and the truth against its hard negatives.

Every network needs its own constants of eq. 3, so each is judged with the best of a small grid, which is searched on
the validation swipes and used for all sets.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from glissando.train.decoder.frames import EncodedSwipes
from glissando.train.decoder.negatives import PoolTable
from glissando.train.decoder.ranking import Scorer, candidate_costs
from glissando.train.losses import greedy_matches

ROWS = {"cuda": 512, "cpu": 64}  # swipes judged at a time

# (gamma, lambda_f, beta): around the report's constants and ours; where gamma is lower, the best beta is higher.
GRID = tuple(
    product(
        (0.0, 0.15, 0.3, 0.45, 0.6),
        (0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06),
        (-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5),
    )
)

Network = Callable[[Tensor], Tensor]  # from features to log-probabilities


class Judged(NamedTuple):
    """The costs of a set of swipes.

    Attributes:
        costs: [n, 1 + m] CTC of the truth and its negatives.
        lengths: [n, 1 + m] letters.
        frequencies: [n, 1 + m] bytes.
        valid: [n, 1 + m] bool.
        greedy: [n] bool, whether the best classes of the frames spell the truth.
    """

    costs: Tensor
    lengths: Tensor
    frequencies: Tensor
    valid: Tensor
    greedy: Tensor


class Validation:
    """Held-out sets and the negatives their words are ranked against.

    Args:
        sets: held-out swipes by name; the first chooses the constants of all.
        table: the negatives.
        count: negatives of each word.
        fused: use the Triton kernel.
    """

    def __init__(self, sets: dict[str, EncodedSwipes], table: PoolTable, count: int, *, fused: bool) -> None:
        self.sets, self.table, self.count, self.fused = sets, table, count, fused

    def measure(self, network: Network, learned: Scorer) -> dict[str, float]:
        """The figures of every set, by tuned constants and by ``learned`` ones, those of training."""
        figures: dict[str, float] = {}
        tuned = None
        for name, part in self.sets.items():
            judged = self.judge(network, part)
            first, tuned = tuned is None, tuned or best_scorer(judged)
            figures |= measures(judged, tuned, learned, name)
            if first:
                figures |= {f"tuned_{key}": value for key, value in tuned.constants().items()}
        return figures

    @torch.no_grad()
    def judge(self, network: Network, swipes: EncodedSwipes) -> Judged:
        """The costs of every swipe's word and its most frequent negatives."""
        parts = []
        device = swipes.place.device
        for index in torch.arange(len(swipes), device=device).split(ROWS[device.type]):
            log_probs = network(swipes.features(index)).float()
            words = self.table.first(swipes.place[index], self.count)
            costs = candidate_costs(log_probs, words.targets, words.lengths, fused=self.fused)
            greedy = greedy_matches(log_probs, words.targets[:, 0], words.lengths[:, 0])
            parts.append(Judged(costs, words.lengths, words.frequencies, words.valid, greedy))
        return Judged(*(torch.cat(part) for part in zip(*parts, strict=True)))


def beaten_by(judged: Judged, scorer: Scorer) -> Tensor:
    """The number of negatives that score as high as the truth or higher. Shape: [n]."""
    scores = scorer(judged.costs, judged.lengths, judged.frequencies)
    return ((scores[:, 1:] >= scores[:, :1]) & judged.valid[:, 1:]).sum(dim=1)


@torch.no_grad()
def best_scorer(judged: Judged) -> Scorer:
    """The point of the grid with the best top-1."""
    scorers = [Scorer(*point).to(judged.costs.device) for point in GRID]
    shares = torch.stack([(beaten_by(judged, scorer) == 0).float().mean() for scorer in scorers])
    return scorers[int(shares.argmax())]


@torch.no_grad()
def measures(judged: Judged, tuned: Scorer, learned: Scorer, name: str) -> dict[str, float]:
    """The figures of a set: CTC, greedy, top-1 and top-3 by tuned constants, top-1 by learned ones."""
    cost, length = judged.costs[:, 0].double(), judged.lengths[:, 0]
    beaten, with_learned = beaten_by(judged, tuned), beaten_by(judged, learned)
    figures = {
        "ctc": cost.mean(),
        "ctc_per_letter": (cost / length).mean(),
        "greedy": judged.greedy.double().mean(),
        "top1": (beaten == 0).double().mean(),
        "top3": (beaten < 3).double().mean(),
        "top1_learned": (with_learned == 0).double().mean(),
    }
    return {f"{name}_{key}": value.item() for key, value in figures.items()}
