import sqlite3

import pytest

from glissando.errors import GlissandoError
from glissando.web import database as database_module
from glissando.web.database import Database, StoreBusyError, StoreError
from glissando.web.schema import sentences


def test_sqlite_loses_nothing_and_says_come_back_while_it_is_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.05)
    database = Database(f"sqlite:///{tmp_path}/swipes.db")
    with database.engine.connect() as connection:
        names = ("journal_mode", "synchronous", "secure_delete")
        asked = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]
    assert asked == ["wal", 2, 1]
    other = sqlite3.connect(tmp_path / "swipes.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError, match="locked"), database.write():
        pass
    other.execute("ROLLBACK")
    other.close()
    with database.write():
        pass
    database.close()


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_text_that_postgresql_cannot_hold_is_the_callers_fault(store_url):
    database = Database(store_url)
    with pytest.raises(StoreError, match="cannot hold"), database.read() as connection:
        connection.execute(sentences.select().where(sentences.c.id == "a\0b"))
    database.close()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "no database URL"),
        ("mysql://root:secret@host/db", "SQLite and PostgreSQL|needs"),
        ("sqlite:////no/such/folder/swipes.db", "cannot answer now"),
    ],
)
def test_what_is_no_store(url, message):
    with pytest.raises(GlissandoError, match=message) as caught:
        Database(url)
    assert "secret" not in str(caught.value)
