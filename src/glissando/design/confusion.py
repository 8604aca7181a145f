"""Words that are mistaken for each other on a layout.

The judge is the keyboard itself: every word's exact swipe is decoded among the frequent words, by the encoder's
evidence and the constants tuned on real swipes, and each candidate's probability is the chance of reading it. SHARK2's
distance between two templates would be quicker, but it knows neither the finger's rest on a doubled letter
nor which differences of shape people can be trusted with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glissando.ctc import word_costs
from glissando.design.words import RunningText
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.lexicon import typed_letters

DEPTH = 20  # candidates of a swipe that count; those after them have no chance worth adding
CHUNK = 256  # swipes encoded at a time


@dataclass(frozen=True)
class Pair:
    """Two words that can be mistaken for each other.

    Attributes:
        words: the two, the more frequent first.
        mistaken: the chance that the first word's swipe is read as the second, and the other way round.
        per_10000: how often one is read for the other in 10,000 words of running text.
    """

    words: tuple[str, str]
    mistaken: tuple[float, float]
    per_10000: float


@dataclass(frozen=True)
class Confusion:
    """What the encoder makes of exact swipes.

    Attributes:
        cost: mean CTC cost of a word under its own swipe, in nats (the report's layout cost, without its duration).
        per_10000: words of 10,000 in running text that would be read as others.
        pairs: the pairs that add most to it.
    """

    cost: float
    per_10000: float
    pairs: tuple[Pair, ...]


def confusions(keyboard: Keyboard, text: RunningText, gestures: list[Gesture], count: int = 10) -> Confusion:
    """Decode the swipe of every word and count what it would be read as; words that are taps are left out.

    Args:
        keyboard: its lexicon is the text's.
        text: W words.
        gestures: W swipes, one for each word.
        count: pairs to name.
    """
    words, shares = text.lexicon.words, text.shares
    place = {word: index for index, word in enumerate(words)}
    number = {letter: index for index, letter in enumerate(keyboard.layout.keys_of)}
    alphabet = frozenset(number)
    labels = [[number[letter] for letter in typed_letters(word, alphabet)] for word in words]
    costs = np.empty(len(words))
    mistaken: dict[tuple[int, int], float] = {}
    for start in range(0, len(words), CHUNK):
        part = slice(start, min(start + CHUNK, len(words)))
        readings = keyboard.read(gestures[part])
        costs[part] = word_costs(readings.log_probs, labels[part])
        ranked = keyboard.stages(gestures[part], DEPTH, readings).candidates
        for meant, candidates in enumerate(ranked, start):
            chances = {one.word: one.probability for one in candidates}
            if len(set(labels[meant])) > 1:
                others = {place[word]: chance for word, chance in chances.items() if place[word] != meant}
                mistaken |= {(meant, other): chance for other, chance in others.items()}
    total = 10_000 * sum(shares[meant] * chance for (meant, _), chance in mistaken.items())
    return Confusion(float(shares @ costs), float(total), _pairs(words, shares, mistaken, count))


def _pairs(
    words: Sequence[str], shares: np.ndarray, mistaken: dict[tuple[int, int], float], count: int
) -> tuple[Pair, ...]:
    """Join both directions of each pair; the costliest first."""
    pairs = {(min(pair), max(pair)) for pair in mistaken}
    both = [(a, b, mistaken.get((a, b), 0.0), mistaken.get((b, a), 0.0)) for a, b in pairs]
    found = [
        Pair((words[a], words[b]), (one, other), float(10_000 * (shares[a] * one + shares[b] * other)))
        for a, b, one, other in both
    ]
    return tuple(sorted(found, key=lambda pair: (-pair.per_10000, pair.words))[:count])
