"""Layouts of one's own in the page: the bounds are the server's, and the browser keeps them by name."""

import base64
import json

import pytest
from pydantic import ValidationError
from web.serving import Finger, opened, ready, swiped_words

from glissando.errors import LayoutError
from glissando.layout import Layout, load_layout
from glissando.web.models import CustomLayout

QWERTY = load_layout("qwerty")


def short(layout: Layout, **changes) -> dict:
    """A layout in the form that links carry."""
    keys = [[key.letter, key.cx, key.cy, key.rx, key.ry] for key in layout.keys]
    return {"n": layout.name, "a": layout.aspect, "k": keys, **changes}


def link(content: object) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    return "#custom=" + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


KEY = ["a", 0.5, 0.5, 0.2, 0.2]
OTHER = ["b", 0.2, 0.2, 0.2, 0.2]
# What a link may hold, and what the message says of it; None where it can be used.
LAYOUTS = [
    (short(QWERTY), None),
    (short(QWERTY, n="<img src=x onerror=alert(1)>"), None),
    (short(QWERTY, n="a\u202eb"), None),
    (short(QWERTY, n="x" * 1000), None),
    ({"n": "twice", "a": 0.4, "k": [KEY, ["a", 0.1, 0.1, 0.1, 0.1]]}, None),
    ({"n": "with a smile", "a": 0.4, "k": [KEY, ["😀", 0.2, 0.2, 0.2, 0.2]]}, None),
    ({"n": "capital", "a": 0.4, "k": [["A", 0.5, 0.5, 0.2, 0.2], OTHER]}, None),
    ({"n": "tower", "a": 19, "k": [KEY, OTHER]}, None),
    ({"n": "many", "a": 0.4, "k": [["a", i / 1e4, 0.5, 0.1, 0.1] for i in range(10_000)]}, "10,000"),
    ({"n": "65", "a": 0.4, "k": [["a", i / 100, 0.5, 0.1, 0.1] for i in range(65)]}, "at most 64"),
    ({"n": "none", "a": 0.4, "k": []}, "at least one letter"),
    ({"n": "too high", "a": 20.1, "k": [KEY]}, "20 times"),
    ({"n": "too flat", "a": 0.04, "k": [KEY]}, "20 times"),
    ({"n": "no size", "a": 0.4, "k": [["a", 0.5, 0.5, 0, 0.2]]}, "no size"),
    ({"n": "too large", "a": 0.4, "k": [["a", 0.5, 0.5, 1.5, 0.2]]}, "larger than the keyboard"),
    ({"n": "outside", "a": 0.4, "k": [["a", 1.2, 0.5, 0.2, 0.2]]}, "outside"),
    ({"n": "two letters", "a": 0.4, "k": [["ab", 0.5, 0.5, 0.2, 0.2]]}, "one visible character"),
    ({"n": "family", "a": 0.4, "k": [["👨‍👩‍👧", 0.5, 0.5, 0.2, 0.2]]}, "one visible character"),
    ({"n": "nothing", "a": 0.4, "k": [["", 0.5, 0.5, 0.2, 0.2]]}, "one visible character"),
    ({"n": "blank", "a": 0.4, "k": [[" ", 0.5, 0.5, 0.2, 0.2]]}, "one visible character"),
    ({"n": "unseen", "a": 0.4, "k": [["\u200b", 0.5, 0.5, 0.2, 0.2]]}, "one visible character"),
    ({"n": "number", "a": 0.4, "k": [[7, 0.5, 0.5, 0.2, 0.2]]}, "one visible character"),
    ({"n": "no place", "a": 0.4, "k": [["a", None, 0.5, 0.2, 0.2]]}, "no place"),
    ({"n": "text", "a": 0.4, "k": [["a", "0.5", 0.5, 0.2, 0.2]]}, "no place"),
    ({"n": "same place", "a": 0.4, "k": [KEY, ["b", 0.50001, 0.5, 0.2, 0.2]]}, "same place"),
]  # fmt: skip
# The server would take these, but nobody could write on them; or they are no layouts at all.
HOPELESS = [
    (short(QWERTY, a=19), "too small"),
    ({"n": "smiles", "a": 0.4, "k": [["😀", 0.5, 0.5, 0.2, 0.2]]}, "at least one letter"),
    ('{"n": "not a number", "a": NaN, "k": []}', "damaged"),
    ({"n": "no aspect", "k": [KEY]}, "damaged"),
    ({"n": "keys", "a": 0.4, "k": ["a"]}, "damaged"),
    ([1, 2], "damaged"),
    ("null", "damaged"),
    ("{" * 5000, "damaged"),
]


def taken_by_the_server(content: dict) -> bool:
    names = ("letter", "cx", "cy", "rx", "ry")
    body = {
        "name": "custom",
        "aspect": content["a"],
        "keys": [dict(zip(names, key, strict=True)) for key in content["k"]],
    }
    try:
        Layout.from_dict(CustomLayout.model_validate(body).model_dump(exclude_none=True))
    except (ValidationError, LayoutError):
        return False
    return True


@pytest.fixture(scope="module")
def shared(browser, keyboard_site):
    """One page for tests that leave it as it was."""
    with opened(browser, keyboard_site) as page:
        ready(page)
        yield page


def test_the_bounds_are_those_of_the_server(shared):
    for content, message in LAYOUTS:
        assert taken_by_the_server(content) == (message is None), content["n"]
    read = """async links => {
        const { fromFragment } = await import('/static/layouts.js');
        return links.map(link => {
            try { return fromFragment(link).layout.name; } catch (error) { return [error.message]; }
        });
    }"""
    cases = LAYOUTS + HOPELESS
    for (content, message), found in zip(cases, shared.evaluate(read, [link(one) for one, _ in cases]), strict=True):
        if message is None:
            assert isinstance(found, str), (content, found)
            assert len(found) <= 64
            assert found.isprintable()
        else:
            assert isinstance(found, list)
            assert message in found[0]


@pytest.mark.parametrize(("content", "message"), [LAYOUTS[8], LAYOUTS[13], HOPELESS[0], HOPELESS[2]])
def test_a_hostile_link_says_why_and_the_keyboard_works_on_qwerty(browser, keyboard_site, content, message):
    with opened(browser, keyboard_site + "/" + link(content)) as page:
        ready(page)
        assert message in page.locator("#toast").inner_text()
        assert page.locator("#pad .key").all_text_contents() == list(QWERTY.letters)
        Finger(page).swipe("hello", QWERTY)
        assert swiped_words(page, 1) == ["Hello"]


def test_names_with_markup_stay_text(browser, keyboard_site):
    name = "<img src=x onerror=alert(1)>"
    with opened(browser, keyboard_site + "/" + link(short(QWERTY, n=name))) as page:
        ready(page)
        page.locator("#pick").tap()
        assert page.locator("#own .choice span").first.inner_text() == name
        assert page.locator("#picker img").count() == 0


def make_layout(page, name: str, rows: str) -> None:
    page.locator("#pick").tap()
    page.locator("#edit").tap()
    page.fill("#editor-name", name)
    page.fill("#editor-rows", rows)
    page.locator("#editor-use").tap()


def own(page) -> list[str]:
    return [one.split("\n")[0] for one in page.locator("#own label span").all_inner_texts()]


def test_own_layouts_are_kept_renamed_shared_and_deleted(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        make_layout(page, "one", "abc\ndef")
        make_layout(page, "two", "ghi\njkl\nmno")
        make_layout(page, "one", "pqr")  # the name is taken
        page.reload()
        page.wait_for_selector("#pad .key")
        assert page.locator("#pad .key").all_text_contents() == list("pqr")
        page.locator("#pick").tap()
        assert own(page) == ["one", "two", "one 2"]
        assert page.locator("#own input:checked").count() == 1
        page.locator("#own .choice", has_text="two").tap()
        page.locator("#own-share").tap()
        page.wait_for_function("() => document.querySelector('#toast').textContent.includes('copied')")
        assert page.locator("#picker #toast").is_visible()  # over the dialog, not behind it
        copied = page.evaluate("() => navigator.clipboard.readText()")
        assert copied.split("#")[0] == f"{keyboard_site}/"
        page.locator("#own-edit").tap()
        page.fill("#editor-name", "second")
        page.locator("#editor-use").tap()
        page.locator("#pick").tap()
        assert own(page) == ["one", "second", "one 2"]
        page.locator("#own-delete").tap()
        assert own(page) == ["one", "one 2", "second"]  # it is in use, but not kept
        assert page.locator("#own .choice", has_text="second").locator("small").inner_text() == "not kept"
        page.locator("#own .choice", has_text="one 2").tap()
        page.locator("#picker-close").tap()
        page.locator("#pick").tap()
        assert own(page) == ["one", "one 2"]
    with opened(browser, copied) as page:
        page.wait_for_selector("#pad .key")
        assert page.locator("#pad .key").all_text_contents() == list("ghijklmno")
        page.locator("#pick").tap()
        assert own(page) == ["two"]
        page.locator("#own-keep").tap()
        page.goto(keyboard_site + "/#layout=qwerty")
        page.reload()
        page.wait_for_selector("#pad .key")
        page.locator("#pick").tap()
        assert own(page) == ["two"]


def test_damaged_stored_layouts_are_put_aside(browser, keyboard_site):
    good = short(Layout.from_rows("good", ["abc", "def"]))
    stored = json.dumps([good, {"n": "bad"}, None, good])
    script = f"if (location.protocol !== 'about:') localStorage.setItem('glissando:layouts', {json.dumps(stored)});"
    with opened(browser, keyboard_site, script=script) as page:
        ready(page)
        page.locator("#pick").tap()
        assert own(page) == ["good"]
        assert page.evaluate("() => localStorage.getItem('glissando:layouts:damaged')") == stored


def test_the_editor_says_what_is_wrong(shared):
    page = shared
    page.locator("#pick").tap()
    page.locator("#edit").tap()
    message = page.locator("#editor-message")
    for rows, said in (
        ("😀", "at least one letter"),
        ("", "at least one row"),
        ("aİ", "one visible character"),
        ("abc\nde", ""),
    ):
        page.fill("#editor-rows", rows)
        assert said in message.inner_text()
        assert bool(said) == bool(message.inner_text())
    keys = page.locator("#editor-board .key")
    keys.nth(0).focus()
    for _ in range(200):  # onto the next key
        page.keyboard.press("ArrowRight")
    keys.nth(1).focus()
    for _ in range(200):
        page.keyboard.press("ArrowRight")
    page.locator("#editor-use").tap()
    assert "same place" in message.inner_text()
    page.mouse.click(2, 2)  # a press beside the editor loses nothing
    assert page.locator("#editor").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#pad .key").count() == 26


FORBIDDEN = """
    Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });
    delete PointerEvent.prototype.getCoalescedEvents;
"""
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"


@pytest.mark.parametrize("script", [FORBIDDEN, FULL], ids=["forbidden", "full"])
def test_without_storage_and_coalesced_events_the_page_works_on(browser, keyboard_site, script):
    with opened(browser, keyboard_site, new=True, script=script) as page:
        ready(page)
        assert not page.locator("#visit").is_visible()  # it could not be remembered, and would come again and again
        Finger(page).swipe("hello", QWERTY)
        assert swiped_words(page, 1) == ["Hello"]
        page.locator("#theme").tap()
        make_layout(page, "mine", "abc\ndef")
        assert "no room" in page.locator("#toast").inner_text()
        assert page.locator("#pad .key").count() == 6
        page.locator("#words-open").tap()
        page.fill("#words-search", "Taigang")
        page.locator("#words-add").tap()
        assert "no room" in page.locator("#words-said").inner_text()
        assert page.locator("#words-list li").count() == 1
