"""How well a swipe follows a word's keys: two distances that help rank the beam's finalists.

The encoder reads a swipe letter by letter, from what is near in time. The distances here see it whole: the
location walks the swipe along the word's keys, the shape compares the two as drawings, wherever they are and however
large. They are SHARK2's channels (walk.py, templates.py), worked out for a few words instead of the whole lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from glissando.templates import normalise, resample_evenly, word_shape
from glissando.trie import Trie
from glissando.walk import Weights, path_headings, stretch_costs, visit_costs, walk

# Fitted with SHARK2 on the How We Swipe training people; lengths in key widths.
POINTS = 32  # equidistant points of a swipe and of a word's polyline
ROW_HEIGHT = 1.75  # what a key height counts for
TOUCH_BIAS = 0.085  # key heights by which fingers land below the centre
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
    def of(
        cls,
        centres: np.ndarray,
        half_sizes: np.ndarray,
        groups: list[tuple[int, ...]],
        row_height: float = ROW_HEIGHT,
        touch_bias: float = TOUCH_BIAS,
    ) -> Ruler:
        """Measure a layout.

        Args:
            centres: [K, 2] key centres.
            half_sizes: [K, 2].
            groups: for each letter, in the order of the trie's labels, the indices of its keys.
            row_height: what a key height counts for, in key widths.
            touch_bias: how far below the centre fingers land, in key heights.
        """
        width, height = 2 * np.median(half_sizes, axis=0)
        scale = np.array([1 / width, row_height / height])
        order = [key for group in groups for key in group]
        starts = np.cumsum([0] + [len(group) for group in groups])
        return cls((centres[order] * scale).astype(np.float32), starts, scale, np.array([0.0, touch_bias * row_height]))

    def trace(self, x: np.ndarray, y: np.ndarray, t: np.ndarray, points: int = POINTS) -> np.ndarray:
        """A swipe in key widths, freed of the touch bias, at equidistant points. Shape: [n] each -> [points, 3]."""
        # A finger a whole keyboard away tells nothing more, and squares of huge numbers overflow.
        places = np.clip(np.column_stack([x, y]), -1, 2) * self.scale - self.bias
        return resample_evenly(np.column_stack([places, t - t[0]]).astype(np.float32), points)


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
    visits = visit_costs(trace, keys, key_starts, weights)
    headings = path_headings(trace)
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
                starts, ends = keys[key_starts[a] : key_starts[a + 1]], keys[key_starts[b] : key_starts[b + 1]]
                stretch_costs(trace, headings, starts, ends, weights, strays[a, b])
        found[i, 0] = walk(word[:length], visits, strays)
        gap = word_shape(word[:length], keys, key_starts, n) - drawn
        found[i, 1] = np.sqrt((gap * gap).sum() / n)


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
