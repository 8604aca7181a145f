"""Stores of older versions: as those versions made them, with what their donors gave."""

import pytest
from sqlalchemy import create_engine, inspect, text
from web.donating import GOOD, HELLO, donation, open_secret, rows

from glissando.errors import GlissandoError
from glissando.web.codes import session_id
from glissando.web.schema import VERSION, metadata, schema
from glissando.web.store import HOUR, Store

SECRET = "a secret of an older server"
ENDS = 2_000_000_000  # seconds, not at a full hour

VERSION_1 = [
    "CREATE TABLE glissando_schema (version INTEGER NOT NULL)",
    "CREATE TABLE sessions (id VARCHAR(32) NOT NULL PRIMARY KEY, created INTEGER NOT NULL, expires INTEGER NOT NULL)",
    "CREATE TABLE sentences (id VARCHAR(16) NOT NULL PRIMARY KEY, language VARCHAR(16) NOT NULL, text TEXT NOT NULL)",
    "CREATE TABLE swipes (session VARCHAR(32) NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,"
    " sentence VARCHAR(16) NOT NULL REFERENCES sentences (id), word_index INTEGER NOT NULL, word TEXT NOT NULL,"
    " layout TEXT NOT NULL, language VARCHAR(16) NOT NULL, points TEXT NOT NULL, skipped BOOLEAN NOT NULL,"
    " canvas_width FLOAT NOT NULL, canvas_height FLOAT NOT NULL, orientation VARCHAR(16) NOT NULL,"
    " received INTEGER NOT NULL, PRIMARY KEY (session, sentence, word_index))",
    "CREATE INDEX swipes_by_hour ON swipes (received)",
    "INSERT INTO glissando_schema VALUES (1)",
    f"INSERT INTO sessions VALUES ('{session_id(SECRET)}', 1999998000, {ENDS})",
    f"INSERT INTO sentences VALUES ('{HELLO.id}', 'en', 'Hello <b>world</b>')",
    f"INSERT INTO swipes VALUES ('{session_id(SECRET)}', '{HELLO.id}', 0, 'Hello', 'qwerty', 'en',"
    " '[[0.1,0.5,0.0],[0.9,0.5,300.0]]', false, 390, 156, 'portrait', 1999998000)",
]
VERSION_2 = [
    *VERSION_1,
    "ALTER TABLE swipes ADD COLUMN pointer VARCHAR(8) NOT NULL DEFAULT 'touch'",
    "ALTER TABLE swipes ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0",
    "UPDATE glissando_schema SET version = 2",
]


@pytest.fixture(params=[VERSION_1, VERSION_2], ids=["version 1", "version 2"])
def old_url(request, store_url):
    engine = create_engine(store_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        for step in request.param:
            connection.execute(text(step))
    engine.dispose()
    return store_url


def test_an_old_store_is_brought_up_to_date(old_url):
    store = Store(old_url)
    inspector = inspect(store.database.engine)
    for table in metadata.sorted_tables:
        columns = {column["name"]: column["nullable"] for column in inspector.get_columns(table.name)}
        assert columns == {column.name: bool(column.nullable) for column in table.columns}
    (row,) = rows(store)
    assert (row.word, row.pointer, row.attempt, row.tries, row.consent) == ("Hello", "touch", 0, 1, "")
    assert (row.read, row.flagged, row.rate) == (None, None, None)
    with store.database.read() as connection:
        expires = connection.execute(text("SELECT expires FROM sessions")).scalar()
        assert connection.execute(schema.select()).all() == [(VERSION,)]
    assert expires % HOUR == 0
    assert ENDS < expires <= ENDS + HOUR
    assert store.save(SECRET, donation(attempt=1), GOOD).tries == 2
    assert store.save(open_secret(store), donation(), GOOD).stored
    store.close()
    again = Store(old_url)  # nothing is left to do
    assert len(rows(again)) == 2
    assert again.withdraw(SECRET).removed == 1
    again.close()


def test_a_store_of_a_newer_version_is_left_alone(store, store_url):
    with store.database.write() as connection:
        connection.execute(schema.update().values(version=VERSION + 1))
    with pytest.raises(GlissandoError, match=f"has schema {VERSION + 1}"):
        Store(store_url)
