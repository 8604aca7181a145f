"""A server in a process of its own, and a finger for a real browser."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from glissando.layout import Layout
from glissando.synth import swipe

CONSENT = Path(__file__).with_name("consent.toml")
RUNTIME = Path(__file__).resolve().parents[2] / "js" / "node_modules" / "onnxruntime-web" / "dist"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-frame-rate-limit", "--disable-gpu-vsync",
]  # fmt: skip
# The first one found is used. The shell is the same engine without windows and takes two thirds of the processor time.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "reduced_motion": "reduce"}


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    address: str
    process: subprocess.Popen

    def wait(self, *, verify: bool = True) -> None:
        """Wait until it answers; the limit only guards against waiting for ever."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            assert self.process.poll() is None, "the server did not start"
            try:
                httpx.get(f"{self.address}/api/health", timeout=30, verify=verify)
                return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the server does not answer")


# ``glissando`` without limits of requests: all page tests of a worker ask one server for more new keyboards than one
# address may have, and no option raises that limit.
UNLIMITED = """
from glissando.cli import main
from glissando.web.border import RateLimit

RateLimit.take = lambda *_: None
main()
"""


@contextmanager
def running_server(*options: str, runtime: Path | str = "none", unlimited: bool = False) -> Iterator[Server]:
    """Run ``glissando serve`` on a free port; without a runtime for browsers the server decodes."""
    program = ["-c", UNLIMITED] if unlimited else ["-m", "glissando"]
    command = [sys.executable, *program, "serve", "--port", "0", "--runtime", str(runtime), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert "://" in line, "the server did not start"
        server = Server(line.split()[-1].rstrip("/"), process)
        server.wait()
        yield server
    finally:
        process.terminate()
        process.wait()


def npm_runtime() -> Path:
    """The npm install of this repository; without one the test is skipped."""
    import pytest

    if not RUNTIME.is_dir():
        pytest.skip("onnxruntime-web is not installed: npm install --prefix js")
    return RUNTIME


@contextmanager
def chromium(flags: Sequence[str] = FLAGS) -> Iterator:
    """A headless Chromium; without one the test is skipped."""
    import pytest

    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("Chromium is not installed (Debian: chromium-headless-shell)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(flags))
        yield browser
        browser.close()


# Whoever has been here before is not shown the first steps.
VISITED = "try { localStorage.setItem('glissando:visited', '1'); } catch { /* about:blank has no storage */ }"


@contextmanager
def opened(browser, url: str, *, new: bool = False, script: str = "", **options) -> Iterator:
    """A page on a phone; whatever it complains about on its console fails the test.

    Args:
        browser: the browser.
        url: the address.
        new: whether it is the first visit.
        script: what runs before the page's own scripts.
        options: of the browser's context.
    """
    context = browser.new_context(**{**PHONE, **options})
    context.add_init_script(script if new else VISITED + script)
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_default_timeout(300_000)  # only guards against waiting for ever
    page.goto(url)
    yield page
    context.close()
    assert [line for line in complaints if "Failed to load resource" not in line] == []


def swiped_words(page, count: int) -> list[str]:
    """The words in a page's line, once there are so many."""
    page.wait_for_function("n => document.querySelectorAll('#text .word').length === n", arg=count)
    return page.locator("#text .word").all_inner_texts()


def words(page) -> list[str]:
    """The words in a page's line."""
    return page.locator("#text .word").all_inner_texts()


def ready(page) -> None:
    """Wait until keys are drawn and the keyboard is made."""
    page.wait_for_selector("#pad[data-ready] .key")


def reads_itself(page) -> None:
    """Wait until keys are drawn and swipes are read in the page."""
    ready(page)
    page.wait_for_function("() => document.querySelector('#reader').textContent === 'Swipes are read on this device.'")


BOXES = """parts => Object.fromEntries(parts.map((part) => {
    const found = document.querySelectorAll(part);
    if (found.length !== 1 || !found[0].checkVisibility()) throw new Error(`${part}: ${found.length}, or not visible`);
    const { x, y, width, height } = found[0].getBoundingClientRect();
    return [part, { x, y, width, height }];
}))"""


def boxes(page, *parts: str) -> dict[str, dict]:
    """Where parts of the page are, each there once and visible: one question for all."""
    return page.evaluate(BOXES, list(parts))


class Finger:
    """Swipes on a page with real touch events, each with the time it would have had."""

    def __init__(self, page, selector: str = "#pad") -> None:
        self.page, self.selector = page, selector
        self.protocol = page.context.new_cdp_session(page)

    def swipe(self, word: str, layout: Layout, seed: int = 0, noise: float = 0.5) -> None:
        """Swipe a word as people do, at a quarter of a phone's rate: the browser takes two frames for each event."""
        gesture = swipe(word, layout, np.random.default_rng(seed), noise)
        kept = [*range(0, len(gesture.x) - 1, 4), -1]
        self.follow(*(column[kept].tolist() for column in (gesture.x, gesture.y, gesture.t)))

    def touch(self, x: float, y: float, *, down: bool = False, moment: float | None = None) -> None:
        """Touch down on a point of the letter area, or move to it, at a moment or now."""
        if down:
            self.box = self.page.locator(self.selector).bounding_box()
        place = {"x": self.box["x"] + x * self.box["width"], "y": self.box["y"] + y * self.box["height"]}
        self._send("touchStart" if down else "touchMove", [place], moment or time.time())

    def lift(self, moment: float | None = None) -> None:
        """Lift, at a moment or now."""
        self._send("touchEnd", [], moment or time.time())

    def tap(self, letter: str, layout: Layout) -> None:
        """Tap a letter."""
        key = layout.keys[layout.letters.index(letter)]
        self.follow([key.cx, key.cx], [key.cy, key.cy], [0, 60])

    def follow(self, xs: list[float], ys: list[float], ts: list[float]) -> None:
        """Touch down, move and lift along points of the letter area."""
        start = time.time()
        for i, (x, y, t) in enumerate(zip(xs, ys, ts, strict=True)):
            self.touch(x, y, down=i == 0, moment=start + t / 1000)
        self.lift(start + (ts[-1] + 1) / 1000)

    def _send(self, kind: str, points: list[dict], moment: float) -> None:
        self.protocol.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points, "timestamp": moment})
