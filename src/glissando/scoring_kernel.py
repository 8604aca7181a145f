"""The compiled ranking: the score of a word, and a beam's best words by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glissando.native import Kernel, njit

if TYPE_CHECKING:
    import numba


@njit(cache=True, nogil=True, error_model="numpy")
def score(log_prob, length, frequency, location, shape, constants):  # type: ignore[no-untyped-def]
    """Score one word (eq. 3), as ``Scoring`` says; its constants in the order of ``Scoring.ranking``."""
    exponent, weight, floor, bonus, location_weight, shape_weight = constants
    return (
        log_prob / max(length, 1.0) ** exponent
        + weight * max(frequency, floor)
        + bonus * length
        - location_weight * location
        - shape_weight * shape
    )


def score_flat(  # type: ignore[no-untyped-def]
    log_probs, lengths, frequencies, distances, scores, count, exponent, weight, floor, bonus, location, shape
):
    """Score many words over addresses, for ``Kernel``."""
    _score_all(
        numba.carray(log_probs, (count,)), numba.carray(lengths, (count,)), numba.carray(frequencies, (count,)),
        numba.carray(distances, (count, 2)), numba.carray(scores, (count,)),
        (exponent, weight, floor, bonus, location, shape),
    )  # fmt: skip


def rank_flat(  # type: ignore[no-untyped-def]
    nodes, log_probs, distances, width, endings, depths, size, words, frequencies, forms, scores, owners, slots, room,
    temperature, exponent, weight, floor, bonus, location, shape, numbers, found, k, count,
):  # fmt: skip
    """Rank one swipe's hypotheses over addresses, for ``Kernel``."""
    _rank(
        numba.carray(nodes, (width,)), numba.carray(log_probs, (width,)), numba.carray(distances, (width, 2)),
        numba.carray(endings, (size + 1,)), numba.carray(depths, (size,)), numba.carray(words, (forms,)),
        frequencies, numba.carray(scores, (room,)), numba.carray(owners, (room,)), numba.carray(slots, (room,)),
        temperature, (exponent, weight, floor, bonus, location, shape), numba.carray(numbers, (3, k)),
        numba.carray(found, (2, k)), numba.carray(count, (1,)),
    )  # fmt: skip


SCORE = Kernel(__name__, "score_flat", ("float64*",) * 5 + ("int64",) + ("float64",) * 6)
RANK = Kernel(
    __name__,
    "rank_flat",
    (
        "int32*", "float32*", "float32*", "int64", "int32*", "uint8*", "int64", "int32*", "uint8*", "int64", "float64*",
        "int32*", "int32*", "int64", *("float64",) * 7, "float64*", "int32*", "int64", "int64*",
    ),
)  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _score_all(log_probs, lengths, frequencies, distances, scores, constants):  # type: ignore[no-untyped-def]
    for i in range(len(scores)):
        scores[i] = score(log_probs[i], lengths[i], frequencies[i], distances[i, 0], distances[i, 1], constants)


@njit(cache=True, nogil=True, error_model="numpy")
def _rank(  # type: ignore[no-untyped-def]
    nodes, log_probs, distances, endings, depths, words, frequencies, scores, owners, slots, temperature, constants,
    numbers, found, count,
):  # fmt: skip
    """Write the best words, best first, and how many there are.

    Args:
        nodes, log_probs, distances: [W], [W], [W, 2] the hypotheses; -1 is no node.
        endings, depths, words: the trie's.
        frequencies: the lexicon's bytes.
        scores, owners, slots: room for every surface form of every hypothesis.
        temperature, constants: of the scoring.
        numbers: [3, k] to write to: score, log-probability of the letters, share.
        found: [2, k] to write to: index of the word, byte.
        count: [1] to write to.
    """
    forms = 0
    best = -np.inf
    for i in range(len(nodes)):
        if nodes[i] < 0:
            continue
        length = float(depths[nodes[i]])
        for slot in range(endings[nodes[i]], endings[nodes[i] + 1]):
            byte = float(frequencies[words[slot]])
            value = score(float(log_probs[i]), length, byte, float(distances[i, 0]), float(distances[i, 1]), constants)
            scores[forms], owners[forms], slots[forms] = value, i, slot
            best = max(best, value)
            forms += 1
    total = 0.0
    for i in range(forms):
        total += np.exp((scores[i] - best) / temperature)
    count[0] = min(forms, numbers.shape[1])
    for place in range(count[0]):
        first = 0
        for i in range(1, forms):
            # Below the floor the byte still decides; then the order of the beam.
            if scores[i] > scores[first] or (
                scores[i] == scores[first] and frequencies[words[slots[i]]] > frequencies[words[slots[first]]]
            ):
                first = i
        numbers[0, place], numbers[1, place] = scores[first], log_probs[owners[first]]
        numbers[2, place] = np.exp((scores[first] - best) / temperature) / total
        found[0, place], found[1, place] = words[slots[first]], frequencies[words[slots[first]]]
        scores[first] = -np.inf
