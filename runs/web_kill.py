"""``kill -9`` in the middle of many donors: is every acknowledged swipe in the store afterwards, once?

    python runs/web_kill.py [--weights FILE.onnx] [--rounds 10] [--donors 50] [--withdraw 0.05] [--postgres]

Starts a server, lets donors swipe at once (some words again and again), kills it without warning after some words, and
starts another one on the same store. Donors go on with their sessions and send again what was not acknowledged, as the
page does. With --withdraw, before so many of the swipes a donor withdraws the session, by its secret or its receipt,
sends a swipe of it again all the same, and goes on with a new session. With --postgres a PostgreSQL of its own is
started and used. Cost: about 8 s a round on two cores.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from web.postgres import running_postgres
from web.serving import CONSENT, Server, running_server

POINTS = [[0.1, 0.5, 0], [0.4, 0.4, 60], [0.7, 0.5, 120], [0.8, 0.6, 200], [0.9, 0.5, 260]]
Key = tuple[str, int]  # sentence, word


@dataclass
class Session:
    """A session: its codes, the words tried and those that the server said it has, with the number of the attempt."""

    secret: str
    receipt: str
    acknowledged: dict[Key, int] = field(default_factory=dict)
    tried: dict[Key, int] = field(default_factory=dict)
    last: dict = field(default_factory=dict)  # the last swipe that the server has
    withdrawing: str = ""  # the code that was sent
    removed: int | None = None  # what the server said to that


@dataclass
class Donor:
    """One person: sessions, the latest last; what is being sent, and how long each swipe took."""

    sessions: list[Session] = field(default_factory=list)
    attempt: int = 0
    pending: dict | None = None
    words: list[tuple[str, int, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def acknowledged(self) -> int:
        return sum(len(one.acknowledged) for one in self.sessions)


async def donate(donor: Donor, client: httpx.AsyncClient, rng: random.Random, withdraw: float = 0.0) -> None:
    """Swipe until the server is gone."""
    try:
        version = (await client.get("/api/collection")).json()["consent"]["version"]
        while not donor.words:
            rows = (await client.get("/api/sentences", params={"count": 50})).json().get("sentences", [])
            donor.words = [(one["id"], i, word["text"]) for one in rows for i, word in enumerate(one["words"])]
        while True:
            if not donor.sessions or donor.sessions[-1].removed is not None:
                answer = await client.post("/api/sessions", json={"consent": True, "version": version})
                if answer.status_code == 201:
                    donor.sessions.append(Session(answer.json()["session"], answer.json()["receipt"]))
                    donor.pending = None
                continue
            session = donor.sessions[-1]
            if not session.withdrawing and session.acknowledged and rng.random() < withdraw:
                session.withdrawing = rng.choice([session.secret, session.receipt])
            await (take_back if session.withdrawing else give)(donor, session, client, rng)
    except httpx.TransportError:
        return


async def give(donor: Donor, session: Session, client: httpx.AsyncClient, rng: random.Random) -> None:
    """Send one swipe."""
    if donor.pending is None:
        donor.pending = next_swipe(donor, session, rng)
    body, start = donor.pending, time.perf_counter()
    key = (body["sentence"], body["word_index"])
    session.tried[key] = body["attempt"]
    answer = await client.post("/api/swipes", json={**body, "session": session.secret})
    donor.times.append(time.perf_counter() - start)
    if answer.status_code == 200:
        session.acknowledged[key], session.last = body["attempt"], body
        donor.pending = None
    elif answer.status_code in (429, 503):
        await asyncio.sleep(0.1)
    else:
        raise AssertionError(f"{answer.status_code}: {answer.text}")


async def take_back(_: Donor, session: Session, client: httpx.AsyncClient, __: random.Random) -> None:
    """Withdraw a session; a swipe that arrives later is refused."""
    answer = await client.post("/api/withdrawals", json={"codes": [session.withdrawing]})
    if answer.status_code in (429, 503):
        await asyncio.sleep(0.1)
        return
    removed = answer.json()["removed"]
    assert len(session.acknowledged) <= removed <= len(session.tried), f"{removed} removed, {session}"
    session.removed = removed
    late = await client.post("/api/swipes", json={**session.last, "session": session.secret})
    assert late.status_code in (410, 429, 503), f"{late.status_code}: {late.text}"


def next_swipe(donor: Donor, session: Session, rng: random.Random) -> dict:
    """A new word, a word once more, or a skip."""
    donor.attempt += 1
    fresh = len(session.acknowledged)
    at = rng.randrange(fresh) if fresh and rng.random() < 0.2 else fresh % len(donor.words)
    sentence, index, word = donor.words[at]
    return {
        "sentence": sentence, "word_index": index, "word": word, "layout": "qwerty", "attempt": donor.attempt,
        "points": [] if rng.random() < 0.1 else POINTS, "canvas_width": 390, "canvas_height": 156,
        "orientation": "portrait", "sampling": "frame",
    }  # fmt: skip


async def one_round(donors: list[Donor], server: Server, words: int, rng: random.Random, withdraw: float) -> None:
    """Let the donors swipe, and kill the server in their midst once it has acknowledged so many more words."""
    limits = httpx.Limits(max_connections=len(donors) + 1)
    before = sum(donor.acknowledged for donor in donors)
    async with httpx.AsyncClient(base_url=server.address, timeout=300, limits=limits) as client:
        tasks = [asyncio.create_task(donate(donor, client, rng, withdraw)) for donor in donors]
        while sum(donor.acknowledged for donor in donors) < before + words and not any(one.done() for one in tasks):
            await asyncio.sleep(0.01)
        server.process.kill()
        await asyncio.gather(*tasks)


def check(url: str, donors: list[Donor]) -> str:
    """Compare the store with what was acknowledged; returns what was found."""
    from glissando.web.codes import session_id
    from glissando.web.database import StoreBusyError
    from glissando.web.selection import Selection
    from glissando.web.store import Store

    for _ in range(600):  # a database may take a while to notice that a server is gone
        try:
            store = Store(url)
            break
        except StoreBusyError:
            time.sleep(0.2)
    rows = list(store.rows(Selection(), skipped=True))
    store.close()
    found: dict[str, dict[Key, int]] = {}
    for row in rows:
        held = found.setdefault(row.session, {})
        assert (row.sentence, row.word_index) not in held, "a word is there twice"
        held[row.sentence, row.word_index] = row.attempt
    sessions = [session for donor in donors for session in donor.sessions]
    count = withdrawn = removed = 0
    for session in sessions:
        held = found.get(session_id(session.secret), {})
        if session.removed is not None:
            assert not held, f"{len(held)} swipes of a withdrawn session came back"
            withdrawn, removed = withdrawn + 1, removed + session.removed
            continue
        if session.withdrawing and not held:
            continue  # withdrawn just before the kill, the answer lost
        for key, attempt in session.acknowledged.items():
            assert key in held, f"an acknowledged swipe is lost: {key}"
            # A later attempt may have been written just before the kill, its answer lost.
            assert attempt <= held[key] <= session.tried[key], f"{attempt} acknowledged, {held[key]} stored"
            count += 1
    text = f"{sum(donor.attempt for donor in donors)} attempts, {count} words acknowledged, {len(rows)} rows"
    gone = f"; {withdrawn} sessions with {removed} rows withdrawn" if withdrawn else ""
    return f"{text}{gone}; none lost, doubled or back"


def run(
    url: str, weights: str, *, rounds: int, donors: int, words: tuple[int, int], withdraw: float = 0.0, seed: int = 0
) -> list[str]:
    """All rounds, each killed after between ``words`` acknowledged words; returns a line for each."""
    rng = random.Random(seed)
    people = [Donor() for _ in range(donors)]
    lines = []
    options = ["--store", url, "--weights", weights, "--rate", "1000000", "--consent", str(CONSENT)]
    for number in range(1, rounds + 1):
        with running_server(*options) as server:
            asyncio.run(one_round(people, server, rng.randint(*words), rng, withdraw))
        lines.append(f"round {number}: {check(url, people)}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="encoder")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--donors", type=int, default=50)
    parser.add_argument("--withdraw", type=float, default=0.0)
    parser.add_argument("--postgres", action="store_true")
    args = parser.parse_args()
    options = {"rounds": args.rounds, "donors": args.donors, "words": (50, 250), "withdraw": args.withdraw}
    if args.postgres:
        with running_postgres() as url:
            print("\n".join(run(url, args.weights, **options)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            print("\n".join(run(f"sqlite:///{folder}/swipes.db", args.weights, **options)))


if __name__ == "__main__":
    main()
