"""How well a swipe follows a word's keys: two distances that help rank the beam's finalists.

The encoder reads a swipe letter by letter, from what is near in time. The distances here see it whole: the
location walks the swipe along the word's keys, the shape compares the two as drawings, wherever they are and however
large. They are SHARK2's channels (walk.py, templates.py), worked out for a few words instead of the whole lexicon.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from glissando.native import Kernel, address, njit
from glissando.templates import write_evenly, write_normalised, write_polyline
from glissando.trie import MAX_DEPTH, Trie
from glissando.walk import Weights, stretch_costs, walk_within, write_headings, write_visit_costs

if TYPE_CHECKING:
    import numba

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
        key_starts: [A + 1] int64 where each letter's keys begin.
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
        starts = np.cumsum([0] + [len(group) for group in groups], dtype=np.int64)
        return cls((centres[order] * scale).astype(np.float32), starts, scale, np.array([0.0, touch_bias * row_height]))

    def trace(self, x: np.ndarray, y: np.ndarray, t: np.ndarray, points: int = POINTS) -> np.ndarray:
        """A swipe in key widths, freed of the touch bias, at equidistant points. Shape: [n] each -> [points, 3]."""
        columns = np.array((x, y, t), dtype=np.float64)  # [3, n]
        path, placed, along = np.empty((points, 3), np.float32), np.empty((len(t), 3), np.float32), np.empty(len(t))
        _TRACE.call(
            address(columns), len(t), address(self.scale), address(self.bias), address(placed), address(along),
            address(path), points,
        )  # fmt: skip
        return path

    @cached_property
    def room(self) -> threading.local:
        """What each thread that measures works in; see ``Room``."""
        return threading.local()


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
    if len(traces) > 1:
        arrays = (trie.parents, trie.labels, ruler.keys, ruler.key_starts, WALK)
        _measure_batch(traces, nodes, *arrays, found)
        return found
    letters, points = len(ruler.key_starts) - 1, traces.shape[1]
    if getattr(ruler.room, "points", None) != points:
        ruler.room.points, ruler.room.arrays = points, make_room.py_func(letters, points)
        ruler.room.addresses = [address(array) for array in ruler.room.arrays]
    trace, ends = np.ascontiguousarray(traces[0], dtype=np.float32), np.ascontiguousarray(nodes[0], dtype=np.int32)
    _MEASURE.call(
        address(trace), points, address(ends), len(ends), *trie.ancestry_addresses, len(trie), address(ruler.keys),
        len(ruler.keys), address(ruler.key_starts), letters, *ruler.room.addresses, address(found),
    )  # fmt: skip
    return found


class Room(NamedTuple):
    """Arrays to measure in: ``_measure`` allocates nothing, so that a ``Kernel`` can be made of it."""

    visits: np.ndarray  # [A, n] from walk.py
    headings: np.ndarray  # [2, n] from walk.py
    strays: np.ndarray  # [A, A, n] from walk.py, filled where ``known``
    known: np.ndarray  # [A, A] uint8
    cost: np.ndarray  # [n] of ``walk_within``
    word: np.ndarray  # [MAX_DEPTH + 1] uint8
    line: np.ndarray  # [MAX_DEPTH + 1, 2] a word's keys
    along: np.ndarray  # [MAX_DEPTH + 1] float64 of ``write_evenly``
    path: np.ndarray  # [n, 2] that line at equidistant points
    shape: np.ndarray  # [2 n] and normalised
    drawn: np.ndarray  # [2 n] the swipe normalised


@njit(cache=True)
def make_room(letters, points):  # type: ignore[no-untyped-def]
    """Room for a layout of A letters and swipes of n points."""
    return Room(
        np.empty((letters, points), np.float32), np.empty((2, points), np.float32),
        np.empty((letters, letters, points), np.float32), np.empty((letters, letters), np.uint8),
        np.empty(points, np.float32), np.empty(MAX_DEPTH + 1, np.uint8), np.empty((MAX_DEPTH + 1, 2), np.float32),
        np.empty(MAX_DEPTH + 1, np.float64), np.empty((points, 2), np.float32), np.empty(2 * points, np.float32),
        np.empty(2 * points, np.float32),
    )  # fmt: skip


def _measure_one(  # type: ignore[no-untyped-def]
    trace, n, nodes, count, parents, labels, size, keys, key_count, key_starts, letters,
    visits, headings, strays, known, cost, word, line, along, path, shape, drawn, found,
):  # fmt: skip
    """The distances of one swipe over addresses, for ``Kernel``."""
    room = Room(
        numba.carray(visits, (letters, n)), numba.carray(headings, (2, n)), numba.carray(strays, (letters, letters, n)),
        numba.carray(known, (letters, letters)), numba.carray(cost, (n,)), numba.carray(word, (MAX_DEPTH + 1,)),
        numba.carray(line, (MAX_DEPTH + 1, 2)), numba.carray(along, (MAX_DEPTH + 1,)), numba.carray(path, (n, 2)),
        numba.carray(shape, (2 * n,)), numba.carray(drawn, (2 * n,)),
    )  # fmt: skip
    _measure(
        numba.carray(trace, (n, 3)), numba.carray(nodes, (count,)), numba.carray(parents, (size,)),
        numba.carray(labels, (size,)), numba.carray(keys, (key_count, 2)),
        numba.carray(key_starts, (letters + 1,)), WALK, room, numba.carray(found, (count, 2)),
    )  # fmt: skip


_MEASURE = Kernel(
    __name__,
    "_measure_one",
    (
        "float32*", "int64", "int32*", "int64", "int32*", "uint8*", "int64", "float32*", "int64", "int64*",
        "int64", "float32*", "float32*", "float32*", "uint8*", "float32*", "uint8*", "float32*", "float64*", "float32*",
        "float32*", "float32*", "float32*",
    ),
    ("glissando.walk", "glissando.templates"),
)  # fmt: skip


def _trace_one(columns, n, scale, bias, placed, along, path, points):  # type: ignore[no-untyped-def]
    """``Ruler.trace`` over addresses, for ``Kernel``."""
    x, y, t = numba.carray(columns, (3, n))
    trace = numba.carray(placed, (n, 3))
    _place(x, y, t, numba.carray(scale, (2,)), numba.carray(bias, (2,)), trace)
    write_evenly(trace, numba.carray(along, (n,)), numba.carray(path, (points, 3)))


_TRACE = Kernel(
    __name__,
    "_trace_one",
    ("float64*", "int64", "float64*", "float64*", "float32*", "float64*", "float32*", "int64"),
    ("glissando.walk", "glissando.templates"),
)  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _place(x, y, t, scale, bias, placed):  # type: ignore[no-untyped-def]
    """Write a swipe in key widths, freed of the touch bias. Shape: [n] each, [2], [2] -> placed [n, 3] float32."""
    for i in range(len(t)):
        # A finger a whole keyboard away tells nothing more, and squares of huge numbers overflow.
        placed[i, 0] = min(max(x[i], -1.0), 2.0) * scale[0] - bias[0]
        placed[i, 1] = min(max(y[i], -1.0), 2.0) * scale[1] - bias[1]
        placed[i, 2] = t[i] - t[0]


@njit(cache=True, parallel=True, nogil=True)
def _measure_batch(traces, nodes, parents, labels, keys, key_starts, weights, found):  # type: ignore[no-untyped-def]
    for row in numba.prange(len(traces)):
        room = make_room(len(key_starts) - 1, traces.shape[1])
        _measure(traces[row], nodes[row], parents, labels, keys, key_starts, weights, room, found[row])


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _measure(trace, nodes, parents, labels, keys, key_starts, weights, room, found):  # type: ignore[no-untyped-def]
    """Measure one swipe's hypotheses. Stretches between two letters are worked out once, when first needed."""
    n = len(trace)
    write_visit_costs(trace, keys, key_starts, weights, room.visits)
    write_headings(trace, room.headings)
    room.known[:] = 0
    write_normalised(trace, room.drawn)
    for i in range(len(nodes)):
        if nodes[i] <= 0:
            continue
        length = _spell(nodes[i], parents, labels, room.word)
        word, line = room.word[:length], room.line[:length]
        for j in range(max(length - 1, 1)):
            a, b = word[j], word[min(j + 1, length - 1)]
            if not room.known[a, b]:
                room.known[a, b] = 1
                starts, ends = keys[key_starts[a] : key_starts[a + 1]], keys[key_starts[b] : key_starts[b + 1]]
                stretch_costs(trace, room.headings, starts, ends, weights, room.strays[a, b])
        found[i, 0] = walk_within(word, room.visits, room.strays, room.cost)
        write_polyline(word, keys, key_starts, line)
        write_evenly(line, room.along, room.path)
        write_normalised(room.path, room.shape)
        square = np.float32(0)
        for k in range(2 * n):
            square += (room.shape[k] - room.drawn[k]) ** 2
        found[i, 1] = np.sqrt(square / n)


@njit(cache=True, nogil=True, error_model="numpy")
def _spell(node, parents, labels, word):  # type: ignore[no-untyped-def]
    """Write a node's letters into ``word``, doubled ones once; returns how many."""
    length = 0
    last = -1
    while node > 0:  # the root is 0
        if labels[node] != last:
            last = labels[node]
            word[length] = labels[node]
            length += 1
        node = parents[node]
    for i in range(length // 2):
        word[i], word[length - 1 - i] = word[length - 1 - i], word[i]
    return length
