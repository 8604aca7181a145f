"""The donor's page in a real Chromium: both ways up, offline, two languages, what was read, and no runaway."""

import pytest
from web.donating_page import (
    DESKTOP,
    SCRIBBLE,
    all_sent,
    donor,
    long_word,
    message,
    now,
    scribble,
    skip,
    swipe,
)
from web.serving import RUNTIME, Finger, opened

from glissando.layout import load_layout
from glissando.lexicon import typed_letters

SIDEWAYS = {"viewport": {"width": 844, "height": 390}}


def test_the_whole_flow_upright_in_two_languages_and_offline_in_the_middle(browser, collection_site, given):
    with donor(browser, collection_site, words=1, device=True) as page:
        page.locator("#change").tap()
        page.locator("#about summary").tap()
        page.select_option("#hand", "left")
        page.select_option("#posture", "thumb")
        page.evaluate("document.querySelector('#card-size').value = 300")
        page.locator("#card-size").dispatch_event("input")
        page.locator("#resume-go").tap()
        english = [swipe(page), swipe(page)]
        page.wait_for_function("() => document.querySelector('#read').textContent.startsWith('I read')")
        page.locator("#change").tap()
        page.select_option("#language", "ru")
        assert page.locator("#layout").input_value() == "jcuken"
        assert "qwerty" not in page.locator("#layout option").evaluate_all("all => all.map(one => one.value)")
        page.locator("#resume-go").tap()
        page.wait_for_selector("#sentence[lang=ru] .now")
        page.context.set_offline(True)
        russian = [swipe(page, "jcuken"), swipe(page, "jcuken")]
        assert page.locator("#waiting").inner_text() == "2"
        assert page.locator("#sentences-done").inner_text() == "4"
        page.context.set_offline(False)
        all_sent(page)
        assert [row.word for row in given()] == english + russian
        assert {row.session for row in given()} == {given()[0].session}
        assert [row.language for row in given()] == ["en", "en", "ru", "ru"]
        first = given()[0]
        assert (first.orientation, first.pointer, first.sampling, first.hand, first.posture) == (
            "portrait", "touch", "coalesced", "left", "thumb",
        )  # fmt: skip
        assert (first.canvas_width, first.pixel_ratio) == (390, 1)
        assert first.key_width_mm == pytest.approx(39 * 53.98 / 300, abs=0.01)
        while page.locator("#skip").is_visible():
            skip(page)
        assert "reached the goal: 20 sentences" in page.locator("#thanks-text").inner_text()
        assert page.locator("#result-words").inner_text() == "4"
        assert int(page.locator("#result-speed").inner_text()) > 0
        assert page.locator("#result-right-text").inner_text().endswith("of 4")
        assert page.locator("#receipts .qr").is_visible()
        page.locator("#more").tap()
        assert page.locator("#sentences-done").inner_text() == "0"
        page.reload()
        page.locator("#resume-go").tap()  # the session runs: no new consent
        page.wait_for_selector("#sentence .now")


def test_sideways_the_sentence_is_seen(browser, collection_site, given):
    with donor(browser, collection_site, "de", "german", **SIDEWAYS) as page:
        for _ in range(3):
            word, pad, button = page.evaluate(
                """() => ['#sentence .now', '#pad', '#finish'].map((one) => {
                    const { top, bottom } = document.querySelector(one).getBoundingClientRect();
                    return { top, bottom }; })"""
            )
            assert 0 <= word["top"] < word["bottom"] <= pad["top"] < pad["bottom"] <= 390 >= button["bottom"]
            swipe(page, "german")
        all_sent(page)
        assert {(row.orientation, row.layout) for row in given()} == {("landscape", "german")}
        page.set_viewport_size({"width": 568, "height": 232})
        assert page.locator(".turn").is_visible()
        assert not page.locator("#pad").is_visible()
        page.set_viewport_size({"width": 320, "height": 568})
        assert page.locator("#pad").is_visible()


def test_a_scribble_is_asked_for_again_once_and_kept_with_a_flag(browser, collection_site, given):
    with donor(browser, collection_site) as page:
        long_word(page)
        word = scribble(page)
        assert now(page) == word
        assert f"did not follow “{word}”" in page.locator("#read").inner_text()
        assert scribble(page) == word
        assert now(page) != word
        assert page.locator("#sentence .misread").inner_text() == word
        right = swipe(page)
        all_sent(page)
        *_, flagged, good = given()
        assert (flagged.word, flagged.flagged, flagged.tries, flagged.right) == (word, True, 2, False)
        assert (good.word, good.flagged, good.tries) == (right, False, 1)


def test_a_scribble_made_offline_is_asked_for_again_before_the_next_sentence(browser, collection_site, given):
    with donor(browser, collection_site, words=5) as page:
        while len(now(page)) < 4 or not page.locator("#sentence .now + span").count():  # not the last word
            skip(page)
        page.context.set_offline(True)
        sentence, word = page.locator("#sentence").inner_text(), scribble(page)
        page.context.set_offline(False)
        all_sent(page)
        for _ in range(9):
            if now(page) == word:
                break
            assert page.locator("#sentence").inner_text() == sentence
            skip(page)
        assert "An earlier swipe did not follow" in page.locator("#read").inner_text()
        swipe(page)
        assert page.locator("#sentence").inner_text() != sentence
        all_sent(page)
        assert [row.flagged for row in given() if row.word == word and not row.skipped] == [False]


@pytest.mark.parametrize("scribbled", [False, True])
def test_a_quick_donor_swipes_on_while_the_server_thinks(browser, collection_site, given, scribbled):
    """The next swipe counts for the next word, and for none if the word before is asked for again."""
    held, keys = [], load_layout("qwerty")
    with donor(browser, collection_site) as page:
        while len(now(page)) < 4 or not page.locator("#sentence .now + span").count():
            skip(page)
        all_sent(page)
        before, first = len(given()), now(page)
        second = page.locator("#sentence .now + span").inner_text()
        finger = Finger(page)
        page.route("**/api/swipes", lambda route: held.append(route))
        with page.expect_request("**/api/swipes"):
            if scribbled:
                finger.follow(*SCRIBBLE)
            else:
                finger.swipe("".join(typed_letters(first, frozenset(keys.letters))), keys, noise=0.2)
        finger.follow([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 6 * [0.5], [0, 30, 60, 90, 120, 150])
        assert page.locator("#sentence .now.busy").inner_text() == first
        page.unroute("**/api/swipes")
        held[0].continue_()
        if scribbled:
            page.wait_for_selector("#toast:not([hidden])")
            assert now(page) == first
        page.wait_for_function("() => !document.querySelector('.busy')")
        all_sent(page)
        assert [row.word for row in given()][before:] == ([first] if scribbled else [first, second])


def test_a_tap_is_no_swipe_and_back_leads_back(browser, collection_site, given):
    with donor(browser, collection_site) as page:
        long_word(page)
        word = now(page)
        Finger(page).tap("q", load_layout("qwerty"))
        page.wait_for_selector("#toast:not([hidden])")
        assert now(page) == word
        assert swipe(page) == word
        page.locator("#back").tap()
        assert now(page) == word
        swipe(page)
        all_sent(page)
        assert [row.tries for row in given() if row.word == word and not row.skipped] == [2]


def test_the_consent_names_everything_and_only_a_tick_agrees(browser, collection_site):
    with opened(browser, f"{collection_site}/collect") as page:
        page.wait_for_selector("#agree")
        text = page.locator("[data-screen=consent]").inner_text()
        parts = ["The tests", "tests@example.org", "CC0-1.0", "Until the test ends.", "finger, a pen or a mouse",
                 "the hour", "number of the attempt", "how many a second", "cannot be called back"]  # fmt: skip
        assert [part for part in parts if part not in text] == []
        version = page.request.get(f"{collection_site}/api/collection").json()["consent"]["version"]
        assert page.locator("#version").inner_text() == version
        page.locator("#tick").check()
        error = {"error": {"kind": "ConsentChangedError", "message": "the text that donors agree to has changed"}}
        page.route("**/api/sessions", lambda route: route.fulfill(status=409, json=error), times=1)
        with page.expect_request("**/api/sessions") as asked:
            page.locator("#agree").tap()
        assert asked.value.post_data_json == {"consent": True, "version": version}
        message(page, "has changed")
        assert page.locator("#agree").is_disabled()
        assert not page.locator("#tick").is_checked()


def test_without_a_consent_file_the_page_says_so(browser, collection_site):
    def close(route):
        route.fulfill(json={**route.fetch().json(), "consent": None})

    with opened(browser, "about:blank") as page:
        page.route("**/api/collection", close)
        page.goto(f"{collection_site}/collect")
        page.wait_for_selector("[data-screen=closed]:not([hidden])")
        assert "does not collect swipes" in page.locator("[data-screen=closed]").inner_text()
        assert page.locator("#delete").is_visible()
        assert not page.locator("#agree").is_visible()


@pytest.mark.parametrize("broken", ["busy", "offline", "empty", "untypeable"])
def test_a_page_without_sentences_asks_seldom(browser, collection_site, broken):
    """Russian on QWERTY once asked 50 times a second."""
    asked = []
    error = {"error": {"kind": "SentencesError", "message": "layout 'qwerty' can type no sentence in 'en'"}}

    def answer(route):
        asked.append(route)
        if broken == "offline":
            route.abort()
        elif broken == "empty":
            route.fulfill(json={"sentences": []})
        else:
            route.fulfill(status=503 if broken == "busy" else 422, json=error)

    with opened(browser, "about:blank") as page:
        page.clock.install()
        page.route("**/kit/**", lambda route: route.abort())
        page.route("**/api/sentences?*", answer)
        page.goto(f"{collection_site}/collect")
        page.wait_for_selector("#agree")
        page.locator("#tick").check()
        page.locator("#agree").tap()
        shown = {"empty": "#thanks-text", "untypeable": "#problem"}.get(broken, "#stuck")
        page.wait_for_selector(f"{shown}:not([hidden])")
        for _ in range(12):
            page.clock.run_for(10_000)
        assert len(asked) == 1 if broken in ("empty", "untypeable") else 2 <= len(asked) <= 8
        if broken == "untypeable":
            assert "can type no sentence" in page.locator("#problem").inner_text()
            page.unroute("**/api/sentences?*")
            page.locator("#problem button", has_text="Colemak").tap()
            page.locator("#resume-go").tap()
            page.wait_for_selector("#sentence .now")
        elif broken != "empty":
            page.unroute("**/api/sentences?*")
            while not page.locator("#sentence .now").count():
                page.clock.run_for(10_000)


def test_a_link_with_a_layout_that_cannot_type_its_language(browser, collection_site):
    with opened(browser, f"{collection_site}/collect#language=ru&layout=qwerty") as page:
        page.wait_for_selector("#problem:not([hidden])")
        assert "QWERTY can type no sentence in Russian" in page.locator("#problem").inner_text()
        assert page.locator("#layout").input_value() == "jcuken"


def test_on_a_desktop_there_is_a_code_for_phones(browser, collection_site):
    def public(route):
        answer = route.fetch().json()
        route.fulfill(json={**answer, "address": "https://swipes.example/collect", "qr": ["101", "010", "111"]})

    with opened(browser, f"{collection_site}/collect", **DESKTOP) as page:
        page.wait_for_selector("[data-screen=desktop]:not([hidden])")
        assert "Phones cannot reach this server" in page.locator("#phone-text").inner_text()
        assert page.locator("#delete").is_visible()
        page.route("**/api/collection", public)
        page.reload()
        page.wait_for_selector("#phone-code svg")
        assert page.locator("#phone-address").inner_text() == "https://swipes.example/collect"
        assert page.locator("#phone-code svg").get_attribute("viewBox") == "0 0 11 11"
        assert page.locator("#phone-code path").get_attribute("d").count("M") == 6
        page.unroute("**/api/collection")
        page.route("**/api/collection", lambda route: route.fulfill(json={**route.fetch().json(), "any_pointer": True}))
        page.reload()
        page.wait_for_selector("[data-screen=consent] #phone")  # a mouse will do, a phone is better
        assert page.locator("#agree").is_visible()


def test_swipes_are_read_on_the_device(browser, collection_site, given):
    if not RUNTIME.is_dir():
        pytest.skip("onnxruntime-web is not installed: npm install --prefix js")
    with donor(browser, collection_site, device=True) as page:
        page.evaluate(
            """async () => {
                const { readHere } = await import('/static/collect-reading.js');
                const read = () => readHere([[0.1, 0.5, 0], [0.2, 0.5, 100]], { text: 'as', typed: 'as' });
                while (!await read()) await new Promise((resolve) => { setTimeout(resolve, 50); });
            }"""
        )
        long_word(page)
        page.context.set_offline(True)
        word = swipe(page)
        page.wait_for_function("() => document.querySelector('#read').textContent.startsWith('I read')")
        assert word.lower() in page.locator("#read").inner_text().lower()


def test_the_way_through_the_words(browser, collection_site):
    """Back across sentences, and a word that is asked for again before the next sentence."""
    with opened(browser, f"{collection_site}/collect") as page:
        ways = page.evaluate(
            """async () => {
                const { Walk } = await import('/static/collect-walk.js');
                const word = (text) => ({ text, typed: text.replace('-', '') });
                const sentence = (text) => ({ id: text, words: text.split(' ').map(word) });
                const ahead = ['a - b', 'c', 'd'].map(sentence);
                const finished = [];
                const walk = new Walk(() => ahead.shift() ?? null, (one) => finished.push(one.id));
                const at = () => walk.at && walk.at.sentence.words[walk.at.index].text + (walk.at.again ? '!' : '');
                const on = () => { const step = {}; walk.forward(step); return step; };
                const seen = [];
                const act = (does) => { const got = does(); seen.push(at()); return got; };
                act(() => walk.begin());
                const a = act(on);
                act(on);
                act(() => walk.back());
                act(() => walk.back());
                act(on);
                act(() => walk.askAgain(a));
                act(on);
                act(on);
                act(() => walk.back());
                for (let i = 0; i < 3; i += 1) act(on);
                return [seen.join(' '), finished.join(', ')];
            }"""
        )
    assert ways == ["a b c b a b b c a! c a! d ", "a - b, a - b, c, c, d"]
