"""The browser port beside the Python path, in one run: milliseconds a swipe, and how far the two differ.

    npm install --prefix examples/browser
    python runs/browser.py                                        # about a minute; needs node and chromium
    python runs/browser.py --screenshot docs/images/browser.png   # also the page at the size of a phone

All three decode the same golden swipes, one thread each; medians. Python is timed before and after the others.
"""

import argparse
import functools
import http.server
import io
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import glissando
from glissando.export.bundle import read_bundle, write_bundle
from glissando.layout import load_layout

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from web.serving import FLAGS, Finger  # noqa: E402 (a finger for the screenshot)

WORDS = ["slide", "from", "letter", "to", "letter", "anywhere"]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def time_python(folder: Path) -> tuple[float, float]:
    """Median milliseconds of a decode, and of the networks in it, over the ordinary golden swipes."""
    bundle = read_bundle(folder)
    swipes = [record["points"] for record in bundle.golden() if record["kind"] == "swipe"]
    whole, network = [], []
    for i, points in enumerate(swipes):
        start = time.perf_counter()
        bundle.keyboard.emissions(points)
        between = time.perf_counter()
        bundle.keyboard.decode(points)
        if i >= 20:  # warm
            network.append(between - start)
            whole.append(time.perf_counter() - between)
    return 1000 * statistics.median(whole), 1000 * statistics.median(network)


def check_in_node(folder: Path) -> dict:
    done = subprocess.run(["node", "check.mjs", "."], cwd=folder, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def check_in_chromium(browser: Browser, address: str) -> dict:
    page = browser.new_page()
    page.goto(f"{address}/check.html")
    page.wait_for_function("() => window.report", timeout=300_000)
    report = page.evaluate("() => window.report")
    page.close()
    return report | {"failures": len(report["failures"])}


def take_picture(browser: Browser, address: str, target: Path) -> None:
    """Swipe a line of words and take the page's picture."""
    page = browser.new_context(**PHONE).new_page()
    page.goto(address)
    page.wait_for_selector("#pad[data-ready] .key")
    finger, layout = Finger(page), load_layout("qwerty")
    for count, word in enumerate(WORDS, 1):
        finger.swipe(word, layout, seed=count)
        page.wait_for_function("n => document.querySelectorAll('#text .word').length === n", arg=count)
    page.wait_for_timeout(700)  # the trail fades
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshot", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "english"
        write_bundle(glissando.load("qwerty", language="en"), folder, browser=True)
        (folder / "node_modules").symlink_to(ROOT / "examples" / "browser" / "node_modules")
        handler = functools.partial(Quiet, directory=str(folder))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as driver:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{server.server_port}"
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            before = time_python(folder)
            reports = {"Node": check_in_node(folder), "Chromium": check_in_chromium(browser, address)}
            after = time_python(folder)
            if arguments.screenshot:
                take_picture(browser, address, arguments.screenshot)
            browser.close()
            server.shutdown()
    whole, network = ((a + b) / 2 for a, b in zip(before, after, strict=True))
    print(f"Python    {whole:6.2f} ms a swipe, {network:6.2f} ms of it resampling and network")
    for name, report in reports.items():
        ms, network, ratio = report["ms"], report["encoderMs"], report["ms"] / whole
        print(f"{name:9} {ms:6.2f} ms a swipe, {network:6.2f} ms of it network, {ratio:.2f} x Python")
        swipes, literal, failures = report["swipes"], report["literal"], report["failures"]
        print(
            f"          {swipes} golden swipes, {literal} with literals, {failures} failures, worst {report['worst']}"
        )


if __name__ == "__main__":
    main()
