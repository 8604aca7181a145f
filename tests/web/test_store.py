import threading
import time
from dataclasses import replace
from datetime import date

import pytest
from web.donating import AGREED, BAD, GOOD, HELLO, POINTS, donation, open_secret, rows

from glissando.web import store as store_module
from glissando.web.codes import session_id
from glissando.web.schema import metadata, sessions
from glissando.web.selection import Selection
from glissando.web.store import (
    HOUR,
    LATE_HOURS,
    ConfirmationError,
    Sentence,
    UnknownSentenceError,
    UnknownSessionError,
    Withdrawal,
    WithdrawnError,
)


@pytest.fixture
def session(store):
    store.remember([HELLO])
    return open_secret(store)


def test_what_is_saved_comes_back(store, session):
    given = donation(sampling="coalesced", pixel_ratio=2.0, key_width_mm=5.5, hand="left", posture="thumb")
    assert store.save(session, given, GOOD).stored
    (row,) = rows(store)
    assert (row.word, row.word_index, row.sentence, row.text) == ("Hello", 0, HELLO.id, "Hello <b>world</b>")
    assert (row.layout, row.language, row.orientation, row.pointer) == ("qwerty", "en", "portrait", "touch")
    assert (row.canvas_width, row.canvas_height, row.skipped) == (390, 156, False)
    assert row.points == "[[0.1,0.5,0.0],[0.9,0.5,300.0]]"
    assert (row.sampling, row.pixel_ratio, row.key_width_mm, row.hand, row.posture) == (
        "coalesced", 2.0, 5.5, "left", "thumb",
    )  # fmt: skip
    assert (row.read, row.sure, row.right, row.cost, row.key_distance, row.flagged) == (
        "hello", 0.9, True, 0.1, 0.4, False,
    )  # fmt: skip
    assert row.rate == 3.3
    assert store.consents() == {row.consent: AGREED}


def test_points_per_second():
    assert donation(points=[(0, 0, 0.0), (0, 0, 250.0), (0, 0, 500.0)]).rate == 4.0
    assert donation(points=()).rate is donation(points=POINTS[:1]).rate is None


def test_retries_upsert_and_the_latest_attempt_stays(store, session):
    def tries(attempt, points=POINTS, check=GOOD):
        saved = store.save(session, donation(attempt=attempt, points=points), check)
        return saved.tries if saved.stored else None

    assert [tries(1), tries(1), tries(3, (), None)] == [1, 1, 2]
    assert tries(2) is None  # delayed on its way
    assert tries(3, (), None) == 2  # sent again: its answer was lost
    assert rows(store) == []
    (row,) = rows(store, skipped=True)
    assert (row.attempt, row.skipped, row.points, row.read, row.flagged) == (3, True, "[]", None, None)


def test_nothing_stored_tells_who_or_when_exactly(store, session):
    store.save(session, donation())
    receipt = store_module.receipt_of(session)
    other = store.open_session(1, AGREED)
    store.withdraw(other.secret)
    with store.database.engine.connect() as connection:
        held = [row for table in metadata.sorted_tables for row in connection.execute(table.select())]
    assert not any(code in str(row) for row in held for code in (session, receipt, other.receipt))  # only hashes
    names = {column.name for table in metadata.sorted_tables for column in table.columns}
    assert not names & {"ip", "address", "user_agent", "agent", "name", "email"}
    times = [
        getattr(row, name) for row in held for name in ("created", "expires", "received", "hour") if name in row._fields
    ]
    assert len(times) == 4
    assert all(moment % HOUR == 0 for moment in [*times, other.expires])
    assert other.expires >= time.time() + HOUR


def test_a_donor_withdraws_all_they_gave(store, session):
    other = open_secret(store)
    store.save(session, donation(0))
    store.save(session, donation(1, "<b>world</b>", ()))
    store.save(other, donation(0))
    assert store.withdraw(session) == Withdrawal(session_id(session), 2)
    assert [row.session for row in rows(store, skipped=True)] == [session_id(other)]
    assert store.withdraw(session) == Withdrawal(session_id(session), 2)  # the same answer
    assert store.withdraw("nobody") == Withdrawal(None, 0)


def test_the_receipt_withdraws_as_the_secret_does_and_does_nothing_else(store):
    store.remember([HELLO])
    one = store.open_session(1, AGREED)
    store.save(one.secret, donation())
    with pytest.raises(UnknownSessionError):
        store.save(one.receipt, donation(1))
    typed = one.receipt.lower().replace("-", " ").replace("0", "o")
    assert [store.withdraw(code).removed for code in (typed, one.receipt, one.secret)] == [1, 1, 1]
    assert rows(store) == []


def test_nothing_withdrawn_comes_back(store, session):
    store.save(session, donation(attempt=1))
    store.withdraw(session)
    for late in (donation(attempt=1), donation(1, "<b>world</b>"), donation(attempt=7)):
        with pytest.raises(WithdrawnError):
            store.save(session, late)
    assert rows(store, skipped=True) == []


def test_a_secret_withdraws_for_ever_although_it_adds_no_more(store, session, monkeypatch):
    store.save(session, donation())
    later = time.time() + 10 * 365 * 24 * HOUR
    monkeypatch.setattr(store_module.time, "time", lambda: later)
    with pytest.raises(UnknownSessionError):
        store.save(session, donation(1, "<b>world</b>"))
    open_secret(store)  # looks for sessions to forget
    assert store.withdraw(session).removed == 1


def test_waiting_swipes_may_come_late_but_not_for_ever(store, session, monkeypatch):
    ends = time.time() // HOUR * HOUR + 2 * HOUR  # one hour was asked for; the end is rounded up
    monkeypatch.setattr(store_module.time, "time", lambda: ends + LATE_HOURS * HOUR)
    assert store.save(session, donation()).stored
    monkeypatch.setattr(store_module.time, "time", lambda: ends + LATE_HOURS * HOUR + 1)
    with pytest.raises(UnknownSessionError):
        store.save(session, donation())


def test_sessions_without_swipes_are_forgotten(store, session, monkeypatch):
    def held():
        with store.database.read() as connection:
            return {row.id for row in connection.execute(sessions.select())}

    empty, start = open_secret(store), time.time()
    store.save(session, donation())
    monkeypatch.setattr(store_module.time, "time", lambda: start + (LATE_HOURS + 1) * HOUR)
    open_secret(store)
    assert session_id(empty) in held()  # a swipe may still arrive
    monkeypatch.setattr(store_module.time, "time", lambda: start + (LATE_HOURS + 4) * HOUR)
    latest = open_secret(store)
    assert {session_id(session), session_id(latest)} <= held()
    assert session_id(empty) not in held()


def test_sentences_are_remembered_once(store):
    store.remember([HELLO])
    store.remember([HELLO, Sentence.of("de", HELLO.text)])
    assert store.sentence(HELLO.id) == HELLO
    assert store.sentence(Sentence.of("de", HELLO.text).id).language == "de"
    with pytest.raises(UnknownSentenceError, match="no sentence 'x'"):
        store.sentence("x")


@pytest.fixture
def filled(store, session):
    """A store with two donors: a good swipe, a skip, a bad swipe, and one of an older server."""
    other = open_secret(store)
    store.save(session, donation(0), GOOD)
    store.save(session, donation(1, "<b>world</b>", ()))
    store.save(other, donation(0, layout="dvorak"), BAD)
    store.save(other, donation(1, "<b>world</b>", language="de"))
    return store, session, other


def test_removal_needs_the_number_that_was_seen(filled):
    store, _, other = filled
    flagged = Selection(flagged=True)
    assert store.count(flagged) == 1
    with pytest.raises(ConfirmationError, match="1 would be removed, not 2; nothing was removed"):
        store.remove(flagged, 2)
    assert store.count(Selection()) == 4
    assert store.remove(flagged, 1) == 1
    assert store.save(other, donation(0, layout="dvorak"), GOOD).stored  # the donor goes on


def test_a_removed_donor_does_not_come_back(filled):
    store, session, _ = filled
    donor = Selection(session=session_id(session))
    with pytest.raises(ConfirmationError):
        store.remove(donor, 1)
    assert store.remove(donor, 2) == 2
    with pytest.raises(WithdrawnError):
        store.save(session, donation(0))
    assert store.withdraw(session).removed == 2
    assert store.count(Selection()) == 2


def test_a_withdrawal_and_swipes_at_once_leave_nothing(store, session):
    """Whatever a swipe's answer is, after the withdrawal none is left, and its count is of all that were stored."""
    results, started = [], threading.Barrier(9)

    def give(worker):
        started.wait()
        for index in range(10):
            try:
                results.append(store.save(session, donation(100 * worker + index)).stored)
            except WithdrawnError:
                results.append(False)

    threads = [threading.Thread(target=give, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    started.wait()
    removed = store.withdraw(session).removed
    for thread in threads:
        thread.join()
    assert len(results) == 80
    assert removed == sum(results)
    assert rows(store, skipped=True) == []


def test_many_threads_write_and_read_at_once(store, session):
    failures = []
    sentences = [Sentence.of("en", f"Sentence {number}") for number in range(40)]

    def work(worker):
        try:
            store.remember(sentences[::-1] if worker % 2 else sentences)
            for index in range(10):
                store.save(session, donation(100 * worker + index, attempt=index))
                store.count(Selection())
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(rows(store)) == 80


def test_an_export_does_not_keep_donors_from_writing(store, session):
    for index in range(3):
        store.save(session, donation(index))
    reading = store.rows(Selection())
    next(reading)
    store.save(session, donation(7))
    assert len(list(reading)) == 2  # what was there when the export began


def test_selections(filled):
    store, session, _ = filled

    def words(**conditions):
        return sorted(
            (row.layout, row.language, row.word_index) for row in rows(store, Selection(**conditions), skipped=True)
        )

    good, skip, bad, old = ("qwerty", "en", 0), ("qwerty", "en", 1), ("dvorak", "en", 0), ("qwerty", "de", 1)
    assert words() == sorted([good, skip, bad, old])
    assert words(layout="dvorak") == [bad]
    assert words(language="de") == [old]
    assert words(session=session_id(session)) == [good, skip]
    assert words(flagged=True) == [bad]
    assert words(flagged=False) == [good]  # neither skipped words nor swipes that were not checked
    assert words(max_key_distance=0.4) == [good]
    assert words(max_key_distance=9, flagged=True) == [bad]
    received = rows(store)[0].received
    today = time.strftime("%Y-%m-%d", time.gmtime(received))
    day = date.fromisoformat(today)
    assert len(words(since=day, until=day)) == 4
    assert words(until=day.replace(year=day.year - 1)) == words(since=day.replace(year=day.year + 1)) == []
    assert len(words(until=day.max)) == 4


def test_what_a_selection_is():
    assert Selection().empty
    assert not Selection(flagged=False).empty
    assert Selection(session="a").donor == "a"
    assert replace(Selection(session="a"), flagged=True).donor is Selection(flagged=True).donor is None
