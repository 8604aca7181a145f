"""SHARK2's matches kept in memory, so that its weights can be tried without matching again.

A match's score is linear in the location and the frequency weight, so matches are stored as beams: the
likelihood of shape and ends stands for the log-probability, the walk's distance for the location.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from glissando.evaluation.stored import StoredBeams
from glissando.evaluation.study import Found, Plan, Progress, maximise
from glissando.evaluation.tune import check_enough, check_known, join_beams, one_thread, quality
from glissando.gesture import Gesture
from glissando.lexicon import typed_letters
from glissando.scoring import Scoring
from glissando.shark2 import Matches, Shark2, Shark2Constants

CHUNK = 256  # swipes matched between two signs of progress


@dataclass(frozen=True, eq=False)
class MatchedSet:
    """Swipes on one layout to be matched: a decoder and the words meant."""

    decoder: Shark2
    gestures: tuple[Gesture, ...]
    targets: tuple[str, ...]

    @classmethod
    def of(cls, decoder: Shark2, gestures: Sequence[Gesture], words: Sequence[str]) -> MatchedSet:
        """Swipes whose words are known to the decoder."""
        letters = frozenset(decoder.layout.letters)
        targets = tuple("".join(typed_letters(word, letters)) for word in words)
        check_known(targets, decoder.lexicon, letters)
        return cls(decoder, tuple(gestures), targets)


def match_corpus(name: str, parts: Sequence[MatchedSet], progress: Progress | None = None) -> StoredBeams:
    """Match every swipe of a corpus once and keep the terms."""
    total = sum(len(part.targets) for part in parts)
    check_enough(name, total)
    done, stored = 0, []
    for part in parts:
        report = (lambda count, done=done: progress(done + count, total)) if progress else None
        stored.append(_store(part, report))
        done += len(part.targets)
    return join_beams(stored, [part.targets for part in parts])


def as_scoring(constants: Shark2Constants) -> Scoring:
    """The constants of SHARK2's score as those of ours, for beams that ``match_corpus`` stored."""
    return Scoring(
        length_exponent=0.0, length_bonus=0.0, shape_weight=0.0, frequency_weight=constants.frequency_weight,
        frequency_floor=constants.frequency_floor, location_weight=constants.location_weight,
    )  # fmt: skip


def search_shark2(
    beams: Sequence[StoredBeams], constants: Shark2Constants, plan: Plan, progress: Progress | None = None
) -> Found:
    """The weights with the highest tt1mm5; radii, shape and ends keep theirs, as in the report."""
    start = {name: getattr(constants, name) for name in plan.space}

    def reached(choice: dict[str, float]) -> float:
        return quality(beams, as_scoring(replace(constants, **choice)))  # type: ignore[arg-type]

    with one_thread():
        return maximise(reached, plan, start, progress)


def _store(part: MatchedSet, progress: Callable[[int], None] | None) -> StoredBeams:
    """The terms of every match of one set's swipes."""
    decoder = part.decoder
    rows: list[Matches] = []
    with ThreadPoolExecutor() as pool:  # the matching runs outside Python's lock
        for start in range(0, len(part.gestures), CHUNK):
            rows += pool.map(decoder.match, part.gestures[start : start + CHUNK])
            if progress:
                progress(len(rows))
    found = np.concatenate([row.templates for row in rows])
    offsets = np.concatenate([[0], np.cumsum([len(row.templates) for row in rows])])
    meant = {typed: index for index, typed in enumerate(dict.fromkeys(part.targets))}
    number = np.array([meant.get(typed, -1) for typed in decoder.spellings], dtype=np.int32)
    spellings = number[found]
    targets = np.array([meant[typed] for typed in part.targets], dtype=np.int32)
    owner = np.repeat(np.arange(len(targets)), np.diff(offsets))
    hits = np.flatnonzero(spellings == targets[owner])
    places = np.full(len(targets), -1, dtype=np.int64)
    places[owner[hits]] = hits
    location = np.concatenate([row.locations for row in rows])
    return StoredBeams(
        log_probs=np.concatenate([row.likelihoods for row in rows]), lengths=np.ones(len(found), np.uint8),
        frequencies=decoder.frequencies[found], distances=np.column_stack([location, np.zeros_like(location)]),
        offsets=offsets, places=places, spellings=spellings, targets=targets,
    )  # fmt: skip
