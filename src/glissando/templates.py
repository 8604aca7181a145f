"""The arithmetic of SHARK2 over arrays: shapes, tunnels and the walk along a template. It sees no words.

Distances are in key widths. Letters are numbered 0 to A - 1, and a letter may have several keys; the nearest
counts. n is the number of points of a swipe, S the number of templates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

MAX_SPEED = 3.0  # times the mean; a jump between two samples says no more than a fast stroke
FAR = np.float32(1e9)  # a cost no walk takes; finite, so that fastmath may reorder


class Templates(NamedTuple):
    """Templates ordered by their first and last letter."""

    keys: np.ndarray  # [K, 2] float32 key centres, letter by letter
    key_starts: np.ndarray  # [A + 1] where each letter's keys begin
    letters: np.ndarray  # uint8, the letters of all templates end to end
    starts: np.ndarray  # [S + 1] where each template's letters begin
    groups: np.ndarray  # [A * A + 1] where the templates of each (first, last) pair begin
    shapes: np.ndarray  # [S, 2 n] float32 normalised points
    prior: np.ndarray  # [S] float32, the frequency term of the score


class Weights(NamedTuple):
    """Those of ``Shark2Constants`` that the arithmetic needs; numba reads named tuples, not dataclasses."""

    start_radius: float
    end_radius: float
    tunnel: float
    stray: float
    turn: float
    haste: float
    shape_weight: float
    location_weight: float
    start_weight: float
    end_weight: float


@njit(cache=True, nogil=True)
def resample_evenly(trace: np.ndarray, count: int) -> np.ndarray:
    """Points at equal distances along a path; columns after x and y are interpolated alike.

    Shape: [any, 2 or more] -> [count, same] float32.
    """
    last = len(trace) - 1
    along = np.zeros(last + 1)
    for i in range(1, last + 1):
        along[i] = along[i - 1] + _gap(trace[i], trace[i - 1])
    path = np.empty((count, trace.shape[1]), dtype=np.float32)
    left = 0
    for i in range(count - 1):
        target = along[last] * i / (count - 1)
        while left < last - 1 and along[left + 1] < target:
            left += 1
        right = min(left + 1, last)
        step = along[right] - along[left]
        share = (target - along[left]) / step if step > 0 else 0.0
        path[i] = trace[left] * (1 - share) + trace[right] * share
    path[count - 1] = trace[last]  # with its time: a finger may rest there
    return path


@njit(cache=True, nogil=True)
def normalise(path: np.ndarray) -> np.ndarray:
    """Centre a path and scale the longer side of its bounding box to 1; a point stays one. Shape: [n, 2+] -> [2 n]."""
    n = len(path)
    x, y = path[:, 0], path[:, 1]
    size = max(x.max() - x.min(), y.max() - y.min())
    scale = 1 / size if size > 1e-6 else 0.0
    shape = np.empty(2 * n, dtype=np.float32)
    shape[:n] = (x - x.mean()) * scale
    shape[n:] = (y - y.mean()) * scale
    return shape


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
    for i in range(len(word)):
        key = key_starts[word[i]]
        for other in range(key + 1, key_starts[word[i] + 1]):
            if i > 0 and _gap(keys[other], line[i - 1]) < _gap(keys[key], line[i - 1]):
                key = other
        line[i] = keys[key]
    return normalise(resample_evenly(line, count))


@njit(cache=True, nogil=True, fastmath=True)
def cost_tables(
    path: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, weights: Weights
) -> tuple[np.ndarray, np.ndarray]:
    """What every letter, and every stretch between two letters, costs at every point of a swipe.

    Args:
        path: [n, 3] the swipe at equidistant points, with times.
        keys: [K, 2] key centres.
        key_starts: [A + 1] where each letter's keys begin.
        weights: the constants.

    Returns:
        visits [A, n] from ``visit_costs``; strays [A, A, n] from ``stretch_costs``.
    """
    size = len(key_starts) - 1
    strays = np.empty((size, size, len(path)), dtype=np.float32)
    for a in range(size):
        for b in range(size):
            stretch_costs(path, keys, key_starts, weights, a, b, strays[a, b])
    return visit_costs(path, keys, key_starts, weights), strays


@njit(cache=True, nogil=True, fastmath=True)
def visit_costs(path: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, weights: Weights) -> np.ndarray:
    """What passing a letter at a point costs: its distance, and the finger's haste there. Shape: [A, n] float32."""
    n = len(path)
    visits = np.empty((len(key_starts) - 1, n), dtype=np.float32)
    frame = max(path[n - 1, 2] - path[0, 2], np.float32(1e-3)) / (n - 1)  # ms per point at the mean speed
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        speed = frame * (after - before) / max(path[after, 2] - path[before, 2], np.float32(1e-3))
        visits[:, i] = letter_distances(path[i], keys, key_starts) + weights.haste * min(speed, MAX_SPEED)
    return visits


@njit(cache=True, nogil=True, fastmath=True)
def stretch_costs(
    path: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, weights: Weights, a: int, b: int, costs: np.ndarray
) -> None:
    """Write what a point costs on the stretch from letter ``a`` to letter ``b``, of their keys the best. Shape: [n]."""
    n = len(path)
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        norm = max(_gap(path[after], path[before]), 1e-9)
        heading = ((path[after, 0] - path[before, 0]) / norm, (path[after, 1] - path[before, 1]) / norm)
        costs[i] = FAR
        for p in range(key_starts[a], key_starts[a + 1]):
            for q in range(key_starts[b], key_starts[b + 1]):
                costs[i] = min(costs[i], stray_cost(path[i], heading, keys[p], keys[q], weights))


@njit(cache=True, nogil=True, fastmath=True)
def stray_cost(
    point: np.ndarray, heading: tuple[float, float], a: np.ndarray, b: np.ndarray, weights: Weights
) -> float:
    """The cost of a point on the stretch from ``a`` to ``b``, swiped in a direction: its distance beyond the tunnel,
    and the turn off the stretch's own direction. Shape: point [2+], a and b [2]."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    x, y = point[0] - a[0], point[1] - a[1]
    length = max(math.sqrt(dx * dx + dy * dy), 1e-9)
    along = min(max((x * dx + y * dy) / length, 0.0), length)
    distance = math.sqrt((x - along * dx / length) ** 2 + (y - along * dy / length) ** 2)
    cosine = (heading[0] * dx + heading[1] * dy) / length
    return weights.stray * max(distance - weights.tunnel, 0.0) + weights.turn * (1 - cosine)


@njit(cache=True, nogil=True, fastmath=True)
def letter_distances(point: np.ndarray, keys: np.ndarray, key_starts: np.ndarray) -> np.ndarray:
    """Distance from a point to each letter's nearest key. Shape: [2+], [K, 2], [A + 1] -> [A] float32."""
    distance = np.full(len(key_starts) - 1, FAR, dtype=np.float32)
    for letter in range(len(distance)):
        for key in range(key_starts[letter], key_starts[letter + 1]):
            distance[letter] = min(distance[letter], _gap(point, keys[key]))
    return distance


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


@njit(cache=True, nogil=True, fastmath=True)
def walk(word: np.ndarray, visits: np.ndarray, strays: np.ndarray) -> float:
    """The cheapest way to walk a swipe along a word's letters in order, by dynamic programming.

    The walk passes letter 0 at some point, letter 1 there or later, and so on. The points between two letters lie on
    the stretch between them, those before the first letter on the first stretch, those after the last on the last.

    Args:
        word: [m] letters.
        visits: [A, n] costs of passing a letter at a point.
        strays: [A, A, n] costs of a point on a stretch.

    Returns:
        The mean cost of the letters plus the mean cost of the points.
    """
    m, n = len(word), visits.shape[1]
    share = np.float32(m / n)  # of a point; all is divided by m in the end
    cost = np.empty(n, dtype=np.float32)  # of the cheapest walk that has passed the letters so far, up to each point
    stretch = strays[word[0], word[min(1, m - 1)]]
    spent = np.float32(0)
    for i in range(n):
        spent += share * stretch[i]
        cost[i] = spent
    for letter in range(m):
        passing = visits[word[letter]]
        stretch = strays[word[max(min(letter, m - 2), 0)], word[min(letter + 1, m - 1)]]
        best = FAR
        for i in range(n):
            best = min(best + share * stretch[i], cost[i] + passing[i])
            cost[i] = best
    return cost[n - 1] / m


@njit(cache=True, nogil=True)
def _gap(a: np.ndarray, b: np.ndarray) -> float:
    """Distance of two points. Shape: [2+], [2+]."""
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)
