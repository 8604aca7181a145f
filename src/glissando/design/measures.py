"""What can be said of a layout without the encoder: letters on straight lines, and how far the finger travels."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from glissando.design.words import RunningText
from glissando.layout import Layout
from glissando.lexicon import typed_letters
from glissando.synth import DWELL_MS, TAP_MS, WIDTH_MM, leg_durations, word_points

COLINEAR = 0.35  # key widths: a key closer than this to the line between its neighbours bends no swipe
# Between two words: lift, aim at the next word's first key, touch. The keyboard writes the space. An assumption, the
# same for every layout, about a tap's time on a phone.
LIFT_MS = 300.0
CHARACTERS_PER_WORD = 5  # of "words per minute", the space included


@dataclass(frozen=True)
class Trigram:
    """Three letters in a row.

    Attributes:
        letters: the three letters.
        clearance: distance of the middle key from the segment between the others, in key widths.
        share: its share of all trigrams in running text, 0 to 1.
    """

    letters: str
    clearance: float
    share: float


@dataclass(frozen=True)
class Colinearity:
    """How often a letter lies on the straight line between its neighbours: a swipe crosses its key, meant or not.

    Attributes:
        distinct: different trigrams of the words.
        colinear: how many of them are colinear.
        trigram_share: share of running text's trigrams that are colinear, 0 to 1.
        word_share: share of running words with at least one colinear trigram.
        worst: the most frequent colinear trigrams.
    """

    distinct: int
    colinear: int
    trigram_share: float
    word_share: float
    worst: tuple[Trigram, ...]


@dataclass(frozen=True)
class Travel:
    """Means over running text.

    Attributes:
        key_widths: distance per letter, in widths of the layout's median key.
        mm: distance per letter.
        word_ms: duration of a word's swipe by Cao and Zhai's line term.
        words_per_minute: the speed with ``LIFT_MS`` between words, without mistakes or thought.
        width_mm: the assumed width of the letter area.
        key_mm: the width of the median key that follows from it.
    """

    key_widths: float
    mm: float
    word_ms: float
    words_per_minute: float
    width_mm: float
    key_mm: float


def measure_colinearity(layout: Layout, text: RunningText, worst: int = 10) -> Colinearity:
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
    total = sum(shares.values()) or 1.0
    trigrams = [Trigram(name, off, shares[name] / total) for name, off in clearances.items() if off < COLINEAR]
    trigrams.sort(key=lambda one: -one.share)
    hidden = sum(one.share for one in trigrams)
    return Colinearity(len(clearances), len(trigrams), hidden, hidden_words, tuple(trigrams[:worst]))


def measure_travel(layout: Layout, text: RunningText, width_mm: float = WIDTH_MM) -> Travel:
    """Measure the straight legs from key to key of running text."""
    length = letters = duration = 0.0
    scale = np.array([1.0, layout.aspect]) * width_mm
    for word, share in zip(text.lexicon.words, text.shares.tolist(), strict=True):
        points = word_points(word, layout)
        legs = np.hypot(*(np.diff(points, axis=0) * scale).T)  # [L - 1] mm
        times = np.where(legs > 0, leg_durations(points, layout.aspect, width_mm), DWELL_MS)
        length += share * float(legs.sum())
        letters += share * len(points)
        duration += share * (float(times.sum()) if len(legs) else TAP_MS)
    minutes = (duration + LIFT_MS) / 60_000
    words = (letters + 1) / CHARACTERS_PER_WORD
    key_mm = width_mm / float(key_scale(layout)[0])
    return Travel(length / letters / key_mm, length / letters, duration, words / minutes, width_mm, key_mm)


def key_sequence(word: str, layout: Layout) -> tuple[str, np.ndarray]:
    """The letters of a word, doubled ones once, and their key centres in key widths. Shape: [L, 2]."""
    letters = "".join(typed_letters(word, frozenset(layout.letters)))
    points = word_points(word, layout) * key_scale(layout)
    moved = np.append(True, np.any(points[1:] != points[:-1], axis=1))
    return "".join(letter for letter, kept in zip(letters, moved, strict=True) if kept), points[moved]


def key_scale(layout: Layout) -> np.ndarray:
    """From fractions of the letter area to widths of the median key, at the true aspect. Shape: [2]."""
    return np.array([1.0, layout.aspect]) / layout.key_size[0]


def clearance(before: np.ndarray, point: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Distance of points from the segments between two others. Shape: three of [..., 2] -> [...]."""
    way = after - before
    length = np.maximum((way**2).sum(axis=-1), 1e-12)
    along = np.clip(((point - before) * way).sum(axis=-1) / length, 0, 1)
    return np.hypot(*np.moveaxis(point - before - along[..., None] * way, -1, 0))
