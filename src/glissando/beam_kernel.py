"""The compiled beam search.

Each hypothesis is a trie node with two log-probabilities: that the frames so far spell its prefix and end in
blank, and that they end in its last letter. A node is reached from its one parent and from itself alone, so
hypotheses merge without a sort: a small hash of the beam's nodes finds the only possible partner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glissando.native import Kernel, njit

if TYPE_CHECKING:
    import numba

# How Trie.edges packs a node: its first child, whether a word ends there, its letter.
CHILD, WORD, LABEL = np.uint32(9), np.uint32(1 << 8), np.uint32(255)
# Integers are unsigned throughout: at each signed index numba asks whether it counts from the end.
EMPTY, ONE, SPREAD = np.uint32(0xFFFFFFFF), np.uint64(1), np.uint64(40503)  # of the hash: no node; a step; its factor
IMPOSSIBLE = np.float32(-1e30)  # log of zero, finite so that differences stay numbers
BYTES = 256  # frequencies there are
BEYOND = np.float32(3e38)  # above all scores
# log(1 + exp(-gap)) every 1/256; beyond a gap of 16 it is nothing to a float32
STEPS, LAST = np.float32(256), np.float32(16 * 256)
SOFTPLUS = np.append(np.log1p(np.exp(-np.arange(16 * 256) / 256)), [0.0, 0.0]).astype(np.float32)
# No number here is NaN, and which zero it is does not matter: so loops can be taken several steps at a time.
LENIENT = {"nnan", "nsz"}


@njit(cache=True)
def room_sizes(width, classes):  # type: ignore[no-untyped-def]
    """How many integers and floats a search needs as room: ``_search`` says what for."""
    slots = 1
    while slots < 4 * width:
        slots *= 2
    return 3 * width * classes + 2 * slots, 4 * width * classes + 2 * width


@njit(cache=True, error_model="numpy", fastmath=LENIENT)
def _add(a, b):  # type: ignore[no-untyped-def]
    """log(exp a + exp b), from a table: many at once, and no further off than float32 rounds."""
    high, low = max(a, b), min(a, b)
    place = min((high - low) * STEPS, LAST)
    step = np.int32(place)
    return high + SOFTPLUS[step] + (place - step) * (SOFTPLUS[step + 1] - SOFTPLUS[step])


@njit(cache=True, parallel=True, nogil=True)
def search_rows(emissions, edges, best, weights, ahead, bonus, sure, nodes, found):  # type: ignore[no-untyped-def]
    """Search many swipes on all cores. Shape: emissions [B, T, L + 1], nodes and found [B, W]."""
    for row in numba.prange(len(emissions)):
        ints, floats = room_sizes(nodes.shape[1], emissions.shape[2])
        room, scores = np.empty(ints, np.uint32), np.empty(floats, np.float32)
        _search(emissions[row], edges, best, weights, ahead, bonus, sure, room, scores, nodes[row], found[row])


def search_one(  # type: ignore[no-untyped-def]
    emissions, frames, classes, edges, best, size, weights, depths, ahead, bonus, sure,
    ints, int_count, floats, float_count, nodes, found, width,
):  # fmt: skip
    """The search of one swipe over addresses, for ``Kernel``."""
    _search(
        numba.carray(emissions, (frames, classes)), numba.carray(edges, (size + 1,)), numba.carray(best, (size,)),
        numba.carray(weights, (depths,)), numba.carray(ahead, (BYTES,)), bonus, sure, numba.carray(ints, (int_count,)),
        numba.carray(floats, (float_count,)), numba.carray(nodes, (width,)), numba.carray(found, (width,)),
    )  # fmt: skip


SEARCH = Kernel(
    __name__,
    "search_one",
    (
        "float32*", "int64", "int64", "uint32*", "uint8*", "int64", "float32*", "int64", "float32*",
        "float32", "float32", "uint32*", "int64", "float32*", "int64", "int32*", "float32*", "int64",
    ),
)  # fmt: skip


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _search(  # type: ignore[no-untyped-def]
    emissions, edges, best, weights, ahead, bonus, sure, ints, floats, nodes, found
):  # fmt: skip
    """Run the beam over one swipe's frames and write its words into ``nodes`` and ``found``.

    A hypothesis ranks by its log-probability times ``weights`` of its depth, plus what its prefix promises: ``bonus``
    times the depth, and ``ahead`` of the best byte below.
    It allocates nothing, so that a ``Kernel`` can be made of it: ``ints`` and ``floats`` are room to work in.
    """
    width = len(nodes)
    blank_class = emissions.shape[1] - 1
    capacity = width * (blank_class + 1)
    # The beam: node, its label and depth, log-probability ending in blank and in the letter.
    node, label, depth = ints[:capacity], ints[capacity : 2 * capacity], ints[2 * capacity : 3 * capacity]
    slots = (len(ints) - 3 * capacity) // 2
    table_node, table_slot = ints[3 * capacity : 3 * capacity + slots], ints[3 * capacity + slots :]
    in_blank, in_letter = floats[:capacity], floats[capacity : 2 * capacity]
    promise, rank = floats[2 * capacity : 3 * capacity], floats[3 * capacity : 4 * capacity]
    spare = floats[4 * capacity :]
    node[0], label[0], depth[0] = 0, blank_class, 0  # no letter: what is impossible stays so, whatever is added
    in_blank[0], in_letter[0] = 0.0, IMPOSSIBLE
    promise[0] = ahead[best[0]]
    size = 1
    for t in range(len(emissions)):
        frame = emissions[t]
        if frame[blank_class] > sure:
            _wait(frame, size, label, in_blank, in_letter)
            continue
        size = _extend(
            frame, edges, best, weights, ahead, bonus, width, size,
            node, label, depth, in_blank, in_letter, promise, rank, table_node, table_slot, spare,
        )  # fmt: skip
        if size > width:
            size = _prune(width, size, node, label, depth, in_blank, in_letter, promise, rank)
    count = 0
    for i in range(size):
        if edges[node[i]] & WORD:
            nodes[count] = node[i]
            found[count] = _add(in_blank[i], in_letter[i])
            count += 1
    nodes[count:], found[count:] = -1, IMPOSSIBLE


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=LENIENT)
def _wait(frame, size, label, in_blank, in_letter):  # type: ignore[no-untyped-def]
    """Let a frame pass that is blank for sure, or goes on with the letter before it."""
    blank = frame[len(frame) - 1]
    for i in range(size):  # by itself: this loop is taken sixteen steps at a time
        in_blank[i] = _add(in_blank[i], in_letter[i]) + blank
    for i in range(size):
        in_letter[i] += frame[label[i]]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=LENIENT)
def _extend(  # type: ignore[no-untyped-def]
    frame, edges, best, weights, ahead, bonus, width, size,
    node, label, depth, in_blank, in_letter, promise, rank, table_node, table_slot, spare,
):  # fmt: skip
    """Advance every hypothesis by one frame, in place, new ones appended; returns how many there are."""
    blank = frame[len(frame) - 1]
    mask = np.uint64(len(table_node) - 1)
    table_node[:] = EMPTY
    total, ended = spare[:width], spare[width : 2 * width]
    floor = BEYOND
    for i in range(size):
        total[i] = _add(in_blank[i], in_letter[i])
    for i in range(size):
        ended[i] = in_blank[i]  # kept: only from a blank may the same letter come again
        in_blank[i] = total[i] + blank
        in_letter[i] += frame[label[i]]
        floor = min(floor, max(in_blank[i], in_letter[i]) * weights[depth[i]] + promise[i])
    for i in range(size):
        at = (np.uint64(node[i]) * SPREAD) & mask
        while table_node[at] != EMPTY:
            at = (at + ONE) & mask
        table_node[at] = node[i]
        table_slot[at] = i
    if size < width:
        floor = -BEYOND  # a full beam keeps at least its own hypotheses: what ranks below all of them cannot stay
    filled = size
    for i in range(size):
        below = depth[i] + ONE
        weight, reward = weights[below], bonus * np.float32(below)
        for child in range(edges[node[i]] >> CHILD, edges[node[i] + ONE] >> CHILD):
            letter = edges[child] & LABEL
            reached = (ended[i] if letter == label[i] else total[i]) + frame[letter]
            promised = reward + ahead[best[child]]
            if reached * weight + promised < floor:
                continue
            at = (np.uint64(child) * SPREAD) & mask
            while table_node[at] != EMPTY and table_node[at] != child:
                at = (at + ONE) & mask
            if table_node[at] == child:
                slot = table_slot[at]
                in_letter[slot] = _add(in_letter[slot], reached)
                continue
            node[filled] = child
            label[filled] = letter
            depth[filled] = below
            in_blank[filled] = IMPOSSIBLE
            in_letter[filled] = reached
            promise[filled] = promised
            filled += 1
    for i in range(filled):
        rank[i] = max(in_blank[i], in_letter[i]) * weights[depth[i]] + promise[i]
    return filled


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _prune(  # type: ignore[no-untyped-def]
    width, size, node, label, depth, in_blank, in_letter, promise, rank
):  # fmt: skip
    """Keep the ``width`` hypotheses of the highest rank, of equal ones the first, in place."""
    threshold, room = _cut(rank, size, width)
    kept = 0
    for i in range(size):  # all are moved, the next over those that go: quicker than to ask which
        node[kept] = node[i]
        label[kept] = label[i]
        depth[kept] = depth[i]
        in_blank[kept] = in_blank[i]
        in_letter[kept] = in_letter[i]
        promise[kept] = promise[i]
        equal = rank[i] == threshold
        kept += (rank[i] > threshold) | (equal & (room > 0))
        room -= equal
    return kept


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=LENIENT)
def _cut(rank, size, width):  # type: ignore[no-untyped-def]
    """Where to cut the first ``size`` ranks so that ``width`` stay: a threshold, and how many equal to it stay.

    It halves the range until as many lie above. That is a dozen times through them all, sixteen at a time, and less
    than half the time of a partial sort.
    """
    low, high = rank[0], rank[0]
    for i in range(size):
        low, high = min(low, rank[i]), max(high, rank[i])
    low -= np.float32(1) + abs(low)  # more than ``width`` lie above it, and never more than that above ``high``
    above = 0
    while above < width:
        middle = np.float32(0.5) * (low + high)
        if not low < middle < high:
            break  # neighbours: all that lie between are equal to ``high``
        count = 0
        for i in range(size):
            count += rank[i] > middle
        if count > width:
            low = middle
        else:
            high, above = middle, count
    return high, width - above
