"""Accuracy and calibration of decoded swipes. Shares are in percent."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

MIN_EXAMPLES = 5  # words with fewer swipes do not count in the word-level metrics (the report's "@5")
BINS = 15  # equally wide, as is usual for the expected calibration error


@dataclass(frozen=True)
class Outcome:
    """One decoded swipe.

    Words are compared by what is typed: "its" and "it's" are the same path, so they are one answer.

    Attributes:
        target: the typed letters of the word that was meant.
        ranking: the typed letters of the candidates, best first, no repeats.
        known: whether the lexicon had the word before any target was added.
        greedy: the letters read without a lexicon, None where the method reads none.
        probability: the probability of the best candidate, summed over all words with its letters; None if unknown.
    """

    target: str
    ranking: tuple[str, ...]
    known: bool = True
    greedy: str | None = None
    probability: float | None = None

    @property
    def rank(self) -> int:
        """Rank of the target, 1 is the best; 0 if it is not among the candidates."""
        return self.ranking.index(self.target) + 1 if self.target in self.ranking else 0


@dataclass(frozen=True)
class Metrics:
    """Accuracy over a set of swipes, in percent.

    Attributes:
        n: swipes.
        top1, top3, top10: share whose target ranks that high.
        half_width: Wald 95 % half-width of top1.
        greedy: share read right letter by letter, without a lexicon; None where the method reads none.
        recall: share whose target is among all candidates.
        map5: mean average precision over words with five or more swipes (1 / rank, 0 beyond rank 5).
        macro_f1_5: mean F1 of the best candidate over those words.
        tt1mm5: mean of top1, top3, map5 and macro_f1_5, which the report's tuning maximises.
        calibration_error: expected calibration error of the best candidate's probability; None where unknown.
        oov: share whose word the lexicon did not have.
        by_length: top1 and n by letters typed.
        ms_p50: median milliseconds to decode one swipe, one at a time; None where not measured.
    """

    n: int
    top1: float
    top3: float
    top10: float
    half_width: float
    greedy: float | None
    recall: float
    map5: float
    macro_f1_5: float
    tt1mm5: float
    oov: float
    by_length: dict[int, dict[str, float]] = field(default_factory=dict)
    calibration_error: float | None = None
    ms_p50: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def summarise(outcomes: Sequence[Outcome], ms_p50: float | None = None) -> Metrics:
    """Count a set of decoded swipes; at least one."""
    ranks = np.array([outcome.rank for outcome in outcomes])
    number = {word: index for index, word in enumerate(dict.fromkeys(outcome.target for outcome in outcomes))}
    targets = np.array([number[outcome.target] for outcome in outcomes])
    first = np.array([number.get(outcome.ranking[0], -1) if outcome.ranking else -1 for outcome in outcomes])
    accuracy = rank_accuracy(ranks, targets, first)
    top1 = accuracy["top1"] / 100
    read = [outcome.greedy == outcome.target for outcome in outcomes if outcome.greedy is not None]
    bins = outcome_reliability(outcomes)
    return Metrics(
        n=len(outcomes),
        top10=_share((ranks > 0) & (ranks <= 10)),
        half_width=196 * math.sqrt(top1 * (1 - top1) / len(outcomes)),
        greedy=_share(read) if read else None,
        recall=_share(ranks > 0),
        oov=_share([not outcome.known for outcome in outcomes]),
        by_length=_by_length(outcomes, ranks),
        calibration_error=calibration_error(bins) if bins else None,
        ms_p50=ms_p50,
        **accuracy,
    )


def rank_accuracy(ranks: np.ndarray, targets: np.ndarray, first: np.ndarray) -> dict[str, float]:
    """top1, top3, map5, macro_f1_5 and their mean tt1mm5, as ``Metrics`` has them.

    map5 and macro_f1_5 are zero where no word has ``MIN_EXAMPLES`` swipes.

    Args:
        ranks: [n] rank of each swipe's target, 0 where it was not found.
        targets: [n] number of the word that each swipe means.
        first: [n] number of the word that was ranked first, -1 for a word that no swipe means.
    """
    size = int(max(targets.max(), first.max())) + 1
    count = np.bincount(targets, minlength=size)
    predicted = np.bincount(first[first >= 0], minlength=size)
    right = np.bincount(targets[ranks == 1], minlength=size)
    gains = np.where((ranks > 0) & (ranks <= 5), 1 / np.maximum(ranks, 1), 0.0)
    precision = np.bincount(targets, gains, size)
    words = count >= MIN_EXAMPLES
    top1, top3 = _share(ranks == 1), _share((ranks > 0) & (ranks <= 3))
    map5 = _mean_percent(precision[words] / count[words])
    f1 = _mean_percent(2 * right[words] / (count[words] + predicted[words]))
    return {"top1": top1, "top3": top3, "map5": map5, "macro_f1_5": f1, "tt1mm5": (top1 + top3 + map5 + f1) / 4}


class Bin(NamedTuple):
    """Best candidates with similar probabilities.

    Attributes:
        swipes: how many there are.
        probability: their mean probability, 0 to 1.
        right: the share of them that is right, 0 to 1.
    """

    swipes: int
    probability: float
    right: float


def reliability(
    probabilities: Sequence[float] | np.ndarray, right: Sequence[bool] | np.ndarray, bins: int = BINS
) -> list[Bin]:
    """Compare probabilities with the share that is right, in bins of equal width; empty bins are left out.

    Shape: [n], [n].
    """
    probabilities, right = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
    which = np.minimum((probabilities * bins).astype(int), bins - 1)
    chosen = [which == index for index in np.unique(which)]
    return [Bin(int(rows.sum()), float(probabilities[rows].mean()), float(right[rows].mean())) for rows in chosen]


def outcome_reliability(outcomes: Sequence[Outcome]) -> list[Bin]:
    """The bins of some outcomes; those without a probability do not count."""
    judged = [(outcome.probability, outcome.rank == 1) for outcome in outcomes if outcome.probability is not None]
    return reliability([probability for probability, _ in judged], [right for _, right in judged]) if judged else []


def calibration_error(bins: Sequence[Bin]) -> float:
    """Expected calibration error in percent: the mean distance of probability and share right, weighted by size."""
    total = sum(part.swipes for part in bins)
    return 100 * sum(part.swipes * abs(part.probability - part.right) for part in bins) / total if total else 0.0


@dataclass(frozen=True, eq=False)
class Coverage:
    """What abstaining below a probability does: m thresholds, the highest first.

    Attributes:
        threshold: [m] the lowest probability that is still answered.
        answered: [m] percent of all swipes that are answered.
        accuracy: [m] percent of the answers that are right.
        expected: [m] percent of them that the probabilities promise: their mean.
    """

    threshold: np.ndarray
    answered: np.ndarray
    accuracy: np.ndarray
    expected: np.ndarray

    def at(self, accuracy: float) -> tuple[float, float] | None:
        """(percent answered, threshold) where the most is answered with at least this accuracy; None where it never is.

        Args:
            accuracy: in percent.
        """
        reached = np.flatnonzero(self.accuracy >= accuracy)
        return (float(self.answered[reached[-1]]), float(self.threshold[reached[-1]])) if len(reached) else None


def coverage(outcomes: Sequence[Outcome]) -> Coverage:
    """How many swipes are answered and how many answers are right, for every threshold that makes a difference.

    A swipe without a candidate is never answered.
    """
    judged = [(outcome.probability, outcome.rank == 1) for outcome in outcomes if outcome.probability is not None]
    sure = np.array([probability for probability, _ in judged])
    right = np.array([hit for _, hit in judged], dtype=np.float64)
    order = np.argsort(-sure, kind="stable")
    sure, right = sure[order], right[order]
    last = np.flatnonzero(np.diff(sure, append=-1.0))  # of each group of equal probabilities
    count = last + 1
    return Coverage(
        sure[last],
        100 * count / max(len(outcomes), 1),
        100 * np.cumsum(right)[last] / count,
        100 * np.cumsum(sure)[last] / count,
    )


def _share(hits: Sequence[bool] | np.ndarray) -> float:
    """Percent of true values."""
    return 100 * int(np.count_nonzero(hits)) / len(hits)


def _mean_percent(shares: np.ndarray) -> float:
    """Mean of shares in percent, zero if there are none. Shape: [V]."""
    return 100 * sum(shares.tolist()) / len(shares) if len(shares) else 0.0


def _by_length(outcomes: Sequence[Outcome], ranks: np.ndarray) -> dict[int, dict[str, float]]:
    """top1 and n for every length of word."""
    groups: dict[int, list[bool]] = defaultdict(list)
    for outcome, rank in zip(outcomes, ranks.tolist(), strict=True):
        groups[len(outcome.target)].append(rank == 1)
    return {length: {"n": len(hits), "top1": _share(hits)} for length, hits in sorted(groups.items())}
