"""The keyboard page on every screen, without a pointer, without motion, in the dark."""

import pytest
from web.serving import Finger, boxes, opened, ready

from glissando.layout import load_layout

PARTS = ("#pad", "#shift", "#backspace", "#space", "#enter", "#text", "#copy", "#inside summary", "#candidates")

PASTE = """text => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
}"""


SCREENS = [
    (390, 844), (844, 390), (320, 568), (1280, 800), (740, 360), (667, 375), (568, 320), (932, 430), (768, 1024),
    (1024, 768), (653, 841),
]  # fmt: skip


def check_inside(box, width, height):
    assert box["x"] >= 0 <= box["y"]
    assert box["x"] + box["width"] <= width + 0.5
    assert box["y"] + box["height"] <= height + 0.5


@pytest.mark.parametrize("layout", ["qwerty", "clearflow", "hindi"])
def test_everything_is_on_the_screen_and_the_keys_stay_while_text_grows(browser, keyboard_site, layout):
    with opened(browser, f"{keyboard_site}/#layout={layout}") as page:
        page.wait_for_selector("#pad .key")
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            before = boxes(page, *PARTS)
            for box in before.values():
                check_inside(box, width, height)
            pad = before["#pad"]
            assert pad["height"] / pad["width"] == pytest.approx(load_layout(layout).aspect, rel=0.01)
            page.evaluate(PASTE, "and so on " * 60 + "\nend")
            assert boxes(page, *PARTS) == before
            caret, text = boxes(page, ".caret")[".caret"], before["#text"]
            assert text["y"] <= caret["y"] <= text["y"] + text["height"]  # the text has scrolled
            page.locator("#more").tap()
            page.locator("#inside summary").tap()
            opened_up = boxes(page, "#pad", "#space", "#inside", "#signs .sign:last-child")
            for box in opened_up.values():
                check_inside(box, width, height)
            inside, row = opened_up["#inside"], boxes(page, "#candidates")["#candidates"]
            assert inside["height"] >= 90
            assert inside["x"] >= row["x"] + row["width"] or inside["y"] + inside["height"] <= row["y"]
            page.locator("#more").tap()
            page.locator("#inside summary").tap()
            page.locator("#clear").tap()


def test_a_tower_of_a_layout_leaves_room_for_the_rest(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        page.evaluate(
            """async () => {
                const { fromRows, toFragment } = await import('/static/layouts.js');
                const tower = fromRows('tower', 'a\\nb\\nc\\nd');
                location.hash = toFragment({ ...tower, aspect: 19, custom: true }, 'en');
            }"""
        )
        page.wait_for_function("() => document.querySelectorAll('#pad .key').length === 4")
        assert page.locator("#pad").bounding_box()["height"] <= 844 / 2 + 1
        assert page.locator("#text").bounding_box()["height"] > 50


def test_letters_are_reached_by_keyboard_and_named(browser, keyboard_site):
    with opened(browser, keyboard_site, has_touch=False, is_mobile=False) as page:
        ready(page)
        assert page.get_by_role("button", name="q", exact=True).count() == 1
        page.focus("#pad .key")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        for _ in range(12):
            page.keyboard.press("ArrowRight")  # the last key stays the last
        page.keyboard.press("Enter")
        assert page.locator("#text").inner_text() in ("Aswp", "Asep")  # both are above s
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        focus = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
        assert focus == "p"  # the letters are one stop, and it is where it was


def test_words_are_reached_by_keyboard_and_said(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        Finger(page).swipe("hello", load_layout("qwerty"))
        page.wait_for_function("() => document.querySelector('#said').textContent === 'Hello'")
        page.keyboard.type(" you")
        assert page.locator(".candidate").count() == 0
        page.locator("#text .word").first.focus()
        page.keyboard.press("Enter")
        assert page.locator(".candidate").count() > 1
        assert page.evaluate("() => document.activeElement.textContent") == "Hello"


def test_reduced_motion_and_the_icon_in_the_dark(browser, keyboard_site):
    with opened(browser, keyboard_site, color_scheme="dark") as page:
        assert page.evaluate("() => getComputedStyle(document.querySelector('.caret')).animationName") == "none"
        icon = "() => getComputedStyle(document.querySelector('.brand img')).content"
        assert "icon-dark.svg" in page.evaluate(icon)
        page.locator("#theme").tap()
        assert "icon.svg" in page.evaluate(icon)
    with opened(browser, keyboard_site, reduced_motion="no-preference") as page:
        assert page.evaluate("() => getComputedStyle(document.querySelector('.caret')).animationName") == "blink"
