"""Fingers on the keyboard page: nothing that they do is lost, swapped or left behind."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from web.serving import Finger, opened, ready, swiped_words, words

from glissando.layout import load_layout

QWERTY = load_layout("qwerty")
LINE = ([0.1, 0.5, 0.9], [0.2, 0.5, 0.8], [0, 40, 80])  # a fast swipe across the letters


class Server:
    """Answers decodings with words in alphabetical order; holds or refuses them where it is told to."""

    def __init__(self, page) -> None:
        self.answers = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(500)]
        self.held: list | None = None
        self.offline = False
        page.route("**/api/decode", self.answer)

    def answer(self, route) -> None:
        if json.loads(route.request.post_data)["k"] == 1:  # a preview
            route.fulfill(json={"candidates": []})
        elif self.offline:
            route.abort()
        elif self.held is not None:
            self.held.append(route)
        else:
            self.fulfill(route)

    def fulfill(self, route) -> None:
        word = self.answers.pop(0)
        candidates = [{"word": word, "probability": 0.9}, {"word": word + "x", "probability": 0.1}]
        route.fulfill(json={"candidates": candidates})


@contextmanager
def typing(browser, site) -> Iterator[tuple]:
    """A page, a finger on it, and the server that answers it."""
    with opened(browser, site) as page:
        ready(page)
        yield page, Finger(page), Server(page)


def text(page) -> str:
    return page.locator("#text").inner_text()


def holes(page, count: int) -> None:
    page.wait_for_function("n => document.querySelectorAll('#text .pending').length === n", arg=count)


def waiting_for(page, server, count: int) -> None:
    """Wait until so many decodings were asked for."""
    while len(server.held) < count:
        page.wait_for_timeout(5)


def test_no_tap_is_lost_after_fast_swipes(browser, keyboard_site):
    with typing(browser, keyboard_site) as (page, finger, _):
        box = page.locator("#space").bounding_box()
        spot = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}]
        for count in range(1, 13):
            finger.follow(*LINE)
            finger.protocol.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": spot})
            finger.protocol.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            swiped_words(page, count)
        assert text(page).count(" ") == 12
        assert text(page).endswith(" ")


def test_words_land_in_the_order_of_the_swipes_with_holes_until_they_are_read(browser, keyboard_site):
    with typing(browser, keyboard_site) as (page, finger, server):
        server.held = []
        for _ in range(3):
            finger.follow(*LINE)
        holes(page, 3)
        finger.tap("s", QWERTY)
        for count in range(1, 4):
            waiting_for(page, server, count)
            server.fulfill(server.held[count - 1])
            holes(page, 3 - count)
        assert text(page) == "Wordaa wordab wordac s"


def test_backspace_cancels_the_swipe_that_is_on_its_way_and_undo_brings_it_back(browser, keyboard_site):
    with typing(browser, keyboard_site) as (page, finger, server):
        server.held = []
        finger.follow(*LINE)
        finger.follow(*LINE)
        waiting_for(page, server, 1)
        page.locator("#backspace").tap()
        holes(page, 1)
        page.locator("#backspace").tap()
        holes(page, 0)
        assert words(page) == []
        finger.follow(*LINE)
        waiting_for(page, server, 2)  # the one that was cancelled does not stand in its way
        server.fulfill(server.held[1])
        assert swiped_words(page, 1) == ["Wordaa"]
        page.locator("#undo").tap()
        page.locator("#undo").tap()
        holes(page, 1)
        waiting_for(page, server, 3)
        server.fulfill(server.held[2])
        assert swiped_words(page, 1) == ["Wordab"]


def test_a_swipe_made_offline_stays_and_is_read_later(browser, keyboard_site):
    with typing(browser, keyboard_site) as (page, finger, server):
        server.offline = True
        finger.follow(*LINE)
        page.wait_for_selector("#text .failed")
        assert "kept" in page.locator("#toast").inner_text()
        finger.follow(*LINE)
        page.wait_for_function("() => document.querySelectorAll('#text .failed').length === 2")
        page.locator("#text .failed").first.tap()  # still offline
        page.wait_for_function("() => document.querySelectorAll('#text .failed').length === 2")
        server.offline = False
        page.locator("#text .failed").first.tap()
        assert swiped_words(page, 2) == ["Wordaa", "wordab"]  # the other one is tried as well


def test_a_swipe_that_the_server_refuses_goes_with_a_word_of_why(browser, keyboard_site):
    with typing(browser, keyboard_site) as (page, finger, _):
        refusal = {"error": {"kind": "GestureError", "message": "no such swipe"}}
        page.route("**/api/decode", lambda route: route.fulfill(status=422, json=refusal))
        finger.follow(*LINE)
        page.wait_for_selector("#toast:not([hidden])")
        assert page.locator("#toast").inner_text() == "no such swipe"
        holes(page, 0)
        assert words(page) == []


class Hand:
    """Several fingers on the letters."""

    def __init__(self, page) -> None:
        self.protocol = page.context.new_cdp_session(page)
        self.box = page.locator("#pad").bounding_box()
        self.down: dict[int, dict] = {}

    def touch(self, finger: int, x: float, y: float) -> None:
        """Put a finger down, or move it."""
        kind = "touchMove" if finger in self.down else "touchStart"
        place = {"x": self.box["x"] + x * self.box["width"], "y": self.box["y"] + y * self.box["height"]}
        self.down[finger] = {**place, "id": finger}
        self._send(kind, list(self.down.values()))

    def letter(self, finger: int, letter: str) -> None:
        """Put a finger down on a letter."""
        key = QWERTY.keys[QWERTY.letters.index(letter)]
        self.touch(finger, key.cx, key.cy)

    def lift(self, finger: int) -> None:
        """Lift a finger."""
        self._send("touchEnd", [self.down.pop(finger)])

    def cancel(self) -> None:
        """The system takes all fingers away."""
        self.down.clear()
        self._send("touchCancel", [])

    def _send(self, kind: str, points: list[dict]) -> None:
        message = {"type": kind, "touchPoints": points, "timestamp": time.time()}
        self.protocol.send("Input.dispatchTouchEvent", message)


@pytest.mark.parametrize("lifts", [(0, 1), (1, 0)])
def test_two_thumbs_that_roll_type_both_letters_in_order(browser, keyboard_site, lifts):
    with typing(browser, keyboard_site) as (page, _, _):
        hand = Hand(page)
        hand.letter(0, "r")
        hand.letter(1, "h")
        for finger in lifts:
            hand.lift(finger)
        assert text(page) == "Rh"


def test_a_tap_during_a_swipe_neither_breaks_it_nor_is_lost(browser, keyboard_site):
    with typing(browser, keyboard_site) as (page, _, _):
        hand = Hand(page)
        hand.touch(0, 0.1, 0.2)
        hand.touch(0, 0.4, 0.5)
        hand.letter(1, "m")
        hand.lift(1)
        assert text(page).startswith("Slide")  # the swipe was first, so it is written first
        hand.touch(0, 0.9, 0.5)
        hand.lift(0)
        swiped_words(page, 2)
        assert text(page) == "Wordaa m"


INTERRUPTIONS = {
    "cancelled": lambda page, hand: hand.cancel(),
    "blurred": lambda page, hand: page.evaluate("window.dispatchEvent(new Event('blur'))"),
    "hidden": lambda page, hand: page.evaluate("window.dispatchEvent(new Event('pagehide'))"),
    "capture lost": lambda page, hand: page.evaluate(
        "for (let i = 0; i < 99; i += 1) if (pad.hasPointerCapture(i)) pad.releasePointerCapture(i)"
    ),
}


@pytest.mark.parametrize("how", INTERRUPTIONS)
def test_an_interrupted_swipe_leaves_nothing_behind(browser, keyboard_site, how):
    with typing(browser, keyboard_site) as (page, finger, _):
        hand = Hand(page)
        hand.touch(0, 0.1, 0.2)
        hand.touch(0, 0.6, 0.5)
        assert page.locator("#pad .down").count() == 1
        INTERRUPTIONS[how](page, hand)
        if hand.down:
            hand.touch(0, 0.7, 0.5)
            hand.lift(0)
        page.wait_for_function("() => document.querySelectorAll('#pad .down').length === 0")
        assert text(page).startswith("Slide")
        blank = "() => pad.querySelector('canvas').getContext('2d').getImageData(0, 0, 900, 300).data.every(v => !v)"
        page.wait_for_function(blank)
        finger.tap("a", QWERTY)  # and the keyboard works on
        finger.follow(*LINE)
        swiped_words(page, 2)
        assert text(page) == "A wordaa"
