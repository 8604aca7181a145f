"""The spellings found for many swipes, kept in memory so that constants can be tried without decoding again.

The search depends on the pruning constants only, so one search serves every choice of the scoring constants. SHARK2's
score is linear in its location and frequency weight, so its matches are stored in the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numba
import numpy as np

from glissando.errors import CorpusError
from glissando.evaluation.metrics import rank_accuracy
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import Lexicon, typed_letters
from glissando.scoring import Scoring, literal_terms, score_words
from glissando.shark2 import Shark2, Shark2Constants
from glissando.stages import LEXICON, Readings, Spellings, Stages
from glissando.threads import map_on_cores


@dataclass(frozen=True, eq=False)
class StoredBeams:
    """The finished hypotheses of many swipes, laid end to end. n swipes, H hypotheses, V spellings meant.

    Attributes:
        log_probs: [H] float32.
        lengths: [H] int64 letters typed.
        frequencies: [H] float64, the byte of the spelling's most frequent word; 0 for a literal.
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
        fluency: [H] float32 of literals; zeros for words.
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
    fluency: np.ndarray = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        for name in ("gains", "matches", "fluency"):
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
        some = sizes > 0
        starts = self.offsets[:-1][some]
        scaled = self.logits(scoring)
        best = np.maximum.reduceat(scaled, starts)
        mass = np.add.reduceat(np.exp(scaled - np.repeat(best, sizes[some])), starts)
        matched = scoring.matched or scoring
        bonus, share = (
            np.where(self.asked[some], then, first)
            for first, then in (
                (scoring.none_bonus / scoring.temperature, matched.none_bonus / matched.temperature),
                (scoring.none_share, matched.none_share),
            )
        )
        none = np.exp(np.minimum(bonus + (share - 1) * best, 700))  # against the best spelling
        return 1 / (mass + none), self.ranks(scoring)[0][some] == 1

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
            self.asked[chosen], self.fluency[flat],
        )  # fmt: skip

    def _scores(self, scoring: Scoring) -> np.ndarray:
        """Score every hypothesis by the same constants. Shape: [H] float64."""
        log_probs, distances = self.log_probs.astype(np.float64), self.distances.astype(np.float64)
        matches, gains = self.matches.astype(np.float64), self.gains.astype(np.float64)
        alone = score_words(log_probs, self.lengths, self.frequencies, scoring, distances)
        alone = alone + literal_terms(self.fluency.astype(np.float64), scoring)
        return alone + scoring.matcher_weight * matches + scoring.context_weight * gains  # type: ignore[no-any-return]

    def _by_swipe(self, scoring: Scoring, of: Callable[[Scoring], np.ndarray]) -> np.ndarray:
        """What some constants give, those in ``matched`` where the matcher was asked. Shape: [H]."""
        if scoring.matched is None or not self.asked.any():
            return of(scoring)
        return np.where(np.repeat(self.asked, np.diff(self.offsets)), of(scoring.matched), of(scoring))


class SwipeSet(Protocol):
    """Labelled swipes on one layout that can be searched: a ``TuningSet``, or swipes that other processes hold."""

    def held(self, scoring: Scoring) -> np.ndarray:
        """Whether each swipe's target is in its beam, with these pruning constants. Shape: [n] bool."""

    def beams(self, scoring: Scoring, measured: bool = False) -> StoredBeams:
        """Search every swipe's words with these pruning constants; ``measured`` adds the distances of geometry.py."""

    def matched_beams(self, scoring: Scoring) -> StoredBeams:
        """Search every swipe's words and ask the matcher about those in doubt; ``scoring`` decides which."""


@dataclass(frozen=True, eq=False)
class TuningSet:
    """Labelled swipes on one layout after the networks have run.

    Attributes:
        keyboard: decodes them.
        gestures: the n swipes.
        readings: their log-emissions over the layout's letters.
        targets: n strings of typed letters.
        texts: what stands before each swipe, None where it is not known; empty where no swipe has a text.
        meant: the spellings that are told apart; where the swipes are a share of a larger set, they are that set's.
    """

    keyboard: Keyboard
    gestures: tuple[Gesture, ...]
    readings: Readings
    targets: tuple[str, ...]
    texts: tuple[str | None, ...] = ()
    meant: tuple[str, ...] = ()

    @classmethod
    def encode(
        cls, keyboard: Keyboard, gestures: Sequence[Gesture], words: Sequence[str], texts: Sequence[str | None] = (),
        unknown: bool = False,
    ) -> TuningSet:  # fmt: skip
        """Run the networks over swipes whose words are in the keyboard's lexicon; or may be ``unknown`` to it."""
        targets = typed_targets(words, keyboard.layout, None if unknown else keyboard.lexicon)
        return cls(keyboard, tuple(gestures), keyboard.read(gestures), targets, tuple(texts))

    def held(self, scoring: Scoring) -> np.ndarray:
        """Whether each swipe's target is in its beam, with these pruning constants. Shape: [n] bool."""
        return self.beams(scoring).places >= 0

    def beams(self, scoring: Scoring, measured: bool = False) -> StoredBeams:
        """Search every swipe's words with these pruning constants; ``measured`` adds the distances of geometry.py."""
        # Any weight other than zero makes the keyboard measure.
        asked = replace(
            scoring, location_weight=1.0 if measured else 0.0, shape_weight=0.0, fluency_weight=0.0, matched=None
        )
        return self._store(self.keyboard.replace(scoring=asked))

    def matched_beams(self, scoring: Scoring) -> StoredBeams:
        """Search every swipe's words and ask the matcher about those in doubt; ``scoring`` decides which."""
        known = scoring if scoring.matched is not None else replace(scoring, matched=Scoring())
        return self._store(self.keyboard.replace(scoring=known.closed()))

    def open_beams(self, scoring: Scoring) -> StoredBeams:
        """Search every swipe with literals, as these constants say, and ask the matcher if they know it."""
        return self._store(self.keyboard.replace(scoring=scoring))

    def _store(self, keyboard: Keyboard) -> StoredBeams:
        """Keep what scoring needs of every swipe."""
        stages = keyboard.stages(self.gestures, 0, self.readings)
        return replace(store_beams(stages, self.targets, self.meant), gains=self._gains(stages.spellings))

    def _gains(self, found: Sequence[Spellings]) -> np.ndarray:
        """What the texts add to every spelling, the most of its words. Shape: [H]."""
        board, rows = self.keyboard, []
        for text, spellings in zip(self.texts or [None] * len(self.targets), found, strict=True):
            gains = np.zeros(len(spellings), dtype=np.float32)
            if text is not None and board.context is not None:
                listed = np.flatnonzero(spellings.source == LEXICON)
                owners, words = board.trie.words_at(spellings.nodes[listed])
                gains[listed] = -np.inf
                added = board.context.after(text).gains(board.dictionary.listed_numbers(words)).astype(np.float32)
                np.maximum.at(gains, listed[owners], added)
            rows.append(gains)
        return np.concatenate(rows)


def typed_targets(words: Sequence[str], layout: Layout, lexicon: Lexicon | None) -> tuple[str, ...]:
    """The typed letters of the words meant; an error if a lexicon lacks one, because it can never be ranked."""
    letters = frozenset(layout.letters)
    targets = tuple("".join(typed_letters(word, letters)) for word in words)
    if lexicon is None:
        return targets
    missing = sorted(set(targets).difference(lexicon.spell(letters)))
    if missing:
        raise CorpusError(
            f"{len(missing):,} of the {len(set(targets)):,} words meant are not in lexicon {lexicon.name} "
            f"({', '.join(missing[:3])}, ...) and cannot be ranked; --add-targets adds them"
        )
    return targets


def store_beams(stages: Stages, targets: Sequence[str], meant: tuple[str, ...] = ()) -> StoredBeams:
    """Keep what scoring needs of n swipes.

    Args:
        stages: what decoding found.
        targets: the typed letters that each swipe means.
        meant: the spellings that are told apart, all targets among them; by default the targets.
    """
    found = stages.spellings
    words = meant or tuple(dict.fromkeys(targets))
    number = {typed: index for index, typed in enumerate(words)}
    matches = [np.zeros(len(one)) if match is None else match for one, match in zip(found, stages.matches, strict=True)]
    scored = {
        name: np.concatenate([getattr(one, name) for one in found])
        for name in ("log_probs", "lengths", "frequencies", "fluency")
    }
    measured = [np.zeros((len(one), 2), np.float32) if one.distances is None else one.distances for one in found]
    scored |= {"distances": np.concatenate(measured), "matches": np.concatenate(matches)}
    spelled = np.concatenate([_numbers(one, number) for one in found])
    beams = _with_places(scored, np.array([len(one) for one in found]), spelled, targets, words)
    return replace(beams, asked=np.array([match is not None for match in stages.matches]))


def _numbers(spellings: Spellings, number: Mapping[str, int]) -> np.ndarray:
    """The number of each spelling among those that are meant, -1 for one that no swipe means. Shape: [N] int32."""
    found = np.full(len(spellings), -1, dtype=np.int32)
    for tree, rows in spellings.parts():
        found[rows] = [number.get(tree.text(node), -1) for node in spellings.nodes[rows].tolist()]
    return found


def store_matches(
    shark2: Shark2, gestures: Sequence[Gesture], words: Sequence[str], meant: tuple[str, ...] = ()
) -> StoredBeams:
    """Match swipes with SHARK2 and keep the terms of the score; ``as_scoring`` gives the constants to score them by.

    The likelihood of shape and ends stands for the log-probability, the distance of the walk for the location.

    Args:
        shark2: matches the swipes.
        gestures: n swipes.
        words: the word that each means.
        meant: the spellings that are told apart, all targets among them; by default the targets.
    """
    targets = typed_targets(words, shark2.layout, shark2.lexicon)
    matches = map_on_cores(shark2.match, gestures)
    templates = np.concatenate([match.templates for match in matches])
    locations = np.concatenate([match.locations for match in matches])
    meant = meant or tuple(dict.fromkeys(targets))
    known = {typed: index for index, typed in enumerate(meant)}
    number = np.array([known.get(typed, -1) for typed in shark2.spellings], dtype=np.int32)
    scored = {
        "log_probs": np.concatenate([match.likelihoods for match in matches]),
        "lengths": np.ones(len(templates), np.uint8),
        "frequencies": shark2.frequencies[templates],
        "distances": np.column_stack([locations, np.zeros_like(locations)]),
    }
    sizes = np.array([len(match.templates) for match in matches])
    return _with_places(scored, sizes, number[templates], targets, meant)


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
    for name in (
        "log_probs",
        "lengths",
        "frequencies",
        "distances",
        "gains",
        "matches",
        "fluency",
    ):  # one row per hypothesis
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
