"""Fit the constants of search and score to swipes: the report's two stages, with Optuna.

Stage one finds the pruning constants that keep the most targets in the beam; stage two the scoring constants
that rank them best (tt1mm5), on the beams of stage one. Every corpus counts the same, however large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numba
import numpy as np

from glissando.errors import CorpusError, ScoringError
from glissando.evaluation.fit import cross_entropy
from glissando.evaluation.stored import StoredBeams, store_beams, tt1mm5
from glissando.evaluation.study import Found, Plan, Progress, Range, Space, maximise
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard, Readings
from glissando.lexicon import Lexicon, typed_letters
from glissando.scoring import Scoring

# Wide enough that no optimum seen so far lies on an edge; where one does, the search widens its range.
PRUNING_SPACE: Space = {
    "pruning_exponent": Range(-0.5, 1.5),
    "pruning_bonus": Range(-1.0, 4.0),
    "pruning_frequency": Range(0.0, 0.1, lowest=0.0),
}
SCORING_SPACE: Space = {
    "length_exponent": Range(-0.5, 1.5),
    "frequency_weight": Range(-0.02, 0.15),
    "length_bonus": Range(-2.0, 6.0),
}
FURTHER_SPACE: Space = {  # constants beyond equation 3
    "frequency_floor": Range(0.0, 150.0, lowest=0.0, highest=255.0),
    "location_weight": Range(-1.0, 10.0),
    "shape_weight": Range(-2.0, 25.0),
}
SHARK2_SPACE: Space = {"location_weight": Range(0.0, 40.0), "frequency_weight": Range(-0.02, 0.25)}

PRUNING_TRIALS = 50  # the report's
SCORING_TRIALS = 3000
BATCH = 50  # scoring trials between two looks at a shared study; they take milliseconds

MIN_SWIPES = 100  # fewer say little about five constants
TEMPERATURES = np.geomspace(0.1, 10.0, 81)


class Searchable(Protocol):
    """Swipes whose beams can be had for any pruning constants: a TuningSet or a TuningCorpus."""

    def beams(self, scoring: Scoring, measured: bool = False) -> StoredBeams:
        """Search every swipe."""
        ...


@dataclass(frozen=True, eq=False)
class TuningSet:
    """Swipes on one layout, encoded once: a keyboard, what its networks read and the letters meant.

    Attributes:
        keyboard: decodes them.
        gestures: the n swipes.
        readings: their log-emissions over the layout's letters.
        targets: n strings of typed letters.
    """

    keyboard: Keyboard
    gestures: tuple[Gesture, ...]
    readings: Readings
    targets: tuple[str, ...]

    @classmethod
    def encode(cls, keyboard: Keyboard, gestures: Sequence[Gesture], words: Sequence[str]) -> TuningSet:
        """Run the encoder over swipes whose words are known."""
        letters = frozenset(keyboard.layout.letters)
        targets = tuple("".join(typed_letters(word, letters)) for word in words)
        check_known(targets, keyboard.lexicon, letters)
        return cls(keyboard, tuple(gestures), keyboard.read(gestures), targets)

    def beams(self, scoring: Scoring, measured: bool = False) -> StoredBeams:
        """Search every swipe with these pruning constants; ``measured`` adds the distances of geometry.py."""
        # Any weight makes it measure.
        asked = replace(scoring, location_weight=1.0 if measured else 0.0, shape_weight=0.0)
        keyboard = self.keyboard.replace(scoring=asked)
        stages = keyboard.stages(self.gestures, 0, self.readings)
        return store_beams(
            stages.hypotheses, keyboard.trie, keyboard.lexicon.frequencies, self.targets, stages.distances
        )


@dataclass(frozen=True, eq=False)
class TuningCorpus:
    """The swipes of one corpus, a set for every layout they were made on."""

    name: str
    parts: tuple[TuningSet, ...]

    def __post_init__(self) -> None:
        check_enough(self.name, sum(len(part.targets) for part in self.parts))

    def beams(self, scoring: Scoring, measured: bool = False) -> StoredBeams:
        """Search every swipe; words meant on several layouts count together."""
        return join_beams([part.beams(scoring, measured) for part in self.parts], [part.targets for part in self.parts])


def check_enough(name: str, swipes: int) -> None:
    """Refuse to tune on a handful."""
    if swipes < MIN_SWIPES:
        raise CorpusError(f"{name}: tuning needs at least {MIN_SWIPES} usable swipes, got {swipes}")


def check_known(targets: Sequence[str], lexicon: Lexicon, letters: frozenset[str]) -> None:
    """Refuse to tune on words that cannot be ranked."""
    missing = sorted(set(targets).difference(lexicon.spell(letters)))
    if missing:
        raise CorpusError(
            f"{len(missing):,} of the {len(set(targets)):,} words meant are not in lexicon {lexicon.name} "
            f"({', '.join(missing[:3])}, ...) and cannot be ranked; --add-targets puts them in"
        )


def join_beams(parts: Sequence[StoredBeams], targets: Sequence[Sequence[str]]) -> StoredBeams:
    """Lay stored beams end to end, the spellings that several of them meant made one.

    Args:
        parts: the beams of each part.
        targets: what each part's swipes meant, as ``store_beams`` was given it.
    """
    if len(parts) == 1:
        return parts[0]
    number = {typed: index for index, typed in enumerate(dict.fromkeys(typed for part in targets for typed in part))}
    renumbered = [np.array([number[typed] for typed in dict.fromkeys(part)] + [-1], np.int32) for part in targets]
    starts = np.cumsum([0] + [len(part.log_probs) for part in parts])
    joined = {
        "offsets": np.concatenate(
            [part.offsets[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)] + [starts[-1:]]
        ),
        "places": np.concatenate(
            [np.where(part.places >= 0, part.places + s, -1) for part, s in zip(parts, starts[:-1], strict=True)]
        ),
        # -1, nobody's spelling, reads the last entry, which is -1.
        "spellings": np.concatenate([new[part.spellings] for part, new in zip(parts, renumbered, strict=True)]),
        "targets": np.concatenate([new[part.targets] for part, new in zip(parts, renumbered, strict=True)]),
    }
    for field in fields(StoredBeams):  # the rest is one row per hypothesis
        if field.name not in joined:
            joined[field.name] = np.concatenate([getattr(part, field.name) for part in parts])
    return StoredBeams(**joined)


def choose_constants(names: Sequence[str]) -> Space:
    """The ranges of some scoring constants; an error lists those there are."""
    known = {**SCORING_SPACE, **FURTHER_SPACE}
    for name in names:
        if name not in known:
            raise ScoringError(f"no scoring constant {name!r} to tune; there are {', '.join(known)}")
    return {name: known[name] for name in dict.fromkeys(names)}


def recall(sets: Sequence[Searchable], scoring: Scoring) -> float:
    """Share of swipes whose target is in the beam, in percent, the mean over the corpora."""
    return float(np.mean([part.beams(scoring).recall for part in sets]))


def quality(beams: Sequence[StoredBeams], scoring: Scoring) -> float:
    """tt1mm5 in percent, the mean over the corpora."""
    return float(np.mean([tt1mm5(part, scoring)["tt1mm5"] for part in beams]))


def search_pruning(sets: Sequence[Searchable], scoring: Scoring, plan: Plan, progress: Progress | None = None) -> Found:
    """Stage one: the pruning constants with the highest recall."""
    start = {name: getattr(scoring, name) for name in plan.space}
    return maximise(lambda choice: recall(sets, replace(scoring, **choice)), plan, start, progress)


def search_scoring(
    beams: Sequence[StoredBeams], scoring: Scoring, plan: Plan, progress: Progress | None = None
) -> Found:
    """Stage two: the scoring constants with the highest tt1mm5."""
    start = {name: getattr(scoring, name) for name in plan.space}
    with one_thread():
        return maximise(lambda choice: quality(beams, replace(scoring, **choice)), plan, start, progress)


@contextmanager
def one_thread() -> Iterator[None]:
    """Rank on one thread: it takes less than a millisecond, and threads that wait for work would take a core away."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def tune_pruning(
    sets: Sequence[Searchable], scoring: Scoring, trials: int = 50, seed: int = 0, progress: Progress | None = None
) -> Scoring:
    """Stage one in memory: ``scoring`` with the best pruning constants."""
    return replace(scoring, **search_pruning(sets, scoring, Plan(PRUNING_SPACE, trials, seed), progress).best)


def tune_scoring(
    beams: Sequence[StoredBeams], scoring: Scoring, trials: int = 3000, seed: int = 0, progress: Progress | None = None
) -> Scoring:
    """Stage two in memory: ``scoring`` with the best scoring constants."""
    plan = Plan(SCORING_SPACE, trials, seed, batch=BATCH)
    return replace(scoring, **search_scoring(beams, scoring, plan, progress).best)


def fit_temperature(beams: Sequence[StoredBeams], scoring: Scoring) -> Scoring:
    """The temperature under which the targets are likeliest, so that probabilities keep their meaning."""

    def cost(temperature: float) -> float:
        return float(np.mean([cross_entropy(part, replace(scoring, temperature=temperature)) for part in beams]))

    coarse = min(TEMPERATURES[::8], key=cost)
    near = TEMPERATURES[(coarse / 2 < TEMPERATURES) & (coarse * 2 > TEMPERATURES)]
    return replace(scoring, temperature=float(min(near, key=cost)))
