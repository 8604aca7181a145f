"""CTC beam search over a trie, with the report's length-aware pruning.

Each hypothesis is a trie node with two log-probabilities: that the frames so far spell its prefix and end in
blank, and that they end in its last letter. A node is reached from its one parent and from itself alone, so
hypotheses merge without a sort: a small hash of the beam's nodes finds the only possible partner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from glissando.trie import MAX_DEPTH, Trie

IMPOSSIBLE = np.float32(-1e30)  # log of zero, finite so that differences stay numbers
# A frame whose blank is surer than this begins no letter: hypotheses wait through it unextended. On real swipes a
# third of the frames are, top-1 and recall stay the same, and the search takes a fifth less time.
SURE_BLANK = 0.999


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """What a beam ended with: for each swipe the prefixes that are words.

    Attributes:
        nodes: [B, W] int32 trie nodes, -1 where there are fewer.
        log_probs: [B, W] float32, log-probability of the node's letters (lower than any real one where absent).
    """

    nodes: np.ndarray
    log_probs: np.ndarray


def search(
    log_probs: np.ndarray,
    trie: Trie,
    *,
    width: int = 100,
    pruning_exponent: float,
    pruning_bonus: float,
    sure_blank: float = SURE_BLANK,
) -> Hypotheses:
    """Search one swipe.

    Args:
        log_probs: [T, L + 1] float32 log-emissions over the trie's letters, blank last.
        trie: the words.
        width: hypotheses kept after every frame.
        pruning_exponent: gamma_p of the pruning score, log_prob / depth^gamma_p + beta_p depth.
        pruning_bonus: beta_p.
        sure_blank: probability of blank above which a frame begins no letter; 1 searches every frame.

    Returns:
        Hypotheses with B = 1.
    """
    nodes, found = _room(1, width)
    arrays = _arguments(log_probs, trie, pruning_exponent, pruning_bonus, sure_blank)
    _search(*arrays, nodes[0], found[0])  # type: ignore[call-arg]
    return Hypotheses(nodes, found)


def search_batch(
    log_probs: np.ndarray,
    trie: Trie,
    *,
    width: int = 100,
    pruning_exponent: float,
    pruning_bonus: float,
    sure_blank: float = SURE_BLANK,
) -> Hypotheses:
    """Search many swipes on all cores. Shape: log_probs [B, T, L + 1]; arguments as in ``search``."""
    nodes, found = _room(len(log_probs), width)
    arrays = _arguments(log_probs, trie, pruning_exponent, pruning_bonus, sure_blank)
    _search_batch(*arrays, nodes, found)  # type: ignore[call-arg]
    return Hypotheses(nodes, found)


def greedy(log_probs: np.ndarray) -> np.ndarray | list[np.ndarray]:
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


def _room(batch: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Empty results. Shapes: [B, W], [B, W]."""
    return np.full((batch, width), -1, np.int32), np.full((batch, width), IMPOSSIBLE, np.float32)


def _arguments(log_probs: np.ndarray, trie: Trie, exponent: float, bonus: float, sure_blank: float) -> tuple[Any, ...]:
    """What the compiled search takes, in its types."""
    # 1 / max(depth, 1)^gamma_p for every depth
    weights = (np.maximum(np.arange(MAX_DEPTH + 2), 1.0) ** -exponent).astype(np.float32)
    emissions = np.ascontiguousarray(log_probs, dtype=np.float32)
    sure = np.float32(np.log(sure_blank)) if sure_blank < 1 else np.float32(np.inf)
    return emissions, trie.children, trie.labels, trie.endings, weights, np.float32(bonus), sure


@numba.njit(cache=True, inline="always")
def _add(a, b):  # type: ignore[no-untyped-def]
    """log(exp a + exp b)."""
    high, low = (a, b) if a > b else (b, a)
    gap = low - high
    return high + np.log1p(np.exp(gap)) if gap > np.float32(-16) else high


@numba.njit(cache=True, parallel=True, nogil=True)
def _search_batch(emissions, children, labels, endings, weights, bonus, sure, nodes, found):  # type: ignore[no-untyped-def]
    for row in numba.prange(len(emissions)):
        _search(emissions[row], children, labels, endings, weights, bonus, sure, nodes[row], found[row])


@numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _search(emissions, children, labels, endings, weights, bonus, sure, nodes, found):  # type: ignore[no-untyped-def]
    """Run the beam over one swipe's frames and write its words into ``nodes`` and ``found``."""
    width = len(nodes)
    blank_class = emissions.shape[1] - 1
    capacity = width * (blank_class + 1)
    # The beam: node, its label and depth, log-probability ending in blank and in the letter.
    node = np.zeros(capacity, np.int32)
    label = np.full(capacity, 255, np.uint8)
    depth = np.zeros(capacity, np.int32)
    in_blank = np.full(capacity, IMPOSSIBLE, np.float32)
    in_letter = np.full(capacity, IMPOSSIBLE, np.float32)
    rank = np.empty(capacity, np.float32)
    in_blank[0] = 0.0
    slots = 1
    while slots < 4 * width:
        slots *= 2
    table_node = np.full(slots, -1, np.int32)
    table_slot = np.zeros(slots, np.int32)
    size = 1
    for t in range(len(emissions)):
        frame = emissions[t]
        if frame[blank_class] > sure:
            _wait(frame, size, label, depth, in_blank, in_letter)
            continue
        size = _extend(
            frame, children, labels, weights, bonus, width, size,
            node, label, depth, in_blank, in_letter, rank, table_node, table_slot,
        )  # fmt: skip
        if size > width:
            size = _prune(width, size, node, label, depth, in_blank, in_letter, rank)
    count = 0
    for i in range(size):
        if endings[node[i] + 1] > endings[node[i]]:
            nodes[count] = node[i]
            found[count] = _add(in_blank[i], in_letter[i])
            count += 1
    return count


@numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _wait(frame, size, label, depth, in_blank, in_letter):  # type: ignore[no-untyped-def]
    """Let a frame pass that is blank for sure, or goes on with the letter before it."""
    blank = frame[len(frame) - 1]
    for i in range(size):
        in_blank[i] = _add(in_blank[i], in_letter[i]) + blank
        in_letter[i] = in_letter[i] + frame[label[i]] if depth[i] > 0 else IMPOSSIBLE


@numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _extend(  # type: ignore[no-untyped-def]
    frame, children, labels, weights, bonus, width, size,
    node, label, depth, in_blank, in_letter, rank, table_node, table_slot,
):  # fmt: skip
    """Advance every hypothesis by one frame, in place, new ones appended; returns how many there are."""
    blank = frame[len(frame) - 1]
    mask = len(table_node) - 1
    table_node[:] = -1
    total = np.empty(size, np.float32)
    ended = np.empty(size, np.float32)
    floor = np.float32(np.inf)
    for i in range(size):
        total[i] = _add(in_blank[i], in_letter[i])
        ended[i] = in_blank[i]  # kept: only from a blank may the same letter come again
        in_blank[i] = total[i] + blank
        in_letter[i] = in_letter[i] + frame[label[i]] if depth[i] > 0 else IMPOSSIBLE
        best = max(in_blank[i], in_letter[i])
        floor = min(floor, best * weights[depth[i]] + bonus * depth[i])
        at = (node[i] * 40503) & mask
        while table_node[at] >= 0:
            at = (at + 1) & mask
        table_node[at] = node[i]
        table_slot[at] = i
    if size < width:
        floor = np.float32(-np.inf)
    filled = size
    for i in range(size):
        below = depth[i] + 1
        weight, reward = weights[below], bonus * below
        for child in range(children[node[i]], children[node[i] + 1]):
            letter = labels[child]
            reached = (ended[i] if letter == label[i] else total[i]) + frame[letter]
            # A full beam keeps at least its own hypotheses: what ranks below all of them cannot stay.
            if reached * weight + reward < floor:
                continue
            at = (child * 40503) & mask
            while table_node[at] >= 0 and table_node[at] != child:
                at = (at + 1) & mask
            if table_node[at] == child:
                slot = table_slot[at]
                in_letter[slot] = _add(in_letter[slot], reached)
                continue
            node[filled] = child
            label[filled] = letter
            depth[filled] = below
            in_blank[filled] = IMPOSSIBLE
            in_letter[filled] = reached
            filled += 1
    for i in range(filled):
        rank[i] = max(in_blank[i], in_letter[i]) * weights[depth[i]] + bonus * depth[i]
    return filled


@numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _prune(width, size, node, label, depth, in_blank, in_letter, rank):  # type: ignore[no-untyped-def]
    """Keep the ``width`` hypotheses of the highest rank, in place."""
    threshold = np.partition(rank[:size], size - width)[size - width]
    kept = 0
    room = width
    for i in range(size):
        if rank[i] > threshold:
            room -= 1
    for i in range(size):
        equal = rank[i] == threshold
        if rank[i] > threshold or (equal and room > 0):
            room -= equal
            node[kept] = node[i]
            label[kept] = label[i]
            depth[kept] = depth[i]
            in_blank[kept] = in_blank[i]
            in_letter[kept] = in_letter[i]
            kept += 1
    return kept
