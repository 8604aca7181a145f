"""The page reads swipes by itself: the words of the library, and what happens where it cannot."""

import json

import pytest
from web.serving import Finger, opened, reads_itself, ready, swiped_words

import glissando
from glissando.draft import Draft
from glissando.layout import Key, Layout, load_layout

QWERTY = load_layout("qwerty")
BARE = {"service_workers": "block"}  # what a service worker asks for cannot be changed by a test
RECORDED = "() => glissando.draft.words.map(({ points, candidates, none }) => ({ points, candidates, none }))"


def reader(page) -> str:
    return page.locator("#reader").inner_text()


def says(page, text: str) -> None:
    page.wait_for_function("text => document.querySelector('#reader').textContent.includes(text)", arg=text)


@pytest.fixture(scope="module")
def shared(browser, device_site):
    """One page for the tests that leave it as they found it."""
    with opened(browser, device_site) as page:
        reads_itself(page)
        asked = []
        page.route("**/api/**", lambda route: (asked.append(route.request.url), route.abort()))
        yield page
        assert asked == []  # the server was asked for nothing


@pytest.fixture
def page(shared):
    shared.evaluate("() => { location.hash = 'layout=qwerty&language=en'; }")
    reads_itself(shared)
    yield shared
    shared.locator("#clear").tap()


def written_by(keyboard, swipes):
    """The library's text for the points that the page has recorded, and what the last swipe may mean."""
    draft = Draft(keyboard)
    for swipe in swipes:
        answer = draft.swipe([tuple(point) for point in swipe["points"]], k=6)
        for revision in answer.revisions:
            draft.choose(revision.word, revision.place)
    return draft.text, {one.word: one.probability for one in answer.candidates}


CUSTOM = Layout.from_rows("mine", ["qwfpgjluy", "arstdhneio", "zxcvbkm"])
CASES = {
    "en": ("layout=qwerty&language=en", QWERTY, "en", "feel good about this world"),
    "ru": ("layout=jcuken&language=ru", load_layout("jcuken"), "ru", "спасибо за хорошую погоду"),
    "de,en": ("layout=qwertz&language=de,en", load_layout("qwertz"), "de,en", "das ist ein meeting heute"),
    "own layout": ("", CUSTOM, "en", "travel over water"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_page_writes_what_the_library_writes_for_the_same_points(page, case):
    fragment, layout, language, sentence = CASES[case]
    if not fragment:
        keys = [[key.letter, key.cx, key.cy, key.rx, key.ry] for key in layout.keys]
        fragment = page.evaluate(
            """async ([keys, aspect]) => {
                const { toFragment } = await import('/static/layouts.js');
                const named = keys.map(([letter, cx, cy, rx, ry]) => ({ letter, cx, cy, rx, ry }));
                return toFragment({ custom: true, name: 'mine', aspect, keys: named }, 'en').slice(1);
            }""",
            [keys, layout.aspect],
        )
        rounded = [Key(letter, *(round(number, 4) for number in place)) for letter, *place in keys]
        order = sorted(rounded, key=lambda key: (key.letter, key.cx, key.cy))
        layout = Layout("mine", tuple(order), "", round(layout.aspect, 4))
    page.evaluate("fragment => { location.hash = fragment; }", fragment)
    reads_itself(page)
    finger = Finger(page)
    for count, word in enumerate(sentence.split(), 1):
        finger.swipe(word, layout, seed=count, noise=0.8)
        swiped_words(page, count)
    swipes = page.evaluate(RECORDED)
    text, candidates = written_by(glissando.load(layout, language=language), swipes)
    assert page.locator("#text").inner_text() == text
    assert {one["word"]: one["probability"] for one in swipes[-1]["candidates"]} == pytest.approx(candidates, abs=0.01)
    assert sum(candidates.values()) + swipes[-1]["none"] == pytest.approx(1, abs=0.01)


def test_a_later_swipe_changes_a_word_visibly_and_undo_brings_it_back(page):
    Finger(page).swipe("hello", QWERTY)
    swiped_words(page, 1)
    page.locator("#enter").tap()
    changed = page.evaluate(
        """() => {
            const { draft } = glissando;
            const { points, layout, language } = draft.words[0];
            const swipe = () => draft.begin({ points, layout, language });
            const first = swipe();
            const candidates = (...words) => words.map((word, i) => ({ word, probability: 0.5 - 0.1 * i }));
            draft.settle(first, { candidates: candidates('fell', 'feel') });
            const second = swipe();
            const earlier = [{ id: first, candidates: candidates('feel', 'fell') }];
            draft.settle(second, { candidates: candidates('good'), earlier });
            const shown = ['.changed', '#said'].map((one) => document.querySelector(one).textContent);
            return [draft.text, ...shown];
        }"""
    )
    assert changed[0].splitlines()[1] == "Feel good"
    assert changed[1] == "Feel"
    assert "“Fell” is now “Feel”" in changed[2]
    page.locator("#undo").tap()
    assert page.locator("#text").inner_text().splitlines()[1] == "Fell good"
    page.wait_for_function("() => !document.querySelector('.changed')")


def test_the_panels_explain_in_the_page(page):
    Finger(page).swipe("hello", QWERTY)
    swiped_words(page, 1)
    page.locator("#inside summary").tap()
    page.wait_for_selector("#seen-letters canvas")
    page.locator("#tab-why").tap()
    page.fill("#why-word", "zebra")
    page.locator("#why-form button").tap()
    page.wait_for_selector(".verdict")
    assert page.locator(".costs").first.locator("strong").all_inner_texts() == list("zebra")
    page.locator("#inside summary").tap()


def test_a_tapped_word_is_looked_up_in_the_page_and_learned_words_are_read(page):
    finger = Finger(page)
    for letter in "qzxvk":
        finger.tap(letter, QWERTY)
    page.locator("#space").tap()
    page.locator(".candidate.add").tap()
    page.wait_for_function("() => localStorage.getItem('glissando:vocabulary').includes('Qzxvk')")
    page.locator("#clear").tap()
    finger.swipe("qzxvk", QWERTY, noise=0)
    swiped_words(page, 1)
    offered = page.locator(".candidate:not(.literal) span").all_inner_texts()
    assert "Qzxvk" in offered  # no longer read letter by letter
    page.locator(".candidate[data-word=Qzxvk]").tap()
    page.locator("#copy").tap()
    kept = json.loads(page.evaluate("() => localStorage.getItem('glissando:vocabulary')"))
    assert kept["words"]["Qzxvk"]["count"] == 2  # it stands in a text that is done
    page.locator("#clear").tap()
    kept = json.loads(page.evaluate("() => localStorage.getItem('glissando:vocabulary')"))
    assert kept["words"]["Qzxvk"]["count"] == 2  # and counts once


def test_words_go_before_previews_and_one_is_read_at_a_time(page):
    seen = page.evaluate(
        """async () => {
            const posted = [];
            const real = window.Worker;
            window.Worker = class extends EventTarget {
                postMessage({ kind, body }) { posted.push(`${kind} ${body.n}`); }
                terminate() {}
            };
            const { Device } = await import('/static/device.js');
            const device = new Device({ died: () => posted.push('died'), progress: () => {} });
            window.Worker = real;
            const answers = [];
            const push = (name) => (said) => answers.push(`${name} ${said.kind ?? said}`);
            const note = (name) => [push(name), push(name)];
            const hear = async (data) => device.worker.dispatchEvent(new MessageEvent('message', { data }));
            const abort = new AbortController();
            device.ask('decode', { n: 1 }, { preview: true }).then(...note('preview 1'));
            device.ask('decode', { n: 2 }, { preview: true }).then(...note('preview 2'));
            device.ask('decode', { n: 3 }, { preview: true }).then(...note('preview 3'));
            device.ask('decode', { n: 4 }).then(...note('word 4'));
            device.ask('decode', { n: 5 }, { signal: abort.signal }).then(...note('word 5'));
            device.ask('decode', { n: 6 }).then(...note('word 6'));
            abort.abort();
            await hear({ answer: 'a' });
            await hear({ answer: 'b' });
            await hear({ error: { kind: 'refused', message: 'no' } });
            device.ask('decode', { n: 7 }).then(...note('word 7'));
            await hear({ error: { kind: 'died', message: '' } });
            await new Promise((resolve) => { setTimeout(resolve, 0); });
            return { posted, answers };
        }"""
    )
    assert seen["posted"] == ["decode 1", "decode 4", "decode 6", "decode 7", "died"]
    assert sorted(seen["answers"]) == [
        "preview 1 a", "preview 2 dropped", "preview 3 dropped", "word 4 b", "word 5 dropped", "word 6 refused",
        "word 7 died",
    ]  # fmt: skip


def test_a_worker_that_dies_is_started_again_once_and_then_the_server_reads(browser, device_site):
    with opened(browser, device_site) as page:
        reads_itself(page)
        workers = []
        page.on("worker", lambda worker: workers.append(worker))
        page.workers[0].evaluate("() => { setTimeout(() => { throw new Error('a test ends it'); }); }")
        page.wait_for_function("() => document.querySelector('#reader').textContent.startsWith('The server')")
        reads_itself(page)
        assert len(workers) == 1
        Finger(page).swipe("hello", QWERTY)
        swiped_words(page, 1)
        workers[0].evaluate("() => { setTimeout(() => { throw new Error('a test ends it'); }); }")
        says(page, "The server reads your swipes, because reading on this device has failed.")
        with page.expect_response("**/api/decode"):
            Finger(page).swipe("world", QWERTY)
        swiped_words(page, 2)


OLD = {
    "no worker": ("delete window.Worker", "too old"),
    "no gzip": ("delete window.DecompressionStream", "too old"),
    "no SIMD": ("WebAssembly.validate = () => false", "SIMD"),
}


@pytest.mark.parametrize("what", OLD)
def test_in_an_old_browser_the_server_reads_and_the_page_says_why(browser, device_site, what):
    script, why = OLD[what]
    with opened(browser, "about:blank") as page:
        page.add_init_script(script)
        page.goto(device_site)
        ready(page)
        says(page, "The server reads your swipes, because this browser")
        assert why in reader(page)
        Finger(page).swipe("hello", QWERTY)
        swiped_words(page, 1)


def test_without_a_runtime_the_server_reads_and_the_page_asks_again(browser, device_site):
    with opened(browser, "about:blank", **BARE) as page:
        page.add_init_script("const wait = setTimeout; window.setTimeout = (f, ms) => wait(f, ms === 5000 ? 0 : ms);")
        given = []

        def without(route):
            index = route.fetch().json()
            given.append(index)
            route.fulfill(json=index if len(given) > 1 else {**index, "runtime": None})

        page.route("**/kit/index.json", without)
        page.goto(device_site)
        reads_itself(page)
        assert len(given) == 2


def test_where_there_never_is_a_runtime_the_server_reads(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        says(page, "The server reads your swipes, because the server does not have what this device needs.")
        with page.expect_response("**/api/decode") as answer:
            Finger(page).swipe("hello", QWERTY)
        assert answer.value.ok


@pytest.mark.parametrize("name", ["worker.js", "en.words.gz", "ort.wasm.bundle.min.js"])
def test_what_is_damaged_or_cannot_be_had_leaves_the_server_reading(browser, device_site, name):
    with opened(browser, "about:blank", **BARE) as page:
        page.context.route(f"**/{name}*", lambda route: route.fulfill(body="damaged", content_type="text/javascript"))
        page.goto(device_site)
        ready(page)
        says(page, "The server reads your swipes, because")
        Finger(page).swipe("hello", QWERTY)
        assert swiped_words(page, 1) == ["Hello"]
        page.context.unroute(f"**/{name}*")
        page.reload()  # nothing damaged was kept
        reads_itself(page)


def test_an_interrupted_download_goes_on_when_the_network_is_back(browser, device_site):
    with opened(browser, "about:blank", **BARE) as page:
        page.context.route("**/matcher.onnx.gz*", lambda route: route.abort())
        page.goto(device_site)
        ready(page)
        says(page, "The server reads your swipes, because the download was interrupted")
        page.context.unroute("**/matcher.onnx.gz*")
        page.evaluate("() => window.dispatchEvent(new Event('online'))")
        reads_itself(page)
        Finger(page).swipe("hello", QWERTY)
        assert swiped_words(page, 1) == ["Hello"]
