"""Tables of the store, and the steps that bring an older one up to date.

No column says who a donor is: there is no address, no user agent, and only a hash of the session's secret.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
    text,
)

from glissando.errors import GlissandoError

VERSION = 2

metadata = MetaData()

schema = Table("glissando_schema", metadata, Column("version", Integer, nullable=False))

sessions = Table(
    "sessions", metadata,
    Column("id", String(32), primary_key=True),  # a hash of the donor's secret
    Column("created", Integer, nullable=False),  # seconds since 1970, the hour they fall in
    Column("expires", Integer, nullable=False),
)  # fmt: skip

sentences = Table(
    "sentences", metadata,
    Column("id", String(16), primary_key=True),  # a hash of language and text
    Column("language", String(16), nullable=False),
    Column("text", Text, nullable=False),
)  # fmt: skip

swipes = Table(
    "swipes", metadata,
    Column("session", String(32), ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("sentence", String(16), ForeignKey("sentences.id"), primary_key=True),
    Column("word_index", Integer, primary_key=True),
    Column("word", Text, nullable=False),
    Column("layout", Text, nullable=False),
    Column("language", String(16), nullable=False),
    Column("points", Text, nullable=False),  # JSON [[x, y, t_ms], ...]; empty for a skipped word
    Column("skipped", Boolean, nullable=False),
    Column("canvas_width", Float, nullable=False),
    Column("canvas_height", Float, nullable=False),
    Column("orientation", String(16), nullable=False),
    Column("pointer", String(8), nullable=False, server_default="touch"),
    Column("attempt", Integer, nullable=False, server_default="0"),  # counts up in a session; the latest one stays
    Column("received", Integer, nullable=False),  # seconds since 1970, the hour they fall in
    Index("swipes_by_hour", "received"),
)  # fmt: skip


def migrate(connection: Connection) -> None:
    """Make the tables, or bring those of an older version up to date, in the caller's transaction."""
    if connection.dialect.name == "postgresql":
        # Several server processes may start at once: one migrates, the others wait.
        connection.execute(text("SELECT pg_advisory_xact_lock(7106111)"))
    version = _version(connection)
    if version > VERSION:
        raise GlissandoError(f"the store has schema {version}; this glissando knows {VERSION}: install a newer one")
    if version == 0:
        metadata.create_all(connection)
        connection.execute(schema.insert().values(version=VERSION))
        return
    for later in range(version + 1, VERSION + 1):
        STEPS[later](connection)
        connection.execute(schema.update().values(version=later))


def _version(connection: Connection) -> int:
    """The schema's version, 0 where there is none."""
    if not inspect(connection).has_table(schema.name):
        return 0
    return connection.execute(select(schema.c.version)).scalar_one()


def _to_2(connection: Connection) -> None:
    """Version 2 adds the pointer and the attempt of a swipe."""
    connection.execute(text("ALTER TABLE swipes ADD COLUMN pointer VARCHAR(8) NOT NULL DEFAULT 'touch'"))
    connection.execute(text("ALTER TABLE swipes ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0"))


STEPS: dict[int, Callable[[Connection], None]] = {2: _to_2}
