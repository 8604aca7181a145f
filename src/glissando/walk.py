"""A swipe walked along a word's letters in order: what passing a letter and straying from a stretch cost.

Distances are in key widths. Letters are numbered 0 to A - 1, and a letter may have several keys; the nearest
counts. n is the number of points of a swipe.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from glissando.native import njit

MAX_SPEED = 3.0  # times the mean; a jump between two samples says no more than a fast stroke
FAR = np.float32(1e9)  # a cost no walk takes; finite, so that fastmath may reorder


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
    headings = path_headings(path)
    for a in range(size):
        starts = keys[key_starts[a] : key_starts[a + 1]]
        for b in range(size):
            stretch_costs(path, headings, starts, keys[key_starts[b] : key_starts[b + 1]], weights, strays[a, b])
    return visit_costs(path, keys, key_starts, weights), strays


@njit(cache=True, nogil=True, fastmath=True)
def visit_costs(path: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, weights: Weights) -> np.ndarray:
    """What passing a letter at a point costs: its distance, and the finger's haste there. Shape: [A, n] float32."""
    visits = np.empty((len(key_starts) - 1, len(path)), dtype=np.float32)
    write_visit_costs(path, keys, key_starts, weights, visits)
    return visits


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def write_visit_costs(
    path: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, weights: Weights, visits: np.ndarray
) -> None:
    """As ``visit_costs``, written to ``visits``; nothing is allocated. Shape: visits [A, n] float32."""
    n = len(path)
    frame = max(path[n - 1, 2] - path[0, 2], np.float32(1e-3)) / (n - 1)  # ms per point at the mean speed
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        speed = frame * (after - before) / max(path[after, 2] - path[before, 2], np.float32(1e-3))
        haste = weights.haste * min(speed, MAX_SPEED)
        for letter in range(len(visits)):
            distance = FAR
            for key in range(key_starts[letter], key_starts[letter + 1]):
                distance = min(distance, gap(path[i], keys[key]))
            visits[letter, i] = distance + haste


@njit(cache=True, nogil=True, fastmath=True)
def path_headings(path: np.ndarray) -> np.ndarray:
    """The direction in which a swipe passes each of its points, of length 1. Shape: [n, 2+] -> [2, n] float32."""
    headings = np.empty((2, len(path)), dtype=np.float32)
    write_headings(path, headings)
    return headings


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def write_headings(path: np.ndarray, headings: np.ndarray) -> None:
    """As ``path_headings``, written to ``headings``; nothing is allocated. Shape: headings [2, n] float32."""
    n = len(path)
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        norm = max(gap(path[after], path[before]), 1e-9)
        headings[0, i] = (path[after, 0] - path[before, 0]) / norm
        headings[1, i] = (path[after, 1] - path[before, 1]) / norm


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def stretch_costs(
    path: np.ndarray,
    headings: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    weights: Weights,
    costs: np.ndarray,
) -> None:
    """Write what every point of a swipe costs on the stretch between two letters, of their keys the best.

    A point costs its distance beyond the tunnel, and the turn off the stretch's own direction.

    Args:
        path: [n, 2+] the swipe.
        headings: [2, n] from ``path_headings``.
        starts: [p, 2] the keys of the letter where the stretch begins.
        ends: [q, 2] those of the letter where it ends.
        weights: the constants.
        costs: [n] float32 to write to.
    """
    stray, turn, tunnel = np.float32(weights.stray), np.float32(weights.turn), np.float32(weights.tunnel)
    costs[:] = FAR
    for a in starts:
        for b in ends:
            length = max(gap(a, b), np.float32(1e-9))
            dx, dy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
            for i in range(len(path)):
                x, y = path[i, 0] - a[0], path[i, 1] - a[1]
                along = min(max(x * dx + y * dy, np.float32(0)), length)
                off_x, off_y = x - along * dx, y - along * dy
                distance = np.sqrt(off_x * off_x + off_y * off_y)
                cosine = headings[0, i] * dx + headings[1, i] * dy
                cost = stray * max(distance - tunnel, np.float32(0)) + turn * (np.float32(1) - cosine)
                costs[i] = min(costs[i], cost)


@njit(cache=True, nogil=True, fastmath=True)
def letter_distances(point: np.ndarray, keys: np.ndarray, key_starts: np.ndarray) -> np.ndarray:
    """Distance from a point to each letter's nearest key. Shape: [2+], [K, 2], [A + 1] -> [A] float32."""
    distance = np.full(len(key_starts) - 1, FAR, dtype=np.float32)
    for letter in range(len(distance)):
        for key in range(key_starts[letter], key_starts[letter + 1]):
            distance[letter] = min(distance[letter], gap(point, keys[key]))
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
    return walk_within(word, visits, strays, np.empty(visits.shape[1], dtype=np.float32))


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def walk_within(word: np.ndarray, visits: np.ndarray, strays: np.ndarray, cost: np.ndarray) -> float:
    """As ``walk``, with ``cost`` as room to work in; nothing is allocated. Shape: cost [n] float32."""
    m, n = len(word), visits.shape[1]
    share = np.float32(m / n)  # of a point; all is divided by m in the end
    # cost: of the cheapest walk that has passed the letters so far, up to each point
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


@njit(cache=True, nogil=True, error_model="numpy")
def gap(a: np.ndarray, b: np.ndarray) -> float:
    """Distance of two points. Shape: [2+], [2+]."""
    dx, dy = a[0] - b[0], a[1] - b[1]
    return np.sqrt(dx * dx + dy * dy)
