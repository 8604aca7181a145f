"""The picker of layouts and languages: what it offers, and what it remembers."""

import pytest
from web.serving import Finger, opened, ready, swiped_words

from glissando.layout import load_layout


@pytest.fixture
def page(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        yield page


def layouts(page) -> list[str]:
    return [one.get_attribute("value") for one in page.locator("#picker input[name=layout]").all()]


def languages(page, select: str = "#language") -> list[str]:
    return [one.get_attribute("value") for one in page.locator(f"{select} option").all()]


def pick(page, layout: str) -> None:
    page.locator(f"#picker input[name=layout][value={layout}]").tap()


def test_a_layout_offers_the_languages_that_it_can_type(page):
    page.locator("#pick").tap()
    offered = layouts(page)
    assert {"qwerty", "german", "jcuken", "greek", "hindi", "clearflow"} <= set(offered)
    assert "qwerty_z15" not in offered
    latin = set(languages(page))
    assert {"en", "de", "fr", "pl", "tr", "vi"} <= latin
    assert not latin & {"ru", "uk", "el", "hi", "ar", "he", "ja", "zh", "ko", "bn"}
    pick(page, "jcuken")
    assert languages(page) == ["bg", "ru"]
    pick(page, "ukrainian")
    assert languages(page) == ["bg", "uk"]
    pick(page, "hindi")
    assert languages(page) == ["hi"]
    assert page.locator("#second").is_disabled()


def test_every_layout_has_a_picture_with_its_keys(page):
    page.locator("#pick").tap()
    cards = page.locator("#layouts .choice")
    for name in ("qwerty", "jcuken33", "clearflow"):
        picture = cards.filter(has=page.locator(f"input[value={name}]")).locator("svg")
        assert picture.locator("text").all_text_contents() == list(load_layout(name).letters)
        assert picture.get_attribute("aria-hidden") == "true"
    assert cards.locator("svg").count() == cards.count()


def chosen(page) -> list[str]:
    return [page.input_value(one) for one in ("#language", "#second")]


def test_two_languages_are_written_at_a_time_and_remembered(browser, keyboard_site):
    with opened(browser, f"{keyboard_site}/#layout=qwerty&language=de,en") as page:
        ready(page)
        assert page.locator("#space").inner_text() == "German + English"
        finger = Finger(page)
        for count, word in enumerate(("garten", "weather"), 1):
            finger.swipe(word, load_layout("qwerty"), seed=count - 1)
            swiped_words(page, count)
        assert swiped_words(page, 2) == ["Garten", "weather"]
        page.route("**/api/decode", lambda route: route.fulfill(json={"candidates": []}))  # no keyboards need be made
        page.locator("#pick").tap()
        assert chosen(page) == ["de", "en"]
        assert languages(page, "#second") == ["", *[code for code in languages(page) if code != "de"]]
        page.select_option("#language", "en")  # the second goes with it
        assert chosen(page) == ["en", ""]
        page.select_option("#second", "fr")
        page.goto("about:blank")
        page.goto(keyboard_site)
        page.wait_for_selector("#pad .key")
        page.locator("#pick").tap()
        assert chosen(page) == ["en", "fr"]
        pick(page, "jcuken")
        assert chosen(page) == ["ru", ""]


def test_the_choice_is_remembered_and_types(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        page.locator("#pick").tap()
        pick(page, "jcuken")
        page.locator("#picker-close").tap()
        assert page.locator("#space").inner_text() == "Russian"
        page.goto("about:blank")
        page.goto(keyboard_site)  # without the fragment that the choice left in the address
        ready(page)
        assert page.locator("#pad .key").first.text_content() == "й"
        Finger(page).swipe("спасибо", load_layout("jcuken"), seed=1)
        assert swiped_words(page, 1) == ["Спасибо"]
        page.locator("#pick").tap()
        pick(page, "qwerty")
        assert page.input_value("#language") == "en"
        page.select_option("#language", "de")
        pick(page, "clearflow")
        assert page.input_value("#language") == "de"  # chosen, and can be typed


def test_a_link_to_a_language_that_the_layout_lacks_gives_one_that_it_has(browser, keyboard_site):
    with opened(browser, f"{keyboard_site}/#layout=qwerty&language=ru") as page:
        ready(page)
        assert page.locator("#space").inner_text() == "English"


def test_toki_pona_is_offered_and_read(page):
    page.locator("#pick").tap()
    pick(page, "toki_pona")
    assert languages(page) == ["tok"]
    page.locator("#picker-close").tap()
    assert page.locator("#space").inner_text() == "toki pona"
    ready(page)
    Finger(page).swipe("toki", load_layout("toki_pona"), noise=0.2)
    assert swiped_words(page, 1) == ["Toki"]


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
