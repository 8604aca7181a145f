"""Finished hypotheses of many swipes, kept in memory so that constants can be tried without decoding again.

The search depends on the pruning constants only, so one search serves every choice of the scoring constants. SHARK2's
score is linear in its location and frequency weight, so its matches are stored in the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numba
import numpy as np

from glissando.beam import Hypotheses
from glissando.errors import CorpusError
from glissando.evaluation.metrics import rank_accuracy
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard, Readings
from glissando.layout import Layout
from glissando.lexicon import Lexicon, typed_letters
from glissando.scoring import Scoring, score_words
from glissando.shark2 import Shark2, Shark2Constants
from glissando.threads import map_on_cores
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
        spellings: [H] int32 index of the hypothesis's spelling in ``words``, -1 for a spelling that no swipe means.
        targets: [n] int32 index of the target's spelling in ``words``.
        words: the V spellings that the swipes mean.
        gains: [H] float32 what the words before add (context.py), the most of the spelling's words; zeros where they
            are not known.
        matches: [H] float32 the matcher's scores; zeros where it was not asked.
        asked: [n] bool, whether the matcher was asked about a swipe.
    """

    log_probs: np.ndarray
    lengths: np.ndarray
    frequencies: np.ndarray
    distances: np.ndarray
    offsets: np.ndarray
    places: np.ndarray
    spellings: np.ndarray
    targets: np.ndarray
    words: tuple[str, ...]
    gains: np.ndarray = field(default=None)  # type: ignore[arg-type]
    matches: np.ndarray = field(default=None)  # type: ignore[arg-type]
    asked: np.ndarray = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        for name in ("gains", "matches"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros(len(self.log_probs), dtype=np.float32))
        if self.asked is None:
            object.__setattr__(self, "asked", np.zeros(len(self.targets), dtype=bool))

    @property
    def recall(self) -> float:
        """Share of swipes whose target is in the beam, in percent."""
        return 100 * float(np.mean(self.places >= 0))

    def scores(self, scoring: Scoring) -> np.ndarray:
        """Score every hypothesis; those of swipes about which the matcher was asked by ``scoring.matched``.

        Shape: [H] float64.
        """
        return self._by_swipe(scoring, self._scores)

    def logits(self, scoring: Scoring) -> np.ndarray:
        """Scores whose softmax over a beam is the probability. Shape: [H] float64."""
        return self._by_swipe(scoring, lambda constants: self._scores(constants) / constants.temperature)

    def ranks(self, scoring: Scoring) -> tuple[np.ndarray, np.ndarray]:
        """Rank of every target (0 where lost) and the spelling ranked first. Shape: [n], [n]."""
        return _ranks(self.scores(scoring), self.frequencies, self.offsets, self.places, self.spellings)

    def accuracy(self, scoring: Scoring) -> dict[str, float]:
        """top1, top3, map5, macro_f1_5 and tt1mm5 in percent."""
        ranks, first = self.ranks(scoring)
        return rank_accuracy(ranks, self.targets, first)

    def best_shares(self, scoring: Scoring) -> tuple[np.ndarray, np.ndarray]:
        """The probability of the best spelling, and whether it was meant, for every swipe that has one. Shape: [m]."""
        sizes = np.diff(self.offsets)
        starts = self.offsets[:-1][sizes > 0]
        scaled = self.logits(scoring)
        best = np.maximum.reduceat(scaled, starts)
        mass = np.add.reduceat(np.exp(scaled - np.repeat(best, sizes[sizes > 0])), starts)
        return 1 / mass, self.ranks(scoring)[0][sizes > 0] == 1

    def select(self, swipes: np.ndarray) -> StoredBeams:
        """Only these swipes. Shape: [m] indices or an [n] mask."""
        chosen = np.flatnonzero(swipes) if swipes.dtype == bool else swipes
        sizes = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        flat = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        places = np.where(self.places[chosen] >= 0, self.places[chosen] - self.offsets[chosen] + offsets[:-1], -1)
        return StoredBeams(
            self.log_probs[flat], self.lengths[flat], self.frequencies[flat], self.distances[flat], offsets, places,
            self.spellings[flat], self.targets[chosen], self.words, self.gains[flat], self.matches[flat],
            self.asked[chosen],
        )  # fmt: skip

    def _scores(self, scoring: Scoring) -> np.ndarray:
        """Score every hypothesis by the same constants. Shape: [H] float64."""
        log_probs, distances = self.log_probs.astype(np.float64), self.distances.astype(np.float64)
        matches, gains = self.matches.astype(np.float64), self.gains.astype(np.float64)
        alone = score_words(log_probs, self.lengths, self.frequencies, scoring, distances)
        return alone + scoring.matcher_weight * matches + scoring.context_weight * gains  # type: ignore[no-any-return]

    def _by_swipe(self, scoring: Scoring, of: Callable[[Scoring], np.ndarray]) -> np.ndarray:
        """What some constants give, those in ``matched`` where the matcher was asked. Shape: [H]."""
        if scoring.matched is None or not self.asked.any():
            return of(scoring)
        return np.where(np.repeat(self.asked, np.diff(self.offsets)), of(scoring.matched), of(scoring))


@dataclass(frozen=True, eq=False)
class TuningSet:
    """Labelled swipes on one layout after the networks have run.

    Attributes:
        keyboard: decodes them.
        gestures: the n swipes.
        readings: their log-emissions over the layout's letters.
        targets: n strings of typed letters.
        texts: what stands before each swipe, None where it is not known; empty where no swipe has a text.
    """

    keyboard: Keyboard
    gestures: tuple[Gesture, ...]
    readings: Readings
    targets: tuple[str, ...]
    texts: tuple[str | None, ...] = ()

    @classmethod
    def encode(
        cls, keyboard: Keyboard, gestures: Sequence[Gesture], words: Sequence[str], texts: Sequence[str | None] = ()
    ) -> TuningSet:
        """Run the networks over swipes whose words are in the keyboard's lexicon."""
        targets = typed_targets(words, keyboard.layout, keyboard.lexicon)
        return cls(keyboard, tuple(gestures), keyboard.read(gestures), targets, tuple(texts))

    def beams(self, scoring: Scoring, measured: bool = False) -> StoredBeams:
        """Search every swipe with these pruning constants; ``measured`` adds the distances of geometry.py."""
        # Any weight other than zero makes the keyboard measure.
        asked = replace(scoring, location_weight=1.0 if measured else 0.0, shape_weight=0.0, matched=None)
        return self._store(self.keyboard.replace(scoring=asked))

    def matched_beams(self, scoring: Scoring) -> StoredBeams:
        """Search every swipe and ask the matcher about those in doubt; ``scoring`` decides which."""
        known = scoring if scoring.matched is not None else replace(scoring, matched=Scoring())
        return self._store(self.keyboard.replace(scoring=known))

    def _store(self, keyboard: Keyboard) -> StoredBeams:
        """Keep what scoring needs of every swipe."""
        stages = keyboard.stages(self.gestures, 0, self.readings)
        nodes, frequencies = stages.hypotheses.nodes, keyboard.lexicon.frequencies
        beams = store_beams(stages.hypotheses, keyboard.trie, frequencies, self.targets, stages.distances)
        silent = np.zeros(nodes.shape[1], dtype=np.float32)
        matches = np.stack([silent if one is None else one.astype(np.float32) for one in stages.matches])[nodes >= 0]
        asked = np.array([one is not None for one in stages.matches])
        return replace(beams, gains=self._gains(stages.hypotheses), matches=matches, asked=asked)

    def _gains(self, hypotheses: Hypotheses) -> np.ndarray:
        """What the texts add to every hypothesis. Shape: [n, W] -> [H]."""
        rows = []
        for text, nodes in zip(self.texts or [None] * len(self.targets), hypotheses.nodes, strict=True):
            gains = np.zeros(len(nodes), dtype=np.float32)
            if text is not None and self.keyboard.context is not None:
                owners, words = self.keyboard.trie.words_at(nodes)
                gains[owners] = -np.inf
                outlook = self.keyboard.context.after(text)
                np.maximum.at(gains, owners, outlook.gains(self.keyboard.context_numbers(words)).astype(np.float32))
            rows.append(gains[nodes >= 0])
        return np.concatenate(rows)


def typed_targets(words: Sequence[str], layout: Layout, lexicon: Lexicon) -> tuple[str, ...]:
    """The typed letters of the words meant; an error if the lexicon lacks one, because it can never be ranked."""
    letters = frozenset(layout.letters)
    targets = tuple("".join(typed_letters(word, letters)) for word in words)
    missing = sorted(set(targets).difference(lexicon.spell(letters)))
    if missing:
        raise CorpusError(
            f"{len(missing):,} of the {len(set(targets)):,} words meant are not in lexicon {lexicon.name} "
            f"({', '.join(missing[:3])}, ...) and cannot be ranked; --add-targets adds them"
        )
    return targets


def store_beams(
    hypotheses: Hypotheses,
    trie: Trie,
    frequencies: np.ndarray,
    targets: Sequence[str],
    distances: np.ndarray | None = None,
) -> StoredBeams:
    """Keep what scoring needs of a search.

    Args:
        hypotheses: the beams of n swipes, [n, width].
        trie: the trie they were searched in.
        frequencies: [W] the lexicon's bytes.
        targets: the typed letters that each swipe means.
        distances: [n, width, 2] from geometry.py, or None.
    """
    filled = hypotheses.nodes >= 0  # [n, width]
    nodes = hypotheses.nodes[filled]
    words = tuple(dict.fromkeys(targets))
    number = np.full(len(trie), -1, dtype=np.int32)
    for index, typed in enumerate(words):
        node = trie.find(typed)
        if node > 0:
            number[node] = index
    measured = np.zeros((len(nodes), 2), dtype=np.float32) if distances is None else distances[filled]
    best = frequencies[trie.words[trie.endings[nodes]]]  # words of a node are sorted, most frequent first
    scored = {
        "log_probs": hypotheses.log_probs[filled], "lengths": trie.depths[nodes], "frequencies": best,
        "distances": measured,
    }  # fmt: skip
    return _with_places(scored, filled.sum(axis=1), number[nodes], targets, words)


def store_matches(shark2: Shark2, gestures: Sequence[Gesture], words: Sequence[str]) -> StoredBeams:
    """Match swipes with SHARK2 and keep the terms of the score; ``as_scoring`` gives the constants to score them by.

    The likelihood of shape and ends stands for the log-probability, the distance of the walk for the location.
    """
    targets = typed_targets(words, shark2.layout, shark2.lexicon)
    matches = map_on_cores(shark2.match, gestures)
    templates = np.concatenate([match.templates for match in matches])
    locations = np.concatenate([match.locations for match in matches])
    meant = {typed: index for index, typed in enumerate(dict.fromkeys(targets))}
    number = np.array([meant.get(typed, -1) for typed in shark2.spellings], dtype=np.int32)
    scored = {
        "log_probs": np.concatenate([match.likelihoods for match in matches]),
        "lengths": np.ones(len(templates), np.uint8),
        "frequencies": shark2.frequencies[templates],
        "distances": np.column_stack([locations, np.zeros_like(locations)]),
    }
    sizes = np.array([len(match.templates) for match in matches])
    return _with_places(scored, sizes, number[templates], targets, tuple(meant))


def as_scoring(constants: Shark2Constants) -> Scoring:
    """SHARK2's constants in the form of ours, for the beams of ``store_matches``."""
    return Scoring(
        length_exponent=0.0, length_bonus=0.0, shape_weight=0.0, frequency_weight=constants.frequency_weight,
        frequency_floor=constants.frequency_floor, location_weight=constants.location_weight,
    )  # fmt: skip


def join_beams(parts: Sequence[StoredBeams]) -> StoredBeams:
    """Lay stored beams end to end; spellings that several parts mean become one."""
    if len(parts) == 1:
        return parts[0]
    words = tuple(dict.fromkeys(word for part in parts for word in part.words))
    number = {word: index for index, word in enumerate(words)}
    # The last entry is -1, so that -1, a spelling that no swipe means, stays what it is.
    renumber = [np.array([number[word] for word in part.words] + [-1], np.int32) for part in parts]
    starts = np.cumsum([0] + [len(part.log_probs) for part in parts])
    shifted = list(zip(parts, starts[:-1], strict=True))
    renumbered = list(zip(parts, renumber, strict=True))
    joined = {
        "offsets": np.concatenate([part.offsets[:-1] + start for part, start in shifted] + [starts[-1:]]),
        "places": np.concatenate([np.where(part.places >= 0, part.places + start, -1) for part, start in shifted]),
        "spellings": np.concatenate([new[part.spellings] for part, new in renumbered]),
        "targets": np.concatenate([new[part.targets] for part, new in renumbered]),
        "asked": np.concatenate([part.asked for part in parts]),
    }
    for name in ("log_probs", "lengths", "frequencies", "distances", "gains", "matches"):  # one row per hypothesis
        joined[name] = np.concatenate([getattr(part, name) for part in parts])
    return StoredBeams(**joined, words=words)


def _with_places(
    scored: dict[str, np.ndarray], sizes: np.ndarray, spellings: np.ndarray, targets: Sequence[str],
    words: tuple[str, ...],
) -> StoredBeams:  # fmt: skip
    """Find each swipe's target among its hypotheses. Shape: scored [H] each, sizes [n], spellings [H], targets n."""
    number = {word: index for index, word in enumerate(words)}
    meant = np.array([number[typed] for typed in targets], dtype=np.int32)
    owner = np.repeat(np.arange(len(targets)), sizes)
    hits = np.flatnonzero(spellings == meant[owner])
    places = np.full(len(targets), -1, dtype=np.int64)
    places[owner[hits]] = hits
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return StoredBeams(
        **scored, offsets=offsets, places=places, spellings=spellings, targets=meant, words=words
    )  # fmt: skip


@numba.njit(cache=True)
def _ranks(scores, frequencies, offsets, places, spellings):  # type: ignore[no-untyped-def]
    """Count the hypotheses above each target, and find the best. Shape: [H] -> [n], [n]."""
    n = len(places)
    ranks = np.zeros(n, np.int32)
    first = np.full(n, -1, np.int32)
    for i in range(n):
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
    """Whether a hypothesis ranks before another, as decoding sorts: by score, by byte, then in the beam's order."""
    if scores[j] != scores[other]:
        return scores[j] > scores[other]
    if frequencies[j] != frequencies[other]:
        return frequencies[j] > frequencies[other]
    return j < other
