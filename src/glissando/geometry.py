"""How well a swipe follows a word's keys: two distances that help rank the beam's finalists.

The encoder reads a swipe letter by letter, from what is near in time. The distances here see it whole: the
location walks the swipe along the word's keys, the shape compares the two as drawings, wherever they are and however
large. They are SHARK2's channels (templates.py), worked out for a few words instead of the whole lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from glissando.templates import FAR, Weights, letter_distances, normalise, resample_evenly, stray_cost, walk
from glissando.trie import Trie

# Fitted with SHARK2 on the How We Swipe training people; lengths in key widths.
POINTS = 32  # equidistant points of a swipe and of a word's polyline
ROW_HEIGHT = 1.75  # what a key height counts for
TOUCH_BIAS = 0.085  # key heights by which fingers land below the centre
MAX_SPEED = 3.0  # times the mean; a jump between two samples says no more than a fast stroke
WALK = Weights(
    start_radius=0.0, end_radius=0.0, tunnel=0.3, stray=0.65, turn=1.25, haste=0.55,
    shape_weight=0.0, location_weight=0.0, start_weight=0.0, end_weight=0.0,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Ruler:
    """A layout's keys in key widths, letter by letter.

    Attributes:
        keys: [K, 2] float32 key centres, those of a letter together.
        key_starts: [A + 1] where each letter's keys begin.
        scale: [2] from fractions of the letter area to key widths.
        bias: [2] the touch bias, in key widths.
    """

    keys: np.ndarray
    key_starts: np.ndarray
    scale: np.ndarray
    bias: np.ndarray

    @classmethod
    def of(cls, centres: np.ndarray, half_sizes: np.ndarray, groups: list[tuple[int, ...]]) -> Ruler:
        """Measure a layout.

        Args:
            centres: [K, 2] key centres.
            half_sizes: [K, 2].
            groups: for each letter, in the order of the trie's labels, the indices of its keys.
        """
        width, height = 2 * np.median(half_sizes, axis=0)
        scale = np.array([1 / width, ROW_HEIGHT / height])
        order = [key for group in groups for key in group]
        starts = np.cumsum([0] + [len(group) for group in groups])
        return cls((centres[order] * scale).astype(np.float32), starts, scale, np.array([0.0, TOUCH_BIAS * ROW_HEIGHT]))

    def trace(self, x: np.ndarray, y: np.ndarray, t: np.ndarray) -> np.ndarray:
        """A swipe in key widths, freed of the touch bias, at equidistant points. Shape: [n] each -> [POINTS, 3]."""
        # A finger a whole keyboard away tells nothing more, and squares of huge numbers overflow.
        places = np.clip(np.column_stack([x, y]), -1, 2) * self.scale - self.bias
        return resample_evenly(np.column_stack([places, t - t[0]]).astype(np.float32), POINTS)


def distances(traces: np.ndarray, nodes: np.ndarray, trie: Trie, ruler: Ruler) -> np.ndarray:
    """Location and shape distance of every hypothesis of every swipe, on all cores where there are many.

    Args:
        traces: [B, POINTS, 3] from ``Ruler.trace``.
        nodes: [B, W] trie nodes, -1 where there is none.
        trie: the trie.
        ruler: the layout.

    Returns:
        [B, W, 2] float32, zero where there is no node.
    """
    found = np.zeros((*nodes.shape, 2), dtype=np.float32)
    arrays = (trie.parents, trie.labels, trie.depths, ruler.keys, ruler.key_starts, WALK)
    if len(traces) == 1:
        _measure(traces[0], nodes[0], *arrays, found[0])
    else:
        _measure_batch(traces, nodes, *arrays, found)
    return found


@numba.njit(cache=True, parallel=True, nogil=True)
def _measure_batch(traces, nodes, parents, labels, depths, keys, key_starts, weights, found):  # type: ignore[no-untyped-def]
    for row in numba.prange(len(traces)):
        _measure(traces[row], nodes[row], parents, labels, depths, keys, key_starts, weights, found[row])


@numba.njit(cache=True, nogil=True, fastmath=True)
def _measure(trace, nodes, parents, labels, depths, keys, key_starts, weights, found):  # type: ignore[no-untyped-def]
    """Measure one swipe's hypotheses. Stretches between two letters are worked out once, when first needed."""
    size, n = len(key_starts) - 1, len(trace)
    visits = _visits(trace, keys, key_starts, weights)
    strays = np.empty((size, size, n), dtype=np.float32)
    known = np.zeros((size, size), dtype=np.bool_)
    drawn = normalise(trace)
    word = np.empty(256, dtype=np.uint8)
    for i in range(len(nodes)):
        if nodes[i] <= 0:
            continue
        length = _spell(nodes[i], parents, labels, depths, word)
        for j in range(max(length - 1, 1)):
            a, b = word[j], word[min(j + 1, length - 1)]
            if not known[a, b]:
                known[a, b] = True
                _stray(trace, keys, key_starts, weights, a, b, strays[a, b])
        found[i, 0] = walk(word[:length], visits, strays)
        found[i, 1] = _shape_distance(word[:length], keys, key_starts, drawn, n)


@numba.njit(cache=True, nogil=True)
def _spell(node, parents, labels, depths, word):  # type: ignore[no-untyped-def]
    """Write a node's letters into ``word``, doubled ones once; returns how many."""
    length = 0
    last = -1
    while depths[node] > 0:
        if labels[node] != last:
            last = labels[node]
            word[length] = labels[node]
            length += 1
        node = parents[node]
    for i in range(length // 2):
        word[i], word[length - 1 - i] = word[length - 1 - i], word[i]
    return length


@numba.njit(cache=True, nogil=True, fastmath=True)
def _visits(trace, keys, key_starts, weights):  # type: ignore[no-untyped-def]
    """What passing each letter costs at each point: its distance, and the finger's haste. Shape: [A, n]."""
    n = len(trace)
    visits = np.empty((len(key_starts) - 1, n), dtype=np.float32)
    frame = max(trace[n - 1, 2] - trace[0, 2], np.float32(1e-3)) / (n - 1)  # ms per point at the mean speed
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        speed = frame * (after - before) / max(trace[after, 2] - trace[before, 2], np.float32(1e-3))
        visits[:, i] = letter_distances(trace[i], keys, key_starts) + weights.haste * min(speed, MAX_SPEED)
    return visits


@numba.njit(cache=True, nogil=True, fastmath=True)
def _stray(trace, keys, key_starts, weights, a, b, row):  # type: ignore[no-untyped-def]
    """What each point costs on the stretch from letter ``a`` to letter ``b``, of their keys the best. Shape: row [n]."""
    n = len(trace)
    for i in range(n):
        before, after = max(i - 1, 0), min(i + 1, n - 1)
        dx, dy = trace[after, 0] - trace[before, 0], trace[after, 1] - trace[before, 1]
        norm = max(np.sqrt(dx * dx + dy * dy), 1e-9)
        row[i] = FAR
        for p in range(key_starts[a], key_starts[a + 1]):
            for q in range(key_starts[b], key_starts[b + 1]):
                row[i] = min(row[i], stray_cost(trace[i], (dx / norm, dy / norm), keys[p], keys[q], weights))


@numba.njit(cache=True, nogil=True, fastmath=True)
def _shape_distance(word, keys, key_starts, drawn, n):  # type: ignore[no-untyped-def]
    """Root mean square distance of swipe and word, both centred and scaled; of several keys the nearest to the last."""
    line = np.empty((len(word), 2), dtype=np.float32)
    for i in range(len(word)):
        key = key_starts[word[i]]
        for other in range(key + 1, key_starts[word[i] + 1]):
            if i > 0 and _gap(keys[other], line[i - 1]) < _gap(keys[key], line[i - 1]):
                key = other
        line[i] = keys[key]
    shape = normalise(resample_evenly(line, n))
    square = np.float32(0)
    for i in range(len(shape)):
        square += (shape[i] - drawn[i]) ** 2
    return np.sqrt(square / n)


@numba.njit(cache=True, nogil=True)
def _gap(a, b):  # type: ignore[no-untyped-def]
    return np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)
