import sqlite3
import threading
import time
from dataclasses import replace

import pytest
from sqlalchemy import text

from glissando.errors import GlissandoError
from glissando.web import store as store_module
from glissando.web.schema import VERSION, metadata, schema
from glissando.web.store import (
    HOUR,
    LATE_HOURS,
    Donation,
    Sentence,
    Store,
    StoreBusyError,
    UnknownSentenceError,
    UnknownSessionError,
    session_id,
)

HELLO = Sentence.of("en", "Hello <b>world</b>")
POINTS = ((0.1, 0.5, 0.0), (0.9, 0.5, 300.0))


def donation(index=0, word="Hello", points=POINTS, attempt=1):
    return Donation(HELLO.id, index, word, "qwerty", "en", points, 390, 156, "portrait", "touch", attempt)


@pytest.fixture
def session(store):
    store.remember([HELLO])
    return store.open_session(1)[0]


def rows(store, **options):
    return list(store.export(**options))


def test_what_is_saved_comes_back(store, session):
    assert store.save(session, donation())
    (row,) = rows(store)
    assert (row.word, row.word_index, row.sentence, row.text) == ("Hello", 0, HELLO.id, "Hello <b>world</b>")
    assert (row.layout, row.language, row.orientation, row.pointer) == ("qwerty", "en", "portrait", "touch")
    assert (row.canvas_width, row.canvas_height, row.skipped) == (390, 156, False)
    assert row.points == "[[0.1,0.5,0.0],[0.9,0.5,300.0]]"


def test_retries_upsert_and_the_latest_attempt_stays(store, session):
    assert store.save(session, donation(attempt=1))
    assert store.save(session, donation(attempt=3, points=()))
    assert not store.save(session, donation(attempt=2))  # delayed on its way
    assert store.save(session, donation(attempt=3, points=()))  # sent again: its answer was lost
    assert rows(store) == []
    (row,) = rows(store, skipped=True)
    assert (row.attempt, row.skipped, row.points) == (3, True, "[]")


def test_nothing_stored_tells_who_or_when_exactly(store, session):
    store.save(session, donation())
    with store.engine.connect() as connection:
        held = [str(row) for table in metadata.sorted_tables for row in connection.execute(table.select())]
    assert not any(session in row for row in held)  # only a hash of the secret
    names = {column.name for table in metadata.sorted_tables for column in table.columns}
    assert not names & {"ip", "address", "user_agent", "agent", "name", "email"}
    assert rows(store)[0].received % HOUR == 0


def test_a_donor_deletes_all_they_gave(store, session):
    other, _ = store.open_session(1)
    store.save(session, donation(0))
    store.save(session, donation(1, "<b>world</b>", ()))
    store.save(other, donation(0))
    assert store.delete_session(session) == 2
    assert [row.session for row in rows(store, skipped=True)] == [session_id(other)]
    with pytest.raises(UnknownSessionError):
        store.delete_session(session)
    with pytest.raises(UnknownSessionError):
        store.save(session, donation())


def test_waiting_swipes_may_come_late_but_not_for_ever(store, session, monkeypatch):
    now = time.time()
    monkeypatch.setattr(store_module.time, "time", lambda: now + (LATE_HOURS + 0.9) * HOUR)
    assert store.save(session, donation())
    monkeypatch.setattr(store_module.time, "time", lambda: now + (LATE_HOURS + 1.1) * HOUR)
    with pytest.raises(UnknownSessionError):
        store.save(session, donation())


def test_sentences_are_remembered_once(store):
    store.remember([HELLO])
    store.remember([HELLO, Sentence.of("de", HELLO.text)])
    assert store.sentence(HELLO.id) == HELLO
    assert store.sentence(Sentence.of("de", HELLO.text).id).language == "de"
    with pytest.raises(UnknownSentenceError, match="no sentence 'x'"):
        store.sentence("x")


def test_summary_counts(store, session):
    other, _ = store.open_session(1)
    store.save(session, donation(0))
    store.save(session, donation(1, "<b>world</b>", ()))
    store.save(other, replace(donation(0), layout="dvorak"))
    groups, hours = store.summary()
    assert set(groups) == {("qwerty", "en", 1, 1, 1), ("dvorak", "en", 1, 0, 1)}
    assert [row.swipes for row in hours] == [3]
    assert {row.layout for row in store.recent(5)} == {"qwerty", "dvorak"}


def test_many_threads_write_and_read_at_once(store, session):
    failures = []
    sentences = [Sentence.of("en", f"Sentence {number}") for number in range(40)]

    def work(worker):
        try:
            store.remember(sentences[::-1] if worker % 2 else sentences)
            for index in range(10):
                store.save(session, donation(100 * worker + index, attempt=index))
                store.recent(3)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(rows(store)) == 80


def test_a_store_of_another_version_is_brought_up_to_date_or_left_alone(store, store_url, session):
    store.save(session, donation())
    with store.engine.begin() as connection:
        connection.execute(text("ALTER TABLE swipes DROP COLUMN pointer"))
        connection.execute(text("ALTER TABLE swipes DROP COLUMN attempt"))
        connection.execute(schema.update().values(version=1))
    migrated = Store(store_url)
    (row,) = rows(migrated)
    assert (row.word, row.pointer, row.attempt) == ("Hello", "touch", 0)
    assert migrated.save(session, donation(attempt=1))
    with migrated.engine.begin() as connection:
        assert connection.execute(schema.select()).all() == [(VERSION,)]
        connection.execute(schema.update().values(version=VERSION + 1))
    migrated.close()
    with pytest.raises(GlissandoError, match=f"has schema {VERSION + 1}"):
        Store(store_url)


def test_sqlite_loses_nothing_and_says_come_back_while_it_is_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0.05)
    store = Store(f"sqlite:///{tmp_path}/swipes.db")
    with store.engine.connect() as connection:
        asked = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    assert asked == ["wal", 2]
    other = sqlite3.connect(tmp_path / "swipes.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError, match="locked"):
        store.open_session(1)
    other.execute("ROLLBACK")
    other.close()
    store.open_session(1)
    store.close()


def test_an_export_does_not_keep_donors_from_writing(store, session):
    for index in range(3):
        store.save(session, donation(index))
    reading = store.export()
    next(reading)
    store.save(session, donation(7))
    assert len(list(reading)) == 2  # what was there when the export began


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
        Store(url)
    assert "secret" not in str(caught.value)
