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
from glissando.gesture import Gesture, as_gesture
from glissando.lexicon import typed_letters
from glissando.scoring import Scoring
from glissando.shark2 import Points, Shark2, Shark2Constants
from glissando.templates import match_locations, match_shapes
from glissando.walk import cost_tables

TIE = 1e-7  # per unit of the byte: less than any difference that counts
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


class _Terms(Shark2):
    """SHARK2 that gives the terms of its score instead of ranking by them."""

    def terms(self, points: Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Templates, the likelihood of their shape and ends, and their location distance. Shape: [m] each."""
        gesture = as_gesture(points)
        path = self._ruler.trace(gesture.x, gesture.y, gesture.t, self.constants.points)
        visits, strays = cost_tables(path, self._templates.keys, self._templates.key_starts, self._weights)
        found, partial, bound = match_shapes(path, visits, self._templates, self._weights)
        if len(found) > self.constants.shortlist:
            best = np.argpartition(-bound, self.constants.shortlist)[: self.constants.shortlist]
            found, partial = found[best], partial[best]
        return found, partial, match_locations(found, visits, strays, self._templates)

    def numbers(self) -> dict[str, int]:
        """The template of every spelling."""
        return {typed: index for index, typed in enumerate(self._spellings)}

    def bytes(self) -> np.ndarray:
        """The frequency byte of every template's likeliest word. Shape: [S] uint8."""
        return self.lexicon.frequencies[[words[0] for words in self._forms.values()]]


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
    decoder = _Terms(part.decoder.layout, part.decoder.lexicon, part.decoder.constants)
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    with ThreadPoolExecutor() as pool:  # the matching runs outside Python's lock
        for start in range(0, len(part.gestures), CHUNK):
            rows += pool.map(decoder.terms, part.gestures[start : start + CHUNK])
            if progress:
                progress(len(rows))
    found, partial, location = (np.concatenate(column) for column in zip(*rows, strict=True))
    offsets = np.concatenate([[0], np.cumsum([len(row[0]) for row in rows])])
    meant = {typed: index for index, typed in enumerate(dict.fromkeys(part.targets))}
    template_of, frequencies = decoder.numbers(), decoder.bytes()
    number = np.full(len(frequencies), -1, dtype=np.int32)
    number[[template_of[typed] for typed in meant]] = list(meant.values())
    spellings = number[found]
    targets = np.array([meant[typed] for typed in part.targets], dtype=np.int32)
    owner = np.repeat(np.arange(len(targets)), np.diff(offsets))
    hits = np.flatnonzero(spellings == targets[owner])
    places = np.full(len(targets), -1, dtype=np.int64)
    places[owner[hits]] = hits
    # Words with one template and a byte below the floor tie; decoding then goes by the byte, and so does this.
    likelihood = partial.astype(np.float64) + TIE * frequencies[found]
    return StoredBeams(
        log_probs=likelihood, lengths=np.ones(len(found), np.uint8), frequencies=frequencies[found],
        distances=np.column_stack([location, np.zeros_like(location)]),
        offsets=offsets, places=places, spellings=spellings, targets=targets,
    )  # fmt: skip
