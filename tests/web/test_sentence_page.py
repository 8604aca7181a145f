"""Whole sentences on the keyboard page: capitals, marks, signs, accents, the cursor, one's own words."""

import json
import time

import pytest
from web.serving import Finger, opened, ready, swiped_words, words

from glissando.layout import load_layout
from glissando.vocabulary import Vocabulary

QWERTY = load_layout("qwerty")


@pytest.fixture
def page(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        yield page


def text(page) -> str:
    return page.evaluate("() => document.querySelector('#text .hint') ? '' : document.querySelector('#text').innerText")


def tap(page, *names: str) -> None:
    for name in names:
        page.get_by_role("button", name=name, exact=True).tap()


class Touch:
    """One finger that presses, waits and slides on an element, in pixels; its times are told, not measured."""

    def __init__(self, page, selector: str) -> None:
        self.protocol = page.context.new_cdp_session(page)
        box = page.locator(selector).bounding_box()
        self.x, self.y, self.time = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, time.time()

    def down(self) -> None:
        self._send("touchStart", [{"x": self.x, "y": self.y}])

    def slide(self, right: float, below: float = 0) -> None:
        self._send("touchMove", [{"x": self.x + right, "y": self.y + below}])

    def up(self) -> None:
        self._send("touchEnd", [])

    def tap(self, after: float = 0.05) -> None:
        self.time += after
        self.down()
        self.up()

    def _send(self, kind: str, points: list) -> None:
        message = {"type": kind, "touchPoints": points, "timestamp": self.time}
        self.protocol.send("Input.dispatchTouchEvent", message)


def test_a_hardware_keyboard_types_what_it_says(page):
    page.keyboard.type("Hello, World! 5")
    assert text(page) == "Hello, World! 5"
    page.keyboard.press("Enter")
    page.keyboard.type("i@")
    page.evaluate("() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'é', bubbles: true }))")
    assert text(page) == "Hello, World! 5\ni@é"
    page.keyboard.press("Shift+F2")  # no character
    page.keyboard.press("Home")
    page.keyboard.type("x")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Backspace")
    assert text(page) == "xHello, World! 5\nié"
    page.keyboard.press("Control+z")
    page.keyboard.press("End")
    page.keyboard.press("Control+Backspace")
    page.keyboard.press("Control+Backspace")
    assert text(page) == "xHello, World! 5\ni"


def test_shift_caps_lock_and_no_capital(page):
    finger, shift = Finger(page), Touch(page, "#shift")
    pressed = page.locator("#shift")
    assert pressed.get_attribute("aria-pressed") == "true"  # a sentence begins
    shift.tap()
    finger.tap("a", QWERTY)
    assert text(page) == "a"
    shift.tap(after=9)
    finger.tap("b", QWERTY)
    finger.tap("c", QWERTY)
    assert text(page) == "aBc"
    shift.tap(after=9)
    shift.tap(after=0.1)
    assert pressed.get_attribute("aria-label") == "Caps lock"
    finger.tap("d", QWERTY)
    finger.tap("e", QWERTY)
    shift.tap(after=9)
    finger.tap("f", QWERTY)
    assert text(page) == "aBcDEf"


def test_a_swiped_word_takes_the_shift(page):
    finger, shift = Finger(page), Touch(page, "#shift")
    finger.swipe("hello", QWERTY)
    swiped_words(page, 1)
    shift.tap(after=9)
    finger.swipe("world", QWERTY, seed=1)
    assert swiped_words(page, 2)[1].istitle()
    shift.tap(after=9)
    shift.tap(after=0.1)
    finger.swipe("water", QWERTY, seed=1)
    assert swiped_words(page, 3)[2].isupper()


def test_marks_digits_signs_and_enter(page):
    finger = Finger(page)
    for letter in "its":
        finger.tap(letter, QWERTY)
    page.locator("#backspace").tap()
    tap(page, "Apostrophe")
    finger.tap("s", QWERTY)
    tap(page, "Comma", "Space", "Digits and signs")
    assert not page.locator("#pad").is_visible()
    tap(page, "4", "2", "%", "Space")
    assert page.locator("#pad").is_visible()  # a space ends the digits
    finger.tap("a", QWERTY)
    tap(page, "Question mark", "New line")
    finger.tap("b", QWERTY)
    tap(page, "Full stop")
    assert text(page) == "It's, 42% a?\nB."


def test_undo_and_redo(page):
    finger = Finger(page)
    assert page.locator("#undo").is_disabled()
    finger.tap("a", QWERTY)
    page.locator("#clear").tap()
    page.locator("#undo").tap()
    assert text(page) == "A"
    page.locator("#redo").tap()
    assert text(page) == ""


def test_a_long_press_offers_accents(page):
    accents = page.locator("#accents")
    key = Touch(page, "#pad .key[aria-label=e]")
    key.down()
    accents.wait_for()
    letters = accents.locator("span").all_inner_texts()
    assert letters[:3] == ["é", "è", "ê"]
    key.up()
    assert text(page) == "é".upper()
    key.down()
    accents.wait_for()
    box = accents.locator("span").nth(2).bounding_box()
    key.slide(box["x"] + 5 - key.x, box["y"] + 5 - key.y)
    key.up()
    assert text(page) == "Éê"
    assert not accents.is_visible()
    key.down()
    accents.wait_for()
    key.slide(100, 80)  # away from the letters: a swipe after all
    assert not accents.is_visible()
    key.slide(140, 40)
    key.up()
    swiped_words(page, 2)
    plain = Touch(page, "#pad .key[aria-label=q]")
    page.locator("#clear").tap()
    page.clock.install()
    plain.down()
    page.clock.run_for(600)  # longer than a long press: q has no accents
    plain.up()
    assert text(page) == "Q"


def test_holding_and_sliding_delete(page):
    page.keyboard.type("one two three four five")
    key = Touch(page, "#backspace")
    key.down()
    page.wait_for_function("() => document.querySelector('#text').innerText.length < 20")
    key.up()
    page.locator("#clear").tap()
    page.keyboard.type("one two three four five")
    key.down()
    key.slide(-40)
    assert text(page) == "one two three four "
    key.slide(-120)
    assert text(page).strip() == "one two"
    key.slide(-40)  # back again
    assert text(page) == "one two three four "
    key.up()
    assert text(page) == "one two three four "


def test_the_cursor_follows_a_slide_on_space_and_a_touch_of_the_text(page):
    page.keyboard.type("abcdef")
    space = Touch(page, "#space")
    space.down()
    space.slide(-25)
    space.slide(-36)
    space.up()
    page.keyboard.type("-")
    assert text(page) == "abc-def"
    box = page.locator("#text").bounding_box()
    page.touchscreen.tap(box["x"] + 4, box["y"] + 20)
    page.keyboard.type("<")
    page.touchscreen.tap(box["x"] + 300, box["y"] + 20)
    page.keyboard.type(">")
    page.touchscreen.tap(box["x"] + 4, box["y"] + 20)
    page.touchscreen.tap(box["x"] + 200, box["y"] + box["height"] - 4)
    page.keyboard.type("!")
    assert text(page) == "<abc-def>!"


def answering(page, *candidates) -> None:
    rows = [{"word": word, "probability": share, "literal": literal} for word, share, literal in candidates]
    page.route("**/api/decode", lambda route: route.fulfill(json={"candidates": rows, "none": 0.1}))


def kept(page) -> dict:
    return json.loads(page.evaluate("() => localStorage.getItem('glissando:vocabulary')"))


def test_a_literal_is_marked_and_can_be_learned(page, tmp_path):
    answering(page, ("teagan", 0.5, False), ("taigang", 0.4, True))
    finger = Finger(page)
    finger.swipe("taigang", QWERTY)
    swiped_words(page, 1)
    assert page.locator(".candidate.literal").get_attribute("aria-label").startswith("Taigang, read letter by letter")
    assert page.locator(".candidate.add").count() == 0
    page.locator(".candidate.literal").tap()
    assert words(page) == ["Taigang"]
    page.locator(".candidate.add").tap()
    assert page.locator(".candidate.literal").count() == 0
    file = tmp_path / "vocabulary.json"
    file.write_text(json.dumps(kept(page)))
    assert Vocabulary.load(file).words == ("Taigang",)


def test_an_unknown_word_that_was_tapped_can_be_learned(page):
    finger = Finger(page)
    for letter in "the":
        finger.tap(letter, QWERTY)
    with page.expect_response("**/api/known*"):
        page.locator("#space").tap()
    for letter in "qzxv":
        finger.tap(letter, QWERTY)
    page.locator("#space").tap()
    page.locator(".candidate.add").tap()
    assert list(kept(page)["words"]) == ["qzxv"]


def test_a_damaged_vocabulary_is_put_aside_and_full_storage_is_told(page):
    page.evaluate("() => localStorage.setItem('glissando:vocabulary', '{damaged')")
    page.reload()
    ready(page)
    assert page.evaluate("() => localStorage.getItem('glissando:vocabulary:damaged')") == "{damaged"
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full'); }; }")
    answering(page, ("taigang", 0.4, True), ("x", 0.1, False))
    Finger(page).swipe("taigang", QWERTY)
    swiped_words(page, 1)
    page.locator(".candidate.literal").tap()
    page.locator(".candidate.add").tap()
    assert "no room" in page.locator("#toast").inner_text()


def test_copy_with_and_without_a_clipboard(page):
    page.keyboard.type("to copy")
    page.evaluate(
        "() => { window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); };"
        " document.execCommand = () => copied.push(document.activeElement.value) > 0; }"
    )
    page.locator("#copy").tap()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.locator("#copy").tap()
    page.wait_for_function("() => copied.length === 2")
    assert page.evaluate("() => copied") == ["to copy", "to copy"]


def test_share_where_the_browser_can(browser, keyboard_site):
    with opened(browser, "about:blank") as page:
        page.add_init_script("navigator.share = async (what) => { window.shared = what.text; };")
        page.goto(keyboard_site)
        ready(page)
        page.keyboard.type("to share")
        page.locator("#share").tap()
        assert page.evaluate("() => window.shared") == "to share"
