"""All dialogs: named, inside every screen, closed by Escape, and the focus goes back to where it was."""

import pytest
from web.serving import boxes, opened

OPENERS = {"picker": "#pick", "words": "#words-open", "help": "#help-open"}
SCREENS = [(320, 568), (568, 320), (390, 844), (844, 390), (653, 841), (768, 1024), (1280, 800)]


@pytest.fixture(scope="module")
def page(browser, keyboard_site):
    with opened(browser, keyboard_site, has_touch=False, is_mobile=False) as page:
        page.wait_for_selector("#pad .key")
        yield page


def check_inside(page) -> None:
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        for box in boxes(page, "dialog[open]", "dialog[open] .dialog-buttons").values():
            assert box["x"] >= 0 <= box["y"]
            assert box["x"] + box["width"] <= width
            assert box["y"] + box["height"] <= height
        dialog = page.locator("dialog[open]")
        assert dialog.evaluate("one => one.scrollWidth <= one.clientWidth")  # it scrolls down, never sideways
        heights = dialog.locator(".dialog-buttons button").evaluate_all(
            "buttons => buttons.map((one) => one.getBoundingClientRect().height)"
        )
        assert min(heights) >= 36


@pytest.mark.parametrize("name", OPENERS)
def test_a_dialog_is_named_fits_and_gives_the_focus_back(page, name):
    page.focus(OPENERS[name])
    page.keyboard.press("Enter")
    dialog = page.locator(f"dialog#{name}[open]")
    title = page.locator(f"#{dialog.get_attribute('aria-labelledby')}").inner_text()
    assert page.get_by_role("dialog", name=title).count() == 1
    assert dialog.evaluate("one => one.contains(document.activeElement)")
    check_inside(page)
    page.keyboard.press("Escape")
    assert dialog.count() == 0
    assert page.evaluate("() => '#' + document.activeElement.id") == OPENERS[name]


@pytest.mark.parametrize(("button", "name"), [("#edit", "editor"), ("#try", "trial")])
def test_dialogs_that_the_picker_opens(page, button, name):
    page.focus("#pick")
    page.keyboard.press("Enter")
    page.focus(button)
    page.keyboard.press("Enter")
    assert page.locator("dialog[open]").get_attribute("id") == name
    check_inside(page)
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert page.evaluate("() => document.activeElement.id") == "pick"


def test_every_button_and_field_has_a_name(page):
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, textarea')].filter(one =>
            !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.[0]?.textContent.trim())
        ).map(one => one.outerHTML)"""
    )
    assert unnamed == []
