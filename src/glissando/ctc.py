"""Connectionist temporal classification of one word: its probability, its best alignment, the frames it needs.

A word of n letters passes 2 n + 1 states: blank, letter, blank, ..., letter, blank. Each state lasts one frame or more.
A blank between two letters may be left out, except between doubled letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit

from glissando.errors import LexiconError
from glissando.trie import MAX_DEPTH, Tree

IMPOSSIBLE = -1e4  # log-probability of a word without an alignment; no word that has one is less likely
TINY = 1e-200  # scores below this are multiplied up, so that no product leaves the range of float64


@dataclass(frozen=True)
class Alignment:
    """The most likely alignment of a word with the frames.

    Attributes:
        frames: for each letter, the frame where it is most likely, increasing.
        costs: for each letter, minus the log-probability of the frames given to it.
        gaps: minus the log-probability of the frames given to blank.
    """

    frames: tuple[int, ...]
    costs: tuple[float, ...]
    gaps: float


def needed_frames(labels: Sequence[int]) -> int:
    """The fewest frames that can spell a word: one a letter, and a blank between doubled letters."""
    return len(labels) + sum(a == b for a, b in pairwise(labels))


def word_log_probs(log_probs: np.ndarray, nodes: np.ndarray, tree: Tree) -> np.ndarray:
    """Log-probability of each of a swipe's hypotheses, summed over all alignments.

    Args:
        log_probs: [T, A + 1] log-emissions over the tree's letters, blank last.
        nodes: [W] nodes, -1 where there is none.
        tree: what they are nodes of.

    Returns:
        [W] float32, ``IMPOSSIBLE`` where there is no node or no alignment.
    """
    totals = np.empty(len(nodes), dtype=np.float32)
    _sum_nodes(np.exp(log_probs.astype(np.float64)), nodes, tree.parents, tree.labels, totals)
    return totals


def word_costs(log_probs: np.ndarray, words: Sequence[Sequence[int]]) -> np.ndarray:
    """The CTC cost of one word for each swipe: minus the log-probability of its letters, summed over all alignments.

    Args:
        log_probs: [B, T, A + 1] log-emissions, blank last.
        words: B words, each as indices into the emissions.

    Returns:
        [B] float64 in nats, ``-IMPOSSIBLE`` at the most.
    """
    costs = np.empty(len(words))
    for row, labels in enumerate(words):
        _check_fit(labels, log_probs.shape[1])
        costs[row] = -_sum_alignments(np.exp(log_probs[row].astype(np.float64)), np.array(labels, dtype=np.uint8))
    return costs


def align(log_probs: np.ndarray, labels: Sequence[int]) -> Alignment:
    """The most likely alignment of a word (Viterbi).

    Args:
        log_probs: [T, A + 1] log-emissions, blank last.
        labels: n letters, as indices into the emissions; at least one.
    """
    _check_fit(labels, len(log_probs))
    states = np.full(2 * len(labels) + 1, log_probs.shape[1] - 1)
    states[1::2] = labels
    emitted = log_probs.astype(np.float64)[:, states]  # [T, S]
    path = _best_path(emitted, states)
    costs = -emitted[np.arange(len(path)), path]  # [T]
    letters = [np.flatnonzero(path == 2 * i + 1) for i in range(len(labels))]
    return Alignment(
        frames=tuple(int(held[costs[held].argmin()]) for held in letters),
        costs=tuple(float(costs[held].sum()) for held in letters),
        gaps=float(costs[path % 2 == 0].sum()),
    )


def _check_fit(labels: Sequence[int], frames: int) -> None:
    """Refuse a word that no alignment can spell."""
    if not 0 < needed_frames(labels) <= frames:
        raise LexiconError(
            f"a word of {len(labels)} letters takes {needed_frames(labels)} frames; the encoder has {frames}"
        )


def _best_path(emitted: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The state of every frame on the most likely path. Shape: [T, S], [S] -> [T]."""
    may_skip = np.zeros(len(states), dtype=bool)
    may_skip[3::2] = states[3::2] != states[1:-2:2]
    score = np.full(len(states), -np.inf)
    score[:2] = emitted[0, :2]
    steps = np.zeros(emitted.shape, dtype=np.int64)  # how many states back the path was one frame before
    for t in range(1, len(emitted)):
        arrivals = np.full((3, len(states)), -np.inf)
        arrivals[0] = score
        arrivals[1, 1:] = score[:-1]
        arrivals[2, 2:] = np.where(may_skip[2:], score[:-2], -np.inf)
        steps[t] = arrivals.argmax(axis=0)
        score = arrivals.max(axis=0) + emitted[t]
    path = np.empty(len(emitted), dtype=np.int64)
    path[-1] = len(states) - 1 - int(score[-2] > score[-1])
    for t in range(len(emitted) - 1, 0, -1):
        path[t - 1] = path[t] - steps[t, path[t]]
    return path


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_nodes(probs, nodes, parents, labels, totals):  # type: ignore[no-untyped-def]
    """Write the log-probability of every node's word. Shape: [T, A + 1] probabilities, [W] nodes -> totals [W]."""
    word = np.empty(MAX_DEPTH, dtype=np.uint8)
    for i in range(len(nodes)):
        node, start = nodes[i], MAX_DEPTH
        while node > 0:  # the root is 0
            start -= 1
            word[start] = labels[node]
            node = parents[node]
        totals[i] = _sum_alignments(probs, word[start:]) if start < MAX_DEPTH else IMPOSSIBLE


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_alignments(probs, word):  # type: ignore[no-untyped-def]
    """Log-probability of a word by CTC's forward recursion. Shape: [T, A + 1] probabilities, [n] letters.

    Scores are plain probabilities, so no logarithm is taken but the last. States are updated from the last to the
    first, so one array holds them all.
    """
    blank, length = probs.shape[1] - 1, len(word)
    score = np.zeros(2 * length + 1)
    score[0] = 1.0  # before the first frame, as if in blank
    scale = 0.0  # logarithm of what the scores were divided by
    for t in range(len(probs)):
        highest = 0.0
        for k in range(length, 0, -1):
            letter, here = word[k - 1], 2 * k - 1
            score[here + 1] = (score[here + 1] + score[here]) * probs[t, blank]
            arrived = score[here] + score[here - 1]
            if k > 1 and letter != word[k - 2]:
                arrived += score[here - 2]
            score[here] = arrived * probs[t, letter]
            highest = max(highest, score[here], score[here + 1])
        score[0] *= probs[t, blank]
        if 0 < max(highest, score[0]) < TINY:
            score /= TINY
            scale += np.log(TINY)
    total = score[2 * length] + score[2 * length - 1]
    return max(np.log(total) + scale, IMPOSSIBLE) if total > 0 else IMPOSSIBLE
