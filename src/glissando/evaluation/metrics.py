"""What is counted over decoded swipes. Shares are in percent."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from glissando.evaluation.calibration import Bin, calibration_error, reliability

MIN_EXAMPLES = 5  # words with fewer swipes do not count in the word-level metrics (the report's "@5")


@dataclass(frozen=True)
class Outcome:
    """One swipe decoded.

    Words are compared by what is typed: "its" and "it's" are the same path, so they are one answer.

    Attributes:
        target: the typed letters of the word that was meant.
        ranking: the typed letters of the candidates, best first, no repeats.
        known: whether the lexicon had the word before any target was added.
        greedy: the letters read without a lexicon, None where the method reads none.
        probability: what the best candidate was given, all words of its typed letters together; None where unknown.
    """

    target: str
    ranking: tuple[str, ...]
    known: bool = True
    greedy: str | None = None
    probability: float | None = None

    @property
    def rank(self) -> int:
        """Place of the target, 1 the best; 0 where it was not found."""
        return self.ranking.index(self.target) + 1 if self.target in self.ranking else 0


@dataclass(frozen=True)
class Metrics:
    """Accuracy over a set of swipes, in percent.

    Attributes:
        n: swipes.
        top1, top3, top10: share whose target ranks that high.
        half_width: Wald 95 % half-width of top1.
        greedy: share read right letter by letter, without a lexicon; None where the method reads none.
        recall: share whose target is among all that the beam ended with.
        map5: mean average precision over words with five or more swipes (1 / rank, 0 beyond rank 5).
        macro_f1_5: mean F1 of the best candidate over those words.
        tt1mm5: mean of top1, top3, map5 and macro_f1_5, what the tuning maximises.
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
    n = len(outcomes)
    ranks = [outcome.rank for outcome in outcomes]
    top1, top3, top10 = (_share(0 < rank <= k for rank in ranks) for k in (1, 3, 10))
    map5, macro_f1_5 = _word_level(outcomes, ranks)
    read = [outcome.greedy == outcome.target for outcome in outcomes if outcome.greedy is not None]
    return Metrics(
        n=n,
        top1=top1,
        top3=top3,
        top10=top10,
        half_width=196 * math.sqrt(top1 / 100 * (1 - top1 / 100) / n),
        greedy=_share(read) if read else None,
        recall=_share(rank > 0 for rank in ranks),
        map5=map5,
        macro_f1_5=macro_f1_5,
        tt1mm5=(top1 + top3 + map5 + macro_f1_5) / 4,
        oov=_share(not outcome.known for outcome in outcomes),
        by_length=_by_length(outcomes, ranks),
        calibration_error=calibration_error(bins) if (bins := outcome_reliability(outcomes)) else None,
        ms_p50=ms_p50,
    )


@dataclass(frozen=True)
class McNemar:
    """Two methods on the same swipes.

    Attributes:
        gained: swipes that only the second reads right.
        lost: swipes that only the first reads right.
        p: two-sided exact probability of a split at least so uneven where neither is better.
    """

    gained: int
    lost: int
    p: float


def mcnemar(first: Sequence[bool] | np.ndarray, second: Sequence[bool] | np.ndarray) -> McNemar:
    """McNemar's exact test. Shape: [n], [n], whether each swipe was read right."""
    one, other = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    gained, lost = int((other & ~one).sum()), int((one & ~other).sum())
    differing = gained + lost
    tail = sum(math.comb(differing, k) for k in range(min(gained, lost) + 1))
    # Whole numbers until the last step: 2 ** differing alone overflows a float.
    return McNemar(gained, lost, min(1.0, float(Fraction(2 * tail, 2**differing))))


def outcome_reliability(outcomes: Sequence[Outcome]) -> list[Bin]:
    """How the probabilities of the best candidates came true; swipes without any do not count."""
    judged = [(outcome.probability, outcome.rank == 1) for outcome in outcomes if outcome.probability is not None]
    return reliability([said for said, _ in judged], [right for _, right in judged]) if judged else []


def _share(hits: Any) -> float:
    """Percent of true values."""
    values = list(hits)
    return 100 * sum(values) / len(values) if values else 0.0


def _word_level(outcomes: Sequence[Outcome], ranks: Sequence[int]) -> tuple[float, float]:
    """map5 and macro_f1_5; zero where no word has enough swipes."""
    count = Counter(outcome.target for outcome in outcomes)
    predicted = Counter(outcome.ranking[0] for outcome in outcomes if outcome.ranking)
    right: Counter[str] = Counter()
    precision: dict[str, float] = defaultdict(float)
    for outcome, rank in zip(outcomes, ranks, strict=True):
        right[outcome.target] += rank == 1
        precision[outcome.target] += 1 / rank if 0 < rank <= 5 else 0.0
    words = [word for word, times in count.items() if times >= MIN_EXAMPLES]
    if not words:
        return 0.0, 0.0
    f1 = [2 * right[word] / (count[word] + predicted[word]) for word in words]
    average = [precision[word] / count[word] for word in words]
    return 100 * sum(average) / len(words), 100 * sum(f1) / len(words)


def _by_length(outcomes: Sequence[Outcome], ranks: Sequence[int]) -> dict[int, dict[str, float]]:
    """top1 and n for every length of word."""
    groups: dict[int, list[bool]] = defaultdict(list)
    for outcome, rank in zip(outcomes, ranks, strict=True):
        groups[len(outcome.target)].append(rank == 1)
    return {length: {"n": len(hits), "top1": _share(hits)} for length, hits in sorted(groups.items())}
