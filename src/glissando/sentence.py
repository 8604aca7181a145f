"""The best sequence of words over the finalists of several swipes: what comes after has a say too.

A beam over sequences: every finalist of the next swipe may follow every sequence kept so far, and the likeliest are
kept. At the end the kept sequences share the probability, and a word's probability is that of all sequences with it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from glissando.context import Predictor
from glissando.scoring import Candidates, softmax

WORDS = 20  # finalists of a swipe that may stand in a sequence, the best without context
SEQUENCES = 100  # kept from word to word
MARGIN = 10.0  # nats below the best at which a sequence is not kept: no word to come makes up for more


@dataclass(frozen=True)
class Sentence:
    """What several swipes say together.

    Attributes:
        words: the best sequence; "" for a swipe that no word fits.
        probability: its share among all sequences.
        candidates: for each swipe the words it may mean, likeliest first; their probabilities take all swipes into
            account, their scores only their own.
    """

    words: tuple[str, ...]
    probability: float
    candidates: list[Candidates]


@dataclass(frozen=True, eq=False)
class Slot:
    """The finalists for one place of a sentence.

    Attributes:
        numbers: [F] int32 in the context, -1 where that does not know the word.
        logs: [F] log-probabilities without context, up to a constant.
        weight: of the context's gains.
    """

    numbers: np.ndarray
    logs: np.ndarray
    weight: float


@dataclass(frozen=True)
class _Sequence:
    """A sequence of words so far: its log-probability, the places of its words among the finalists, and its state."""

    log: float
    places: tuple[int, ...]
    state: Hashable


def best_sequence(
    slots: Sequence[Slot], context: Predictor | None, text: str
) -> tuple[tuple[int, ...], list[np.ndarray], float]:
    """The likeliest sequence of one finalist a slot.

    Args:
        slots: the finalists.
        context: which words follow which; without it every swipe stands alone.
        text: what stands before.

    Returns:
        places: for each slot the place of its word among the finalists, -1 where it has none.
        shares: for each slot [F] the probability of every finalist.
        probability: of the sequence.
    """
    if context is None:
        alone = [softmax(slot.logs) for slot in slots]
        best = tuple(int(share.argmax()) if len(share) else -1 for share in alone)
        return best, alone, math.prod(float(share.max()) for share in alone if len(share))
    kept = [_Sequence(0.0, (), context.state(text))]
    for slot in slots:
        kept = _extend(kept, slot, context)
    mass = softmax([one.log for one in kept])
    shares = [np.zeros(len(slot.logs)) for slot in slots]
    for one, share in zip(kept, mass.tolist(), strict=True):
        for at, place in enumerate(one.places):
            if place >= 0:
                shares[at][place] += share
    return kept[0].places, shares, float(mass[0])


def _extend(kept: Sequence[_Sequence], slot: Slot, context: Predictor) -> list[_Sequence]:
    """The likeliest sequences with one word more, best first."""
    if not len(slot.logs):
        return [_Sequence(one.log, (*one.places, -1), context.advance(one.state, -1)) for one in kept]
    places = np.argsort(-slot.logs, kind="stable")[:WORDS]
    numbers, logs = slot.numbers[places], slot.logs[places]
    gained = {}
    for state in dict.fromkeys(one.state for one in kept):
        outlook = context.follow(state)
        # A word never seen has other chances in other contexts, so that gains count from the same zero.
        gained[state] = logs + slot.weight * (outlook.gains(numbers) + outlook.unseen)
    totals = np.concatenate([one.log + gained[one.state] for one in kept])
    best = np.argsort(-totals, kind="stable")[:SEQUENCES]
    best = best[totals[best] >= totals[best[0]] - MARGIN]
    pairs = [(kept[index // len(places)], index % len(places), float(totals[index])) for index in best.tolist()]
    return [
        _Sequence(total, (*one.places, int(places[at])), context.advance(one.state, int(numbers[at])))
        for one, at, total in pairs
    ]
