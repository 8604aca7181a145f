"""Tables of the store, and the steps that bring an older one up to date.

No column says who a donor is: there is no address, no user agent, and only a hash of the session's secret. All times
are seconds since 1970, of full hours: finer ones would help to link a session with a person.
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

VERSION = 3

metadata = MetaData()

schema = Table("glissando_schema", metadata, Column("version", Integer, nullable=False))

sessions = Table(
    "sessions", metadata,
    Column("id", String(32), primary_key=True),  # a hash of the donor's secret
    Column("created", Integer, nullable=False),
    Column("expires", Integer, nullable=False),
    Column("receipt", String(32), unique=True),  # a hash of the code that withdraws; sessions of version 2 have none
    Column("consent", String(16), nullable=False, server_default=""),  # which text was agreed to; "" before version 3
)  # fmt: skip

consents = Table(
    "consents", metadata,
    Column("version", String(16), primary_key=True),  # a hash of the text
    Column("text", Text, nullable=False),  # JSON, as it was shown
)  # fmt: skip

# Sessions that were withdrawn: what still arrives for them is refused.
withdrawals = Table(
    "withdrawals", metadata,
    Column("session", String(32), primary_key=True),
    Column("receipt", String(32), unique=True),
    Column("hour", Integer, nullable=False),
    Column("removed", Integer, nullable=False),  # swipes and skipped words
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
    Column("tries", Integer, nullable=False, server_default="1"),  # attempts at this word that were stored
    Column("received", Integer, nullable=False),
    Column("sampling", String(16)),  # how the points were got: coalesced, or one per frame
    Column("rate", Float),  # points per second
    Column("pixel_ratio", Float),
    Column("key_width_mm", Float),
    Column("hand", String(8)),
    Column("posture", String(8)),
    # The check; null where there was none: a skipped word, or a swipe of version 2.
    Column("read", Text),  # the word that the server read
    Column("sure", Float),  # its probability
    Column("right", Boolean),  # whether it is the word asked for
    Column("cost", Float),  # of the word asked for, nats per letter
    Column("key_distance", Float),  # greatest distance to the word's keys, key widths
    Column("flagged", Boolean),
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


def _to_3(connection: Connection) -> None:
    """Version 3 adds consents, withdrawals and checks, and rounds the end of a session up to the hour."""
    for step in (
        "ALTER TABLE sessions ADD COLUMN receipt VARCHAR(32)",
        "CREATE UNIQUE INDEX sessions_by_receipt ON sessions (receipt)",
        "ALTER TABLE sessions ADD COLUMN consent VARCHAR(16) NOT NULL DEFAULT ''",
        "UPDATE sessions SET expires = (expires / 3600 + 1) * 3600 WHERE expires % 3600 <> 0",
        "CREATE TABLE consents (version VARCHAR(16) NOT NULL PRIMARY KEY, text TEXT NOT NULL)",
        "CREATE TABLE withdrawals (session VARCHAR(32) NOT NULL PRIMARY KEY, receipt VARCHAR(32) UNIQUE,"
        " hour INTEGER NOT NULL, removed INTEGER NOT NULL)",
        "ALTER TABLE swipes ADD COLUMN tries INTEGER NOT NULL DEFAULT 1",
    ):
        connection.execute(text(step))
    kinds = {
        "sampling": "VARCHAR(16)", "rate": "FLOAT", "pixel_ratio": "FLOAT", "key_width_mm": "FLOAT",
        "hand": "VARCHAR(8)", "posture": "VARCHAR(8)", "read": "TEXT", "sure": "FLOAT", '"right"': "BOOLEAN",
        "cost": "FLOAT", "key_distance": "FLOAT", "flagged": "BOOLEAN",
    }  # fmt: skip
    for name, kind in kinds.items():
        connection.execute(text(f"ALTER TABLE swipes ADD COLUMN {name} {kind}"))


STEPS: dict[int, Callable[[Connection], None]] = {2: _to_2, 3: _to_3}
