"""A server in a process of its own, and a finger for a real browser."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np

from glissando.layout import Layout
from glissando.synth import swipe

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-frame-rate-limit", "--disable-gpu-vsync",
]  # fmt: skip


@contextmanager
def running_server(*options: str) -> Iterator[str]:
    """Run ``glissando serve`` on a free port and give its address."""
    command = [str(Path(sys.executable).parent / "glissando"), "serve", "--port", "0", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        line = server.stdout.readline()
        assert "http://" in line, "the server did not start"
        address = line.split()[-1].rstrip("/")
        for _ in range(300):
            try:
                httpx.get(f"{address}/api/health", timeout=1)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(20)


class Finger:
    """Swipes on a page with real touch events, each with the time it would have had."""

    def __init__(self, page, selector: str = "#pad") -> None:
        self.page, self.selector = page, selector
        self.protocol = page.context.new_cdp_session(page)

    def swipe(self, word: str, layout: Layout, seed: int = 0, noise: float = 0.5) -> None:
        """Swipe a word as people do, at half a phone's rate: the browser takes a frame for each event."""
        gesture = swipe(word, layout, np.random.default_rng(seed), noise)
        self.follow(*(column[::2].tolist() for column in (gesture.x, gesture.y, gesture.t)))

    def tap(self, letter: str, layout: Layout) -> None:
        """Tap a letter."""
        key = layout.keys[layout.letters.index(letter)]
        self.follow([key.cx, key.cx], [key.cy, key.cy], [0, 60])

    def follow(self, xs: list[float], ys: list[float], ts: list[float]) -> None:
        """Touch down, move and lift along points of the letter area."""
        box = self.page.locator(self.selector).bounding_box()
        start = time.time()
        for i, (x, y, t) in enumerate(zip(xs, ys, ts, strict=True)):
            place = {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]}
            self._send("touchStart" if i == 0 else "touchMove", [place], start + t / 1000)
        self._send("touchEnd", [], start + (ts[-1] + 1) / 1000)

    def _send(self, kind: str, points: list[dict], moment: float) -> None:
        self.protocol.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points, "timestamp": moment})
