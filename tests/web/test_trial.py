"""Ten words on a layout and the same ten on QWERTY."""

import pytest
from web.serving import Finger, opened, ready, swiped_words, words

from glissando.layout import load_layout

QWERTY = load_layout("qwerty")

# A trial with a decoder that reads what it is told to, kept in window.trial with what it was asked.
TRIAL = """async ({ name, language, wrong }) => {
    const { Trial } = await import('/static/trial.js');
    const { layouts } = await (await fetch('/api/layouts')).json();
    const dialog = document.querySelector('#trial').cloneNode(true);
    dialog.id = 'trial2';
    document.body.append(dialog);
    const asked = window.asked = [];
    const decode = async (points, { layout, language, context }) => {
        if (window.offline) throw new Error('The server cannot be reached.');
        const word = dialog.querySelector('.trial-word').textContent;
        asked.push([layout.name, language, word, context]);
        const read = layout.name === 'qwerty' && wrong.includes(asked.length) ? 'nonsense' : word.toUpperCase();
        return { candidates: [{ word: read }] };
    };
    const find = name => layouts.find(one => one.name === name);
    window.trial = new Trial(dialog, { decode, warm: async () => {} });
    window.openTrial = name => window.trial.open({ layout: find(name), language }, find('qwerty'));
    window.openTrial(name);
}"""


@pytest.fixture
def page(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        yield page


def begin(page, name: str, language: str, wrong: tuple[int, ...] = ()) -> None:
    page.evaluate(TRIAL, {"name": name, "language": language, "wrong": wrong})


def press(page, text: str) -> None:
    page.locator("#trial2 .dialog-buttons button", has_text=text).tap()


def swipe_all(page, finger: Finger) -> list[str]:
    """Swipe whatever is asked for until the results come; the pauses that were made."""
    pauses = []
    while not page.locator("#trial2 .trial-results").count():
        if page.locator("#trial2 .dialog-buttons button", has_text="Go").count():
            pauses.append(page.locator("#trial2 .trial-word").inner_text())
            press(page, "Go")
        before = page.evaluate("() => window.asked.length")
        finger.follow([0.2, 0.5, 0.8], [0.2, 0.5, 0.8], [0, 60, 120])
        page.wait_for_function("n => window.asked.length > n", arg=before)
    return pauses


def test_ten_words_on_both_layouts_side_by_side(page):
    Finger(page).swipe("hello", QWERTY)
    swiped_words(page, 1)
    begin(page, "dvorak", "en,de", wrong=(9, 10))
    press(page, "Begin")
    finger = Finger(page, "#trial2 .pad")
    assert swipe_all(page, finger) == ["Dvorak", "QWERTY", "Dvorak"]
    asked = page.evaluate("() => window.asked")
    assert len(asked) == 22  # one word to warm up on each
    assert {(language, context) for _, language, _, context in asked} == {("en", None)}
    by_layout = {name: [word for layout, _, word, _ in asked if layout == name] for name in ("dvorak", "qwerty")}
    assert by_layout["dvorak"] == by_layout["qwerty"]
    assert len(set(by_layout["qwerty"])) == 11
    cards = page.locator("#trial2 .trial-results figure").all()
    texts = [" ".join(card.locator("p").all_inner_texts()) for card in cards]
    assert [card.locator("figcaption").inner_text() for card in cards] == ["Dvorak", "QWERTY"]
    assert texts[0].startswith("10 of 10 words right")
    assert texts[1].startswith("8 of 10 words right")
    assert all(int(text.split(" words per minute")[0].split()[-1]) > 0 for text in texts)
    assert [card.locator("circle.wrong").count() for card in cards] == [0, 2]
    assert "Ten words are few" in page.locator("#trial2").inner_text()
    press(page, "Done")
    assert words(page) == ["Hello"]  # nothing entered the text
    page.evaluate("() => window.openTrial('dvorak')")
    press(page, "Begin")
    assert page.locator("#trial2 .trial-word").inner_text() == "QWERTY"  # the next time the other one begins
    page.keyboard.press("Escape")
    assert page.locator("#trial2 .trial-word").count() == 0


def test_it_is_cancelled_at_any_time_and_a_failure_repeats_the_word(page):
    begin(page, "qwerty", "en")
    assert "Choose another layout" in page.locator("#trial2").inner_text()
    press(page, "Begin")
    press(page, "Go")
    word = page.locator("#trial2 .trial-word").inner_text()
    finger = Finger(page, "#trial2 .pad")
    finger.follow([0.5, 0.5], [0.5, 0.5], [0, 50])
    assert "Slide over all letters" in page.locator("#trial2").inner_text()  # a tap is no swipe
    page.evaluate("() => { window.offline = true; }")
    finger.follow([0.2, 0.5, 0.8], [0.2, 0.5, 0.8], [0, 60, 120])
    page.wait_for_function("() => document.querySelector('#trial2').textContent.includes('once more')")
    assert page.locator("#trial2 .trial-word").inner_text() == word
    press(page, "Cancel")
    assert not page.locator("#trial2").is_visible()
    Finger(page).swipe("hello", QWERTY)
    assert swiped_words(page, 1) == ["Hello"]


def test_russian_is_not_compared_with_qwerty_and_other_languages_have_no_words(page):
    begin(page, "jcuken", "ru")
    assert "QWERTY cannot type Russian" in page.locator("#trial2").inner_text()
    press(page, "Cancel")
    page.evaluate("() => document.querySelector('#trial2').remove()")
    begin(page, "norwegian", "nb")
    assert "no words to practise" in page.locator("#trial2").inner_text()
    assert page.locator("#trial2 .dialog-buttons button").all_inner_texts() == ["Cancel"]


def test_the_page_opens_it_from_the_picker_and_the_help(page):
    page.locator("#pick").tap()
    page.locator("#try").tap()
    assert page.locator("#trial").is_visible()
    page.keyboard.press("Escape")
    page.locator("#help-open").tap()
    page.locator("#help-trial").tap()
    page.get_by_role("button", name="Begin").tap()
    page.get_by_role("button", name="Go").tap()
    word = page.locator("#trial .trial-word").inner_text()
    finger = Finger(page, "#trial-pad")
    finger.swipe(word, QWERTY)
    page.wait_for_function("word => document.querySelector('#trial .trial-word').textContent !== word", arg=word)
    page.get_by_role("button", name="Cancel").tap()
    assert words(page) == []
