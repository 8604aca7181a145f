"""The collected swipes, in SQLite (one file, the default) or PostgreSQL (by URL)."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, create_engine, delete, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from glissando.errors import GlissandoError, MissingExtraError
from glissando.web.schema import migrate, sentences, sessions, swipes

HOUR = 3600
LATE_HOURS = 24 * 7  # how long after its end a session's waiting swipes may still arrive
BUSY_SECONDS = 10.0  # how long a write waits for others before the caller is told to come back


class StoreError(GlissandoError):
    """The store cannot be opened or does not hold what was asked for."""


class StoreBusyError(StoreError):
    """The store cannot answer now; the same request may succeed later."""


class UnknownSessionError(StoreError):
    """No such session: never opened, ended long ago, or deleted by its donor."""


class UnknownSentenceError(StoreError):
    """No such sentence was ever handed out."""


@dataclass(frozen=True)
class Sentence:
    """A sentence to swipe; its id is a hash, so that pools may change while swipes are under way."""

    id: str
    language: str
    text: str

    @classmethod
    def of(cls, language: str, text: str) -> Sentence:
        """Make a sentence of its text."""
        return cls(hashlib.sha256(f"{language}\n{text}".encode()).hexdigest()[:16], language, text)


@dataclass(frozen=True)
class Donation:
    """One attempt at one word of a sentence; ``points`` are (x, y, t_ms) over the letter area, none if skipped."""

    sentence: str
    word_index: int
    word: str
    layout: str
    language: str
    points: tuple[tuple[float, ...], ...]
    canvas_width: float
    canvas_height: float
    orientation: str
    pointer: str
    attempt: int


class Store:
    """Sessions, sentences and swipes. Safe to use from several threads and, with PostgreSQL, processes."""

    def __init__(self, url: str) -> None:
        self.engine = _open(url)
        # SQLite has one writer; threads of this process queue here, fairly, instead of polling its lock.
        self._writing = threading.Lock() if self.engine.dialect.name == "sqlite" else nullcontext()
        with self._write() as connection:
            migrate(connection)

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()

    def open_session(self, hours: float) -> tuple[str, int]:
        """Start a session; returns the donor's secret, which is not kept, and when the session ends."""
        secret = secrets.token_urlsafe(24)
        created = _this_hour()
        expires = int(time.time() + hours * HOUR)
        with self._write() as connection:
            connection.execute(sessions.insert().values(id=session_id(secret), created=created, expires=expires))
        return secret, expires

    def delete_session(self, secret: str) -> int:
        """Delete a session and its swipes; returns how many swipes it had."""
        identity = session_id(secret)
        with self._write() as connection:
            deleted = connection.execute(delete(swipes).where(swipes.c.session == identity)).rowcount
            if not connection.execute(delete(sessions).where(sessions.c.id == identity)).rowcount:
                raise UnknownSessionError("no such session; it may have been deleted already")
        return deleted

    def remember(self, handed_out: Iterable[Sentence]) -> None:
        """Keep sentences that a donor is about to see: their swipes refer to them."""
        # Sorted: visitors who insert the same sentences in different orders would deadlock in PostgreSQL.
        rows = [asdict(one) for one in sorted(handed_out, key=lambda one: one.id)]
        with self._write() as connection:
            connection.execute(self._insert(sentences).values(rows).on_conflict_do_nothing())

    def sentence(self, identity: str) -> Sentence:
        """A sentence handed out earlier."""
        with self._read() as connection:
            row = connection.execute(select(sentences).where(sentences.c.id == identity)).one_or_none()
        if row is None:
            raise UnknownSentenceError(f"no sentence {identity!r} was handed out")
        return Sentence(row.id, row.language, row.text)

    def save(self, secret: str, donation: Donation) -> bool:
        """Write one attempt, durably; a later attempt at the same word replaces it.

        Returns:
            Whether this attempt is the one that is kept: False where a later one came first.
        """
        identity = session_id(secret)
        values = {
            **asdict(donation),
            "session": identity,
            "points": json.dumps(donation.points, separators=(",", ":")),
            "skipped": not donation.points,
            "received": _this_hour(),
        }
        insert = self._insert(swipes).values(values)
        renewed = {name: insert.excluded[name] for name in values if name not in ("session", "sentence", "word_index")}
        upsert = insert.on_conflict_do_update(
            index_elements=["session", "sentence", "word_index"],
            set_=renewed,
            where=swipes.c.attempt <= insert.excluded.attempt,
        ).returning(swipes.c.attempt)
        with self._write() as connection:
            expires = connection.execute(select(sessions.c.expires).where(sessions.c.id == identity)).scalar()
            if expires is None or expires + LATE_HOURS * HOUR < time.time():
                raise UnknownSessionError("no such session; it ended or was deleted")
            return connection.execute(upsert).first() is not None

    def export(self, *, skipped: bool = False) -> Iterator[Row[Any]]:
        """Every swipe with its sentence's text, by session, sentence and word, in bounded memory."""
        query = select(swipes, sentences.c.text).join(sentences, swipes.c.sentence == sentences.c.id)
        if not skipped:
            query = query.where(swipes.c.skipped.is_(False))
        query = query.order_by(swipes.c.session, swipes.c.sentence, swipes.c.word_index)
        with self._read() as connection:
            yield from connection.execution_options(yield_per=1000).execute(query)

    def summary(self, hours: int = 48) -> tuple[list[Row[Any]], list[Row[Any]]]:
        """Rows of (layout, language, swipes, skipped, sessions), and rows of (hour, swipes) for the last hours."""
        kept = func.count().filter(swipes.c.skipped.is_(False)).label("swipes")
        skips = func.count().filter(swipes.c.skipped.is_(True)).label("skipped")
        donors = func.count(func.distinct(swipes.c.session)).label("sessions")
        groups = select(swipes.c.layout, swipes.c.language, kept, skips, donors)
        groups = groups.group_by(swipes.c.layout, swipes.c.language).order_by(kept.desc(), swipes.c.layout)
        by_hour = select(swipes.c.received.label("hour"), func.count().label("swipes"))
        by_hour = by_hour.where(swipes.c.received >= _this_hour() - (hours - 1) * HOUR)
        by_hour = by_hour.group_by(swipes.c.received).order_by(swipes.c.received)
        with self._read() as connection:
            return list(connection.execute(groups)), list(connection.execute(by_hour))

    def recent(self, count: int) -> list[Row[Any]]:
        """Swipes of the latest hours, newest hour first, skipped words left out."""
        query = select(swipes).where(swipes.c.skipped.is_(False))
        order = (swipes.c.received.desc(), swipes.c.session, swipes.c.attempt.desc())
        with self._read() as connection:
            return list(connection.execute(query.order_by(*order).limit(count)))

    def _insert(self, table: Any) -> Any:
        """An INSERT that can say ON CONFLICT."""
        return (sqlite if self.engine.dialect.name == "sqlite" else postgresql).insert(table)

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """A transaction that has been written to the disk when the block ends."""
        with self._writing, _translated(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """A connection that sees one state of the store and keeps nobody from writing."""
        with _translated(), self.engine.execution_options(reading=True).connect() as connection:
            yield connection


def session_id(secret: str) -> str:
    """The name of a session in the store and in an export; it does not tell the secret that deletes the session."""
    return hashlib.sha256(secret.encode()).hexdigest()[:32]


def _this_hour() -> int:
    """Seconds since 1970, rounded down to the hour: finer times would help to link a session with a person."""
    return int(time.time()) // HOUR * HOUR


@contextmanager
def _translated() -> Iterator[None]:
    """Raise StoreBusyError where the database cannot answer now."""
    try:
        yield
    except (OperationalError, PoolTimeoutError) as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise StoreBusyError(f"the store cannot answer now: {cause}") from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise StoreBusyError("the store went away; try again") from error
        raise


def _open(url: str) -> Engine:
    """Connect, with full durability."""
    if url.startswith(("postgres://", "postgresql://")):
        url = "postgresql+psycopg://" + url.split("://", 1)[1]
    try:
        engine = create_engine(url, pool_size=8, max_overflow=8, pool_timeout=BUSY_SECONDS, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreError(f"store {_safe(url)} is no database URL: {error}; e.g. sqlite:///swipes.db") from None
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"store {_safe(url)} needs {error.name}: pip install 'glissando[web]'") from None
    if engine.dialect.name not in ("sqlite", "postgresql"):
        raise StoreError(f"store {_safe(url)}: SQLite and PostgreSQL are supported, not {engine.dialect.name}")
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Write-ahead log, every commit on the disk. Transactions are ours: the driver would begin them too late."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes the lock when it begins: a transaction that began as a reader could not take it later."""
    reading = connection.get_execution_options().get("reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _safe(url: str) -> str:
    """A URL without its password."""
    head, _, tail = url.rpartition("@")
    return f"{head.split('://')[0]}://...@{tail}" if head else url
