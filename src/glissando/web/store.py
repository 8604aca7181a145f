"""The collected swipes: sessions, sentences, swipes and withdrawals."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, case, delete, exists, func, or_, select

from glissando.errors import GlissandoError
from glissando.web.checking import Check
from glissando.web.codes import new_secret, receipt_id, receipt_of, session_id
from glissando.web.consent import Consent
from glissando.web.database import Database, StoreError
from glissando.web.schema import consents, sentences, sessions, swipes, withdrawals
from glissando.web.selection import Selection

HOUR = 3600
LATE_HOURS = 24 * 7  # how long after its end a session's waiting swipes may still arrive


class UnknownSessionError(StoreError):
    """No such session: never opened, or ended long ago."""


class WithdrawnError(StoreError):
    """The session was withdrawn; nothing of it is taken any more."""


class UnknownSentenceError(StoreError):
    """No such sentence was ever handed out."""


class ConfirmationError(GlissandoError):
    """Not as much as was confirmed would be removed."""


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
class Session:
    """What a donor gets of a session: the secret and the receipt, which are not stored, and the hour it ends."""

    secret: str
    receipt: str
    expires: int


@dataclass(frozen=True)
class Withdrawal:
    """A withdrawn session: its hash, None where no session is known; and how many swipes and skipped words it had."""

    session: str | None
    removed: int


@dataclass(frozen=True)
class Donation:
    """One attempt at one word of a sentence.

    Attributes:
        sentence, word_index, word: which word.
        layout, language: of the sentence as it was typed.
        points: (x, y, t_ms) over the letter area; none if the word was skipped.
        canvas_width, canvas_height: of the letter area in pixels.
        orientation: portrait or landscape.
        pointer: touch, pen or mouse.
        attempt: counts up in a session.
        sampling: coalesced or frame; None where not known, like the rest.
        pixel_ratio: device pixels per pixel.
        key_width_mm: width of a key in millimetres.
        hand: left or right.
        posture: thumb, finger or table.
    """

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
    sampling: str | None = None
    pixel_ratio: float | None = None
    key_width_mm: float | None = None
    hand: str | None = None
    posture: str | None = None

    @property
    def rate(self) -> float | None:
        """Points per second."""
        seconds = (self.points[-1][2] - self.points[0][2]) / 1000 if self.points else 0.0
        return round((len(self.points) - 1) / seconds, 1) if seconds > 0 else None


@dataclass(frozen=True)
class Saved:
    """Whether an attempt is kept (a later one may have come first), and how often the word was tried."""

    stored: bool
    tries: int


class Store:
    """Sessions, sentences, swipes and withdrawals. Safe to use from several threads and, with PostgreSQL, processes."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self._upsert = _upsert(self.database)
        self._swept = 0  # the hour in which forgotten sessions were looked for

    def close(self) -> None:
        """Give the connections back."""
        self.database.close()

    def open_session(self, hours: float, consent: Consent) -> Session:
        """Start a session of at least so many hours, with the text that the donor agreed to."""
        secret, now = new_secret(), this_hour()
        session = Session(secret, receipt_of(secret), now + (math.ceil(hours) + 1) * HOUR)
        row = {
            "id": session_id(secret), "receipt": receipt_id(session.receipt), "created": now,
            "expires": session.expires, "consent": consent.version,
        }  # fmt: skip
        agreed = self.database.insert(consents).values(version=consent.version, text=json.dumps(consent.to_dict()))
        with self.database.write() as connection:
            if now > self._swept:
                self._swept = now
                _forget_empty_sessions(connection, now)
            connection.execute(agreed.on_conflict_do_nothing())
            connection.execute(sessions.insert().values(row))
        return session

    def withdraw(self, code: str) -> Withdrawal:
        """Remove the session of a secret or a receipt with all its swipes, for good; repeated, it says the same."""
        names = session_id(code), receipt_id(code)
        # The lock makes a swipe that is being saved finish first, so that it is removed too.
        held = select(sessions).where(or_(sessions.c.id == names[0], sessions.c.receipt == names[1]))
        past = select(withdrawals).where(or_(withdrawals.c.session == names[0], withdrawals.c.receipt == names[1]))
        with self.database.write() as connection:
            session = connection.execute(held.with_for_update()).one_or_none()
            if session is not None:
                return Withdrawal(session.id, _erase(connection, session))
            earlier = connection.execute(past).one_or_none()
        return Withdrawal(None, 0) if earlier is None else Withdrawal(earlier.session, earlier.removed)

    def remember(self, handed_out: Iterable[Sentence]) -> None:
        """Keep sentences that a donor is about to see: their swipes refer to them."""
        # Sorted: visitors who insert the same sentences in different orders would deadlock in PostgreSQL.
        rows = [asdict(one) for one in sorted(handed_out, key=lambda one: one.id)]
        with self.database.write() as connection:
            connection.execute(self.database.insert(sentences).values(rows).on_conflict_do_nothing())

    def sentence(self, identity: str) -> Sentence:
        """A sentence handed out earlier."""
        with self.database.read() as connection:
            row = connection.execute(select(sentences).where(sentences.c.id == identity)).one_or_none()
        if row is None:
            raise UnknownSentenceError(f"no sentence {identity!r} was handed out")
        return Sentence(row.id, row.language, row.text)

    def save(self, secret: str, donation: Donation, check: Check | None = None) -> Saved:
        """Write one attempt and its check, durably; a later attempt at the same word replaces them."""
        identity = session_id(secret)
        # The lock keeps the session from being withdrawn until the swipe is in it.
        held = select(sessions.c.expires).where(sessions.c.id == identity).with_for_update(read=True, key_share=True)
        with self.database.write() as connection:
            expires = connection.execute(held).scalar()
            if expires is None:
                withdrawn = select(withdrawals).where(withdrawals.c.session == identity)
                if connection.execute(withdrawn).first() is not None:
                    raise WithdrawnError("the session was withdrawn; nothing of it is taken any more")
            if expires is None or expires + LATE_HOURS * HOUR < time.time():
                raise UnknownSessionError("no such session, or it has ended")
            row = connection.execute(self._upsert, _row(identity, donation, check)).one_or_none()
        return Saved(False, 0) if row is None else Saved(True, row.tries)

    def rows(self, selection: Selection, *, skipped: bool = False) -> Iterator[Row[Any]]:
        """Swipes with their sentence's text and their consent, by session, sentence and word, in bounded memory."""
        query = select(swipes, sentences.c.text, sessions.c.consent).join_from(swipes, sentences).join(sessions)
        query = query.where(*selection.conditions())
        if not skipped:
            query = query.where(swipes.c.skipped.is_(False))
        query = query.order_by(swipes.c.session, swipes.c.sentence, swipes.c.word_index)
        with self.database.read() as connection:
            yield from connection.execution_options(yield_per=1000).execute(query)

    def consents(self) -> dict[str, Consent]:
        """Every text that somebody agreed to, by version."""
        with self.database.read() as connection:
            return {
                row.version: Consent.from_dict(json.loads(row.text)) for row in connection.execute(select(consents))
            }

    def count(self, selection: Selection) -> int:
        """How many swipes and skipped words a selection has."""
        with self.database.read() as connection:
            return connection.execute(
                select(func.count()).select_from(swipes).where(*selection.conditions())
            ).scalar_one()

    def remove(self, selection: Selection, confirmed: int) -> int:
        """Remove a selection, if it still has as many swipes and skipped words as were confirmed.

        A selection of a session alone is removed as by its donor: nothing of it comes back.
        """
        with self.database.write() as connection:
            if selection.donor:
                held = select(sessions).where(sessions.c.id == selection.donor).with_for_update()
                session = connection.execute(held).one_or_none()
                removed = 0 if session is None else _erase(connection, session)
            else:
                removed = connection.execute(delete(swipes).where(*selection.conditions())).rowcount
            if removed != confirmed:  # the transaction is rolled back
                raise ConfirmationError(f"{removed:,} would be removed, not {confirmed:,}; nothing was removed")
        return removed


def _upsert(database: Database) -> Any:
    """The statement that writes an attempt where no later one is; its parameters are a row of the table."""
    insert = database.insert(swipes)
    new = insert.excluded
    fixed = ("session", "sentence", "word_index")
    renewed = {column.name: new[column.name] for column in swipes.columns if column.name not in fixed}
    # The same attempt sent again is no further try.
    renewed["tries"] = case((swipes.c.attempt < new.attempt, swipes.c.tries + 1), else_=swipes.c.tries)
    return insert.on_conflict_do_update(
        index_elements=fixed, set_=renewed, where=swipes.c.attempt <= new.attempt
    ).returning(swipes.c.tries)


def _row(session: str, donation: Donation, check: Check | None) -> dict[str, Any]:
    """A row of the table of swipes."""
    return {
        **asdict(donation),
        **(dict.fromkeys(Check.__dataclass_fields__) if check is None else asdict(check)),
        "session": session,
        "points": json.dumps(donation.points, separators=(",", ":")),
        "skipped": not donation.points,
        "tries": 1,
        "rate": donation.rate,
        "received": this_hour(),
    }


def this_hour() -> int:
    """Seconds since 1970, rounded down to the hour."""
    return int(time.time()) // HOUR * HOUR


def _erase(connection: Connection, session: Row[Any]) -> int:
    """Remove a session and its swipes, and remember that it was withdrawn; returns how many swipes it had."""
    removed = connection.execute(delete(swipes).where(swipes.c.session == session.id)).rowcount
    connection.execute(delete(sessions).where(sessions.c.id == session.id))
    row = {"session": session.id, "receipt": session.receipt, "hour": this_hour(), "removed": removed}
    connection.execute(withdrawals.insert().values(row))
    return removed


def _forget_empty_sessions(connection: Connection, now: int) -> None:
    """Delete sessions without swipes for which nothing can arrive any more."""
    used = exists().where(swipes.c.session == sessions.c.id)
    connection.execute(delete(sessions).where(sessions.c.expires < now - LATE_HOURS * HOUR, ~used))
