"""Ranking constants that follow their person.

The score of a finalist is a sum of terms (scoring.py). Divided by the temperature they are contributions in nats. A
person has a factor for each term, which multiplies it; the packaged constants are factors of 1. Every word that a
person accepts or corrects is a label, and the factors are fitted to the last of them by a conditional logit (logit.py)
with a prior at 1, so that a few words change little.

Only contributions are kept, no points and no words. They are private all the same: who has the same lexicon can guess
words from frequencies and lengths.
"""

from __future__ import annotations

import base64
import json
import os
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glissando.errors import HabitsError
from glissando.files import read_object, write_whole
from glissando.logit import Choices, Prior, fit_weights
from glissando.scoring import Scoring, score_words

# The constants that weigh each term; a new term is a line here. Evidence has none: the temperature stands for it.
WEIGHTS = {
    "frequency": ("frequency_weight", "literal_bonus", "fluency_weight"),  # a literal has the last two in its place
    "length": ("length_bonus",),
    "location": ("location_weight",),
    "shape": ("shape_weight",),
    "match": ("matcher_weight",),
}
TERMS = ("evidence", *WEIGHTS)  # the K columns of what is recorded
STEADY = ("context_weight", "none_bonus")  # constants of terms that are not learned, whose factor is always 1
FREE = ("evidence", "frequency")  # people differ most in how far frequency counts against the evidence

MEMORY = 500  # swipes kept
FINALISTS = 24  # of each at the most
PENALTY = 20.0  # nats for a factor 1 away from 1, in the sum over the swipes; docs/personal.md compares
STIFFNESS = 10.0  # times this for the terms that are not free
LOWEST, HIGHEST = 0.4, 2.5  # factors; beyond, the labels are more likely wrong than the person that special
EVERY = 10  # swipes recorded between two fits
LIMIT = 1e4  # nats; a greater contribution says no more
VERSION = 1  # of the file
MAX_BYTES = 4 << 20  # of a file; 500 swipes with 24 finalists take 200 KB


@dataclass(frozen=True, eq=False)
class Features:
    """What the ranking knows of a swipe's N finalists.

    Attributes:
        log_prob: [N] log-probability of each word's letters.
        length: [N] letters typed.
        frequency: [N] frequency bytes.
        distances: [N, 2] location and shape (geometry.py), None where they were not measured.
        matches: [N] the matcher's scores, None where it was not asked.
    """

    log_prob: np.ndarray
    length: np.ndarray
    frequency: np.ndarray
    distances: np.ndarray | None = None
    matches: np.ndarray | None = None


def contributions(finalists: Features, constants: Scoring) -> np.ndarray:
    """What each term adds to the logits of N finalists; their sum is the score divided by the temperature.

    Args:
        finalists: what is known of them.
        constants: what the swipe is ranked by: ``scoring.matched`` where the matcher was asked, else the scoring.

    Returns:
        [N, K] float64 in nats, a column for each of ``TERMS``.
    """
    length, frequency, distances = finalists.length, finalists.frequency, finalists.distances
    nothing = constants.changed(dict.fromkeys((name for names in WEIGHTS.values() for name in names), 0.0))
    silent = np.zeros(len(length))

    def term(name: str) -> np.ndarray:
        weights = {constant: getattr(constants, constant) for constant in WEIGHTS[name]}
        if name == "match":
            return silent if finalists.matches is None else weights["matcher_weight"] * finalists.matches
        alone = nothing.changed(weights)
        return score_words(silent, length, frequency, alone, distances)  # type: ignore[no-any-return]

    evidence = score_words(finalists.log_prob.astype(np.float64), length, frequency, nothing, distances)
    return np.column_stack([evidence, *map(term, WEIGHTS)]) / constants.temperature


class Habits:
    """What a person's last swipes say of the ranking constants."""

    def __init__(self, penalty: float = PENALTY, stiffness: float = STIFFNESS) -> None:
        """Start with nothing learned.

        Args:
            penalty: nats that a factor of 0 or 2 costs, for each of the ``FREE`` terms.
            stiffness: how many times as much it costs for the others.
        """
        self._penalties = np.array([penalty if term in FREE else penalty * stiffness for term in TERMS])
        # Each [N, K] float16: contributions less those of the word meant, which is the first row. Only differences
        # count in a softmax.
        self._swipes: deque[np.ndarray] = deque(maxlen=MEMORY)
        self._factors = np.ones(len(TERMS))
        self._waiting = 0  # swipes recorded since the last fit
        self._applied: tuple[Scoring, Scoring] | None = None  # constants, and what the factors made of them

    def __len__(self) -> int:
        return len(self._swipes)

    def record(self, terms: np.ndarray, meant: int) -> None:
        """Keep one swipe whose word is known; the oldest goes when there are MEMORY of them.

        Args:
            terms: [N, K] contributions of its finalists, in nats and in the order of ``TERMS``. They are those of the
                packaged constants, not of adapted ones: factors multiply what was recorded. A swipe about which the
                matcher was asked has those of ``scoring.matched``.
            meant: which of the N is the word meant. A swipe with one finalist says nothing and is not kept.
        """
        terms = np.asarray(terms, dtype=np.float64)
        if terms.ndim != 2 or terms.shape[1] != len(TERMS) or not np.isfinite(terms).all():
            raise HabitsError(
                f"a swipe's terms are finite numbers, {len(TERMS)} for each finalist ({', '.join(TERMS)}); "
                f"got an array of shape {terms.shape}"
            )
        if not 0 <= meant < len(terms):
            raise HabitsError(f"the finalist meant is one of {len(terms)}, got {meant}")
        if len(terms) < 2:
            return
        others = np.argsort(-terms.sum(axis=1), kind="stable")
        kept = np.concatenate([[meant], others[others != meant][: FINALISTS - 1]])
        self._swipes.append(np.clip(terms[kept] - terms[meant], -LIMIT, LIMIT).astype(np.float16))
        self._waiting += 1

    @property
    def factors(self) -> np.ndarray:
        """The factor of each term, fitted again when EVERY swipes were recorded since the last fit. Shape: [K]."""
        return self.fit() if self._waiting >= EVERY else self._factors.copy()

    def fit(self) -> np.ndarray:
        """Fit the factors to all swipes that are kept. Shape: [K]."""
        self._factors = _fit(list(self._swipes), self._penalties, self._factors)
        self._waiting, self._applied = 0, None
        return self._factors.copy()

    def apply(self, scoring: Scoring) -> Scoring:
        """The constants with this person's factors; while nothing is learned, the very same object.

        The logits are scores divided by the temperature. So the factor of the evidence divides the temperature, and
        every weight is multiplied by its own factor and divided by that of the evidence. Probabilities stay true.
        """
        if self._waiting >= EVERY:
            self.fit()
        if self._applied is None or self._applied[0] is not scoring:
            factors = dict(zip(TERMS, self._factors.tolist(), strict=True))
            learned = any(factor != 1.0 for factor in factors.values())
            self._applied = scoring, _scaled(scoring, factors) if learned else scoring
        return self._applied[1]

    def forget(self) -> None:
        """Forget all swipes; the factors are 1 again."""
        self._swipes.clear()
        self._factors = np.ones(len(TERMS))
        self._waiting, self._applied = 0, None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the contributions to a JSON file, whole or not at all."""
        values = np.concatenate([np.empty((0, len(TERMS)), np.float16), *self._swipes]).astype("<f2")
        data = {
            "version": VERSION,
            "terms": TERMS,
            "sizes": [len(swipe) for swipe in self._swipes],
            "values": base64.b64encode(values.tobytes()).decode(),  # [sum of sizes, K], float16, little-endian
        }
        write_whole(path, json.dumps(data).encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Habits:
        """Read a file that ``save`` wrote, and fit the factors; an error names the file, and nothing is half loaded."""
        data = read_object(path, "habits", HabitsError, MAX_BYTES)
        try:
            swipes = _read_swipes(data)
        except HabitsError as error:
            raise HabitsError(f"habits {path}: {error}") from None
        habits = cls()
        habits._swipes.extend(swipes)
        habits.fit()
        return habits


def _fit(swipes: list[np.ndarray], penalties: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The factors near 1 that make the words meant likeliest. Shape: swipes n of [N, K], the others [K] -> [K]."""
    ones = np.ones(len(TERMS))
    if not swipes:
        return ones
    sizes = np.array([len(swipe) for swipe in swipes])
    choices = Choices(np.concatenate(swipes).astype(np.float64), sizes, np.cumsum(sizes) - sizes)
    prior = Prior(penalties / len(swipes), ones)  # the cost is a mean over the swipes, the penalty is not
    return np.clip(fit_weights([choices], start, prior=prior, ridge=0.0), LOWEST, HIGHEST)


def _scaled(scoring: Scoring, factors: dict[str, float]) -> Scoring:
    """Constants multiplied by factors, those of ``matched`` too."""
    evidence = factors["evidence"]
    pairs = ((term, name) for term, names in WEIGHTS.items() for name in names)
    changes = {name: getattr(scoring, name) * factors[term] / evidence for term, name in pairs}
    changes |= {name: getattr(scoring, name) / evidence for name in STEADY}
    matched = None if scoring.matched is None else _scaled(scoring.matched, factors)
    return replace(scoring, **changes, temperature=scoring.temperature / evidence, matched=matched)


def _read_swipes(data: dict[str, Any]) -> list[np.ndarray]:
    """The swipes in a file's JSON. Terms that the file lacks are zero there, so their factors stay at 1."""
    if data.get("version") != VERSION:
        raise HabitsError(f"version {data.get('version')!a}; this glissando reads {VERSION}")
    terms, sizes, values = data.get("terms"), data.get("sizes"), data.get("values")
    if not (isinstance(terms, list) and isinstance(sizes, list) and isinstance(values, str)):
        raise HabitsError("it needs a list of terms, a list of sizes and a string of values")
    if unknown := [term for term in terms if term not in TERMS]:
        raise HabitsError(f"no term {unknown[0]!a}; known are {', '.join(TERMS)}")
    if len(set(terms)) != len(terms) or len(sizes) > MEMORY:
        raise HabitsError(f"terms must be distinct, and swipes no more than {MEMORY}")
    if not all(type(size) is int and 2 <= size <= FINALISTS for size in sizes):
        raise HabitsError(f"every swipe has 2 to {FINALISTS} finalists")
    try:
        found = np.frombuffer(bytearray(base64.b64decode(values, validate=True)), dtype="<f2")
    except ValueError as error:
        raise HabitsError(f"its values cannot be read: {error}") from None
    if len(found) != sum(sizes) * len(terms) or not (np.abs(found.astype(np.float64)) <= 2 * LIMIT).all():
        raise HabitsError(f"its values must be {sum(sizes) * len(terms):,} finite numbers")
    rows = np.zeros((sum(sizes), len(TERMS)), dtype=np.float16)
    rows[:, [TERMS.index(term) for term in terms]] = found.reshape(sum(sizes), len(terms))
    return np.split(rows, np.cumsum(sizes)[:-1]) if sizes else []
