"""Accuracy and calibration of decoded swipes. Shares are in percent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

MIN_EXAMPLES = 5  # words with fewer swipes do not count in the word-level metrics (the report's "@5")
BINS = 15  # equally wide, as is usual for the expected calibration error
DEPTH = 5  # ranks that count in the mean average precision
ONE = 2**60  # probabilities are summed in units of 1 / ONE: whole numbers, so that their order does not matter


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


@dataclass
class Tally:
    """Counts of decoded swipes, from which the metrics follow.

    Tallies of parts add up to the tally of the whole. All counts are whole numbers, so the metrics are the same to the
    last digit, however the swipes are divided. Memory grows with the different words, not with the swipes.

    Attributes:
        ranks: swipes by the rank of their target, 0 where it was not found.
        words: by target, swipes at ranks 1 to DEPTH, then all others.
        first: how often letters were ranked first.
        lengths: by letters of the target, swipes and those ranked first.
        known: swipes whose word the lexicon had.
        read: swipes that were read without a lexicon, and those read right.
        bins: by bin of probability: swipes, those right, and the sum of probabilities in units of 1 / ONE.
    """

    ranks: Counter[int] = field(default_factory=Counter)
    words: dict[str, list[int]] = field(default_factory=dict)
    first: Counter[str] = field(default_factory=Counter)
    lengths: dict[int, list[int]] = field(default_factory=dict)
    known: int = 0
    read: list[int] = field(default_factory=lambda: [0, 0])
    bins: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Tally:
        """Count some outcomes."""
        tally = cls()
        for outcome in outcomes:
            tally.count(outcome)
        return tally

    def count(self, outcome: Outcome) -> None:
        """Count one decoded swipe."""
        rank = outcome.rank
        self.ranks[rank] += 1
        places = self.words.setdefault(outcome.target, [0] * (DEPTH + 1))
        places[rank - 1 if 1 <= rank <= DEPTH else DEPTH] += 1
        if outcome.ranking:
            self.first[outcome.ranking[0]] += 1
        _add(self.lengths, len(outcome.target), (1, rank == 1))
        self.known += outcome.known
        if outcome.greedy is not None:
            self.read = [self.read[0] + 1, self.read[1] + (outcome.greedy == outcome.target)]
        if outcome.probability is not None:
            _count_probability(self.bins, outcome.probability, rank == 1, BINS)

    def add(self, other: Tally) -> None:
        """Add the counts of other swipes."""
        self.ranks.update(other.ranks)
        self.first.update(other.first)
        self.known += other.known
        self.read = [mine + more for mine, more in zip(self.read, other.read, strict=True)]
        for name in ("words", "lengths", "bins"):
            for key, counts in getattr(other, name).items():
                _add(getattr(self, name), key, counts)

    @property
    def n(self) -> int:
        """The number of swipes."""
        return self.ranks.total()

    def metrics(self, ms_p50: float | None = None) -> Metrics:
        """The metrics of at least one swipe; ``ms_p50`` is the time of one, where it was measured."""
        found = np.array(list(self.words.values())).T  # [DEPTH + 1, V]
        predicted = np.array([self.first[word] for word in self.words])
        accuracy = _accuracy([self.ranks[rank] for rank in range(1, 4)], self.n, found, predicted)
        top1 = accuracy["top1"] / 100
        bins = self.reliability()
        return Metrics(
            n=self.n,
            top10=self._share(sum(self.ranks[rank] for rank in range(1, 11))),
            half_width=196 * math.sqrt(top1 * (1 - top1) / self.n),
            greedy=100 * self.read[1] / self.read[0] if self.read[0] else None,
            recall=self._share(self.n - self.ranks[0]),
            oov=self._share(self.n - self.known),
            by_length={n: {"n": all_, "top1": 100 * hits / all_} for n, (all_, hits) in sorted(self.lengths.items())},
            calibration_error=calibration_error(bins) if bins else None,
            ms_p50=ms_p50,
            **accuracy,
        )

    def reliability(self) -> list[Bin]:
        """The probabilities beside the share that is right; swipes without a probability do not count."""
        return _as_bins(self.bins)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return vars(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tally:
        """Read what ``to_dict`` and JSON made of a tally; JSON's keys are text."""
        numbered = {
            name: {int(key): value for key, value in data[name].items()} for name in ("ranks", "lengths", "bins")
        }
        return cls(
            Counter(numbered["ranks"]), dict(data["words"]), Counter(data["first"]), numbered["lengths"],
            data["known"], list(data["read"]), numbered["bins"],
        )  # fmt: skip

    def _share(self, count: int) -> float:
        """A number of swipes in percent."""
        return 100 * count / self.n


def summarise(outcomes: Iterable[Outcome], ms_p50: float | None = None) -> Metrics:
    """The metrics of some decoded swipes; at least one."""
    return Tally.of(outcomes).metrics(ms_p50)


def rank_accuracy(ranks: np.ndarray, targets: np.ndarray, first: np.ndarray) -> dict[str, float]:
    """top1, top3, map5, macro_f1_5 and their mean tt1mm5, as ``Metrics`` has them.

    map5 and macro_f1_5 are zero where no word has ``MIN_EXAMPLES`` swipes.

    Args:
        ranks: [n] rank of each swipe's target, 0 where it was not found.
        targets: [n] number of the word that each swipe means.
        first: [n] number of the word that was ranked first, -1 for a word that no swipe means.
    """
    size = int(max(targets.max(), first.max())) + 1
    place = np.where((ranks >= 1) & (ranks <= DEPTH), ranks - 1, DEPTH)
    found = np.bincount(place * size + targets, minlength=(DEPTH + 1) * size).reshape(DEPTH + 1, size)
    predicted = np.bincount(first[first >= 0], minlength=size)
    return _accuracy([int((ranks == rank).sum()) for rank in range(1, 4)], len(ranks), found, predicted)


def _accuracy(hits: Sequence[int], n: int, found: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """The figures of ``rank_accuracy`` from counts.

    Args:
        hits: swipes whose target is ranked first, second and third.
        n: all swipes.
        found: [DEPTH + 1, V] by word, swipes at each rank, then all others.
        predicted: [V] how often each word was ranked first.
    """
    count = found.sum(axis=0)
    words = count >= MIN_EXAMPLES
    gains = sum(found[rank] / (rank + 1) for rank in range(DEPTH))
    map5 = _mean_percent((gains / np.maximum(count, 1))[words])
    f1 = _mean_percent((2 * found[0] / np.maximum(count + predicted, 1))[words])
    top1, top3 = 100 * hits[0] / n, 100 * sum(hits) / n
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
    counts: dict[int, list[int]] = {}
    for probability, hit in zip(probabilities, right, strict=True):
        _count_probability(counts, float(probability), bool(hit), bins)
    return _as_bins(counts)


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


def _count_probability(counts: dict[int, list[int]], probability: float, right: bool, bins: int) -> None:
    """Count one probability in its bin."""
    _add(counts, min(int(probability * bins), bins - 1), (1, right, round(probability * ONE)))


def _as_bins(counts: Mapping[int, Sequence[int]]) -> list[Bin]:
    """The bins of some counts, the lowest probabilities first."""
    return [Bin(n, total / (ONE * n), right / n) for _, (n, right, total) in sorted(counts.items())]


def _add(table: dict[Any, list[int]], key: Any, counts: Sequence[int]) -> None:
    """Add counts to those of a key."""
    table[key] = [old + new for old, new in zip(table.get(key) or [0] * len(counts), counts, strict=True)]


def _mean_percent(shares: np.ndarray) -> float:
    """Mean of shares in percent, zero if there are none; the order does not matter. Shape: [V]."""
    return 100 * math.fsum(shares.tolist()) / len(shares) if len(shares) else 0.0
