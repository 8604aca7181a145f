"""A word laid over the emissions of a swipe: the frame of each letter, and what the whole word costs.

Both follow CTC: blank before, between and after the letters, each state for one frame or more, and a blank that may be
left out except between doubled letters. The alignment takes the one best way (Viterbi), the cost sums them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from glissando.errors import LexiconError

IMPOSSIBLE = -1e30  # log of zero, finite so that differences stay numbers


@dataclass(frozen=True)
class Alignment:
    """The best way of a word through the emissions.

    Attributes:
        frames: for each letter, the frame in which it is surest, increasing.
        costs: for each letter, minus the log-probability of the frames given to it.
        gaps: the same for the frames given to blank.
    """

    frames: tuple[int, ...]
    costs: tuple[float, ...]
    gaps: float


def align(log_probs: np.ndarray, labels: Sequence[int]) -> Alignment:
    """The most likely way of a word through the frames.

    Args:
        log_probs: [T, A + 1] log-emissions, blank last.
        labels: n letters, as indices into the emissions; at least one.
    """
    _check_fit(labels, len(log_probs))
    states, may_skip = _states([labels], log_probs.shape[1] - 1)
    emitted = log_probs.astype(np.float64)[:, states[0]]  # [T, S]
    score = np.full(emitted.shape[1], IMPOSSIBLE)
    score[:2] = emitted[0, :2]
    back = np.zeros(emitted.shape, dtype=np.int64)  # how many states before, a frame ago
    for t in range(1, len(emitted)):
        arrivals = _arrivals(score[None], may_skip)[:, 0]  # [3, S]
        back[t] = arrivals.argmax(axis=0)
        score = arrivals.max(axis=0) + emitted[t]
    state = len(score) - 1 - int(score[-2] > score[-1])
    way = np.empty(len(emitted), dtype=np.int64)
    for t in range(len(emitted) - 1, -1, -1):
        way[t] = state
        state -= back[t, state]
    costs = -emitted[np.arange(len(way)), way]  # [T]
    letters = [np.flatnonzero(way == 2 * i + 1) for i in range(len(labels))]
    return Alignment(
        frames=tuple(int(held[costs[held].argmin()]) for held in letters),
        costs=tuple(float(costs[held].sum()) for held in letters),
        gaps=float(costs[way % 2 == 0].sum()),
    )


def word_costs(log_probs: np.ndarray, words: Sequence[Sequence[int]]) -> np.ndarray:
    """The CTC cost of one word for each swipe: minus the log-probability of its letters, all ways summed.

    Args:
        log_probs: [B, T, A + 1] log-emissions, blank last.
        words: B words, each its letters as indices into the emissions.

    Returns:
        [B] float64 in nats.
    """
    for labels in words:
        _check_fit(labels, log_probs.shape[1])
    states, may_skip = _states(words, log_probs.shape[2] - 1)  # [B, S]
    score = np.full(states.shape, IMPOSSIBLE)
    score[:, :2] = np.take_along_axis(log_probs[:, 0], states[:, :2], axis=1)
    for t in range(1, log_probs.shape[1]):
        stay, step, skip = _arrivals(score, may_skip)
        arrived = np.logaddexp(np.logaddexp(stay, step), skip)
        score = arrived + np.take_along_axis(log_probs[:, t], states, axis=1)
    last = 2 * np.array([len(labels) for labels in words])[:, None]  # the blank after the last letter
    return -np.logaddexp(*np.take_along_axis(score, last - [[0, 1]], axis=1).T)


def needed_frames(labels: Sequence[int]) -> int:
    """Frames that a word takes at least: one a letter, and a blank between doubled ones."""
    return len(labels) + sum(a == b for a, b in pairwise(labels))


def _check_fit(labels: Sequence[int], frames: int) -> None:
    """Refuse a word that no way through the frames can spell."""
    if not 0 < needed_frames(labels) <= frames:
        raise LexiconError(
            f"a word of {len(labels)} letters takes {needed_frames(labels)} frames; the encoder has {frames}"
        )


def _states(words: Sequence[Sequence[int]], blank: int) -> tuple[np.ndarray, np.ndarray]:
    """The states of some words, blank and letter in turn, padded with blanks; which may be entered from two before.

    Shape: two of [B, S].
    """
    states = np.full((len(words), 2 * max(len(labels) for labels in words) + 1), blank)
    for row, labels in zip(states, words, strict=True):
        row[1 : 2 * len(labels) : 2] = labels
    may_skip = np.zeros(states.shape, dtype=bool)
    may_skip[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    return states, may_skip


def _arrivals(score: np.ndarray, may_skip: np.ndarray) -> np.ndarray:
    """Scores of staying, of coming from one state before and from two. Shape: [B, S] -> [3, B, S]."""
    arrivals = np.full((3, *score.shape), IMPOSSIBLE)
    arrivals[0] = score
    arrivals[1, :, 1:] = score[:, :-1]
    arrivals[2, :, 2:] = np.where(may_skip[:, 2:], score[:, :-2], IMPOSSIBLE)
    return arrivals
