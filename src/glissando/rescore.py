"""How likely each finalist of a beam is under other emissions than those it was found with: exact CTC, word by word.

The decoder judges words better than it finds them, so the encoder's emissions are searched and the decoder's weigh what
was found. A word's probability is summed over all its alignments, in plain probabilities: at 64 frames nothing that
could win is too small for float64, and no logarithm is taken but the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glissando.native import Kernel, address, njit
from glissando.trie import MAX_DEPTH, Trie

if TYPE_CHECKING:
    import numba

IMPOSSIBLE = -1e4  # log-probability of a word without an alignment, or with one too unlikely for float64
STATES = 2 * MAX_DEPTH + 1  # blank, letter, blank, letter ... blank


def word_log_probs(log_probs: np.ndarray, nodes: np.ndarray, trie: Trie) -> np.ndarray:
    """Log-probability of every hypothesis of every swipe, on all cores where there are many.

    Args:
        log_probs: [B, T, A + 1] log-emissions over the trie's letters, blank last.
        nodes: [B, W] trie nodes, -1 where there is none.
        trie: the trie.

    Returns:
        [B, W] float32, ``IMPOSSIBLE`` where there is no node or no alignment.
    """
    found = np.empty(nodes.shape, dtype=np.float32)
    probs = np.exp(np.ascontiguousarray(log_probs, dtype=np.float64))
    if len(probs) > 1:
        _judge_batch(probs, nodes, trie.parents, trie.labels, found)
        return found
    ends = np.ascontiguousarray(nodes, dtype=np.int32)
    word, score = np.empty(MAX_DEPTH, dtype=np.uint8), np.empty(STATES, dtype=np.float64)
    _JUDGE.call(
        address(probs), *probs.shape[1:], address(ends), ends.shape[1], *trie.ancestry_addresses, len(trie),
        address(word), address(score), address(found),
    )  # fmt: skip
    return found


def _judge_one(probs, frames, classes, nodes, count, parents, labels, size, word, score, found):  # type: ignore[no-untyped-def]
    """One swipe's hypotheses over addresses, for ``Kernel``."""
    _judge(
        numba.carray(probs, (frames, classes)), numba.carray(nodes, (count,)), numba.carray(parents, (size,)),
        numba.carray(labels, (size,)), numba.carray(word, (MAX_DEPTH,)), numba.carray(score, (STATES,)),
        numba.carray(found, (count,)),
    )  # fmt: skip


_JUDGE = Kernel(
    __name__,
    "_judge_one",
    (
        "float64*", "int64", "int64", "int32*", "int64", "int32*", "uint8*", "int64", "uint8*", "float64*", "float32*",
    ),
)  # fmt: skip


@njit(cache=True, parallel=True, nogil=True)
def _judge_batch(probs, nodes, parents, labels, found):  # type: ignore[no-untyped-def]
    for row in numba.prange(len(probs)):
        word, score = np.empty(MAX_DEPTH, dtype=np.uint8), np.empty(STATES, dtype=np.float64)
        _judge(probs[row], nodes[row], parents, labels, word, score, found[row])


@njit(cache=True, nogil=True, error_model="numpy")
def _judge(probs, nodes, parents, labels, word, score, found):  # type: ignore[no-untyped-def]
    """Judge one swipe's hypotheses. Shapes: [T, A + 1] probabilities, [W] nodes -> found [W]."""
    for i in range(len(nodes)):
        found[i] = IMPOSSIBLE
        if nodes[i] <= 0:
            continue
        length = _spell(nodes[i], parents, labels, word)
        mass = _forward(probs, word, length, score)
        if mass > 0:
            found[i] = max(np.log(mass), IMPOSSIBLE)


@njit(cache=True, nogil=True, error_model="numpy")
def _forward(probs, word, length, score):  # type: ignore[no-untyped-def]
    """Probability of a word: CTC's forward recursion, in place from the last state to the first."""
    blank = probs.shape[1] - 1
    states = 2 * length + 1
    score[:states] = 0.0
    score[0] = 1.0  # before the first frame, as if in blank
    for t in range(len(probs)):
        for k in range(length, 0, -1):
            letter = word[k - 1]
            here = 2 * k - 1
            score[here + 1] = (score[here + 1] + score[here]) * probs[t, blank]
            arrived = score[here] + score[here - 1]
            if k > 1 and letter != word[k - 2]:
                arrived += score[here - 2]
            score[here] = arrived * probs[t, letter]
        score[0] *= probs[t, blank]
    return score[states - 1] + score[states - 2]


@njit(cache=True, nogil=True, error_model="numpy")
def _spell(node, parents, labels, word):  # type: ignore[no-untyped-def]
    """Write a node's letters into ``word``; returns how many."""
    length = 0
    while node > 0:  # the root is 0
        word[length] = labels[node]
        length += 1
        node = parents[node]
    for i in range(length // 2):
        word[i], word[length - 1 - i] = word[length - 1 - i], word[i]
    return length
