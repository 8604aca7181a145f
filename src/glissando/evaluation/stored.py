"""Beams kept in memory, so that scoring constants can be tried without decoding again.

The search depends on the pruning constants alone, so one serves every choice of the scoring constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np

from glissando.beam import Hypotheses
from glissando.scoring import Scoring, score_words
from glissando.trie import Trie


@dataclass(frozen=True, eq=False)
class StoredBeams:
    """The finished hypotheses of many swipes, laid end to end. n swipes, H hypotheses, V spellings meant.

    Attributes:
        log_probs: [H] float32.
        lengths: [H] uint8 letters typed.
        frequencies: [H] uint8, the byte of the spelling's most frequent word.
        distances: [H, 2] float32 location and shape (geometry.py); zeros where they were not measured.
        offsets: [n + 1] int64; swipe i owns offsets[i] up to offsets[i + 1].
        places: [n] int64 index of the target among the H, -1 where the beam lost it.
        spellings: [H] int32 number of the hypothesis's spelling among the V, -1 for one nobody meant.
        targets: [n] int32 number of the target's spelling.
    """

    log_probs: np.ndarray
    lengths: np.ndarray
    frequencies: np.ndarray
    distances: np.ndarray
    offsets: np.ndarray
    places: np.ndarray
    spellings: np.ndarray
    targets: np.ndarray

    @property
    def recall(self) -> float:
        """Share of swipes whose target is in the beam, in percent."""
        return 100 * float(np.mean(self.places >= 0))

    def ranks(self, scoring: Scoring) -> tuple[np.ndarray, np.ndarray]:
        """Rank of every target (0 where lost) and the spelling ranked first. Shape: [n], [n]."""
        return _ranks(self.scores(scoring), self.frequencies, self.offsets, self.places, self.spellings)

    def scores(self, scoring: Scoring) -> np.ndarray:
        """Score every hypothesis. Shape: [H] float64."""
        return score_words(
            self.log_probs.astype(np.float64),
            self.lengths,
            self.frequencies,
            scoring,
            self.distances.astype(np.float64),
        )

    def select(self, swipes: np.ndarray) -> StoredBeams:
        """Only these swipes. Shape: [m] indices or an [n] mask."""
        chosen = np.flatnonzero(swipes) if swipes.dtype == bool else swipes
        sizes = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        places = np.where(self.places[chosen] >= 0, self.places[chosen] - self.offsets[chosen] + offsets[:-1], -1)
        return StoredBeams(
            self.log_probs[flat], self.lengths[flat], self.frequencies[flat], self.distances[flat], offsets, places,
            self.spellings[flat], self.targets[chosen],
        )  # fmt: skip


def store_beams(
    hypotheses: Hypotheses,
    trie: Trie,
    frequencies: np.ndarray,
    targets: Sequence[str],
    distances: np.ndarray | None = None,
) -> StoredBeams:
    """Keep what scoring needs of a search.

    Args:
        hypotheses: the beams of n swipes.
        trie: the trie they were searched in.
        frequencies: [W] the lexicon's bytes.
        targets: the typed letters that each swipe meant.
        distances: [n, width, 2] from geometry.py, or None.
    """
    found = hypotheses.nodes >= 0  # [n, width]
    nodes = hypotheses.nodes[found]
    offsets = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    spelling_of = {typed: number for number, typed in enumerate(dict.fromkeys(targets))}
    number = np.full(len(trie), -1, dtype=np.int32)
    for typed, index in spelling_of.items():
        node = trie.find(typed)
        if node > 0:
            number[node] = index
    spellings = number[nodes]
    meant = np.array([spelling_of[typed] for typed in targets], dtype=np.int32)
    hits = spellings == np.repeat(meant, np.diff(offsets))
    owner = np.repeat(np.arange(len(targets)), np.diff(offsets))
    places = np.full(len(targets), -1, dtype=np.int64)
    places[owner[hits]] = np.flatnonzero(hits)
    best = frequencies[trie.words[trie.endings[nodes]]]  # words of a node are sorted, most frequent first
    far = np.zeros((len(nodes), 2), dtype=np.float32) if distances is None else distances[found]
    return StoredBeams(hypotheses.log_probs[found], trie.depths[nodes], best, far, offsets, places, spellings, meant)


def best_shares(beams: StoredBeams, scoring: Scoring) -> tuple[np.ndarray, np.ndarray]:
    """The probability of the best spelling of every swipe that has one, and whether it was meant. Shape: [m], [m]."""
    sizes = np.diff(beams.offsets)
    starts = beams.offsets[:-1][sizes > 0]
    scaled = beams.scores(scoring) / scoring.temperature
    best = np.maximum.reduceat(scaled, starts)
    mass = np.add.reduceat(np.exp(scaled - np.repeat(best, sizes[sizes > 0])), starts)
    return 1 / mass, beams.ranks(scoring)[0][sizes > 0] == 1


def tt1mm5(beams: StoredBeams, scoring: Scoring, min_examples: int = 5) -> dict[str, float]:
    """top1, top3, map5, macro_f1_5 and their mean, in percent, as ``metrics.summarise`` counts them."""
    ranks, first = beams.ranks(scoring)
    top1, top3 = 100 * np.mean(ranks == 1), 100 * np.mean((ranks > 0) & (ranks <= 3))
    spellings = int(max(beams.targets.max(), first.max())) + 1  # of a selection, some may be meant elsewhere only
    count = np.bincount(beams.targets, minlength=spellings)
    predicted = np.bincount(first[first >= 0], minlength=spellings)
    right = np.bincount(beams.targets[ranks == 1], minlength=spellings)
    precision = np.bincount(beams.targets, np.where((ranks > 0) & (ranks <= 5), 1 / np.maximum(ranks, 1), 0), spellings)
    words = count >= min_examples
    if words.any():
        map5 = 100 * np.mean(precision[words] / count[words])
        f1 = 100 * np.mean(2 * right[words] / (count[words] + predicted[words]))
    else:
        map5 = f1 = np.float64(0.0)
    values = {"top1": top1, "top3": top3, "map5": map5, "macro_f1_5": f1, "tt1mm5": (top1 + top3 + map5 + f1) / 4}
    return {name: float(value) for name, value in values.items()}


@numba.njit(cache=True, parallel=True)
def _ranks(scores, frequencies, offsets, places, spellings):  # type: ignore[no-untyped-def]
    """Count the hypotheses above each target, and find the best. Shape: [H] -> [n], [n]."""
    n = len(places)
    ranks = np.zeros(n, np.int32)
    first = np.full(n, -1, np.int32)
    for i in numba.prange(n):
        start, end, target = offsets[i], offsets[i + 1], places[i]
        best = start
        above = 0
        for j in range(start, end):
            if _before(scores, frequencies, j, best):
                best = j
            above += target >= 0 and _before(scores, frequencies, j, target)
        if end > start:
            first[i] = spellings[best]
        if target >= 0:
            ranks[i] = above + 1
    return ranks, first


@numba.njit(cache=True, inline="always")
def _before(scores, frequencies, j, other):  # type: ignore[no-untyped-def]
    """Whether a hypothesis ranks before another, as decoding sorts: by score, by byte, then as the beam has it."""
    if scores[j] != scores[other]:
        return scores[j] > scores[other]
    if frequencies[j] != frequencies[other]:
        return frequencies[j] > frequencies[other]
    return j < other
