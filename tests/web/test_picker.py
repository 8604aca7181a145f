"""The picker of layouts and languages: what it offers, and what it remembers."""

import pytest
from web.serving import Finger, opened, ready, swiped_words

from glissando.layout import load_layout


@pytest.fixture
def page(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        yield page


def choices(page, group: str) -> list[str]:
    return [one.get_attribute("value") for one in page.locator(f"#picker input[name={group}]").all()]


def pick(page, group: str, value: str) -> None:
    page.locator(f"#picker input[name={group}][value={value}]").tap()


def test_a_layout_offers_the_languages_that_it_can_type(page):
    page.locator("#pick").tap()
    layouts = choices(page, "layout")
    assert {"qwerty", "german", "jcuken", "greek", "hindi", "clearflow"} <= set(layouts)
    assert "qwerty_z15" not in layouts
    assert "toki_pona" not in layouts  # the server has no words for it
    latin = set(choices(page, "language"))
    assert {"en", "de", "fr", "pl", "tr", "vi"} <= latin
    assert not latin & {"ru", "uk", "el", "hi", "ar", "he", "ja", "zh", "ko", "bn"}
    pick(page, "layout", "jcuken")
    assert choices(page, "language") == ["bg", "ru"]
    pick(page, "layout", "ukrainian")
    assert choices(page, "language") == ["bg", "uk"]
    pick(page, "layout", "hindi")
    assert choices(page, "language") == ["hi"]


def test_the_choice_is_remembered_and_types(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        page.locator("#pick").tap()
        pick(page, "layout", "jcuken")
        page.locator("#picker-close").tap()
        assert page.locator("#space").inner_text() == "Russian"
        page.goto("about:blank")
        page.goto(keyboard_site)  # without the fragment that the choice left in the address
        ready(page)
        assert page.locator("#pad .key").first.text_content() == "й"
        Finger(page).swipe("спасибо", load_layout("jcuken"), seed=1)
        assert swiped_words(page, 1) == ["Спасибо"]
        page.locator("#pick").tap()
        pick(page, "layout", "qwerty")
        assert page.locator("#languages input:checked").get_attribute("value") == "en"
        pick(page, "language", "de")
        pick(page, "layout", "clearflow")
        assert page.locator("#languages input:checked").get_attribute("value") == "de"  # chosen, and can be typed


def test_a_link_to_a_language_that_the_layout_lacks_gives_one_that_it_has(browser, keyboard_site):
    with opened(browser, f"{keyboard_site}/#layout=qwerty&language=ru") as page:
        ready(page)
        assert page.locator("#space").inner_text() == "English"


def test_toki_pona_is_offered_once_the_server_has_its_words(browser, keyboard_site):
    with opened(browser, "about:blank") as page:

        def more(route):
            answer = route.fetch().json()
            route.fulfill(json={**answer, "languages": [*answer["languages"], "tok"]})

        page.route("**/api/layouts", more)
        page.goto(keyboard_site)
        ready(page)
        page.locator("#pick").tap()
        page.route("**/api/decode", lambda route: route.fulfill(json={"candidates": []}))
        pick(page, "layout", "toki_pona")
        assert choices(page, "language") == ["tok"]


def test_the_picker_works_from_a_keyboard(browser, keyboard_site):
    with opened(browser, keyboard_site, has_touch=False, is_mobile=False) as page:
        ready(page)
        page.focus("#pick")
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.activeElement.value") == "qwerty"
        page.keyboard.press("ArrowDown")
        assert page.evaluate("() => document.activeElement.value") == "qwertz"
        page.keyboard.press("Escape")
        assert page.locator("#space").inner_text() == "German"


def test_a_hostile_layout_in_storage_or_a_link_leaves_qwerty(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        for stored in ("#custom=AAAA", "#layout=__proto__", "%%%", "x" * 10_000):
            page.evaluate("text => localStorage.setItem('glissando:keyboard', text)", stored)
            page.reload()
            ready(page)
            assert page.locator("#pad .key").count() == 26
