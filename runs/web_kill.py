"""``kill -9`` in the middle of many donors: is every acknowledged swipe in the store afterwards, once?

    python runs/web_kill.py --weights FILE.onnx [--rounds 10] [--donors 50] [--postgres]

Starts a server, lets donors swipe at once (some words again and again), kills it without warning after some words, and
starts another one on the same store. Donors go on with their sessions and send again what was not acknowledged, as the
page does. With --postgres a PostgreSQL of its own is started and used. Cost: about 8 s a round on two cores.
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
from web.serving import Server, running_server

POINTS = [[0.1, 0.5, 0], [0.4, 0.4, 60], [0.7, 0.5, 120], [0.8, 0.6, 200], [0.9, 0.5, 260]]
Key = tuple[str, str, int]  # session, sentence, word


@dataclass
class Donor:
    """One person: a session, the words tried and those the server said it has."""

    session: str = ""
    attempt: int = 0
    pending: dict | None = None
    words: list[tuple[str, int, str]] = field(default_factory=list)
    acknowledged: dict[Key, int] = field(default_factory=dict)
    tried: dict[Key, int] = field(default_factory=dict)


async def donate(donor: Donor, client: httpx.AsyncClient, rng: random.Random) -> None:
    """Swipe until the server is gone."""
    try:
        while not donor.session:
            answer = await client.post("/api/sessions", json={"consent": True})
            donor.session = answer.json()["session"] if answer.status_code == 201 else ""
        while not donor.words:
            rows = (await client.get("/api/sentences", params={"count": 50})).json().get("sentences", [])
            donor.words = [(one["id"], i, word["text"]) for one in rows for i, word in enumerate(one["words"])]
        while True:
            if donor.pending is None:
                donor.pending = next_swipe(donor, rng)
            body = donor.pending
            key = (donor.session, body["sentence"], body["word_index"])
            donor.tried[key] = body["attempt"]
            answer = await client.post("/api/swipes", json={**body, "session": donor.session})
            if answer.status_code == 200:
                donor.acknowledged[key] = body["attempt"]
                donor.pending = None
            elif answer.status_code in (429, 503):
                await asyncio.sleep(0.1)
            else:
                raise AssertionError(f"{answer.status_code}: {answer.text}")
    except httpx.TransportError:
        return


def next_swipe(donor: Donor, rng: random.Random) -> dict:
    """A new word, a word once more, or a skip."""
    donor.attempt += 1
    fresh = len(donor.acknowledged)
    at = rng.randrange(fresh) if fresh and rng.random() < 0.2 else fresh % len(donor.words)
    sentence, index, word = donor.words[at]
    return {
        "sentence": sentence, "word_index": index, "word": word, "layout": "qwerty", "attempt": donor.attempt,
        "points": [] if rng.random() < 0.1 else POINTS, "canvas_width": 390, "canvas_height": 156,
        "orientation": "portrait",
    }  # fmt: skip


async def one_round(donors: list[Donor], server: Server, words: int, rng: random.Random) -> None:
    """Let the donors swipe, and kill the server in their midst once it has acknowledged so many more words."""
    limits = httpx.Limits(max_connections=len(donors) + 1)
    before = sum(len(donor.acknowledged) for donor in donors)
    async with httpx.AsyncClient(base_url=server.address, timeout=300, limits=limits) as client:
        tasks = [asyncio.create_task(donate(donor, client, rng)) for donor in donors]
        while sum(len(donor.acknowledged) for donor in donors) < before + words:
            await asyncio.sleep(0.01)
        server.process.kill()
        await asyncio.gather(*tasks)


def check(url: str, donors: list[Donor]) -> tuple[int, int]:
    """Compare the store with what was acknowledged; returns (acknowledged, rows)."""
    from glissando.web.store import Store, StoreBusyError, session_id

    for _ in range(600):  # a database may take a while to notice that a server is gone
        try:
            store = Store(url)
            break
        except StoreBusyError:
            time.sleep(0.2)
    rows = list(store.export(skipped=True))
    store.close()
    found = {(row.session, row.sentence, row.word_index): row.attempt for row in rows}
    assert len(found) == len(rows), "a word is there twice"
    count = 0
    for donor in donors:
        for (session, sentence, index), attempt in donor.acknowledged.items():
            stored = found.get((session_id(session), sentence, index))
            assert stored is not None, f"an acknowledged swipe is lost: {sentence} {index}"
            # A later attempt may have been written just before the kill, its answer lost.
            assert attempt <= stored <= donor.tried[(session, sentence, index)], (
                f"{attempt} acknowledged, {stored} stored"
            )
            count += 1
    return count, len(rows)


def run(url: str, weights: str, *, rounds: int, donors: int, words: tuple[int, int], seed: int = 0) -> list[str]:
    """All rounds, each killed after between ``words`` acknowledged words; returns a line for each."""
    rng = random.Random(seed)
    people = [Donor() for _ in range(donors)]
    lines = []
    for number in range(1, rounds + 1):
        with running_server("--store", url, "--weights", weights, "--rate", "1000000") as server:
            asyncio.run(one_round(people, server, rng.randint(*words), rng))
        acknowledged, rows = check(url, people)
        attempts = sum(donor.attempt for donor in people)
        lines.append(
            f"round {number}: {attempts} attempts, {acknowledged} words acknowledged, {rows} rows, none lost or doubled"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="encoder")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--donors", type=int, default=50)
    parser.add_argument("--postgres", action="store_true")
    args = parser.parse_args()
    options = {"rounds": args.rounds, "donors": args.donors, "words": (50, 250)}
    if args.postgres:
        with running_postgres() as url:
            print("\n".join(run(url, args.weights, **options)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            print("\n".join(run(f"sqlite:///{folder}/swipes.db", args.weights, **options)))


if __name__ == "__main__":
    main()
