"""How well a swipe follows a word's keys: two distances that help rank the beam's finalists.

The encoder reads a swipe letter by letter, from what is near in time. The distances here compare it as a whole. The
location distance walks the swipe along the word's keys in order. The shape distance compares the two as drawings,
wherever they are and however large. Both are channels of SHARK2, which uses the same functions for a whole lexicon.

Lengths are in key widths. Letters are numbered 0 to A - 1. A letter may have several keys; the nearest counts.
n is the number of points of a swipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from glissando.layout import Layout
from glissando.trie import MAX_DEPTH, Tree

# Fitted with SHARK2 on the How We Swipe training people; lengths in key widths.
POINTS = 32  # equidistant points of a swipe and of a word's polyline
ROW_HEIGHT = 1.75  # the length of a key height
TOUCH_BIAS = 0.085  # key heights by which fingers land below the centre
MAX_SPEED = np.float32(3.0)  # times the mean; a jump between two samples says no more than a fast stroke
FAR = np.float32(1e9)  # a cost that no walk takes
# No number here is NaN and the sign of zero does not matter. Sums keep their order: if the compiler may change it, the
# last bits differ between a process that compiles these functions and one that finds them in numba's cache.
LENIENT = {"nnan", "nsz"}


class WalkCosts(NamedTuple):
    """What a walk along a word's keys pays for."""

    tunnel: float  # half width of the tunnel around a stretch, inside which straying is free
    stray: float  # for each key width outside the tunnel
    turn: float  # for moving at right angles to the stretch
    haste: float  # for passing a letter at the swipe's mean speed


WALK = WalkCosts(tunnel=0.3, stray=0.65, turn=1.25, haste=0.55)


@dataclass(frozen=True, eq=False)
class Ruler:
    """A layout's keys in key widths, letter by letter.

    Attributes:
        keys: [K, 2] float32 key centres, those of a letter together.
        key_starts: [A + 1] int64 where each letter's keys begin.
        scale: [2] from fractions of the letter area to key widths.
        bias: [2] the touch bias, in key widths.
    """

    keys: np.ndarray
    key_starts: np.ndarray
    scale: np.ndarray
    bias: np.ndarray

    @classmethod
    def of(cls, layout: Layout, row_height: float = ROW_HEIGHT, touch_bias: float = TOUCH_BIAS) -> Ruler:
        """Measure a layout; letters are numbered in the order of ``Layout.keys_of``, as in the trie.

        Args:
            layout: the layout.
            row_height: the length of a key height, in key widths.
            touch_bias: how far below the centre fingers land, in key heights.
        """
        scale = np.array([1.0, row_height]) / layout.key_size
        groups = layout.keys_of.values()
        order = [key for group in groups for key in group]
        starts = np.cumsum([0] + [len(group) for group in groups], dtype=np.int64)
        keys = (layout.centres[order] * scale).astype(np.float32)
        return cls(keys, starts, scale, np.array([0.0, touch_bias * row_height]))

    def trace(self, x: np.ndarray, y: np.ndarray, t: np.ndarray, points: int = POINTS) -> np.ndarray:
        """A swipe in key widths, without the touch bias, at equidistant points. Shape: [n] each -> [points, 3]."""
        return _trace(x, y, t, self.scale, self.bias, points)


def distances(trace: np.ndarray, nodes: np.ndarray, tree: Tree, ruler: Ruler) -> np.ndarray:
    """Location and shape distance of each of a swipe's hypotheses.

    Args:
        trace: [POINTS, 3] from ``Ruler.trace``.
        nodes: [W] nodes, -1 where there is none.
        tree: what they are nodes of.
        ruler: the layout.

    Returns:
        [W, 2] float32, zero where there is no node.
    """
    return _distances(trace, nodes, tree.parents, tree.labels, ruler.keys, ruler.key_starts, WALK)


@njit(cache=True, nogil=True, error_model="numpy")
def gap(a: np.ndarray, b: np.ndarray) -> np.float32:
    """Distance of two points. Shape: [2+], [2+]."""
    dx, dy = a[0] - b[0], a[1] - b[1]
    return np.sqrt(dx * dx + dy * dy)


@njit(cache=True, nogil=True, fastmath=LENIENT, error_model="numpy")
def resample_evenly(trace: np.ndarray, count: int) -> np.ndarray:
    """Points at equal distances along a path; columns after x and y are interpolated alike.

    Shape: [any, 2 or more] -> [count, same] float32.
    """
    last = len(trace) - 1
    path, along = np.empty((count, trace.shape[1]), dtype=np.float32), np.zeros(len(trace))
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
    return path


@njit(cache=True, nogil=True, fastmath=LENIENT, error_model="numpy")
def normalise(path: np.ndarray) -> np.ndarray:
    """Centre a path and scale the longer side of its bounding box to 1; a point stays one. Shape: [n, 2+] -> [2 n]."""
    n = len(path)
    shape = np.empty(2 * n, dtype=np.float32)
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
    return shape


@njit(cache=True, nogil=True, fastmath=LENIENT, error_model="numpy")
def word_shape(word: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, count: int) -> np.ndarray:
    """A word's polyline, resampled and normalised; of a letter's keys it takes the one nearest to the key before.

    Shape: [m] letters -> [2 * count] float32.
    """
    line = np.empty((len(word), 2), dtype=np.float32)
    for i in range(len(word)):
        key = key_starts[word[i]]
        for other in range(key + 1, key_starts[word[i] + 1]):
            if i > 0 and gap(keys[other], line[i - 1]) < gap(keys[key], line[i - 1]):
                key = other
        line[i, 0], line[i, 1] = keys[key, 0], keys[key, 1]
    return normalise(resample_evenly(line, count))


@njit(cache=True, nogil=True, fastmath=LENIENT, error_model="numpy")
def visit_costs(path: np.ndarray, keys: np.ndarray, key_starts: np.ndarray, costs: WalkCosts) -> np.ndarray:
    """The cost of passing a letter at a point: its distance, and the finger's haste there.

    Shape: path [n, 3], keys [K, 2], key_starts [A + 1] -> [A, n] float32.
    """
    n = len(path)
    visits = np.empty((len(key_starts) - 1, n), dtype=np.float32)
    frame = max(path[n - 1, 2] - path[0, 2], np.float32(1e-3)) / (n - 1)  # ms per point at the mean speed
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        speed = frame * (after - before) / max(path[after, 2] - path[before, 2], np.float32(1e-3))
        haste = costs.haste * min(speed, MAX_SPEED)
        for letter in range(len(visits)):
            distance = FAR
            for key in range(key_starts[letter], key_starts[letter + 1]):
                distance = min(distance, gap(path[i], keys[key]))
            visits[letter, i] = distance + haste
    return visits


@njit(cache=True, nogil=True, fastmath=LENIENT, error_model="numpy")
def path_headings(path: np.ndarray) -> np.ndarray:
    """The direction in which a swipe passes each of its points, of length 1. Shape: [n, 2+] -> [2, n] float32."""
    n = len(path)
    headings = np.empty((2, n), dtype=np.float32)
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        norm = max(gap(path[after], path[before]), 1e-9)
        headings[0, i] = (path[after, 0] - path[before, 0]) / norm
        headings[1, i] = (path[after, 1] - path[before, 1]) / norm
    return headings


@njit(cache=True, nogil=True, fastmath=LENIENT, error_model="numpy")
def stretch_costs(path, headings, starts, ends, costs, stretch):  # type: ignore[no-untyped-def]
    """Write the cost of every point of a swipe on the stretch between two letters, for the best of their keys.

    A point costs its distance beyond the tunnel, and its turn off the stretch's own direction.

    Args:
        path: [n, 2+] the swipe.
        headings: [2, n] from ``path_headings``.
        starts: [p, 2] the keys of the letter where the stretch begins.
        ends: [q, 2] those of the letter where it ends.
        costs: the constants.
        stretch: [n] float32 to write to.
    """
    stray, turn, tunnel = np.float32(costs.stray), np.float32(costs.turn), np.float32(costs.tunnel)
    stretch[:] = FAR
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
                stretch[i] = min(stretch[i], cost)


@njit(cache=True, nogil=True, fastmath=LENIENT, error_model="numpy")
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
    share = np.float32(m / n)  # of a point; the sum is divided by m in the end
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


@njit(cache=True, nogil=True, error_model="numpy")
def _trace(x, y, t, scale, bias, points):  # type: ignore[no-untyped-def]
    """``Ruler.trace``."""
    placed = np.empty((len(t), 3), np.float32)
    for i in range(len(t)):
        # A finger a whole keyboard away says nothing more, and squares of huge numbers overflow.
        placed[i, 0] = min(max(x[i], -1.0), 2.0) * scale[0] - bias[0]
        placed[i, 1] = min(max(y[i], -1.0), 2.0) * scale[1] - bias[1]
        placed[i, 2] = t[i] - t[0]
    return resample_evenly(placed, points)


@njit(cache=True, nogil=True, fastmath=LENIENT, error_model="numpy")
def _distances(trace, nodes, parents, labels, keys, key_starts, costs):  # type: ignore[no-untyped-def]
    """``distances``. The cost of a stretch between two letters is computed once, when it is first needed."""
    n, letters = len(trace), len(key_starts) - 1
    visits, headings, drawn = visit_costs(trace, keys, key_starts, costs), path_headings(trace), normalise(trace)
    strays, known = np.empty((letters, letters, n), np.float32), np.zeros((letters, letters), np.uint8)
    letters_of_word = np.empty(MAX_DEPTH + 1, np.uint8)
    result = np.zeros((len(nodes), 2), np.float32)
    for i in range(len(nodes)):
        if nodes[i] <= 0:
            continue
        word = _spell(nodes[i], parents, labels, letters_of_word)
        for j in range(max(len(word) - 1, 1)):
            a, b = word[j], word[min(j + 1, len(word) - 1)]
            if not known[a, b]:
                known[a, b] = 1
                starts, ends = keys[key_starts[a] : key_starts[a + 1]], keys[key_starts[b] : key_starts[b + 1]]
                stretch_costs(trace, headings, starts, ends, costs, strays[a, b])
        result[i, 0] = walk(word, visits, strays)
        shape = word_shape(word, keys, key_starts, n)
        square = np.float32(0)
        for k in range(2 * n):
            square += (shape[k] - drawn[k]) ** 2
        result[i, 1] = np.sqrt(square / n)
    return result


@njit(cache=True, nogil=True, error_model="numpy")
def _spell(node, parents, labels, room):  # type: ignore[no-untyped-def]
    """A node's letters, doubled ones once, written to the end of ``room``."""
    start, last = len(room), -1
    while node > 0:  # the root is 0
        if labels[node] != last:
            last = labels[node]
            start -= 1
            room[start] = last
        node = parents[node]
    return room[start:]
