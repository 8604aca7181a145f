"""The donor's page in a real Chromium, with touch events: consent, swipes, what was read, and withdrawal."""

from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from web.serving import CONSENT, RUNTIME, Finger, opened, running_server

from glissando.layout import load_layout
from glissando.lexicon import typed_letters
from glissando.web.selection import Selection
from glissando.web.store import Store

SIDEWAYS = {"viewport": {"width": 844, "height": 390}}
DESKTOP = {"viewport": {"width": 1280, "height": 800}, "has_touch": False, "is_mobile": False}
SCRIBBLE = (
    [0.95, 0.05, 0.9, 0.1, 0.95, 0.05, 0.5],
    [0.1, 0.9, 0.9, 0.1, 0.1, 0.5, 0.9],
    [0, 90, 180, 270, 360, 450, 540],
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The site's store."""
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('site')}/swipes.db")
    yield store
    store.close()


@pytest.fixture(scope="module")
def site(store):
    """The address of a server with the packaged networks; its pages read swipes where the runtime is installed."""
    options = ["--store", str(store.database.engine.url), "--token", "t", "--rate", "100000", "--consent", str(CONSENT)]
    with running_server(*options, runtime=RUNTIME if RUNTIME.is_dir() else "none") as server:
        yield server.address


@pytest.fixture
def given(store):
    """Gives the rows that were stored since the test began, in the order of their attempts."""
    before = {row.session for row in store.rows(Selection(), skipped=True)}

    def rows():
        found = [row for row in store.rows(Selection(), skipped=True) if row.session not in before]
        return sorted(found, key=lambda row: row.attempt)

    return rows


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


def test_the_whole_flow_upright_in_two_languages_and_offline_in_the_middle(browser, site, given):
    with donor(browser, site, words=1, device=True) as page:
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


def test_sideways_the_sentence_is_seen(browser, site, given):
    with donor(browser, site, "de", "german", **SIDEWAYS) as page:
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


def test_a_scribble_is_asked_for_again_once_and_kept_with_a_flag(browser, site, given):
    with donor(browser, site) as page:
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


def test_a_scribble_made_offline_is_asked_for_again_before_the_next_sentence(browser, site, given):
    with donor(browser, site, words=5) as page:
        long_word(page)
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
def test_a_quick_donor_swipes_on_while_the_server_thinks(browser, site, given, scribbled):
    """The next swipe counts for the next word, and for none if the word before is asked for again."""
    held, keys = [], load_layout("qwerty")
    with donor(browser, site) as page:
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


def test_a_tap_is_no_swipe_and_back_leads_back(browser, site, given):
    with donor(browser, site) as page:
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


def test_everything_is_deleted_also_what_earlier_sessions_gave(browser, site, given):
    with donor(browser, site) as page:
        swipe(page)
        all_sent(page)
        page.evaluate(  # twelve hours pass
            """() => { const name = Object.keys(localStorage).find(key => key.startsWith('glissando:session:'));
                localStorage.setItem(name, JSON.stringify({ ...JSON.parse(localStorage[name]), expires: 1000 })); }"""
        )
        page.reload()
        agree(page)
        swipe(page)
        skip(page)
        all_sent(page)
        assert len({row.session for row in given()}) == 2
        page.locator("#delete").tap()
        day = datetime.now(UTC)
        assert f"{day.day} {day:%B} {day.year}" in page.locator("#withdraw-own").inner_text()
        page.locator("#withdraw-all").tap()
        assert "3 words removed" in message(page, "removed")
        assert given() == []
        assert page.locator("#agree").is_visible()
        assert not page.evaluate("Object.keys(localStorage).some(key => /:(session|swipe|withdraw):/.test(key))")


def test_deleting_offline_drops_what_waits_and_is_done_when_online(browser, site, given):
    with donor(browser, site) as page:
        swipe(page)
        all_sent(page)
        page.context.set_offline(True)
        swipe(page)
        delete_all(page)
        assert "1 swipe that waited was dropped" in message(page, "as soon as the server can be reached")
        assert len(given()) == 1
        page.close()
        page.context.set_offline(False)
        page = page.context.new_page()
        page.goto(f"{site}/collect")
        assert "1 word removed" in message(page, "removed")
        assert given() == []


def test_a_receipt_deletes_from_another_device(browser, site, given):
    with donor(browser, site) as page:
        swipe(page)
        all_sent(page)
        code = receipt(page)
        page.locator("#more").tap()
        with opened(browser, f"{site}/collect", **DESKTOP) as other:
            delete_by(other, code[:-1])
            assert other.locator("#withdraw-error").is_visible()
            other.fill("#withdraw-code", "0000000000000000")
            other.locator("#withdraw-form button").click()
            message(other, "Nothing is stored under this receipt")
            other.goto(f"{site}/collect#withdraw={code}")
            other.wait_for_selector("#withdraw[open]")
            assert other.locator("#withdraw-code").input_value() == code
            other.fill("#withdraw-code", code.lower().replace("-", " "))
            other.locator("#withdraw-form button").click()
            assert "1 word removed" in message(other, "removed")
        assert given() == []
        before = counts(page)
        Finger(page).follow(*SCRIBBLE)  # the first device learns of it with the next swipe
        message(page, "deleted from another device")
        assert counts(page) == before
        assert page.locator("#agree").is_visible()
        assert given() == []


def test_an_older_pages_secret_is_kept(browser, site, given):
    with donor(browser, site) as page:
        swipe(page)
        all_sent(page)
        page.evaluate(
            """() => { const name = Object.keys(localStorage).find(key => key.startsWith('glissando:session:'));
                const { session, expires, attempt } = JSON.parse(localStorage[name]);
                localStorage.clear();
                localStorage.setItem('glissando:session', JSON.stringify({ session, expires, attempt })); }"""
        )
        page.reload()
        page.wait_for_selector("#agree")
        delete_all(page)
        assert "1 word removed" in message(page, "removed")
        assert given() == []


def test_swipes_wait_through_a_closed_page(browser, site, given):
    with donor(browser, site) as page:
        page.route("**/api/swipes", lambda route: route.abort())
        skip(page)
        assert given() == []
        page.unroute("**/api/swipes")
        page.goto(f"{site}/collect")
        page.wait_for_function("() => !Object.keys(localStorage).some(key => key.startsWith('glissando:swipe'))")
        assert len(given()) == 1


def test_swipes_of_a_lost_session_wait_for_a_new_one(browser, site, given):
    with donor(browser, site) as page:
        error = {"error": {"kind": "UnknownSessionError", "message": "no such session"}}
        page.route("**/api/swipes", lambda route: route.fulfill(status=404, json=error), times=1)
        skip(page)
        all_sent(page)
        assert [row.attempt for row in given()] == [1]
        assert (
            page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('glissando:session:')).length") == 2
        )


def test_the_consent_names_everything_and_only_a_tick_agrees(browser, site):
    with opened(browser, f"{site}/collect") as page:
        page.wait_for_selector("#agree")
        text = page.locator("[data-screen=consent]").inner_text()
        parts = ["The tests", "tests@example.org", "CC0-1.0", "Until the test ends.", "finger, a pen or a mouse",
                 "the hour", "number of the attempt", "how many a second", "cannot be called back"]  # fmt: skip
        assert [part for part in parts if part not in text] == []
        version = page.request.get(f"{site}/api/collection").json()["consent"]["version"]
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


def test_without_a_consent_file_the_page_says_so(browser, site):
    def close(route):
        route.fulfill(json={**route.fetch().json(), "consent": None})

    with opened(browser, "about:blank") as page:
        page.route("**/api/collection", close)
        page.goto(f"{site}/collect")
        page.wait_for_selector("[data-screen=closed]:not([hidden])")
        assert "does not collect swipes" in page.locator("[data-screen=closed]").inner_text()
        assert page.locator("#delete").is_visible()
        assert not page.locator("#agree").is_visible()


@pytest.mark.parametrize("broken", ["busy", "offline", "empty", "untypeable"])
def test_a_page_without_sentences_asks_seldom(browser, site, broken):
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
        page.goto(f"{site}/collect")
        page.wait_for_selector("#agree")
        page.locator("#tick").check()
        page.locator("#agree").tap()
        shown = {"empty": "#thanks-text", "untypeable": "#problem"}.get(broken, "#stuck")
        page.wait_for_selector(f"{shown}:not([hidden])")
        for _ in range(12):
            page.clock.run_for(10_000)
        assert len(asked) == 1 if broken in ("empty", "untypeable") else 5 <= len(asked) <= 8
        if broken == "untypeable":
            assert "can type no sentence" in page.locator("#problem").inner_text()
            page.unroute("**/api/sentences?*")
            page.locator("#problem button", has_text="Colemak").tap()
            page.locator("#resume-go").tap()
            page.wait_for_selector("#sentence .now")
        elif broken != "empty":
            page.unroute("**/api/sentences?*")
            page.clock.run_for(60_000)
            page.wait_for_selector("#sentence .now")


def test_a_link_with_a_layout_that_cannot_type_its_language(browser, site):
    with opened(browser, f"{site}/collect#language=ru&layout=qwerty") as page:
        page.wait_for_selector("#problem:not([hidden])")
        assert "QWERTY can type no sentence in Russian" in page.locator("#problem").inner_text()
        assert page.locator("#layout").input_value() == "jcuken"


def test_where_nothing_can_be_stored_the_receipt_says_so(browser, site):
    with opened(browser, "about:blank") as page:
        page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
        page.goto(f"{site}/collect")
        agree(page)
        swipe(page)
        receipt(page)
        assert "Write the receipt down" in page.locator("#receipts .note").inner_text()
        delete_all(page)
        assert "1 word removed" in message(page, "removed")


def test_on_a_desktop_there_is_a_code_for_phones(browser, site):
    def public(route):
        answer = route.fetch().json()
        route.fulfill(json={**answer, "address": "https://swipes.example/collect", "qr": ["101", "010", "111"]})

    with opened(browser, f"{site}/collect", **DESKTOP) as page:
        page.wait_for_selector("[data-screen=desktop]:not([hidden])")
        assert "Phones cannot reach this server" in page.locator("#phone-text").inner_text()
        assert page.locator("#delete").is_visible()
        page.route("**/api/collection", public)
        page.reload()
        page.wait_for_selector("#phone-code svg")
        assert page.locator("#phone-address").inner_text() == "https://swipes.example/collect"
        assert page.locator("#phone-code svg").get_attribute("viewBox") == "0 0 11 11"
        assert page.locator("#phone-code path").get_attribute("d").count("M") == 6


def test_swipes_are_read_on_the_device(browser, site, given):
    if not RUNTIME.is_dir():
        pytest.skip("onnxruntime-web is not installed: npm install --prefix js")
    with donor(browser, site, device=True) as page:
        page.wait_for_function(
            """async () => { const { readHere } = await import('/static/collect-reading.js');
                return await readHere([[0.1, 0.5, 0], [0.2, 0.5, 100]], { text: 'as', typed: 'as' }); }"""
        )
        long_word(page)
        page.context.set_offline(True)
        swipe(page)
        page.wait_for_function("() => document.querySelector('#read').textContent.startsWith('I read')")
