"""Constants for words that no list has: what a literal is worth, and how likely no word found is the one meant.

The constants that rank the lexicon's words stay as they are. A conditional logit gives the others, over the spellings
of each swipe and one alternative more: none of them. The temperature is then the one at which the probability of the
first candidate is true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from glissando.evaluation.beams import StoredBeams, TuningSet
from glissando.logit import Choices, fit_weights
from glissando.scoring import Scoring

# Where the fit begins; literals are read with these constants.
START = {"literal_bonus": 5.0, "fluency_weight": 0.35, "none_bonus": 1.0, "none_share": 0.4}
HEATS = tuple(0.6 + 0.02 * step for step in range(36))  # of the temperature, tried for the first candidate alone
ROUNDS = 8  # the best score, which the chance of none follows, depends on what is fitted


def fit_unknown(
    parts: Sequence[TuningSet],
    scoring: Scoring,
    shares: Sequence[float] | None = None,
    rows: Callable[[StoredBeams], StoredBeams] = lambda beams: beams,
) -> Scoring:
    """Fit both rankings, before and after the matcher, to swipes of which some mean words that the lexicon lacks.

    Args:
        parts: swipes of each corpus, decoded with the lexicon as it is.
        scoring: the constants of the lexicon's words.
        shares: how much each corpus counts.
        rows: picks the swipes that are fitted to.
    """
    matched = scoring.matched
    searched = [rows(part.open_beams(replace(scoring.changed(START), matched=None))) for part in parts]
    first = replace(_fit(searched, scoring, shares), matched=None)
    if matched is None:
        return first
    asked = [rows(part.open_beams(replace(first, matched=matched))) for part in parts]
    doubtful = [beams.select(beams.asked) for beams in asked]
    return replace(first, matched=_fit(doubtful, matched, shares))


def _fit(beams: Sequence[StoredBeams], scoring: Scoring, shares: Sequence[float] | None) -> Scoring:
    """Fit one ranking."""
    fitted = scoring.changed(START)
    for _ in range(ROUNDS):
        choices = [_choices(part, fitted) for part in beams]
        scale, bonus, fluency, none, share = fit_weights(choices, _weights(fitted), shares).tolist()
        fitted = fitted.changed({
            "temperature": 1 / scale, "literal_bonus": bonus / scale, "fluency_weight": fluency / scale,
            "none_bonus": none / scale, "none_share": share / scale,
        })  # fmt: skip
    heats = (fitted.changed({"temperature": fitted.temperature * heat}) for heat in HEATS)
    return min(heats, key=lambda one: _first_cost(beams, one, shares))


def _first_cost(beams: Sequence[StoredBeams], scoring: Scoring, shares: Sequence[float] | None) -> float:
    """How badly the probabilities of the best spellings tell which of them are right: binary cross-entropy in nats."""
    costs = []
    for part in beams:
        sure, right = replace(part, asked=np.zeros_like(part.asked)).best_shares(replace(scoring, matched=None))
        costs.append(-np.log(np.maximum(np.where(right, sure, 1 - sure), 1e-12)).mean())
    return float(np.average(costs, weights=shares))


def _weights(scoring: Scoring) -> np.ndarray:
    """The constants as weights of the columns of ``_choices``. Shape: [5]."""
    constants = (1.0, scoring.literal_bonus, scoring.fluency_weight, scoring.none_bonus, scoring.none_share)
    return np.array(constants) / scoring.temperature


def _choices(beams: StoredBeams, scoring: Scoring) -> Choices:
    """The spellings of every swipe, and none of them as the last alternative.

    Columns: the score without a literal's own terms; whether it is one; its fluency; whether it is none; for none, the
    best score.
    """
    literal = beams.fluency < 0
    scores = beams.scores(replace(scoring, matched=None))
    sizes = np.diff(beams.offsets)
    some = np.flatnonzero(sizes)
    best = np.full(len(sizes), scoring.none_bonus)
    best[some] = np.maximum.reduceat(scores, beams.offsets[:-1][some])
    columns = [
        beams.scores(replace(scoring, matched=None, literal_bonus=0.0, fluency_weight=0.0)),
        literal,
        np.where(literal, beams.fluency, 0),
    ]
    words = np.column_stack([*columns, *np.zeros((2, len(scores)))])
    none = np.column_stack([*np.zeros((3, len(sizes))), np.ones(len(sizes)), best])
    values = np.insert(words, beams.offsets[1:], none, axis=0)
    ends = np.cumsum(sizes + 1)
    shift = np.arange(len(sizes))  # rows of none before each swipe's own
    return Choices(values, sizes + 1, np.where(beams.places >= 0, beams.places + shift, ends - 1))
