"""Trials in an Optuna storage: a SQLite file, a PostgreSQL server, or a journal on a shared disk."""

from __future__ import annotations

import json
import os
import socket
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from glissando.errors import MissingExtraError, StorageError

FORMS = "sqlite:///FILE, journal:///FILE or postgresql://USER@HOST/DATABASE (four slashes for an absolute path)"
SQLITE_WAIT = 60  # seconds for another worker's write
ATTEMPTS = 5  # several workers may make the tables of one file at the same time; one of them wins
MADE_BY_ANOTHER = ("already exists", "unique", "duplicate", "database is locked")  # what the others are told
CAREFUL = 20  # batches before the end, from which on every write is preceded by a count


class Point(NamedTuple):
    """A trial: the constants tried and the value they reached."""

    constants: dict[str, float]
    value: float


def load_optuna() -> Any:
    """Optuna, quiet; an error says which extra brings it."""
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("tuning needs optuna: pip install 'glissando[train]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna


class Ledger:
    """The finished trials of one study, in an order that all workers see alike.

    Args:
        storage: a URL, or None for memory.
        name: the study; it is made where it does not exist.
    """

    def __init__(self, storage: str | None, name: str) -> None:
        optuna = load_optuna()
        self._url = storage or "memory"
        self._complete = optuna.trial.TrialState.COMPLETE
        self._failed = optuna.trial.TrialState.FAIL
        opened = open_storage(storage) if storage else None
        with _reaching(self._url):
            self._study = optuna.create_study(
                study_name=name, storage=opened, direction="maximize", load_if_exists=True
            )

    def points(self) -> list[Point]:
        """Every finished trial, in order."""
        with _reaching(self._url):
            trials = self._study.get_trials(deepcopy=False, states=(self._complete,))
        return [Point(dict(trial.params), float(trial.value)) for trial in trials]

    def join(self) -> int:
        """Enter a worker in the study; its number is its own, so that no two workers propose the same.

        The entry is a failed trial without constants that says who joined and when.
        """
        with _reaching(self._url):
            entry = self._study.ask()
            for name, value in (("worker", socket.gethostname()), ("process", os.getpid()), ("joined", time.time())):
                entry.set_user_attr(name, value)
            self._study.tell(entry, state=self._failed)
        return int(entry.number)

    def write(self, points: Sequence[Point], space: Mapping[str, tuple[float, float]], goal: int) -> None:
        """Add finished trials, made in a space, until there are ``goal``; the rest is dropped."""
        if not points:
            return
        optuna = load_optuna()
        ends = {name: optuna.distributions.FloatDistribution(*pair) for name, pair in space.items()}
        with _reaching(self._url):
            careful = self._count() > goal - CAREFUL * len(points)
            for point in points:
                if careful and self._count() >= goal:
                    return
                trial = optuna.create_trial(params=point.constants, distributions=ends, value=point.value)
                self._study.add_trial(trial)

    def _count(self) -> int:
        return len(self._study.get_trials(deepcopy=False, states=(self._complete,)))


def open_storage(url: str) -> Any:
    """Reach the storage behind a URL, or say in one line why not."""
    scheme, _, rest = url.partition("://")
    if scheme == "journal" and len(rest) > 1:
        return _open_journal(url, Path(rest[1:]))
    if scheme == "sqlite" and len(rest) > 1:
        _check_folder(url, Path(rest[1:].partition("?")[0]))
        return _open_database(url, {"connect_args": {"timeout": SQLITE_WAIT}})
    if scheme in ("postgres", "postgresql", "postgresql+psycopg") and rest:
        return _open_database(f"postgresql+psycopg://{rest}", {"connect_args": {"connect_timeout": 10}})
    raise StorageError(f"no storage {url!r}; a storage is {FORMS}")


def _open_journal(url: str, path: Path) -> Any:
    optuna = load_optuna()
    _check_folder(url, path)
    with _reaching(url):
        backend = optuna.storages.journal.JournalFileBackend(str(path))
        return optuna.storages.JournalStorage(backend)


def _check_folder(url: str, path: Path) -> None:
    if not path.parent.is_dir():
        raise StorageError(f"storage {url} cannot be reached: no directory {path.parent}; a storage is {FORMS}")


def _open_database(url: str, engine: dict[str, Any]) -> Any:
    """An SQL storage; workers that start together make its tables together, so all but one try again."""
    from sqlalchemy.exc import SQLAlchemyError

    optuna = load_optuna()
    for attempt in range(ATTEMPTS):
        try:
            storage = optuna.storages.RDBStorage(url, engine_kwargs={**engine, "pool_pre_ping": True})
        except (ImportError, OSError, SQLAlchemyError, optuna.exceptions.OptunaError) as error:
            said = f"{error} {error.__cause__}".lower()
            if attempt + 1 < ATTEMPTS and any(sign in said for sign in MADE_BY_ANOTHER):
                time.sleep(0.2 * (attempt + 1))
                continue
            raise _unreachable(url, error) from None
        if url.startswith("sqlite"):
            _write_ahead(storage.engine)
        return storage
    raise AssertionError("the last attempt returns or raises")


def _write_ahead(engine: Any) -> None:
    """Let SQLite sync once in a while instead of at every trial: a power cut may cost the last few, never the file."""
    from sqlalchemy import event

    def prepare(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    event.listen(engine, "connect", prepare)
    engine.dispose()


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    """Turn what a storage raises into one line that names it; anything else is a bug and goes through."""
    from sqlalchemy.exc import SQLAlchemyError

    optuna = load_optuna()
    try:
        yield
    except (OSError, json.JSONDecodeError, SQLAlchemyError, optuna.exceptions.OptunaError) as error:
        raise _unreachable(url, error) from None


def _unreachable(url: str, error: Exception) -> StorageError:
    """The first line of what went wrong; of a password in the URL nothing is shown."""
    if isinstance(error, ImportError):
        return StorageError(f"PostgreSQL needs psycopg: pip install 'psycopg[binary]' ({error})")
    origin = error.__cause__ or error
    reason = str(origin).strip().splitlines()[0] if str(origin).strip() else type(origin).__name__
    return StorageError(f"storage {_without_password(url)} cannot be reached: {reason}")


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    place = rest.rpartition("@")[2]
    user = rest.rpartition("@")[0].partition(":")[0]
    return f"{scheme}://{user}@{place}" if user else url
