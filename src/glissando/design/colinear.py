"""Letters that a swipe passes on a straight line: it crosses their keys whether they are meant or not."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from glissando.design.words import RunningText
from glissando.layout import Layout
from glissando.lexicon import typed_letters
from glissando.synth import word_points

COLINEAR = 0.35  # key widths: a key nearer than this to the line between its neighbours bends no swipe


@dataclass(frozen=True)
class Trigram:
    """Three letters in a row.

    Attributes:
        letters: the three.
        clearance: distance of the middle key from the straight way between the others, in key widths.
        share: how many of all trigrams in running text it is, 0 to 1.
    """

    letters: str
    clearance: float
    share: float


@dataclass(frozen=True)
class Colinearity:
    """How often letters lie on the straight way between their neighbours.

    Attributes:
        distinct: different trigrams of the words.
        colinear: how many of them are.
        trigram_share: share of running text's trigrams that are, 0 to 1.
        word_share: share of running words with at least one.
        worst: the most frequent ones.
    """

    distinct: int
    colinear: int
    trigram_share: float
    word_share: float
    worst: tuple[Trigram, ...]


def colinear_trigrams(layout: Layout, text: RunningText, worst: int = 10) -> Colinearity:
    """Count the colinear trigrams of running text on a layout; a doubled letter counts once."""
    clearances: dict[str, float] = {}
    shares: defaultdict[str, float] = defaultdict(float)
    hidden_words = 0.0
    for word, share in zip(text.lexicon.words, text.shares.tolist(), strict=True):
        letters, points = key_sequence(word, layout)
        distances = clearance(points[:-2], points[1:-1], points[2:])  # [L - 2]
        hidden_words += share * bool(np.any(distances < COLINEAR))
        for start, distance in enumerate(distances.tolist()):
            trigram = letters[start : start + 3]
            shares[trigram] += share
            clearances[trigram] = min(distance, clearances.get(trigram, np.inf))
    found = [name for name in clearances if clearances[name] < COLINEAR]
    total = sum(shares.values()) or 1.0
    trigrams = [Trigram(name, clearances[name], shares[name] / total) for name in found]
    trigrams.sort(key=lambda one: -one.share)
    hidden = sum(one.share for one in trigrams)
    return Colinearity(len(clearances), len(found), hidden, hidden_words, tuple(trigrams[:worst]))


def key_sequence(word: str, layout: Layout) -> tuple[str, np.ndarray]:
    """The letters of a word, doubled ones once, and their key centres in key widths. Shape: [L, 2]."""
    letters = "".join(typed_letters(word, frozenset(layout.letters)))
    points = word_points(word, layout) * key_scale(layout)
    moved = np.append(True, np.any(points[1:] != points[:-1], axis=1))
    return "".join(letter for letter, kept in zip(letters, moved, strict=True) if kept), points[moved]


def key_scale(layout: Layout) -> np.ndarray:
    """From fractions of the letter area to widths of the median key, at the true aspect. Shape: [2]."""
    return np.array([1.0, layout.aspect]) / (2 * float(np.median([key.rx for key in layout.keys])))


def clearance(before: np.ndarray, point: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Distance of points from the segments between two others. Shape: three of [..., 2] -> [...]."""
    way = after - before
    length = np.maximum((way**2).sum(axis=-1), 1e-12)
    along = np.clip(((point - before) * way).sum(axis=-1) / length, 0, 1)
    return np.hypot(*np.moveaxis(point - before - along[..., None] * way, -1, 0))
