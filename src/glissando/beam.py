"""CTC beam search over a trie, with the report's length-aware pruning and a look ahead to the words below a prefix.

Each hypothesis is a trie node with two log-probabilities: that the frames so far spell its prefix and end in
blank, and that they end in its last letter. A node can only be reached from its one parent and from itself, so
hypotheses merge without a sort: a small hash of the beam's nodes finds the only possible partner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from glissando.trie import MAX_DEPTH, Trie

# A frame whose blank is likelier than this starts no letter: hypotheses pass it unextended. On real swipes that is four
# frames in ten on a layout the network knows and two on one it does not, and saves a fifth of the time. With .999 it
# would save twice as much, but letters that the network hardly sees are lost: a point of top-3 in Russian.
SURE_BLANK = 0.9999

# How Trie.edges packs a node: its first child, whether a word ends there, its letter.
CHILD, WORD, LABEL = np.uint32(9), np.uint32(1 << 8), np.uint32(255)
# Integers are unsigned throughout: numba checks every signed index for being negative.
EMPTY, ONE, SPREAD = np.uint32(0xFFFFFFFF), np.uint64(1), np.uint64(40503)  # of the hash: no node; a step; its factor
IMPOSSIBLE = np.float32(-1e30)  # log of zero, finite so that differences stay numbers
BYTES = 256  # different frequencies
HIGHEST = np.float32(3e38)  # above all scores
# log(1 + exp(-gap)) every 1/256; for a gap above 16 it is zero to a float32
STEPS, LAST = np.float32(256), np.float32(16 * 256)
SOFTPLUS = np.append(np.log1p(np.exp(-np.arange(16 * 256) / 256)), [0.0, 0.0]).astype(np.float32)
# No number here is NaN and the sign of zero does not matter, so the compiler may vectorise the loops.
LENIENT = {"nnan", "nsz"}


@dataclass(frozen=True)
class Pruning:
    """Which prefixes a search keeps: those with the highest

        log_prob / depth^exponent + bonus * depth + frequency * max(best, floor)

    where best is the highest frequency byte of the words at or below the prefix. The report has no frequency term.

    Attributes:
        exponent: gamma_p.
        bonus: beta_p.
        frequency: lambda_p, not negative; 0 is the report's pruning.
        floor: prefixes of rarer words count as this frequent.
        width: hypotheses kept after every frame.
        sure_blank: probability of blank above which a frame starts no letter; 1 searches every frame.
    """

    exponent: float
    bonus: float
    frequency: float = 0.0
    floor: float = 0.0
    width: int = 100
    sure_blank: float = SURE_BLANK

    @cached_property
    def tables(self) -> _Tables:
        """The constants as the compiled search takes them."""
        return _Tables(
            weights=(np.maximum(np.arange(MAX_DEPTH + 2), 1.0) ** -self.exponent).astype(np.float32),
            ahead=(self.frequency * np.maximum(np.arange(BYTES), self.floor)).astype(np.float32),
            bonus=np.float32(self.bonus),
            sure=np.float32(math.log(self.sure_blank)) if self.sure_blank < 1 else np.float32(math.inf),
        )


class _Tables(NamedTuple):
    weights: np.ndarray  # [MAX_DEPTH + 2] float32: 1 / max(depth, 1)^exponent for every depth
    ahead: np.ndarray  # [256] float32: what a prefix gains by the best byte below it
    bonus: np.float32
    sure: np.float32  # log-probability above which blank is sure


class _Beam(NamedTuple):
    """The hypotheses of a search, [width * classes] each, and the hash that finds one by its node."""

    node: np.ndarray
    label: np.ndarray
    depth: np.ndarray
    in_blank: np.ndarray  # log-probability of the prefix ending in blank
    in_letter: np.ndarray  # and ending in its last letter
    promise: np.ndarray  # what the prefix gains by its depth and by the words below it
    rank: np.ndarray
    total: np.ndarray  # [width] log-probability of the prefix before a frame
    ended: np.ndarray  # [width] and of the prefix ending in blank
    hashed_node: np.ndarray  # [a power of two above 4 * width]
    hashed_slot: np.ndarray


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """The words that a beam ended with, H of them.

    Attributes:
        nodes: [H] int32 trie nodes.
        log_probs: [H] float32 log-probabilities of the nodes' letters.
    """

    nodes: np.ndarray
    log_probs: np.ndarray


def search(log_probs: np.ndarray, trie: Trie, pruning: Pruning) -> Hypotheses:
    """Search one swipe.

    Args:
        log_probs: [T, L + 1] float32 log-emissions over the trie's letters, blank last.
        trie: the words.
        pruning: which prefixes to keep, and how many.
    """
    emissions = np.ascontiguousarray(log_probs, dtype=np.float32)
    return Hypotheses(*_search(emissions, trie.edges, trie.best, pruning.tables, pruning.width))


def greedy(log_probs: np.ndarray) -> list[np.ndarray]:
    """The best class of every frame, repeats and blanks dropped: letters with no lexicon.

    Args:
        log_probs: [B, T, L + 1], blank last.

    Returns:
        B arrays of labels.
    """
    best = log_probs.argmax(axis=-1)  # [B, T]
    blank = log_probs.shape[-1] - 1
    fresh = np.ones_like(best, dtype=bool)
    fresh[:, 1:] = best[:, 1:] != best[:, :-1]
    return [row[keep] for row, keep in zip(best, fresh & (best != blank), strict=True)]


@njit(cache=True, error_model="numpy", fastmath=LENIENT)
def log_add(a, b):  # type: ignore[no-untyped-def]
    """log(exp a + exp b) from a table: it vectorises, and is as exact as float32."""
    high, low = max(a, b), min(a, b)
    place = min((high - low) * STEPS, LAST)
    step = np.int32(place)
    return high + SOFTPLUS[step] + (place - step) * (SOFTPLUS[step + 1] - SOFTPLUS[step])


@njit(cache=True, nogil=True, error_model="numpy")
def _search(emissions, edges, best, tables, width):  # type: ignore[no-untyped-def]
    """Run the beam over one swipe's frames; returns the words' nodes and log-probabilities."""
    blank_class = emissions.shape[1] - 1
    beam = _make_beam(width, emissions.shape[1])
    beam.node[0], beam.label[0], beam.depth[0] = 0, blank_class, 0  # the root has no letter: its in_letter stays low
    beam.in_blank[0], beam.in_letter[0] = 0.0, IMPOSSIBLE
    beam.promise[0] = tables.ahead[best[0]]
    size = 1
    for t in range(len(emissions)):
        frame = emissions[t]
        if frame[blank_class] > tables.sure:
            _wait(frame, size, beam)
            continue
        size = _extend(frame, edges, best, tables, width, size, beam)
        if size > width:
            size = _prune(width, size, beam)
    nodes, log_probs = np.empty(size, np.int32), np.empty(size, np.float32)
    count = 0
    for i in range(size):
        if edges[beam.node[i]] & WORD:
            nodes[count] = beam.node[i]
            log_probs[count] = log_add(beam.in_blank[i], beam.in_letter[i])
            count += 1
    return nodes[:count], log_probs[:count]


@njit(cache=True, nogil=True, error_model="numpy")
def _make_beam(width, classes):  # type: ignore[no-untyped-def]
    """Room for a beam and everything that extends it by one frame."""
    capacity, slots = width * classes, 1
    while slots < 4 * width:
        slots *= 2
    ints, floats = np.empty((3, capacity), np.uint32), np.empty((4, capacity), np.float32)
    sums, table = np.empty((2, width), np.float32), np.empty((2, slots), np.uint32)
    return _Beam(
        ints[0], ints[1], ints[2], floats[0], floats[1], floats[2], floats[3], sums[0], sums[1], table[0], table[1]
    )


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LENIENT)
def _wait(frame, size, beam):  # type: ignore[no-untyped-def]
    """Pass a frame that is blank, or repeats the letter before it; no prefix grows."""
    label, in_blank, in_letter = beam.label, beam.in_blank, beam.in_letter
    blank = frame[len(frame) - 1]
    for i in range(size):  # a loop of its own: it vectorises
        in_blank[i] = log_add(in_blank[i], in_letter[i]) + blank
    for i in range(size):
        in_letter[i] += frame[label[i]]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LENIENT)
def _extend(frame, edges, best, tables, width, size, beam):  # type: ignore[no-untyped-def]
    """Advance every hypothesis by one frame, in place, new ones appended; returns how many there are."""
    node, label, depth, in_blank, in_letter, promise, rank, total, ended, hashed_node, hashed_slot = beam
    weights, ahead = tables.weights, tables.ahead
    mask = np.uint64(len(hashed_node) - 1)
    for i in range(size):
        total[i] = log_add(in_blank[i], in_letter[i])
    floor = HIGHEST
    for i in range(size):
        ended[i] = in_blank[i]  # only from a blank may the same letter come again
        in_blank[i] = total[i] + frame[len(frame) - 1]
        in_letter[i] += frame[label[i]]
        floor = min(floor, max(in_blank[i], in_letter[i]) * weights[depth[i]] + promise[i])
    if size < width:
        floor = -HIGHEST  # a full beam keeps at least its own hypotheses, so what ranks below all of them cannot stay
    hashed_node[:] = EMPTY
    for i in range(size):
        at = (np.uint64(node[i]) * SPREAD) & mask
        while hashed_node[at] != EMPTY:
            at = (at + ONE) & mask
        hashed_node[at] = node[i]
        hashed_slot[at] = i
    filled = size
    for i in range(size):
        below = depth[i] + ONE
        weight, reward = weights[below], tables.bonus * np.float32(below)
        for child in range(edges[node[i]] >> CHILD, edges[node[i] + ONE] >> CHILD):
            letter = edges[child] & LABEL
            reached = (ended[i] if letter == label[i] else total[i]) + frame[letter]
            promised = reward + ahead[best[child]]
            if reached * weight + promised < floor:
                continue
            at = (np.uint64(child) * SPREAD) & mask
            while hashed_node[at] != EMPTY and hashed_node[at] != child:
                at = (at + ONE) & mask
            if hashed_node[at] == child:
                slot = hashed_slot[at]
                in_letter[slot] = log_add(in_letter[slot], reached)
                continue
            node[filled], label[filled], depth[filled] = child, letter, below
            in_blank[filled], in_letter[filled] = IMPOSSIBLE, reached
            promise[filled] = promised
            filled += 1
    for i in range(filled):
        rank[i] = max(in_blank[i], in_letter[i]) * weights[depth[i]] + promise[i]
    return filled


@njit(cache=True, nogil=True, error_model="numpy")
def _prune(width, size, beam):  # type: ignore[no-untyped-def]
    """Keep the ``width`` hypotheses of the highest rank, of equal ones the first, in place; returns how many."""
    node, label, depth, in_blank, in_letter, promise, rank = beam[:7]
    threshold, room = cut(rank, size, width)
    kept = 0
    for i in range(size):  # every hypothesis is copied, and overwritten if it does not stay: quicker than a branch
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LENIENT)
def cut(rank, size, width):  # type: ignore[no-untyped-def]
    """Where to cut the first ``size`` ranks so that ``width`` stay: a threshold, and how many equal to it stay.

    It halves the range until ``width`` ranks lie above the threshold. That is a dozen vectorised passes and less than
    half the time of a partial sort.
    """
    low, high = rank[0], rank[0]
    for i in range(size):
        low, high = min(low, rank[i]), max(high, rank[i])
    low -= np.float32(1) + abs(low)  # more than ``width`` lie above ``low``, and never more than that above ``high``
    above = 0
    while above < width:
        middle = np.float32(0.5) * (low + high)
        if not low < middle < high:
            break  # neighbouring floats: all ranks between them equal ``high``
        count = 0
        for i in range(size):
            count += rank[i] > middle
        if count > width:
            low = middle
        else:
            high, above = middle, count
    return high, width - above
