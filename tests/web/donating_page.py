"""A donor in a real Chromium: consent, swipes and scribbles on the page, with touch events."""

from contextlib import contextmanager

from web.serving import Finger, opened

from glissando.layout import load_layout
from glissando.lexicon import typed_letters

DESKTOP = {"viewport": {"width": 1280, "height": 800}, "has_touch": False, "is_mobile": False}
SCRIBBLE = [0.95, 0.05, 0.9, 0.1, 0.95, 0.05, 0.5], [0.1, 0.9, 0.9, 0.1, 0.1, 0.5, 0.9], [90 * i for i in range(7)]


@contextmanager
def donor(browser, site, language="en", layout="qwerty", words=None, device=False, **options):
    """A page with a donor who has agreed.

    Sentences are cut after some words, so that they end sooner. Where the device does not read, the server does, which
    takes the test less time.
    """
    with opened(browser, "about:blank", **options) as page:
        if words:
            cut_sentences(page, words)
        if not device:
            page.route("**/kit/**", lambda route: route.abort())
        page.goto(f"{site}/collect")
        agree(page, language, layout)
        yield page


def cut_sentences(page, words):
    def cut(route):
        answer = route.fetch()
        sentences = answer.json()["sentences"]
        route.fulfill(json={"sentences": [{**one, "words": one["words"][:words]} for one in sentences]})

    page.route("**/api/sentences?*", cut)


def agree(page, language="en", layout="qwerty"):
    page.wait_for_selector("#agree")
    page.select_option("#language", language)
    page.select_option("#layout", layout)
    assert page.locator("#agree").is_disabled()
    page.locator("#tick").check()
    page.locator("#agree").tap()
    page.wait_for_selector("#sentence .now")


def now(page):
    return page.locator("#sentence .now").inner_text()


def counts(page):
    return sum(int(page.locator(one).text_content()) for one in ("#sent", "#waiting", "#refused"))


def settled(page, before):
    """Wait until one more word is given, and it is known what comes next."""
    page.wait_for_function(
        """before => !document.querySelector('.busy') && before
            < ['sent', 'waiting', 'refused'].reduce((sum, id) => sum + +document.getElementById(id).textContent, 0)""",
        arg=before,
    )


def swipe(page, layout="qwerty", word=None):
    """Swipe the marked word, or another one; says the marked word."""
    asked, keys = now(page), load_layout(layout)
    letters = "".join(typed_letters(word or asked, frozenset(keys.letters)))
    before, finger = counts(page), Finger(page)
    finger.tap(letters, keys) if len(letters) == 1 else finger.swipe(letters, keys, noise=0.2)
    settled(page, before)
    return asked


def scribble(page):
    """Scribble over all keys; says the marked word."""
    asked, before = now(page), counts(page)
    Finger(page).follow(*SCRIBBLE)
    settled(page, before)
    return asked


def skip(page):
    before = counts(page)
    page.locator("#skip").tap()
    settled(page, before)


def all_sent(page):
    page.wait_for_function("() => +document.querySelector('#waiting').textContent === 0")


def long_word(page):
    """Go on to a word that a scribble cannot be."""
    while len(now(page)) < 4:
        skip(page)


def message(page, part):
    page.wait_for_function("part => document.querySelector('#message').textContent.includes(part)", arg=part)
    return page.locator("#message").inner_text()


def receipt(page):
    page.locator("#finish").tap()
    return page.locator(".receipt").inner_text()


def delete_all(page):
    page.locator("#delete").tap()
    page.locator("#withdraw-all").tap()


def delete_by(page, code):
    page.locator("#delete").click()
    page.fill("#withdraw-code", code)
    page.locator("#withdraw-form button").click()
