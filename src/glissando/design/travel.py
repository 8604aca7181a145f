"""How far and how long a finger travels on a layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glissando.design.colinear import key_scale
from glissando.design.words import RunningText
from glissando.layout import Layout
from glissando.synth import DWELL_MS, TAP_MS, WIDTH_MM, leg_durations, word_points

# Between two words: lift, aim at the next word's first key, touch. The keyboard writes the space. An assumption, the
# same for every layout, about a tap's time on a phone.
LIFT_MS = 300.0
CHARACTERS_PER_WORD = 5  # of "words per minute", the space included


@dataclass(frozen=True)
class Travel:
    """Means over running text.

    Attributes:
        key_widths: way per letter, in widths of the layout's median key.
        mm: way per letter.
        word_ms: a word's swipe by Cao and Zhai's line term.
        words_per_minute: what that gives with ``LIFT_MS`` between words, without mistakes or thought.
        width_mm: the letter area's width that the figures assume.
        key_mm: the median key's width that follows.
    """

    key_widths: float
    mm: float
    word_ms: float
    words_per_minute: float
    width_mm: float
    key_mm: float


def travel(layout: Layout, text: RunningText, width_mm: float = WIDTH_MM) -> Travel:
    """Measure the straight ways from key to key of running text."""
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
