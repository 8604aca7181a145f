"""The keyboard page in Chromium with real swipes: words, times, lost taps, memory and bytes.

    npm install --prefix js
    python runs/keyboard_page.py                 # about six minutes of two cores; needs GLISSANDO_DATA and chromium
    python runs/keyboard_page.py --minutes 60    # also the memory over as many swipes as an hour has, ten minutes more

Swipes are replayed as touch events, each at its time. The words are compared with those that the library's Draft writes
for the points that the page has recorded. The time counts from the pointer's end to the change of the text.
"""

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page

import glissando
from glissando.corpus.records import Swipe, read_swipes
from glissando.draft import Draft
from glissando.layout import Layout, load_layout

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from web.serving import FLAGS, PHONE, RUNTIME, Finger, chromium, reads_itself, running_server  # noqa: E402

SETS = {  # layout of the page: file, layout in the file, language
    "qwerty": ("how_we_swipe_val", "qwerty", "en"),
    "jcuken": ("yandex_jcuken_dev", "jcuken_default", "ru"),
    "jcuken33": ("yandex_jcuken_dev", "jcuken_extra", "ru"),
    "qwerty_z15": ("direct_touch_dev", "qwerty_z15", "en"),
}
ORDINARY = [flag for flag in FLAGS if "rate" not in flag and "vsync" not in flag]  # frames as on a screen
MESSAGE = 10  # words after which the text is cleared
A_MINUTE = 30  # swipes
# Notes when a pointer ends and when no word is on its way any more; and when the keys are there.
CLOCK = """
window.times = []; let lifted = 0;
addEventListener('pointerup', () => { lifted = performance.now(); }, true);
new MutationObserver(() => {
    if (window.keysAt === undefined && document.querySelector('#pad .key')) window.keysAt = performance.now();
    if (lifted && document.querySelector('#text .word') && !document.querySelector('#text .pending')) {
        window.times.push(performance.now() - lifted); lifted = 0;
    }
}).observe(document, { childList: true, subtree: true });
localStorage.setItem('glissando:visited', '1');
"""


def real_swipes(data: Path, name: str, layout: Layout, count: int) -> list[Swipe]:
    """Swipes that begin on the letters and move: others are no swipes for a keyboard."""
    file, source, _ = SETS[name]
    width = max(2 * key.rx for key in layout.keys)

    def fits(one: Swipe) -> bool:
        x, y = one.gesture.x, one.gesture.y
        moves = np.ptp(x) > width or np.ptp(y) > 0.4
        return one.layout == source and 0 < x[0] < 1 and 0 < y[0] < 1 and moves and len(x) > 5

    return list(islice(filter(fits, read_swipes(data / "swipes" / f"{file}.jsonl.gz")), count))


def replay(finger: Finger, swipe: Swipe, paced: bool = True) -> None:
    """Make the touches of a swipe at their times, or some of them as fast as the browser takes them."""
    x, y, t = (np.asarray(column, dtype=float) for column in (swipe.gesture.x, swipe.gesture.y, swipe.gesture.t))
    x, y = np.clip(x, -0.05, 1.05), np.clip(y, -0.5, 1.3)  # on the screen
    if not paced:
        finger.follow(*(column[:: max(len(x) // 15, 1)].tolist() for column in (x, y, t)))
        return
    start = time.time()
    for i, moment in enumerate(start + (t - t[0]) / 1000):
        time.sleep(max(0.0, moment - time.time()))
        finger.touch(x[i], y[i], down=i == 0, moment=moment)
    finger.lift(start + (t[-1] - t[0] + 1) / 1000)


def settled(page: Page) -> None:
    """Wait until no swipe is being read."""
    page.wait_for_function("() => !document.querySelector('#text .pending')")


def library_text(keyboard: glissando.Keyboard, swipes: list[list]) -> list[str]:
    """What the library writes for the page's points, with the corrections of earlier words made."""
    draft = Draft(keyboard)
    for points in swipes:
        for revision in draft.swipe([tuple(point) for point in points], k=6).revisions:
            draft.choose(revision.word, revision.place)
    return list(draft.words)


def compare(page: Page, finger: Finger, name: str, swipes: list[Swipe]) -> tuple[int, int, list[float]]:
    """How many words are the library's, how many are right, and the times."""
    language = SETS[name][2]
    page.evaluate(f"location.hash = 'layout={name}&language={language}'")
    reads_itself(page)
    keyboard = glissando.load(name, language=language)
    same = right = 0
    page.evaluate("() => { window.times = []; }")
    for start in range(0, len(swipes), MESSAGE):
        page.locator("#clear").tap()
        chunk = swipes[start : start + MESSAGE]
        for swipe in chunk:
            replay(finger, swipe)
            settled(page)
        rows = page.evaluate("() => glissando.draft.words.map((one) => [one.points, glissando.draft.written(one)])")
        theirs = library_text(keyboard, [points for points, _ in rows])
        same += sum(mine == other for (_, mine), other in zip(rows, theirs, strict=True))
        if len(rows) == len(chunk):
            right += sum(word.lower() == one.word for (_, word), one in zip(rows, chunk, strict=True))
    return same, right, page.evaluate("() => window.times")


def lost_taps(page: Page, finger: Finger, count: int) -> int:
    """Taps on space, each right after a fast swipe, that wrote no space."""
    page.locator("#clear").tap()
    box = page.locator("#space").bounding_box()
    spot = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}]
    for _ in range(count):
        finger.follow([0.1, 0.5, 0.9], [0.2, 0.5, 0.8], [0, 40, 80])
        time.sleep(0.05)
        finger.protocol.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": spot})
        finger.protocol.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    settled(page)
    written = page.evaluate("() => glissando.draft.text")
    return count - written.count(" ")


class Memory:
    """What the page holds, after the garbage is gone."""

    def __init__(self, browser: Browser, page: Page) -> None:
        self.session, self.system = page.context.new_cdp_session(page), browser.new_browser_cdp_session()
        self.worker, self.answers = "", {}
        self.session.on("Target.attachedToTarget", self._attached)
        self.session.on("Target.receivedMessageFromTarget", self._heard)
        self.session.send(
            "Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False}
        )
        self.session.send("Performance.enable")
        self.page = page

    def look(self) -> dict[str, float]:
        """Megabytes of the page's and the worker's heap and of the process; numbers of nodes and listeners."""
        self.session.send("HeapProfiler.collectGarbage")
        self._ask("HeapProfiler.collectGarbage")
        found = {row["name"]: row["value"] for row in self.session.send("Performance.getMetrics")["metrics"]}
        worker = self._ask("Runtime.getHeapUsage")
        processes = self.system.send("SystemInfo.getProcessInfo")["processInfo"]
        resident = max(_resident(one["id"]) for one in processes if one["type"] == "renderer")
        return {
            "heap": found["JSHeapUsedSize"] / 1e6, "worker": worker["usedSize"] / 1e6, "resident": resident,
            "nodes": found["Nodes"], "listeners": found["JSEventListeners"],
        }  # fmt: skip

    def _attached(self, event: dict) -> None:
        if event["targetInfo"]["type"] == "worker":
            self.worker = event["sessionId"]

    def _heard(self, event: dict) -> None:
        answer = json.loads(event["message"])
        self.answers[answer.get("id")] = answer.get("result")

    def _ask(self, method: str) -> dict:
        number = len(self.answers) + 1
        message = json.dumps({"id": number, "method": method})
        self.session.send("Target.sendMessageToTarget", {"sessionId": self.worker, "message": message})
        while number not in self.answers:
            self.page.wait_for_timeout(10)
        return self.answers[number]


def _resident(process: int) -> float:
    """Resident megabytes of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS")), 0.0)


def watch_memory(browser: Browser, page: Page, finger: Finger, swipes: list[Swipe], minutes: int) -> None:
    """Print what the page holds every ten minutes of swiping, compressed in time."""
    page.evaluate("location.hash = 'layout=qwerty&language=en'")
    reads_itself(page)
    memory = Memory(browser, page)
    for count in range(minutes * A_MINUTE + 1):
        if count % (10 * A_MINUTE) == 0:
            page.locator("#clear").tap()
            seen = memory.look()
            print(
                f"  minute {count // A_MINUTE:3}: " + ", ".join(f"{name} {value:.1f}" for name, value in seen.items())
            )
        replay(finger, swipes[count % len(swipes)], paced=False)
        settled(page)
        if count % MESSAGE == MESSAGE - 1:
            page.locator("#clear").tap()


class Counted:
    """A way to a server that counts the bytes of its answers: pages, workers and service workers alike."""

    def __init__(self, port: int) -> None:
        self.bytes = 0
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(self.target)
            for source, sink, counts in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._pass, args=(source, sink, counts), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, counts: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                self.bytes += len(data) * counts
                sink.sendall(data)
        except OSError:
            pass
        sink.close()


@contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    """A page on a phone, with clocks in it."""
    context = browser.new_context(**PHONE)
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.add_init_script(CLOCK)
    yield page
    context.close()


def measure_sizes(browser: Browser, port: int) -> None:
    """Print the bytes and seconds of a first visit, and of the next one."""
    counted, held = Counted(port), []
    with opened(browser) as page:
        for visit in ("first visit", "next visit"):
            held.clear()
            page.context.route("**/kit/*.gz*", lambda route: held.append(route))  # what the keys need not wait for
            page.goto("about:blank")
            counted.bytes = 0
            page.goto(counted.address)
            page.wait_for_selector("#pad .key")
            keys, moment = counted.bytes, page.evaluate("() => keysAt")
            page.context.unroute("**/kit/*.gz*")
            start = time.time()
            for route in held:
                route.continue_()
            reads_itself(page)
            itself, seconds = counted.bytes, time.time() - start
            page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
            page.wait_for_timeout(3000)  # what comes in the background
            print(
                f"{visit}: {keys / 1e6:.2f} MB until the keys ({moment:.0f} ms), {itself / 1e6:.2f} MB until the page "
                f"reads by itself ({seconds:.1f} s after the keys), {counted.bytes / 1e6:.2f} MB in all"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("GLISSANDO_DATA") or "../shared/data"))
    parser.add_argument("--swipes", type=int, default=40, help="on each layout")
    parser.add_argument("--taps", type=int, default=200)
    parser.add_argument("--minutes", type=int, default=0, help="of swiping, for the memory")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as scratch,
        running_server("--store", f"sqlite:///{scratch}/s.db", "--rate", "1000000", runtime=RUNTIME) as server,
        chromium(ORDINARY) as browser,
    ):
        measure_sizes(browser, int(server.address.rsplit(":", 1)[1]))
        with opened(browser) as page:
            page.goto(server.address)
            reads_itself(page)
            finger = Finger(page)
            for name in SETS if arguments.swipes else ():
                swipes = real_swipes(arguments.data, name, load_layout(name), arguments.swipes)
                same, right, times = compare(page, finger, name, swipes)
                middle, late = statistics.median(times), np.percentile(times, 95)
                print(
                    f"{name}: {len(swipes)} swipes, {same} words as the library's, {right} right; from finger-up to "
                    f"the word p50 {middle:.1f} ms, p95 {late:.1f} ms"
                )
            page.evaluate("location.hash = 'layout=qwerty&language=en'")
            reads_itself(page)
            print(f"{arguments.taps} taps after fast swipes: {lost_taps(page, finger, arguments.taps)} lost")
            if arguments.minutes:
                swipes = real_swipes(arguments.data, "qwerty", load_layout("qwerty"), 200)
                watch_memory(browser, page, finger, swipes, arguments.minutes)


if __name__ == "__main__":
    main()
