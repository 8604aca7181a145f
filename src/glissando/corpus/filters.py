"""Which swipes to trust: the report's validity filters, and whether a path follows its word's keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe
from glissando.gesture import Gesture
from glissando.layout import Layout
from glissando.lexicon import type_character, typed_letters


@dataclass(frozen=True)
class Validity:
    """Bounds of a plausible swipe; the report names the filters, not their bounds.

    The defaults keep what How We Swipe's curated rows keep (five points, 40 ms to 10 s) and a finger that leaves
    the letter area by less than about a third of its size.

    Attributes:
        min_points: fewer are a tap or a broken recording.
        min_letters: words of fewer typed letters have no path.
        min_duration: milliseconds.
        max_duration: milliseconds.
        margin: how far outside the unit square a point may lie, in widths and heights of the letter area.
    """

    min_points: int = 5
    min_letters: int = 2
    min_duration: float = 40.0
    max_duration: float = 10_000.0
    margin: float = 0.35


@dataclass(frozen=True)
class KeyDistance:
    """How far a path passes from its word's keys, in key widths: the mean and the largest distance."""

    mean: float
    max: float


def invalid_reason(swipe: Swipe, bounds: Validity, letters: frozenset[str]) -> str | None:
    """Why a swipe cannot be a swipe of its word on a layout with these letters, or None where it can.

    A Gesture refuses time that runs backwards, so it is not checked here.
    """
    gesture = swipe.gesture
    if len(gesture) < bounds.min_points:
        return "too few points"
    if not (np.ptp(gesture.x) or np.ptp(gesture.y)):
        return "does not move"
    low, high = -bounds.margin, 1 + bounds.margin
    if min(gesture.x.min(), gesture.y.min()) < low or max(gesture.x.max(), gesture.y.max()) > high:
        return "out of bounds"
    if not bounds.min_duration <= gesture.duration <= bounds.max_duration:
        return "implausible duration"
    if not typeable(swipe.word, letters):
        return "not typeable"
    if len(typed_letters(swipe.word, letters)) < bounds.min_letters:
        return "too few letters"
    if swipe.sentence is not None and not in_sentence(swipe.word, swipe.sentence):
        return "word not in its sentence"
    return None


def typeable(word: str, letters: frozenset[str]) -> bool:
    """Whether every letter and digit of a word can be typed; other characters (apostrophes, dots) need no key.

    >>> typeable("Isn't", frozenset("inst")), typeable("42nd", frozenset("nd"))
    (True, False)
    """
    return bool(typed_letters(word, letters)) and all(type_character(char, letters) for char in word if char.isalnum())


def in_sentence(word: str, sentence: str) -> bool:
    """Whether a sentence has a word, apart from case and punctuation.

    >>> in_sentence("isnt", "This isn't it."), in_sentence("his", "This isn't it.")
    (True, False)
    """
    return _bare(word) in {_bare(part) for part in sentence.replace("_", " ").split()}


def _bare(word: str) -> str:
    """A word's letters and digits in lower case."""
    return "".join(char for char in word.casefold() if char.isalnum())


def key_distance(word: str, gesture: Gesture, layout: Layout, aspect: float | None = None) -> KeyDistance | None:
    """How well a path follows a word's keys, or None where the word has no key on the layout.

    Every letter is matched to a point of the path, in order (two letters may share a point), so that the sum of
    their distances is least; the distances are measured with the true aspect and in widths of the layout's
    median key. This is key_dist_mean and key_dist_max of our files.

    Args:
        word: the word.
        gesture: its path, n points.
        layout: the keys.
        aspect: height over width of the letter area; the layout's own by default.
    """
    typed = typed_letters(word, frozenset(layout.letters))
    if not typed:
        return None
    aspect = layout.aspect if aspect is None else aspect
    rows = {letter: _letter_distances(letter, gesture, layout, aspect) for letter in set(typed)}
    distances = match_in_order(np.stack([rows[letter] for letter in typed])) / layout.key_size[0]
    return KeyDistance(float(distances.mean()), float(distances.max()))


def _letter_distances(letter: str, gesture: Gesture, layout: Layout, aspect: float) -> np.ndarray:
    """Distance of every point to the nearest key of a letter, in widths of the letter area. Shape: [n]."""
    keys = [layout.keys[index] for index in layout.keys_of[letter]]
    return np.min([np.hypot(gesture.x - key.cx, (gesture.y - key.cy) * aspect) for key in keys], axis=0)


def match_in_order(costs: np.ndarray) -> np.ndarray:
    """Match every row to a column so that columns never decrease and the total cost is least.

    Args:
        costs: [L, n] cost of matching row l to column i.

    Returns:
        [L] the cost of each row's match.
    """
    columns = np.arange(costs.shape[1])
    best_before = []  # [L - 1][n] the column of the best match so far, at or before each column
    total = costs[0]
    for row in costs[1:]:
        least = np.minimum.accumulate(total)
        best_before.append(np.maximum.accumulate(np.where(total == least, columns, 0)))
        total = row + least
    matches = [int(np.argmin(total))]
    for best in reversed(best_before):
        matches.append(int(best[matches[-1]]))
    return costs[np.arange(len(costs)), matches[::-1]]


def measured(swipe: Swipe, layout: Layout) -> Swipe:
    """The swipe with its key distances measured on ``layout``, rounded as in our files."""
    distance = key_distance(swipe.word, swipe.gesture, layout, swipe.aspect)
    if distance is None:
        return replace(swipe, key_distance=None, key_distance_mean=None)
    return replace(swipe, key_distance=round(distance.max, 3), key_distance_mean=round(distance.mean, 3))


def with_distances(swipes: Iterable[Swipe], shelf: LayoutShelf) -> Iterator[Swipe]:
    """Yield the swipes with key distances, measured where the corpus does not give them."""
    for swipe in swipes:
        yield swipe if swipe.key_distance is not None else measured(swipe, shelf[swipe.layout])


def keep_valid(
    swipes: Iterable[Swipe],
    dropped: Counter[str],
    shelf: LayoutShelf,
    *,
    validity: Validity | None = None,
    max_key_distance: float | None = None,
) -> Iterator[Swipe]:
    """Yield the swipes that pass the filters, and count the reasons of the others in ``dropped``.

    Args:
        swipes: a corpus.
        dropped: how many swipes are left out, by reason.
        shelf: the layouts of the swipes.
        validity: the bounds of the report's filters; None turns them off.
        max_key_distance: leave out swipes further from their word's keys, in key widths. Distances are measured where
            the corpus does not give them.
    """
    for swipe in swipes:
        reason = None
        if validity is not None:
            reason = invalid_reason(swipe, validity, frozenset(shelf[swipe.layout].letters))
        if reason is None and max_key_distance is not None:
            if swipe.key_distance is None:
                swipe = measured(swipe, shelf[swipe.layout])
            reason = _strays(swipe, max_key_distance)
        if reason is None:
            yield swipe
        else:
            dropped[reason] += 1


def _strays(swipe: Swipe, limit: float) -> str | None:
    """Why a swipe does not follow its word's keys, or None where it does."""
    if swipe.key_distance is None:
        return "not typeable"
    return "does not follow its keys" if swipe.key_distance > limit else None
