"""Search a box of constants for the best with Optuna, in a study that several processes can share and resume.

Every worker proposes constants with a tree-structured Parzen estimator and writes each trial to the study's storage. A
trial that was running when its worker stopped does not count, so the same command goes on from the finished ones.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from glissando.errors import MissingExtraError, ScoringError, StorageError

EDGE = 0.02  # an optimum within this share of the range from its end may lie beyond it
MAX_WIDENINGS = 8  # of one range; at 256 times its width the response is flat
EXTRA = 2  # each widening adds 1 / EXTRA of the trials
STARTUP = 50  # random trials before the estimator begins

STORAGES = "sqlite:///FILE, journal:///FILE or postgresql://USER@HOST/DATABASE (four slashes for an absolute path)"
SQLITE_WAIT = 60  # seconds for another worker's write
ATTEMPTS, RETRY = 5, 0.5  # to open a database, and seconds between: another worker may be creating the tables

Progress = Callable[[int, int], None]
Objective = Callable[[dict[str, float]], float]


@dataclass(frozen=True)
class Range:
    """Where to look for a constant.

    Attributes:
        low, high: the first range.
        lowest, highest: limits for widening it.
    """

    low: float
    high: float
    lowest: float = -math.inf
    highest: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ScoringError(f"a range needs two ends, the lower first, got {self.low} and {self.high}")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def widened(self, value: float) -> Range:
        """Twice as wide on the side where ``value`` lies near the end or beyond it; the same if it lies inside."""
        span = self.high - self.low
        if value < self.low + EDGE * span:
            return replace(self, low=max(self.low - span, self.lowest))
        if value > self.high - EDGE * span:
            return replace(self, high=min(self.high + span, self.highest))
        return self


Space = Mapping[str, Range]


class Trial(NamedTuple):
    """The constants of one trial and the value they reached."""

    constants: dict[str, float]
    value: float


@dataclass(frozen=True)
class Plan:
    """A search to make.

    Attributes:
        space: the constants and where to look for them.
        trials: how many, by all workers together.
        seed: repeats a search that one worker makes without interruption.
        storage: URL of the study's storage; None keeps it in memory.
        name: the study's name in the storage.
    """

    space: Space
    trials: int
    seed: int = 0
    storage: str | None = None
    name: str = "glissando"

    def __post_init__(self) -> None:
        if not self.space:
            raise ScoringError("there is no constant to tune")
        if self.trials < 1:
            raise ScoringError(f"a search needs 1 trial or more, got {self.trials}")


@dataclass(frozen=True)
class StudyResult:
    """A finished search.

    Attributes:
        best: the constants with the highest value; of equal ones the first.
        value: their value.
        space: the ranges at the end.
        widened: one sentence for every range that was widened, in order.
        history: every trial that counts, in order.
        resumed: how many of them were finished before this process joined.
        study: the study's name in the storage.
        objective: what was maximised.
    """

    best: dict[str, float]
    value: float
    space: dict[str, Range]
    widened: tuple[str, ...]
    history: tuple[Trial, ...]
    resumed: int
    study: str
    objective: Objective = field(repr=False)


class Schedule(NamedTuple):
    """The ranges to search and the number of trials to reach, given the trials so far."""

    space: dict[str, Range]
    goal: int
    widened: tuple[str, ...] = ()


def schedule(plan: Plan, history: Sequence[Trial]) -> Schedule:
    """Widen every range at whose edge the search ended, and add trials.

    It depends on nothing but the trials in their order, so all workers agree.
    """
    now = Schedule(dict(plan.space), plan.trials)
    while len(history) >= now.goal and len(now.widened) < MAX_WIDENINGS * len(plan.space):
        best = _best(history[: now.goal])
        space = {name: end.widened(best.constants[name]) for name, end in now.space.items()}
        moved = tuple(
            f"{name}: the best of {now.goal} trials, {best.constants[name]:.4g}, lies at the edge of "
            f"{old.low:.4g} to {old.high:.4g}; widened to {space[name].low:.4g} to {space[name].high:.4g}"
            for name, old in now.space.items()
            if space[name] != old
        )
        if not moved:
            break
        now = Schedule(space, now.goal + max(plan.trials // EXTRA, 1), now.widened + moved)
    return now


def maximise(
    objective: Objective, plan: Plan, start: Mapping[str, float], progress: Progress | None = None
) -> StudyResult:
    """Search a space, alone or together with other workers on the same study.

    Args:
        objective: constants to the value to maximise.
        plan: the search.
        start: the constants of the first trial, if they lie in the space.
        progress: called with (trials finished by all workers, trials to make).
    """
    with _storage_errors(plan.storage):
        study = _open_study(plan)
        history = _history(study)
        resumed, now = len(history), schedule(plan, history)
        worker = _join(study) if resumed < now.goal else 0
        if worker == 0 and not history and all(start[name] in end for name, end in now.space.items()):
            first = {name: start[name] for name in now.space}
            ends, value = _distributions(now.space), objective(first)
            study.add_trial(load_optuna().create_trial(params=first, distributions=ends, value=value))
            history = _history(study)
        while len(history) < now.goal:
            _optimise(study, objective, now, (plan.seed, worker, len(now.widened)), progress)
            history = _history(study)
            now = schedule(plan, history)
    counted = tuple(history[: now.goal])
    best = _best(counted)
    return StudyResult(
        best.constants, best.value, now.space, now.widened, counted, min(resumed, now.goal), plan.name, objective
    )


def _optimise(
    study: Any, objective: Objective, now: Schedule, seed: tuple[int, ...], progress: Progress | None
) -> None:
    """Make trials until the study has as many as it should."""
    ends = _distributions(now.space)

    def report(study: Any, _: Any) -> None:
        done = _finished(study)
        if progress:
            progress(min(len(done), now.goal), now.goal)
        if len(done) >= now.goal:
            study.stop()

    def attempt(trial: Any) -> float:
        return objective({name: trial.suggest_float(name, end.low, end.high) for name, end in ends.items()})

    study.sampler = _sampler(ends, seed, min(STARTUP, max(now.goal // 4, 1)))
    study.optimize(attempt, callbacks=[report])


def _sampler(ends: dict[str, Any], seed: tuple[int, ...], startup: int) -> Any:
    """A Parzen estimator of all constants together: length bonus and exponent depend on each other."""

    class Estimator(load_optuna().samplers.TPESampler):  # type: ignore[misc]
        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            """Optuna's own guess is empty as soon as a range was widened."""
            return ends

    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    return Estimator(seed=number, multivariate=True, n_startup_trials=startup)


def _distributions(space: Space) -> dict[str, Any]:
    optuna = load_optuna()
    return {name: optuna.distributions.FloatDistribution(end.low, end.high) for name, end in space.items()}


def _finished(study: Any) -> list[Any]:
    """The study's finished trials as Optuna has them."""
    trials: list[Any] = study.get_trials(deepcopy=False, states=(load_optuna().trial.TrialState.COMPLETE,))
    return trials


def _history(study: Any) -> list[Trial]:
    """The finished trials in the order they were finished, which all workers see alike."""
    ordered = sorted(_finished(study), key=lambda trial: (trial.datetime_complete, trial.number))
    return [Trial(dict(trial.params), float(trial.value)) for trial in ordered]


def _best(history: Sequence[Trial]) -> Trial:
    """The trial with the highest value; ``max`` keeps the first of equals."""
    return max(history, key=lambda trial: trial.value)


def _join(study: Any) -> int:
    """A number for this worker that no other has: that of a failed trial. It makes workers propose different trials."""
    trial = study.ask()
    study.tell(trial, state=load_optuna().trial.TrialState.FAIL)
    return int(trial.number)


def load_optuna() -> Any:
    """Import Optuna and silence it; an error names the extra that installs it."""
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("tuning needs optuna: pip install 'glissando[train]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna


def _open_study(plan: Plan) -> Any:
    storage = open_storage(plan.storage) if plan.storage else None
    return load_optuna().create_study(study_name=plan.name, storage=storage, direction="maximize", load_if_exists=True)


def open_storage(url: str) -> Any:
    """Open the Optuna storage behind a URL."""
    scheme, _, rest = url.partition("://")
    file = Path(rest[1:].partition("?")[0])
    if scheme in ("journal", "sqlite") and len(rest) > 1:
        if not file.parent.is_dir():
            raise StorageError(f"storage {url} cannot be reached: no directory {file.parent}; a storage is {STORAGES}")
        if scheme == "sqlite":
            return _open_database(url, {"timeout": SQLITE_WAIT})
        storages = load_optuna().storages
        lock = storages.journal.JournalFileOpenLock(str(file)) if sys.platform == "win32" else None
        return storages.JournalStorage(storages.journal.JournalFileBackend(str(file), lock_obj=lock))
    if scheme in ("postgres", "postgresql", "postgresql+psycopg") and rest:
        return _open_database(f"postgresql+psycopg://{rest}", {"connect_timeout": 10})
    raise StorageError(f"no storage {url!r}; a storage is {STORAGES}")


def _open_database(url: str, connect: dict[str, Any]) -> Any:
    """An SQL storage. Workers that start together create its tables together: all but one fail, and try again."""
    from sqlalchemy.exc import SQLAlchemyError

    storage, options = load_optuna().storages.RDBStorage, {"connect_args": connect, "pool_pre_ping": True}
    for _ in range(ATTEMPTS - 1):
        with suppress(SQLAlchemyError):
            return storage(url, engine_kwargs=options)
        time.sleep(RETRY)
    return storage(url, engine_kwargs=options)


@contextmanager
def _storage_errors(url: str | None) -> Iterator[None]:
    """Turn what a storage raises into one line that names the storage without its password."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except ImportError as error:
        raise StorageError(f"PostgreSQL needs psycopg: pip install 'psycopg[binary]' ({error})") from None
    except (OSError, json.JSONDecodeError, SQLAlchemyError, load_optuna().exceptions.OptunaError) as error:
        origin = error.__cause__ or error
        reason = (str(origin).strip().splitlines() or [type(origin).__name__])[0]
        raise StorageError(f"storage {_without_password(url or 'memory')} cannot be reached: {reason}") from None


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    user, _, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}@{place}" if user else url
