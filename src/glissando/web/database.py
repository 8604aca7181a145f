"""The database under the store: SQLite (one file, the default) or PostgreSQL (by URL), with full durability."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from glissando.errors import GlissandoError, MissingExtraError
from glissando.web.schema import migrate

BUSY_SECONDS = 10.0  # how long a write waits for others before the caller is told to come back


class StoreError(GlissandoError):
    """The store cannot be opened or does not hold what was asked for."""


class StoreBusyError(StoreError):
    """The store cannot answer now; the same request may succeed later."""


class Database:
    """Transactions. Safe to use from several threads and, with PostgreSQL, processes."""

    def __init__(self, url: str) -> None:
        self.engine = _open(url)
        # SQLite has one writer; threads of this process queue here, fairly, instead of polling its lock.
        self._writing = threading.Lock() if self.engine.dialect.name == "sqlite" else nullcontext()
        with self.write() as connection:
            migrate(connection)

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()

    def insert(self, table: Any) -> Any:
        """An INSERT that can say ON CONFLICT."""
        return (sqlite if self.engine.dialect.name == "sqlite" else postgresql).insert(table)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that has been written to the disk when the block ends."""
        with self._writing, _translated(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one state of the store and keeps nobody from writing."""
        with _translated(), self.engine.execution_options(reading=True).connect() as connection:
            yield connection


@contextmanager
def _translated() -> Iterator[None]:
    """Raise StoreBusyError where the database cannot answer now."""
    try:
        yield
    except (OperationalError, PoolTimeoutError) as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise StoreBusyError(f"the store cannot answer now: {cause}") from error
    except DataError as error:  # PostgreSQL has no text with NUL characters
        raise StoreError(f"the store cannot hold this: {str(error.orig).splitlines()[0]}") from error
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
    cursor.execute("PRAGMA secure_delete = ON")  # what a donor withdraws is overwritten in the file
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes the lock when it begins: a transaction that began as a reader could not take it later."""
    reading = connection.get_execution_options().get("reading", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _safe(url: str) -> str:
    """A URL without its password."""
    head, _, tail = url.rpartition("@")
    return f"{head.split('://')[0]}://...@{tail}" if head else url
