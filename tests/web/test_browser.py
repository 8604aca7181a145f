"""The pages in a real Chromium, at the size of a phone, with touch events."""

import itertools
import json
import math

import pytest
from web.serving import Finger, opened, ready, swiped_words, words

from glissando.draft import capitalise
from glissando.layout import Layout, load_layout

QWERTY = load_layout("qwerty")


@pytest.mark.parametrize(("name", "expected"), [("clearflow", "travel water"), ("jcuken", "спасибо погода")])
def test_swiped_words_end_up_in_the_line(browser, keyboard_site, name, expected):
    with opened(browser, f"{keyboard_site}/#layout={name}") as page:
        ready(page)
        finger = Finger(page)
        for count, word in enumerate(expected.split(), 1):
            finger.swipe(word, load_layout(name), seed=count)
            swiped_words(page, count)
        assert " ".join(words(page)).lower() == expected


def test_swiping_changing_and_deleting(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        finger = Finger(page)
        finger.swipe("hello", QWERTY)
        swiped_words(page, 1)
        chips = page.locator(".candidate")
        first, second = (chips.nth(i).locator("span").inner_text() for i in (0, 1))
        assert words(page) == [first]
        chips.nth(1).tap()
        assert words(page) == [second]
        assert chips.nth(1).get_attribute("aria-pressed") == "true"
        finger.swipe("world", QWERTY, seed=1)
        swiped_words(page, 2)
        page.locator("#text .word").first.tap()  # go back to the first word: its candidates are there again
        assert page.locator("#text .word").first.get_attribute("aria-pressed") == "true"
        assert chips.nth(0).locator("span").inner_text() == first
        chips.nth(0).tap()
        assert words(page)[0] == first
        page.locator("#backspace").tap()  # writing goes on at the end
        swiped_words(page, 1)
        for letter in "hi":
            finger.tap(letter, QWERTY)
        assert words(page) == [first, "hi"]
        page.locator("#space").tap()
        finger.tap("a", QWERTY)
        assert words(page) == [first, "hi", "a"]
        page.locator("#backspace").tap()
        page.locator("#clear").tap()
        assert words(page) == []


def test_sentences_get_capitals_and_marks(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        finger, text = Finger(page), page.locator("#text")
        mark = {name: page.get_by_role("button", name=name) for name in ("Full stop", "Question mark")}
        finger.swipe("hello", QWERTY)
        swiped_words(page, 1)
        finger.tap("i", QWERTY)
        mark["Question mark"].tap()
        assert text.inner_text() == "Hello I?"
        page.locator("#space").tap()
        finger.swipe("world", QWERTY, seed=1)
        assert swiped_words(page, 3)[-1].istitle()
        chips = page.locator(".candidate span").all_inner_texts()
        assert len(set(chips)) == len(chips) > 1
        for left in ("Hello I?", "Hello I", "Hello "):
            page.locator("#backspace").tap()
            assert text.inner_text() == left
        for letter in "in":
            finger.tap(letter, QWERTY)
        assert words(page) == ["Hello", "in"]
        mark["Full stop"].tap()
        page.locator("#space").tap()
        finger.tap("a", QWERTY)
        assert text.inner_text() == "Hello in. A"


CAPITALS = [
    ("hello", "", "en"), ("hello", "on", "en"), ("hello", "On.", "en"), ("hello", "On. ", "en"), ("hello", "e.g", "en"),
    ("i", "on", "en"), ("i'm", "on", "en"), ("i", "on", "de"), ("i", "", "de"), ("it", "on", "en"),
    ("iPhone", "", "en"), ("Berlin", "in", "en"), ("constructor", "the", "en"), ("ёж", "Да!", "ru"), ("ß", "", "de"),
    ("3rd", "", "en"), ("x", "(", "en"), ("x", "one, ", "en"), ("x", "“Yes.” ", "en"), ("x", "3.5", "en"),
    ("ก", "", "th"),
]  # fmt: skip


def test_the_page_writes_capitals_as_the_library_does(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        written = page.evaluate(
            "rows => import('/static/rules.js').then(({ capitalise }) => rows.map(row => capitalise(...row)))",
            [list(row) for row in CAPITALS],
        )
    assert written == [capitalise(*row) for row in CAPITALS]


def test_each_swipe_is_sent_after_the_one_before_with_the_text_so_far(browser, keyboard_site):
    sent, held = [], []

    def hold(route):
        body = json.loads(route.request.post_data)
        if body["k"] == 1:  # a preview
            route.continue_()
            return
        sent.append(body)
        held.append(route)

    with opened(browser, keyboard_site) as page:
        ready(page)
        page.route("**/api/decode", hold)
        finger = Finger(page)
        with page.expect_request(lambda request: "decode" in request.url and '"k":6' in request.post_data):
            finger.swipe("hello", QWERTY)
        finger.swipe("world", QWERTY, seed=1)
        assert [body["context"] for body in sent] == [""]
        with page.expect_request(lambda request: "decode" in request.url and '"k":6' in request.post_data):
            held[0].continue_()
        (first,) = swiped_words(page, 1)
        assert [body["context"] for body in sent] == ["", first]
        held[1].continue_()
        swiped_words(page, 2)
        page.unroute("**/api/decode")


def test_a_preview_while_the_finger_is_down(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        finger = Finger(page)
        finger.touch(0.1, 0.5, down=True)
        for step in itertools.count(1):
            finger.touch(0.5 - 0.4 * math.cos(step / 8), 0.5)  # to and fro until a preview comes
            if page.locator(".preview").count():
                break
        assert words(page) == []
        finger.lift()
        swiped_words(page, 1)


def test_the_points_of_the_finger_are_sent_and_a_busy_server_is_shown(browser, keyboard_site):
    error = {"error": {"kind": "QueueFullError", "message": "64 swipes are waiting already; try again soon"}}
    sent = []

    def refuse(route):
        sent.append(route.request)
        route.fulfill(status=503, json=error)

    with opened(browser, keyboard_site) as page:
        ready(page)
        page.route("**/api/decode", refuse)
        Finger(page).follow([0.1, 0.3, 0.5, 0.9], [0.2, 0.5, 0.5, 0.8], [0, 50, 100, 250])
        page.wait_for_selector("#toast:not([hidden])")
        assert "try again soon" in page.locator("#toast").inner_text()
        assert words(page) == []
        assert page.locator("#text .failed").count() == 1
        points = json.loads(sent[-1].post_data)["points"]
        assert points[0] == pytest.approx([0.1, 0.2, 0], abs=0.01)
        assert points[-1][:2] == pytest.approx([0.9, 0.8], abs=0.01)
        assert [t for _, _, t in points] == sorted(t for _, _, t in points)
        assert 200 <= points[-1][2] <= 350  # the events carry their times


def test_the_panels_explain(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        Finger(page).swipe("hello", QWERTY)
        swiped_words(page, 1)
        assert not page.locator("#seen").is_visible()
        page.locator("#inside summary").tap()
        page.wait_for_selector("#seen-letters canvas")
        assert page.locator("#seen-letters li").count() == len(words(page)[0].replace("'", "").replace("-", ""))
        assert page.locator("#seen-gate svg").count() == 1
        page.locator("#tab-why").tap()
        page.fill("#why-word", "zebra")
        page.locator("#why-form button").tap()
        page.wait_for_selector(".verdict")
        assert "zebra" in page.locator(".verdict").inner_text()
        said = page.locator(".said").inner_text()
        assert "second" in said
        assert "The words before spoke for" in said
        assert page.locator(".costs").first.locator("strong").all_inner_texts() == list("zebra")
        assert page.locator(".costs .worst").count() == 1


def test_a_layout_of_ones_own_and_its_link(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        page.locator("#pick").tap()
        page.locator("#edit").tap()
        page.fill("#editor-name", "<script>alert(1)</script>")
        page.fill("#editor-rows", "abc\ndef\n_gh")
        assert page.locator("#editor-board .key").count() == 8
        key = page.locator("#editor-board .key").first
        before = key.bounding_box()
        page.mouse.move(before["x"] + 10, before["y"] + 10)
        page.mouse.down()
        page.mouse.move(before["x"] + 40, before["y"] + 10, steps=3)
        page.mouse.up()
        assert key.bounding_box()["x"] == pytest.approx(before["x"] + 30, abs=2)
        key.focus()
        page.keyboard.press("ArrowRight")
        assert key.bounding_box()["x"] > before["x"] + 31
        page.locator("#editor-use").tap()
        assert page.locator("#pad .key").count() == 8
        assert "<script>alert(1)</script>" in page.locator("#pick").get_attribute("aria-label")
        Finger(page).follow([0.2, 0.5, 0.8, 0.5], [0.2, 0.5, 0.2, 0.9], [0, 100, 200, 300])
        swiped_words(page, 1)
        link = page.url
    with opened(browser, link) as page:
        page.wait_for_selector("#pad .key")
        assert page.locator("#pad .key").all_text_contents() == list("abcdefgh")
        assert "<script>alert(1)</script>" in page.locator("#pick").get_attribute("aria-label")


def test_a_damaged_link_still_gives_a_keyboard(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        for fragment in ("custom=AAAA", "layout=nothing", "custom=", "%%%", "layout=<script>&language=xx"):
            page.goto(f"{keyboard_site}/#{fragment}")
            page.reload()
            page.wait_for_selector("#pad .key")
            assert page.locator("#pad .key").count() == 26


def test_controls_work_from_a_keyboard_and_a_mouse_swipes(browser, keyboard_site):
    with opened(browser, keyboard_site, has_touch=False, is_mobile=False) as page:
        ready(page)
        page.keyboard.type("hi")
        assert words(page) == ["hi"]
        page.keyboard.press("Backspace")
        assert words(page) == ["h"]
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id"))
        assert {"theme", "clear", "undo", "copy", "shift", "more", "pick", "space", "enter", "backspace"} <= reached
        page.focus("#backspace")
        page.keyboard.press("Enter")
        assert words(page) == []
        page.focus("#inside summary")
        page.keyboard.press("Enter")
        page.focus("#tab-seen")
        page.keyboard.press("ArrowRight")
        assert page.locator("#why").is_visible()
        page.focus("#pick")
        page.keyboard.press("Enter")
        page.focus("#edit")
        page.keyboard.press("Enter")
        assert page.locator("#editor").is_visible()
        page.keyboard.press("Escape")
        assert not page.locator("#editor").is_visible()
        box = page.locator("#pad").bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 300, box["y"] + 100, steps=12)
        page.mouse.up()
        swiped_words(page, 1)


@pytest.mark.parametrize("path", ["/collect", "/operator", "/docs", "/#layout=jcuken33"])
def test_nothing_is_cut_off_at_320_pixels(browser, keyboard_site, path):
    with opened(browser, keyboard_site + path, viewport={"width": 320, "height": 568}) as page:
        page.wait_for_load_state("networkidle")
        if "layout" in path:
            ready(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        smallest = page.evaluate(
            """() => Math.min(...[...document.querySelectorAll("body *")]
                .filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
                .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
        )
        assert smallest >= 11.5
        small = page.evaluate(
            """() => [...document.querySelectorAll("button, select, input:not([type=radio])")]
                .filter(e => e.checkVisibility()).map(e => [e.id, e.getBoundingClientRect()])
                .filter(([, box]) => box.height < 24 || box.width < 24).map(([id]) => id)"""
        )
        assert small == []


def test_dark_and_light(browser, keyboard_site):
    ground = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, keyboard_site, color_scheme="dark") as page:
        dark = page.evaluate(ground)
        page.locator("#theme").tap()
        light = page.evaluate(ground)
        page.reload()
        assert page.evaluate(ground) == light != dark
    with opened(browser, keyboard_site, color_scheme="light") as page:
        assert page.evaluate(ground) == light


def test_the_api_page_tries_an_example(browser, keyboard_site):
    with opened(browser, f"{keyboard_site}/docs") as page:
        card = page.locator(".card", has_text="/api/decode").first
        with page.expect_response("**/api/decode") as answer:
            card.locator("button").tap()
        candidates = answer.value.json()["candidates"]
        page.wait_for_function("() => document.querySelector('.trial pre').textContent.includes('candidates')")
        assert candidates[0]["word"] in page.locator(".trial pre").first.inner_text()


def test_rows_made_in_the_page_are_those_of_the_library(browser, keyboard_site):
    rows_text = ["qwfpgjluy", "arstdhneio", "_zxcvbkm"]
    with opened(browser, keyboard_site) as page:
        made = page.evaluate(
            "async text => (await import('/static/layouts.js')).fromRows('mine', text)", "\n".join(rows_text)
        )
    expected = Layout.from_rows("mine", rows_text)
    assert [key["letter"] for key in made["keys"]] == list(expected.letters)
    for key, other in zip(made["keys"], expected.keys, strict=True):
        assert [key[name] for name in ("cx", "cy", "rx", "ry")] == pytest.approx(
            [other.cx, other.cy, other.rx, other.ry]
        )
    assert made["aspect"] == pytest.approx(expected.aspect)
