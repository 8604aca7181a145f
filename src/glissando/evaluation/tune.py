"""Tune the constants of search and score to swipes whose words are known.

Stage one finds the pruning constants that keep the most targets in the beam, with Optuna. Stage two finds the scoring
constants on the beams of stage one: by cross-entropy (fit.py), which made the packaged constants, or by the report's
protocol, an Optuna search for the best tt1mm5. Every corpus counts the same, however large.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe
from glissando.corpus.sources import ENDINGS, find_files, is_address, source_name
from glissando.errors import CorpusError, GlissandoError
from glissando.evaluation.beams import StoredBeams, SwipeSet, TuningSet, as_scoring, join_beams, store_matches
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for, read_targets, with_aspect
from glissando.evaluation.fit import (
    CONSTANTS,
    PRUNING_SPACE,
    SCORING_SPACE,
    SHARK2_SPACE,
    choose_constants,
    cross_entropy,
    fit_matched,
    fit_scoring,
    search_corpus,
    search_pruning,
    search_scoring,
    search_shark2,
)
from glissando.evaluation.prompts import prompt_texts
from glissando.evaluation.study import Plan, Progress, Space, StudyResult
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.scoring import Scoring
from glissando.shark2 import Shark2Constants

PROTOCOLS = ("fit", "report")
STAGES = ("pruning", "scoring", "all")
PRUNING_TRIALS, SCORING_TRIALS = 50, 3000  # the report's
MIN_SWIPES = 100  # fewer say little about five constants

Bar = Callable[[str], AbstractContextManager[Progress | None]]


@dataclass(frozen=True)
class TuningOptions:
    """What to tune and how.

    Attributes:
        protocol: "fit" (cross-entropy) or "report" (tt1mm5 with Optuna) for the scoring constants.
        stage: "pruning", "scoring" or "all".
        constants: the scoring constants to tune, the others keep their values; None tunes all of them in "fit" and
            those of equation 3 in "report".
        trials_pruning, trials_scoring: Optuna's trials for each stage, by all workers together.
        seed: repeats a tuning that one worker makes without interruption.
        storage: URL of the Optuna storage; None keeps the studies in memory.
        command: goes into the provenance.
    """

    protocol: str = "fit"
    stage: str = "all"
    constants: tuple[str, ...] | None = None
    trials_pruning: int = PRUNING_TRIALS
    trials_scoring: int = SCORING_TRIALS
    seed: int = 0
    storage: str | None = None
    command: str = ""

    def __post_init__(self) -> None:
        for what, name, known in (("protocol", self.protocol, PROTOCOLS), ("stage", self.stage, STAGES)):
            if name not in known:
                raise GlissandoError(f"no {what} {name!r}; there are {', '.join(known)}")
        choose_constants(self.constants or ())

    @property
    def chosen(self) -> tuple[str, ...]:
        """The scoring constants to tune."""
        return self.constants or (CONSTANTS if self.protocol == "fit" else tuple(SCORING_SPACE))


@dataclass(frozen=True)
class TuningFile:
    """A corpus as named on the command line: a source, and a word list of its own (file or language) if given."""

    source: str | Path
    lexicon: str | None = None

    @classmethod
    def parse(cls, argument: str) -> TuningFile:
        """Read ``FILE`` or ``FILE=LEXICON``, where FILE may be any source.

        The sign may also stand in the name of something that exists, before a name that ends as those of corpora do
        ("day=7/*.parquet") or with a slash, and once in each setting of an address ("s3://bucket/a.jsonl?region=eu").
        """
        source, sign, lexicon = argument.rpartition("=")
        last_setting = re.search(r"[?&][^&=]*=[^&=]*$", argument) if is_address(argument) else None
        if not sign or last_setting or Path(argument).exists() or lexicon.endswith((*ENDINGS, "/")):
            return cls(argument)
        if not source or not lexicon:
            raise CorpusError(f"a corpus is FILE or FILE=LEXICON, got {argument!r}")
        return cls(source, lexicon)


class LabelledSwipes(NamedTuple):
    """Swipes on one layout: what decodes them (a Keyboard or a Shark2), the words meant, and the texts before them."""

    board: Any
    gestures: list[Gesture]
    words: list[str]
    texts: list[str | None]


class Workplace(Protocol):
    """Where swipes are searched: on this machine, or elsewhere with the same results."""

    def encode(self, part: LabelledSwipes) -> SwipeSet:
        """Run the networks over swipes on one layout."""

    def match(self, part: LabelledSwipes) -> StoredBeams:
        """Match swipes on one layout with SHARK2."""


class ThisMachine:
    """Searches in this process, on all cores."""

    def encode(self, part: LabelledSwipes) -> SwipeSet:
        """Run the networks over swipes on one layout."""
        return TuningSet.encode(*part)

    def match(self, part: LabelledSwipes) -> StoredBeams:
        """Match swipes on one layout with SHARK2."""
        return store_matches(part.board, part.gestures, part.words)


@dataclass(frozen=True, eq=False)
class TuningCorpus:
    """The usable swipes of one corpus, by layout."""

    name: str
    parts: tuple[LabelledSwipes, ...]

    def describe(self) -> dict[str, Any]:
        """Name, size and a hash of all that tuning sees of it: words, layouts and swipes."""
        digest = hashlib.sha256()
        for board, gestures, words, texts in self.parts:
            digest.update(board.lexicon.frequencies.tobytes())
            digest.update("\n".join(board.lexicon.words).encode())
            digest.update(json.dumps(board.layout.to_dict(), sort_keys=True).encode())
            for gesture, word, text in zip(gestures, words, texts, strict=True):
                digest.update(f"{word}\n{text}".encode())
                digest.update(np.concatenate([gesture.x, gesture.y, gesture.t]).tobytes())
        return {
            "file": self.name,
            "lexicon": ", ".join(sorted({part.board.lexicon.name for part in self.parts})),
            "swipes": sum(len(part.words) for part in self.parts),
            "sha256": digest.hexdigest()[:16],
        }


@dataclass(frozen=True)
class Tuning:
    """The tuned constants in the form that decoding reads, the searches behind them, and what they reach."""

    constants: dict[str, dict[str, Any]]  # {"scoring": ...} or {"shark2": ...}
    searches: dict[str, StudyResult]  # by stage
    metrics: dict[str, Any]
    provenance: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; ``load_scoring`` reads its "scoring" object, ``load_shark2`` its "shark2"."""
        return {**self.constants, "provenance": self.provenance, "metrics": self.metrics}


def read_corpus(file: TuningFile, shelf: LayoutShelf, evaluation: EvaluationOptions) -> TuningCorpus:
    """The usable swipes of a corpus."""
    options = replace(evaluation, lexicon=file.lexicon, language=None) if file.lexicon else evaluation
    by_layout: dict[str, list[Swipe]] = defaultdict(list)
    name = source_name(file.source)
    for path in find_files(file.source):
        for swipe in read_targets(path, shelf, options):
            by_layout[swipe.layout].append(swipe)
    count = sum(len(swipes) for swipes in by_layout.values())
    if count < MIN_SWIPES:
        raise CorpusError(f"{name}: tuning needs at least {MIN_SWIPES} usable swipes, got {count}")
    parts = []
    for layout, swipes in by_layout.items():
        words = [swipe.word for swipe in swipes]
        board, _ = keyboard_for(with_aspect(shelf[layout], swipes), words, options)
        parts.append(LabelledSwipes(board, [swipe.gesture for swipe in swipes], words, prompt_texts(swipes)))
    return TuningCorpus(name, tuple(parts))


def tune(
    files: Sequence[TuningFile],
    evaluation: EvaluationOptions,
    options: TuningOptions,
    bar: Bar,
    workplace: Workplace | None = None,
) -> Tuning:
    """Tune on some corpora.

    Args:
        files: the corpora.
        evaluation: how swipes are read and decoded; its scoring holds the constants to begin with.
        options: what to tune.
        bar: shows the progress of each step.
        workplace: where swipes are searched; by default on this machine. The constants do not depend on it.
    """
    if evaluation.method == "shark2" and options.stage == "pruning":
        raise GlissandoError("shark2 has no pruning stage: its endpoint radii are fixed; use --stage scoring")
    shelf = LayoutShelf(evaluation.layouts)
    corpora = [read_corpus(file, shelf, evaluation) for file in files]
    session = _Session(corpora, _identify(corpora, evaluation), options, bar, workplace or ThisMachine())
    return session.tune_shark2() if evaluation.method == "shark2" else session.tune_keyboard()


@dataclass(frozen=True, eq=False)
class _Session:
    """One tuning: its corpora, what identifies it, and how it is done."""

    corpora: Sequence[TuningCorpus]
    identity: dict[str, Any]
    options: TuningOptions
    bar: Bar
    workplace: Workplace

    def tune_keyboard(self) -> Tuning:
        """Tune the pruning, then the scoring on the beams."""
        options = self.options
        with self.bar("encoding"):
            sets = [[self.workplace.encode(part) for part in corpus.parts] for corpus in self.corpora]
        keyboard: Keyboard = self.corpora[0].parts[0].board
        before = scoring = keyboard.scoring
        measured = scoring.geometric or bool({"location_weight", "shape_weight"} & set(options.chosen))
        searches = {}
        if options.stage != "scoring":
            fixed = {"pruning_floor": scoring.pruning_floor}
            plan = self._plan("pruning", PRUNING_SPACE, options.trials_pruning, fixed)
            with self.bar("pruning") as progress:
                searches["pruning"] = search_pruning(sets, scoring, plan, progress)
            scoring = scoring.changed(searches["pruning"].best)
        with self.bar("searching"):
            beams = [search_corpus(parts, scoring, measured) for parts in sets]
            start = [search_corpus(parts, before, measured) for parts in sets] if scoring != before else beams
        if options.stage != "pruning" and options.protocol == "fit":
            with self.bar("fitting"):
                scoring = fit_scoring(beams, scoring, options.chosen)
        elif options.stage != "pruning":
            space = choose_constants(options.chosen)
            plan = self._plan("scoring", space, options.trials_scoring, _outside(scoring, space))
            with self.bar("scoring") as progress:
                searches["scoring"] = search_scoring(beams, scoring, plan, progress)
            scoring = fit_scoring(beams, scoring.changed(searches["scoring"].best), constants=())
        if keyboard.matcher is not None:
            with self.bar("matching"):
                start = [join_beams([part.matched_beams(before) for part in parts]) for parts in sets]
                beams = [join_beams([part.matched_beams(scoring) for part in parts]) for parts in sets]
                if options.stage != "pruning":
                    scoring = fit_matched(beams, scoring, options.chosen)
        metrics = {"before": self._measure(start, before), "after": self._measure(beams, scoring)}
        return self._result({"scoring": scoring.to_dict()}, searches, metrics)

    def tune_shark2(self) -> Tuning:
        """Tune SHARK2's location and frequency weight by tt1mm5, as the report does, on matches that are made once."""
        with self.bar("matching"):
            beams = [join_beams([self.workplace.match(part) for part in corpus.parts]) for corpus in self.corpora]
        before: Shark2Constants = self.corpora[0].parts[0].board.constants
        plan = self._plan("shark2", SHARK2_SPACE, self.options.trials_scoring, _outside(before, SHARK2_SPACE))
        with self.bar("scoring") as progress:
            search = search_shark2(beams, before, plan, progress)
        after = replace(before, **search.best)  # type: ignore[arg-type]
        metrics = {
            "before": self._measure(beams, as_scoring(before)), "after": self._measure(beams, as_scoring(after)),
        }  # fmt: skip
        return self._result({"shark2": after.to_dict()}, {"scoring": search}, metrics)

    def _plan(self, stage: str, space: Space, trials: int, fixed: dict[str, float]) -> Plan:
        """A search whose study is named by all that its values depend on, so that another corpus cannot join it."""
        options = self.options
        depends = {"stage": stage, "space": _plain(space), "seed": options.seed, **self.identity, "fixed": fixed}
        digest = hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()
        return Plan(space, trials, options.seed, options.storage, f"glissando-{stage}-{digest[:16]}")

    def _measure(self, beams: Sequence[StoredBeams], scoring: Scoring) -> dict[str, Any]:
        """What constants reach: shares in percent and the cross-entropy, by corpus and in the mean."""
        rows = [
            {
                "n": len(part.targets), "recall": part.recall, **part.accuracy(scoring),
                "cross_entropy": cross_entropy(part, scoring),
            }
            for part in beams
        ]  # fmt: skip
        names = [corpus.name for corpus in self.corpora]
        distinct = [name if name not in names[:i] else f"{name} ({i + 1})" for i, name in enumerate(names)]
        mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "n"}
        return {"corpora": dict(zip(distinct, rows, strict=True)), "mean": mean}

    def _result(self, constants: dict[str, Any], searches: dict[str, StudyResult], metrics: dict[str, Any]) -> Tuning:
        """The result with its provenance."""
        provenance = {
            "command": self.options.command,
            "protocol": self.options.protocol,
            "corpora": self.identity["corpora"],
            "weights": self.identity["weights"],
            "trials": {stage: len(search.history) for stage, search in searches.items()},
            "resumed": {stage: search.resumed for stage, search in searches.items()},
            "spaces": {stage: _plain(search.space) for stage, search in searches.items()},
            "widened": [note for search in searches.values() for note in search.widened],
            "studies": {stage: search.study for stage, search in searches.items()},
            "seed": self.options.seed,
            "versions": {
                "glissando": version("glissando"),
                "optuna": version("optuna"),
                "python": platform.python_version(),
            },
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        }
        return Tuning(constants, searches, metrics, provenance)


def _identify(corpora: Sequence[TuningCorpus], evaluation: EvaluationOptions) -> dict[str, Any]:
    """Everything that two workers must have in common before they may share a study."""
    board = corpora[0].parts[0].board
    weights = context = None
    if isinstance(board, Keyboard):
        context = None if board.context is None else board.context.header
        networks = (board.encoder, board.decoder, board.matcher)
        files = [network.weights for network in networks if network is not None]
        weights = "+".join(file.card["sha256"][:16] for file in files)
    described = [corpus.describe() for corpus in corpora]
    return {
        "corpora": described, "weights": weights, "context": context, "beam": evaluation.beam,
        "method": evaluation.method,
    }  # fmt: skip


def _outside(constants: Scoring | Shark2Constants, space: Space) -> dict[str, float]:
    """The constants that a search does not vary."""
    return {name: value for name, value in asdict(constants).items() if name not in space}


def _plain(space: Space) -> dict[str, list[float]]:
    return {name: [end.low, end.high] for name, end in space.items()}
