"""A tuning from files to constants: read the corpora, run the stages, measure, and say how it was done."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe
from glissando.errors import GlissandoError
from glissando.evaluation.evaluate import AnyKeyboard, EvaluationOptions
from glissando.evaluation.matched import MatchedSet, as_scoring, match_corpus, search_shark2
from glissando.evaluation.stored import StoredBeams, tt1mm5
from glissando.evaluation.study import Found, Objective, Plan, Progress, Space
from glissando.evaluation.tune import (
    BATCH,
    PRUNING_SPACE,
    PRUNING_TRIALS,
    SCORING_SPACE,
    SCORING_TRIALS,
    SHARK2_SPACE,
    TuningCorpus,
    TuningSet,
    choose_constants,
    fit_temperature,
    quality,
    recall,
    search_pruning,
    search_scoring,
)
from glissando.evaluation.tuning_corpora import Corpus, Groups, identify, read_corpus
from glissando.keyboard import Keyboard
from glissando.scoring import Scoring
from glissando.shark2 import Shark2, Shark2Constants

STAGES = ("pruning", "scoring", "all")
Bar = Callable[[str], AbstractContextManager[Progress | None]]


@dataclass(frozen=True)
class TuningOptions:
    """What to tune and how.

    Attributes:
        stage: "pruning", "scoring" or "all".
        constants: the scoring constants to tune; the others keep their values.
        trials_pruning, trials_scoring: trials of each stage, all workers together.
        seed: repeats a tuning made by one worker in one go.
        storage: URL of the Optuna storage; None keeps the studies in memory.
    """

    stage: str = "all"
    constants: tuple[str, ...] = tuple(SCORING_SPACE)
    trials_pruning: int = PRUNING_TRIALS
    trials_scoring: int = SCORING_TRIALS
    seed: int = 0
    storage: str | None = None

    def __post_init__(self) -> None:
        if self.stage not in STAGES:
            raise GlissandoError(f"no stage {self.stage!r}; there are {', '.join(STAGES)}")
        choose_constants(self.constants)


@dataclass(frozen=True)
class Stage:
    """One stage that was run: its study, what it found, and the objective it climbed."""

    name: str
    study: str
    found: Found
    objective: Objective = field(repr=False)


@dataclass(frozen=True)
class Tuning:
    """What a tuning came to: the constants in the form that decoding reads, where they come from, what they reach."""

    constants: dict[str, dict[str, float]]  # {"scoring": ...} or {"shark2": ...}
    stages: tuple[Stage, ...]
    metrics: dict[str, Any]
    provenance: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; ``load_scoring`` reads its "scoring" object, ``load_shark2`` its "shark2"."""
        return {**self.constants, "provenance": self.provenance, "metrics": self.metrics}


def run_tuning(
    corpora: Sequence[Corpus], evaluation: EvaluationOptions, options: TuningOptions, bar: Bar, command: str = ""
) -> Tuning:
    """Tune on some corpora, every one counting the same.

    Args:
        corpora: what to tune on.
        evaluation: how swipes are read and decoded; its scoring holds the constants to begin with.
        options: what to tune.
        bar: shows the progress of each step.
        command: goes into the provenance.
    """
    if evaluation.method == "shark2" and options.stage == "pruning":
        raise GlissandoError("shark2 has no pruning stage: its endpoint radii are fixed; use --stage scoring")
    shelf = LayoutShelf(evaluation.layouts)
    groups = [read_corpus(corpus, shelf, evaluation) for corpus in corpora]
    identity = identify(corpora, groups, evaluation)
    tune = _tune_shark2 if evaluation.method == "shark2" else _tune_encoder
    constants, stages, metrics = tune([corpus.path.name for corpus in corpora], groups, identity, options, bar)
    provenance = {
        "command": command,
        "corpora": identity["corpora"],
        "weights": identity["weights"],
        "trials": {stage.name: len(stage.found.history) for stage in stages},
        "resumed": {stage.name: stage.found.resumed for stage in stages},
        "spaces": {stage.name: _plain(stage.found.space) for stage in stages},
        "widened": [note for stage in stages for note in stage.found.widened],
        "studies": {stage.name: stage.study for stage in stages},
        "seed": options.seed,
        "versions": {
            "glissando": version("glissando"),
            "optuna": version("optuna"),
            "python": platform.python_version(),
        },
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    return Tuning(constants, tuple(stages), metrics, provenance)


def _tune_encoder(
    names: Sequence[str], groups: Sequence[Groups], identity: dict[str, Any], options: TuningOptions, bar: Bar
) -> tuple[dict[str, dict[str, float]], list[Stage], dict[str, Any]]:
    """Pruning on recall, then scoring on the beams."""
    with bar("encoding"):
        sets = [TuningCorpus(name, tuple(map(_encoded, parts))) for name, parts in zip(names, groups, strict=True)]
    before = scoring = _keyboard(groups[0][0][0]).scoring
    measured = scoring.geometric or bool({"location_weight", "shape_weight"} & set(options.constants))
    stages: list[Stage] = []
    if options.stage in ("pruning", "all"):
        stages.append(_prune(sets, scoring, identity, options, bar))
        scoring = replace(scoring, **stages[-1].found.best)
    with bar("searching"):
        beams = [part.beams(scoring, measured) for part in sets]
        started = [part.beams(before, measured) for part in sets] if scoring != before else beams
    if options.stage in ("scoring", "all"):
        stages.append(_rank(beams, scoring, identity, options, bar))
        scoring = fit_temperature(beams, replace(scoring, **stages[-1].found.best))
    metrics = {"before": _measure(names, started, before), "after": _measure(names, beams, scoring)}
    return {"scoring": scoring.to_dict()}, stages, metrics


def _prune(
    sets: Sequence[TuningCorpus], scoring: Scoring, identity: dict[str, Any], options: TuningOptions, bar: Bar
) -> Stage:
    """Run stage one."""
    plan = _plan(
        "pruning",
        PRUNING_SPACE,
        options.trials_pruning,
        {
            **identity,
            **_fixed(scoring, PRUNING_SPACE, (*PRUNING_SPACE, "pruning_floor")),
        },
        options,
    )
    with bar("pruning") as progress:
        found = search_pruning(sets, scoring, plan, progress)
    return Stage("pruning", plan.name, found, lambda choice: recall(sets, replace(scoring, **choice)))


def _rank(
    beams: Sequence[StoredBeams], scoring: Scoring, identity: dict[str, Any], options: TuningOptions, bar: Bar
) -> Stage:
    """Run stage two."""
    space = choose_constants(options.constants)
    plan = _plan("scoring", space, options.trials_scoring, {**identity, **_fixed(scoring, space)}, options)
    plan = replace(plan, batch=BATCH)
    with bar("scoring") as progress:
        found = search_scoring(beams, scoring, plan, progress)
    return Stage("scoring", plan.name, found, lambda choice: quality(beams, replace(scoring, **choice)))


def _tune_shark2(
    names: Sequence[str], groups: Sequence[Groups], identity: dict[str, Any], options: TuningOptions, bar: Bar
) -> tuple[dict[str, dict[str, float]], list[Stage], dict[str, Any]]:
    """Location and frequency weight on tt1mm5, over matches made once with the constants to begin with."""
    beams = []
    for name, parts in zip(names, groups, strict=True):
        sets = [
            MatchedSet.of(_shark2(one), [s.gesture for s in swipes], [s.word for s in swipes]) for one, swipes in parts
        ]
        with bar("matching") as progress:
            beams.append(match_corpus(name, sets, progress))
    before = _shark2(groups[0][0][0]).constants
    depends = {**identity, **_fixed(before, SHARK2_SPACE)}
    plan = replace(_plan("shark2", SHARK2_SPACE, options.trials_scoring, depends, options), batch=BATCH)
    with bar("scoring") as progress:
        found = search_shark2(beams, before, plan, progress)

    def reached(choice: dict[str, float]) -> float:
        return quality(beams, as_scoring(_with(before, choice)))

    after = _with(before, found.best)
    metrics = {"before": _measure(names, beams, as_scoring(before)), "after": _measure(names, beams, as_scoring(after))}
    return {"shark2": after.to_dict()}, [Stage("scoring", plan.name, found, reached)], metrics


def _encoded(part: tuple[AnyKeyboard, list[Swipe]]) -> TuningSet:
    decoder, swipes = part
    return TuningSet.encode(_keyboard(decoder), [swipe.gesture for swipe in swipes], [swipe.word for swipe in swipes])


def _keyboard(decoder: AnyKeyboard) -> Keyboard:
    assert isinstance(decoder, Keyboard)
    return decoder


def _shark2(decoder: AnyKeyboard) -> Shark2:
    assert isinstance(decoder, Shark2)
    return decoder


def _with(constants: Shark2Constants, choice: Mapping[str, float]) -> Shark2Constants:
    return replace(constants, **choice)  # type: ignore[arg-type]


def _measure(names: Sequence[str], beams: Sequence[StoredBeams], scoring: Scoring) -> dict[str, Any]:
    """What constants reach, in percent, by corpus and in the mean that the search maximises."""
    rows = [{"n": len(part.targets), "recall": part.recall, **tt1mm5(part, scoring)} for part in beams]
    mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "n"}
    return {"corpora": dict(zip(_distinct(names), rows, strict=True)), "mean": mean}


def _distinct(names: Sequence[str]) -> list[str]:
    """Names with a number where one occurs again."""
    return [name if name not in names[:i] else f"{name} ({i + 1})" for i, name in enumerate(names)]


def _fixed(constants: Scoring | Shark2Constants, space: Space, among: Sequence[str] | None = None) -> dict[str, Any]:
    """What the value of a trial depends on besides the constants tried, of all constants or of some."""
    kept = {name: value for name, value in asdict(constants).items() if among is None or name in among}
    return {"fixed": {name: value for name, value in kept.items() if name not in space}}


def _plan(stage: str, space: Space, trials: int, depends: dict[str, Any], options: TuningOptions) -> Plan:
    """A search whose study is named by all it depends on, so that another corpus cannot join it."""
    everything = {"stage": stage, "space": _plain(space), "seed": options.seed, **depends}
    digest = hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()
    return Plan(space, trials, options.seed, options.storage, f"glissando-{stage}-{digest[:16]}")


def _plain(space: Space) -> dict[str, list[float]]:
    return {name: [end.low, end.high] for name, end in space.items()}
