"""CTC beam search over a trie, with the report's length-aware pruning and a look ahead to the words below a prefix.

The search itself is compiled: beam_kernel.py.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from glissando.beam_kernel import BYTES, SEARCH, room_sizes, search_rows
from glissando.native import address
from glissando.trie import MAX_DEPTH, Trie

# A frame whose blank is surer than this begins no letter: hypotheses wait through it unextended. On real swipes four
# frames in ten are on a keyboard the network knows, two on one it does not, and a fifth of the time is saved. With .999
# it would be twice as much, but letters that the network hardly sees go with it: a point of top-3 in Russian.
SURE_BLANK = 0.9999


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
    pruning_frequency: float = 0.0,
    pruning_floor: float = 0.0,
    sure_blank: float = SURE_BLANK,
) -> Hypotheses:
    """Search one swipe.

    Prefixes are kept by log_prob / depth^gamma_p + beta_p depth + lambda_p max(best, floor), where best is the highest
    frequency byte of the words at or below the prefix.

    Args:
        log_probs: [T, L + 1] float32 log-emissions over the trie's letters, blank last.
        trie: the words.
        width: hypotheses kept after every frame.
        pruning_exponent: gamma_p.
        pruning_bonus: beta_p.
        pruning_frequency: lambda_p, not negative; 0 is the report's pruning.
        pruning_floor: prefixes of rarer words count as this frequent.
        sure_blank: probability of blank above which a frame begins no letter; 1 searches every frame.

    Returns:
        Hypotheses with B = 1.
    """
    nodes, found = _room(1, width)
    emissions = np.ascontiguousarray(log_probs, dtype=np.float32)
    weights, ahead, bonus, sure = _constants(
        pruning_exponent, pruning_bonus, pruning_frequency, pruning_floor, sure_blank
    )
    ints, floats = _SCRATCH.of(width, emissions.shape[1])
    SEARCH.call(
        address(emissions), *emissions.shape, *trie.search_addresses, len(trie), address(weights), len(weights),
        address(ahead), bonus, sure, address(ints), len(ints), address(floats), len(floats), address(nodes),
        address(found), width,
    )  # fmt: skip
    return Hypotheses(nodes, found)


def search_batch(
    log_probs: np.ndarray,
    trie: Trie,
    *,
    width: int = 100,
    pruning_exponent: float,
    pruning_bonus: float,
    pruning_frequency: float = 0.0,
    pruning_floor: float = 0.0,
    sure_blank: float = SURE_BLANK,
) -> Hypotheses:
    """Search many swipes on all cores. Shape: log_probs [B, T, L + 1]; arguments as in ``search``."""
    nodes, found = _room(len(log_probs), width)
    emissions = np.ascontiguousarray(log_probs, dtype=np.float32)
    constants = _constants(pruning_exponent, pruning_bonus, pruning_frequency, pruning_floor, sure_blank)
    search_rows(emissions, trie.edges, trie.best, *constants, nodes, found)
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
    """Room for results. Shapes: [B, W], [B, W]."""
    return np.empty((batch, width), np.int32), np.empty((batch, width), np.float32)


@lru_cache(maxsize=16)
def _constants(exponent: float, bonus: float, frequency: float, floor: float, sure_blank: float) -> tuple[Any, ...]:
    """The constants as the compiled search takes them.

    Returns:
        [MAX_DEPTH + 2] float32: 1 / max(depth, 1)^gamma_p for every depth.
        [256] float32: what a prefix gains by the best byte below it.
        The bonus, and the logarithm above which blank is sure.
    """
    weights = (np.maximum(np.arange(MAX_DEPTH + 2), 1.0) ** -exponent).astype(np.float32)
    ahead = (frequency * np.maximum(np.arange(BYTES), floor)).astype(np.float32)
    sure = np.float32(math.log(sure_blank)) if sure_blank < 1 else np.float32(math.inf)
    return weights, ahead, np.float32(bonus), sure


class _Scratch(threading.local):
    """Room for a search, kept from one to the next of a thread."""

    key = (0, 0)
    arrays: tuple[np.ndarray, np.ndarray]

    def of(self, width: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
        """Room for beams of a width over so many classes: integers and floats."""
        if self.key != (width, classes):
            ints, floats = room_sizes.py_func(width, classes)
            self.arrays = np.empty(ints, np.uint32), np.empty(floats, np.float32)
            self.key = (width, classes)
        return self.arrays


_SCRATCH = _Scratch()
