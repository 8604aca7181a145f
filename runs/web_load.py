"""HTTP decoding against the bare library, in one run on the same cores.

    python runs/web_load.py [--weights FILE.onnx] [--seconds 60] [--clients 32] [--donors 50]

Prints the library's swipes per second (one thread, two threads, batches on all cores) and those of a server under
concurrent clients with keep-alive, measured in turns; its p50 and p99, errors, and resident memory all along. The
clients run in a process of their own, on the same cores. With --donors, so many people then give swipes for 20 s, and
withdraw before one in twenty; the store is compared with what was acknowledged. Cost: about 120 s on two cores.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import httpx
import numpy as np

import glissando
from glissando.synth import swipe

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import web_kill
from web.serving import CONSENT, running_server

WORDS = """hello world keyboard weather stream people because another little question morning thank again""".split()  # noqa: SIM905
CHUNK = 8  # seconds between looks at the server's memory
DONATING = 20.0  # seconds
WITHDRAW = 0.05  # of the swipes, before which a donor withdraws


def gestures(count: int) -> list[glissando.Gesture]:
    layout = glissando.Layout.from_dict(glissando.load("qwerty", weights=WEIGHTS).layout.to_dict())
    rng = np.random.default_rng(0)
    return [swipe(WORDS[i % len(WORDS)], layout, rng) for i in range(count)]


class Library:
    """The library without a server: rates of three ways to decode, measured in turns."""

    def __init__(self) -> None:
        keyboard, self.swipes = glissando.load("qwerty", "en", weights=WEIGHTS), gestures(128)
        pool = ThreadPoolExecutor(2)
        self.ways = {
            "one thread": lambda: [keyboard.decode(one) for one in self.swipes],
            "two threads": lambda: list(pool.map(keyboard.decode, self.swipes)),
            "batches on all cores": lambda: keyboard.decode_batch(self.swipes),
        }
        self.figures = {name: np.zeros(3) for name in self.ways}  # swipes, seconds, seconds of processor
        for work in self.ways.values():
            work()

    def turn(self, seconds: float) -> None:
        """Measure each way for a while."""
        for name, work in self.ways.items():
            start, used, done = time.perf_counter(), time.process_time(), 0
            while time.perf_counter() - start < seconds:
                work()
                done += len(self.swipes)
            self.figures[name] += [done, time.perf_counter() - start, time.process_time() - used]

    def rates(self) -> dict[str, float]:
        """Swipes per second."""
        return {name: done / seconds for name, (done, seconds, _) in self.figures.items()}


def requests() -> list[bytes]:
    """Whole HTTP requests, made beforehand so that the clients cost little."""
    bodies = []
    for gesture in gestures(256):
        points = np.stack([gesture.x, gesture.y, gesture.t], axis=1).round(4).tolist()
        body = json.dumps({"points": points, "layout": "qwerty", "language": "en"}).encode()
        head = f"POST /api/decode HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        bodies.append(head.encode() + b"\r\n\r\n" + body)
    return bodies


async def client(port: int, sent: list[bytes], until: float, first: int, times: list[float], bad: list[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    at = first
    while time.perf_counter() < until:
        start = time.perf_counter()
        writer.write(sent[at % len(sent)])
        at += 7
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        times.append(time.perf_counter() - start)
        if b" 200 " not in head[:20]:
            bad.append(int(head.split()[1]))
    writer.close()


def drive(port: int, clients: int, seconds: float, sent: list[bytes], answer: object) -> None:
    async def all_clients() -> tuple[list[float], list[int]]:
        times: list[float] = []
        bad: list[int] = []
        until = time.perf_counter() + seconds
        await asyncio.gather(*(client(port, sent, until, i * 11, times, bad) for i in range(clients)))
        return times, bad

    import uvloop

    answer.put(uvloop.run(all_clients()))


def resident(pid: int) -> float:
    """Megabytes."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor(pid: int) -> float:
    """Seconds of processor time a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def load(port: int, seconds: float, sent: list[bytes]) -> tuple[list[float], list[int]]:
    """Seconds each request took, and statuses that were no success; the clients run in another process."""
    context = get_context("fork")
    answers = context.Queue()
    process = context.Process(target=drive, args=(port, ARGS.clients, seconds, sent, answers))
    process.start()
    answer = answers.get()
    process.join()
    return answer


async def give_for(address: str, donors: list[web_kill.Donor], seconds: float) -> None:
    """Let donors give and withdraw for a while."""
    limits, rng = httpx.Limits(max_connections=len(donors) + 1), random.Random(0)
    async with httpx.AsyncClient(base_url=address, timeout=300, limits=limits) as client:
        tasks = [asyncio.create_task(web_kill.donate(donor, client, rng, WITHDRAW)) for donor in donors]
        await asyncio.wait(tasks, timeout=seconds)
        server_side = [task for task in tasks if task.done()]
        assert not server_side, f"a donor gave up: {server_side[0].exception()}"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def donations(address: str, store: str) -> None:
    """Print how quick the server takes swipes, and what is in the store."""
    donors = [web_kill.Donor() for _ in range(ARGS.donors)]
    asyncio.run(give_for(address, donors, DONATING))
    times = [took for donor in donors for took in donor.times]
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    rate = len(times) / DONATING
    print(f"{len(donors)} donors, {DONATING:g} s: {rate:.0f} swipes/s, p50 {p50:.0f} ms, p99 {p99:.0f} ms")
    print(f"the store: {web_kill.check(store, donors)}")


def main() -> None:
    library, sent = Library(), requests()
    times, bad, memory = [], [], []
    rounds = max(1, round(ARGS.seconds / CHUNK))
    with tempfile.TemporaryDirectory() as folder:
        options = ["--weights", WEIGHTS, "--store", f"sqlite:///{folder}/s.db", "--rate", "1000000"]
        options += ["--consent", str(CONSENT)]
        with running_server(*options, "--threads", str(ARGS.threads)) as server:
            port, pid = int(server.address.rsplit(":", 1)[1]), server.process.pid
            load(port, 5, sent)
            memory.append(resident(pid))
            used = processor(pid)
            for _ in range(rounds):  # in turns, so that both meet the same neighbours on the machine
                library.turn(1.0)
                more, wrong = load(port, ARGS.seconds / rounds, sent)
                times += more
                bad += wrong
                memory.append(resident(pid))
            used = processor(pid) - used
            if ARGS.donors:
                donations(server.address, f"sqlite:///{folder}/s.db")
    for name, (done, seconds, processing) in library.figures.items():
        print(f"library, {name}: {done / seconds:.0f} swipes/s, {processing / done * 1000:.2f} ms of processor each")
    rate = len(times) / ARGS.seconds
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    print(
        f"HTTP, {ARGS.clients} clients, {ARGS.seconds:g} s: {rate:.0f} swipes/s, {len(bad)} errors {sorted(set(bad))}"
    )
    print(f"{used / len(times) * 1000:.2f} ms of the server's processor each")
    print(f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, ratio {p99 / p50:.1f}")
    shares = [f"{rate / one:.0%} of {name}" for name, one in library.rates().items()]
    print("share of the library: " + ", ".join(shares))
    print("resident MB: " + " ".join(f"{one:.0f}" for one in memory))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="encoder")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--donors", type=int, default=0)
    ARGS = parser.parse_args()
    WEIGHTS = ARGS.weights
    main()
