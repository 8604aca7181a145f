"""The arithmetic of SHARK2 over arrays: shapes, endpoint pruning and matching. It sees no words.

Distances are in key widths. Letters are numbered 0 to A - 1, and a letter may have several keys; the nearest
counts. n is the number of points of a swipe, S the number of templates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from glissando.native import njit
from glissando.walk import Weights, gap, letter_distances, walk


class Templates(NamedTuple):
    """Templates ordered by their first and last letter."""

    keys: np.ndarray  # [K, 2] float32 key centres, letter by letter
    key_starts: np.ndarray  # [A + 1] where each letter's keys begin
    letters: np.ndarray  # uint8, the letters of all templates end to end
    starts: np.ndarray  # [S + 1] where each template's letters begin
    groups: np.ndarray  # [A * A + 1] where the templates of each (first, last) pair begin
    shapes: np.ndarray  # [S, 2 n] float32 normalised points
    prior: np.ndarray  # [S] float32, the frequency term of the score


@njit(cache=True, nogil=True, fastmath=True)
def resample_evenly(trace: np.ndarray, count: int) -> np.ndarray:
    """Points at equal distances along a path; columns after x and y are interpolated alike.

    Shape: [any, 2 or more] -> [count, same] float32.
    """
    path = np.empty((count, trace.shape[1]), dtype=np.float32)
    write_evenly(trace, np.empty(len(trace)), path)
    return path


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def write_evenly(trace: np.ndarray, along: np.ndarray, path: np.ndarray) -> None:
    """As ``resample_evenly``, written to ``path``; nothing is allocated.

    Shape: trace [m, 2+], along [m] float64 to work in, path [count, 2+] float32.
    """
    last, count = len(trace) - 1, len(path)
    along[0] = 0.0
    for i in range(1, last + 1):
        along[i] = along[i - 1] + gap(trace[i], trace[i - 1])
    left = 0
    for i in range(count - 1):
        target = along[last] * i / (count - 1)
        while left < last - 1 and along[left + 1] < target:
            left += 1
        right = min(left + 1, last)
        step = along[right] - along[left]
        share = (target - along[left]) / step if step > 0 else 0.0
        for column in range(trace.shape[1]):  # one by one: a row at a time would make three arrays
            path[i, column] = trace[left, column] * (1 - share) + trace[right, column] * share
    for column in range(trace.shape[1]):
        path[count - 1, column] = trace[last, column]  # with its time: a finger may rest there


@njit(cache=True, nogil=True, fastmath=True)
def normalise(path: np.ndarray) -> np.ndarray:
    """Centre a path and scale the longer side of its bounding box to 1; a point stays one. Shape: [n, 2+] -> [2 n]."""
    shape = np.empty(2 * len(path), dtype=np.float32)
    write_normalised(path, shape)
    return shape


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def write_normalised(path: np.ndarray, shape: np.ndarray) -> None:
    """As ``normalise``, written to ``shape``; nothing is allocated. Shape: path [n, 2+], shape [2 n] float32."""
    n = len(path)
    size = np.float32(0)
    for axis in range(2):
        low, high, total = path[0, axis], path[0, axis], np.float32(0)
        for i in range(n):
            low, high = min(low, path[i, axis]), max(high, path[i, axis])
            total += path[i, axis]
        size = max(size, high - low)
        for i in range(n):
            shape[axis * n + i] = path[i, axis] - total / n
    scale = 1 / size if size > 1e-6 else np.float32(0)
    for i in range(2 * n):
        shape[i] *= scale


@njit(cache=True, nogil=True)
def template_shapes(
    letters: np.ndarray, starts: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, count: int
) -> np.ndarray:
    """The shape of every template. Shape: [S, 2 * count] float32."""
    shapes = np.empty((len(starts) - 1, 2 * count), dtype=np.float32)
    for template in range(len(starts) - 1):
        shapes[template] = word_shape(letters[starts[template] : starts[template + 1]], keys, key_starts, count)
    return shapes


@njit(cache=True, nogil=True)
def word_shape(word: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, count: int) -> np.ndarray:
    """A word's polyline, resampled and normalised; of several keys it takes the one nearest to the last taken.

    Shape: [m] letters -> [2 * count] float32.
    """
    line = np.empty((len(word), 2), dtype=np.float32)
    write_polyline(word, keys, key_starts, line)
    return normalise(resample_evenly(line, count))


@njit(cache=True, nogil=True, error_model="numpy")
def write_polyline(word: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, line: np.ndarray) -> None:
    """Write the keys a word passes; nothing is allocated. Shape: word [m], line [m, 2] float32."""
    for i in range(len(word)):
        key = key_starts[word[i]]
        for other in range(key + 1, key_starts[word[i] + 1]):
            if i > 0 and gap(keys[other], line[i - 1]) < gap(keys[key], line[i - 1]):
                key = other
        line[i, 0], line[i, 1] = keys[key, 0], keys[key, 1]


@njit(cache=True, nogil=True, fastmath=True)
def near_pairs(start: np.ndarray, end: np.ndarray, groups: np.ndarray, weights: Weights) -> tuple[np.ndarray, int]:
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


@njit(cache=True, nogil=True, fastmath=True)
def match_shapes(
    path: np.ndarray, visits: np.ndarray, templates: Templates, weights: Weights
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


@njit(cache=True, nogil=True, fastmath=True)
def match_locations(found: np.ndarray, visits: np.ndarray, strays: np.ndarray, templates: Templates) -> np.ndarray:
    """The location distance of some templates. Shape: found [m] -> [m] float32."""
    distance = np.empty(len(found), dtype=np.float32)
    for i, template in enumerate(found):
        word = templates.letters[templates.starts[template] : templates.starts[template + 1]]
        distance[i] = walk(word, visits, strays)
    return distance
