"""The pictures of the pages in docs/images, taken in Chromium at the size of a phone.

    python runs/web_screenshots.py [--weights FILE.onnx]

Needs Chromium, playwright and Pillow. Cost: about 40 s on two cores.
"""

import argparse
import io
import shutil
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from glissando.layout import load_layout

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from web.serving import CONSENT, FLAGS, Finger, running_server  # noqa: E402

IMAGES = ROOT / "docs" / "images"
PHONE = {
    "viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2,
    "reduced_motion": "reduce",
}  # fmt: skip


def shot(page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def save(name: str, *shots: Image.Image) -> None:
    """Shots side by side, in few colours, so that the file stays small."""
    gap, height = 40, max(one.height for one in shots)
    sheet = Image.new("RGB", (sum(one.width for one in shots) + gap * (len(shots) - 1), height), "white")
    at = 0
    for one in shots:
        sheet.paste(one, (at, 0))
        at += one.width + gap
    sheet.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)
    print(f"{IMAGES / name}: {(IMAGES / name).stat().st_size // 1024} KB")


def page_at(browser, url: str, scheme: str = "light", **options):
    page = browser.new_context(**{**PHONE, "color_scheme": scheme, **options}).new_page()
    with page.expect_response("**/api/*"):
        page.goto(url)
    page.wait_for_load_state("networkidle")
    return page


def write(page, words: str, layout: str) -> Finger:
    """Swipe words, one after the other."""
    finger = Finger(page)
    for count, word in enumerate(words.split(), 1):
        finger.swipe(word, load_layout(layout), seed=count, noise=0.4)
        page.wait_for_function("n => document.querySelectorAll('#text .word').length === n", arg=count)
    page.wait_for_timeout(900)
    return finger


def half_a_swipe(page, finger: Finger, word: str, layout: str) -> None:
    """Begin a swipe and leave the finger down."""
    from glissando.synth import swipe

    gesture = swipe(word, load_layout(layout))
    for i, (x, y) in enumerate(zip(gesture.x[::2], gesture.y[::2], strict=True)):
        finger.touch(x, y, down=i == 0)
        time.sleep(0.03)
    page.wait_for_timeout(300)


def demo(browser, address: str) -> None:
    page = page_at(browser, address)
    finger = write(page, "people travel because", "qwerty")
    half_a_swipe(page, finger, "summer", "qwerty")
    swiping = shot(page)
    page = page_at(browser, f"{address}/#layout=clearflow&language=en", "dark")
    write(page, "thank friend question", "clearflow")
    page.locator("#inside summary").tap()
    page.wait_for_selector("#seen-letters canvas")
    seen = shot(page)
    page = page_at(browser, f"{address}/#layout=jcuken&language=ru")
    write(page, "спасибо хорошо завтра", "jcuken")
    page.locator("#inside summary").tap()
    page.locator("#tab-why").tap()
    page.fill("#why-word", "завтрак")
    page.locator("#why-form button").tap()
    page.wait_for_selector(".verdict")
    page.wait_for_timeout(4000)
    why = shot(page)
    save("demo.png", swiping, seen, why)
    page = page_at(browser, address, "dark")
    page.locator("#pick").tap()
    picking = shot(page)
    page.locator("#edit").tap()
    page.fill("#editor-name", "Colemak, nearly")
    page.fill("#editor-rows", "qwfpgjluy\narstdhneio\nzxcvbkm")
    page.locator("#editor-name").blur()
    editing = shot(page)
    small = page_at(browser, f"{address}/#layout=dvorak&language=en", viewport={"width": 320, "height": 568})
    write(small, "little", "dvorak")
    save("layouts.png", picking, editing, shot(small))
    wide = page_at(browser, address, viewport={"width": 1280, "height": 760}, is_mobile=False)
    write(wide, "market summer because", "qwerty")
    save("desktop.png", shot(wide))


def collection(browser, address: str) -> None:
    page = page_at(browser, f"{address}/collect")
    consent = shot(page)
    page.locator("#agree").tap()
    page.wait_for_selector("#sentence .now")
    finger = Finger(page)
    layout = load_layout("qwerty")
    for count in range(4):
        word = page.locator("#sentence .now").inner_text()
        typed = [letter for letter in word.lower() if letter in layout.letters]
        finger.swipe("".join(typed), layout, seed=count)
        page.wait_for_timeout(300)
    page.wait_for_timeout(3500)
    task = shot(page)
    page.goto(f"{address}/operator")
    page.fill("#token", "t")
    page.keyboard.press("Enter")
    page.wait_for_selector("#recent canvas")
    save("collection.png", consent, task, shot(page))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="encoder")
    args = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        options = ["--weights", args.weights, "--store", f"sqlite:///{folder}/s.db", "--token", "t", "--rate", "1000"]
        options += ["--consent", str(CONSENT)]
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[flag for flag in FLAGS if "limit" not in flag and "vsync" not in flag],
        )
        with running_server(*options) as server:
            demo(browser, server.address)
            collection(browser, server.address)
        browser.close()


if __name__ == "__main__":
    main()
