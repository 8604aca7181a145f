"""The arithmetic of SHARK2 over arrays: endpoint pruning and matching. It sees no words.

Distances are in key widths. Letters are numbered 0 to A - 1, and a letter may have several keys; the nearest
counts. n is the number of points of a swipe, S the number of templates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from glissando.geometry import (
    FAR,
    LENIENT,
    WalkCosts,
    gap,
    normalise,
    path_headings,
    stretch_costs,
    visit_costs,
    walk,
    word_shape,
)


class MatchWeights(NamedTuple):
    """Those of ``Shark2Constants`` that matching needs; numba reads named tuples, not dataclasses."""

    start_radius: float
    end_radius: float
    shape_weight: float
    location_weight: float
    start_weight: float
    end_weight: float


class Templates(NamedTuple):
    """Templates ordered by their first and last letter."""

    keys: np.ndarray  # [K, 2] float32 key centres, letter by letter
    key_starts: np.ndarray  # [A + 1] where each letter's keys begin
    letters: np.ndarray  # uint8, the letters of all templates end to end
    starts: np.ndarray  # [S + 1] where each template's letters begin
    groups: np.ndarray  # [A * A + 1] where the templates of each (first, last) pair begin
    shapes: np.ndarray  # [S, 2 n] float32 normalised points
    prior: np.ndarray  # [S] float32, the frequency term of the score


@njit(cache=True, nogil=True)
def template_shapes(
    letters: np.ndarray, starts: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, count: int
) -> np.ndarray:
    """The shape of every template. Shape: [S, 2 * count] float32."""
    shapes = np.empty((len(starts) - 1, 2 * count), dtype=np.float32)
    for template in range(len(starts) - 1):
        shapes[template] = word_shape(letters[starts[template] : starts[template + 1]], keys, key_starts, count)
    return shapes


@njit(cache=True, nogil=True, fastmath=LENIENT)
def cost_tables(
    path: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, costs: WalkCosts
) -> tuple[np.ndarray, np.ndarray]:
    """The cost of every letter, and of every stretch between two letters, at every point of a swipe.

    Args:
        path: [n, 3] the swipe at equidistant points, with times.
        keys: [K, 2] key centres.
        key_starts: [A + 1] where each letter's keys begin.
        costs: the constants.

    Returns:
        visits [A, n] from ``visit_costs``; strays [A, A, n] from ``stretch_costs``.
    """
    size = len(key_starts) - 1
    strays = np.empty((size, size, len(path)), dtype=np.float32)
    headings = path_headings(path)
    for a in range(size):
        starts = keys[key_starts[a] : key_starts[a + 1]]
        for b in range(size):
            stretch_costs(path, headings, starts, keys[key_starts[b] : key_starts[b + 1]], costs, strays[a, b])
    return visit_costs(path, keys, key_starts, costs), strays


@njit(cache=True, nogil=True, fastmath=LENIENT)
def letter_distances(point: np.ndarray, keys: np.ndarray, key_starts: np.ndarray) -> np.ndarray:
    """Distance from a point to each letter's nearest key. Shape: [2+], [K, 2], [A + 1] -> [A] float32."""
    distance = np.full(len(key_starts) - 1, FAR, dtype=np.float32)
    for letter in range(len(distance)):
        for key in range(key_starts[letter], key_starts[letter + 1]):
            distance[letter] = min(distance[letter], gap(point, keys[key]))
    return distance


@njit(cache=True, nogil=True, fastmath=LENIENT)
def near_pairs(start: np.ndarray, end: np.ndarray, groups: np.ndarray, weights: MatchWeights) -> tuple[np.ndarray, int]:
    """Endpoint pruning: the (first, last) letter pairs near a swipe's ends, widened until a template is among them.

    Args:
        start: [A] distances from the touch-down to each letter.
        end: [A] distances from the lift-off.
        groups: [A * A + 1] where the templates of each pair begin.
        weights: the constants.

    Returns:
        The pairs, first * A + last, and the number of their templates.
    """
    total, widen = 0, 1.0
    pairs = np.empty(0, dtype=np.int64)
    while total == 0:
        close = (start <= weights.start_radius * widen).reshape(-1, 1) & (end <= weights.end_radius * widen)
        pairs = np.flatnonzero(close)
        total = (groups[pairs + 1] - groups[pairs]).sum()
        widen *= 1.5
    return pairs, total


@njit(cache=True, nogil=True, fastmath=LENIENT)
def match_shapes(
    path: np.ndarray, visits: np.ndarray, templates: Templates, weights: MatchWeights
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The templates that survive endpoint pruning, with all but their location worked out.

    Returns:
        found [m]: their indices.
        partial [m]: the log-likelihood of their shape and ends.
        bound [m]: a score they cannot exceed, each letter passed where the swipe is nearest to it.
    """
    start = letter_distances(path[0], templates.keys, templates.key_starts)
    end = letter_distances(path[-1], templates.keys, templates.key_starts)
    pairs, total = near_pairs(start, end, templates.groups, weights)
    shape = normalise(path)
    least = np.array([row.min() for row in visits])  # [A]
    found = np.empty(total, dtype=np.int64)
    partial = np.empty(total, dtype=np.float32)
    bound = np.empty(total, dtype=np.float32)
    slot = 0
    for pair in pairs:
        ends = weights.start_weight * start[pair // len(start)] + weights.end_weight * end[pair % len(start)]
        for template in range(templates.groups[pair], templates.groups[pair + 1]):
            square = np.float32(0)
            for i in range(len(shape)):
                square += (shape[i] - templates.shapes[template, i]) ** 2
            word = templates.letters[templates.starts[template] : templates.starts[template + 1]]
            visit = np.float32(0)
            for letter in word:
                visit += least[letter]
            found[slot] = template
            partial[slot] = -ends - weights.shape_weight * math.sqrt(square / len(path))
            bound[slot] = partial[slot] - weights.location_weight * visit / len(word) + templates.prior[template]
            slot += 1
    return found, partial, bound


@njit(cache=True, nogil=True, fastmath=LENIENT)
def match_locations(found: np.ndarray, visits: np.ndarray, strays: np.ndarray, templates: Templates) -> np.ndarray:
    """The location distance of some templates. Shape: found [m] -> [m] float32."""
    distance = np.empty(len(found), dtype=np.float32)
    for i, template in enumerate(found):
        word = templates.letters[templates.starts[template] : templates.starts[template + 1]]
        distance[i] = walk(word, visits, strays)
    return distance
