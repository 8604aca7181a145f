"""The pictures of the pages in docs/images, taken in Chromium at the size of a phone.

    python runs/web_screenshots.py [--weights FILE.onnx] [--only collection]

Needs Chromium, playwright and Pillow; with `npm install --prefix js` the pages read swipes by themselves. Cost: about
60 s on two cores.
"""

import argparse
import io
import shutil
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from glissando.layout import load_layout
from glissando.lexicon import typed_letters
from glissando.synth import swipe

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from web.donating import agree, sentence, swipe_body  # noqa: E402
from web.serving import CONSENT, FLAGS, RUNTIME, VISITED, Finger, running_server  # noqa: E402

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


def page_at(browser, url: str, scheme: str = "light", new: bool = False, **options):
    context = browser.new_context(**{**PHONE, "color_scheme": scheme, **options})
    if not new:
        context.add_init_script(VISITED)
    page = context.new_page()
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
    layouts(browser, address)
    wide = page_at(browser, address, viewport={"width": 1280, "height": 760}, is_mobile=False)
    write(wide, "market summer because", "qwerty")
    save("desktop.png", shot(wide))


def layouts(browser, address: str) -> None:
    """The first visit, the gallery, the editor, the ten words, and a small phone."""
    first = shot(page_at(browser, address, new=True))
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
    save("layouts.png", first, picking, editing, ten_words(browser, address), shot(small))


def ten_words(browser, address: str) -> Image.Image:
    """The result of ten words on Colemak and on QWERTY."""
    page = page_at(browser, f"{address}/#layout=colemak&language=en")
    page.locator("#pick").tap()
    page.locator("#try").tap()
    page.get_by_role("button", name="Begin").tap()
    finger, words = Finger(page, "#trial-pad"), page.locator("#trial .trial-word[role=status]")
    go, results = page.get_by_role("button", name="Go", exact=True), page.locator(".trial-results")
    for count in range(22):
        words.or_(go).first.wait_for()
        if go.count():
            go.tap()
        line = page.locator("#trial-body .small").inner_text()
        finger.swipe(words.inner_text(), load_layout(line.split(" ")[0].lower()), seed=count, noise=0.8)
        page.wait_for_function("line => document.querySelector('#trial-body .small')?.textContent !== line", arg=line)
    results.wait_for()
    return shot(page)


def collection(browser, address: str) -> None:
    page = page_at(browser, f"{address}/collect")
    page.wait_for_selector("#agree")
    consent = shot(page)
    page.locator("#tick").check()
    page.locator("#agree").tap()
    page.wait_for_selector("#sentence .now")
    for _ in range(4):
        give(page)
    task = shot(page)
    scribble = [0.95, 0.05, 0.9, 0.1, 0.95], [0.1, 0.9, 0.9, 0.1, 0.1], [0, 90, 180, 270, 360]
    while len(page.locator("#sentence .now").inner_text()) < 4:
        give(page)
    Finger(page).follow(*scribble)
    page.wait_for_selector("#read.again")
    again = shot(page)
    page.locator("#finish").tap()
    page.wait_for_selector("#receipts .qr")
    page.wait_for_timeout(3500)
    save("collection.png", consent, task, again, shot(page))
    page = page_at(browser, f"{address}/collect", viewport={"width": 844, "height": 390})
    page.locator("#tick").check()
    page.locator("#agree").tap()
    page.wait_for_selector("#sentence .now")
    for _ in range(2):
        give(page)
    save("collection_sideways.png", shot(page))
    donate(address)
    page = page_at(browser, f"{address}/collect", viewport={"width": 1000, "height": 1180}, is_mobile=False)
    page.goto(f"{address}/operator")
    page.fill("#token", "t")
    page.keyboard.press("Enter")
    page.wait_for_selector("#recent canvas")
    save("operator.png", shot(page))


def give(page) -> None:
    """Swipe the word that is marked, and wait until it was read."""
    layout = load_layout("qwerty")
    letters = "".join(typed_letters(page.locator("#sentence .now").inner_text(), frozenset(layout.letters)))
    before = page.locator("#sent").inner_text()
    Finger(page).tap(letters, layout) if len(letters) == 1 else Finger(page).swipe(letters, layout, noise=0.3)
    page.wait_for_function(
        "n => document.querySelector('#sent').textContent !== n && !document.querySelector('.busy')", arg=before
    )
    page.wait_for_timeout(600)


def donate(address: str) -> None:
    """Three donors, some of whose swipes are of another word."""
    layout, rng = load_layout("qwerty"), np.random.default_rng(0)
    with httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(3):
            session = agree(client)["session"]
            prompts = [sentence(client) for _ in range(4)]
            words = [(one, i, word["typed"]) for one in prompts for i, word in enumerate(one["words"]) if word["typed"]]
            for attempt, (prompt, index, typed) in enumerate(words, 1):
                gesture = swipe("zebra" if rng.random() < 0.05 else typed, layout, rng, 0.8)
                points = np.stack([gesture.x, gesture.y, gesture.t], axis=-1).tolist() if attempt % 12 else []
                body = swipe_body(session, prompt, index, points=points, attempt=attempt)
                client.post("/api/swipes", json=body).raise_for_status()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="encoder")
    parser.add_argument("--only", choices=["demo", "collection"], default="")
    args = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        options = ["--weights", args.weights, "--store", f"sqlite:///{folder}/s.db", "--token", "t", "--rate", "1000"]
        options += ["--consent", str(CONSENT)]
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[flag for flag in FLAGS if "limit" not in flag and "vsync" not in flag],
        )
        with running_server(*options, runtime=RUNTIME if RUNTIME.is_dir() else "none") as server:
            if args.only != "collection":
                demo(browser, server.address)
            if args.only != "demo":
                collection(browser, server.address)
        browser.close()


if __name__ == "__main__":
    main()
