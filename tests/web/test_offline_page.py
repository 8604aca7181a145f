"""Without a network: the page opens again, reads, changes its layout and explains; and as a folder of static files."""

import functools
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from web.serving import Finger, npm_runtime, opened, reads_itself, swiped_words

from glissando.export.kit import Kit
from glissando.export.site import write_site
from glissando.export.wasm import WasmRuntime
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.weights import load_weights

QWERTY = load_layout("qwerty")
KEPT = """async () => {
    const caught = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
    return (await Promise.all(caught.map((cache) => cache.keys()))).flat().map(({ url }) => url);
}"""
INDEX = "async () => (await caches.match(new URL('kit/index.json', location.href.split('#')[0])))?.json() ?? {}"


def installed(page) -> None:
    """Wait until swipes are read in the page, and the page and its index are kept."""
    reads_itself(page)
    page.evaluate("() => navigator.serviceWorker.ready.then(({ active }) => active.state)")
    page.wait_for_function("() => navigator.serviceWorker.controller")
    until(page, f"() => ({INDEX})().then((index) => Boolean(index.build))")  # kept after the page says that it reads


def until(page, question: str, arg=None) -> None:
    """Wait for the answer of a promise; the browser's own waiting takes any promise for a yes."""
    while not page.evaluate(question, arg):
        page.wait_for_timeout(20)


def use(page, fragment: str) -> None:
    """Change layout or language."""
    page.evaluate("fragment => { location.hash = fragment; }", fragment)


def text(page) -> str:
    return page.locator("#text").inner_text()


def check_features(page) -> None:
    """What must work without a network, on a page in English."""
    finger = Finger(page)
    page.locator("#clear").tap()
    finger.swipe("hello", QWERTY)
    assert swiped_words(page, 1) == ["Hello"]
    use(page, "layout=clearflow&language=en")
    reads_itself(page)
    finger.swipe("water", load_layout("clearflow"), seed=2)
    assert [word.lower() for word in swiped_words(page, 2)] == ["hello", "water"]
    use(page, page.evaluate(
        """async () => {
            const { fromRows, toFragment } = await import(new URL('static/layouts.js', location.href.split('#')[0]));
            return toFragment({ ...fromRows('mine', 'qwfpgjluy\\narstdhneio\\nzxcvbkm'), custom: true }, 'en').slice(1);
        }"""
    ))  # fmt: skip
    page.wait_for_function("() => document.querySelector('#pad .key:nth-child(3)').textContent === 'f'")
    reads_itself(page)
    finger.follow([0.2, 0.5, 0.8, 0.5], [0.2, 0.5, 0.2, 0.9], [0, 100, 200, 300])
    swiped_words(page, 3)
    page.locator("#inside summary").tap()
    page.wait_for_selector("#seen-letters canvas")
    page.locator("#inside summary").tap()
    use(page, "layout=qwerty&language=en")
    reads_itself(page)


def test_everything_but_donating_works_offline_also_after_a_reload(browser, device_site):
    with opened(browser, device_site) as page:
        installed(page)
        Finger(page).swipe("world", QWERTY)
        swiped_words(page, 1)
        page.context.set_offline(True)
        check_features(page)
        before = text(page)
        page.reload()
        reads_itself(page)
        assert text(page) == before  # the text is kept
        page.locator("#text .word").first.tap()
        assert page.locator(".candidate").count() > 1  # with the candidates of its words
        check_features(page)
        page.locator("#pick").tap()
        page.locator("#picker input[value=jcuken]").tap()
        said = "() => document.querySelector('#toast').textContent.includes('Russian is not on this device yet')"
        page.wait_for_function(said)
        page.wait_for_function("() => document.querySelector('#pad .key').textContent === 'q'")  # the one before stays
        assert page.locator("#picker input[value=qwerty]").is_checked()
        page.locator("#picker-close").tap()
        reads_itself(page)
        Finger(page).swipe("again", QWERTY, seed=3)
        swiped_words(page, 4)
        page.context.set_offline(False)
        use(page, "layout=jcuken&language=ru")
        page.wait_for_function("() => document.querySelector('#pad .key').textContent === 'й'")
        reads_itself(page)
        kept = page.evaluate(KEPT)
        assert any("ru.words.gz?v=" in url for url in kept)
        assert not [url for url in kept if "/api/" in url]


def test_a_swipe_that_was_not_read_is_read_after_a_reload(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        page.wait_for_selector("#pad[data-ready] .key")
        page.route("**/api/decode", lambda route: route.abort())
        Finger(page).swipe("hello", QWERTY)
        page.wait_for_selector("#text .failed")
        page.unroute("**/api/decode")
        page.reload()
        assert swiped_words(page, 1) == ["Hello"]


DAMAGED = [
    "{", "[]", '{"text": 5}', '{"text": "a", "cursor": 9, "words": []}', '{"text": "\ufffc", "cursor": 0, "words": []}',
    '{"text": "ab", "cursor": 0, "words": [{"id": 1}]}',
]  # fmt: skip
NO_STORAGE = "Object.defineProperty(Storage.prototype, 'setItem', { value() { throw new Error('full'); } });"


@pytest.mark.parametrize("kept", DAMAGED)
def test_a_damaged_text_is_not_used(page_in_memory, kept):
    page = page_in_memory
    page.evaluate(f"text => {{ localStorage.setItem('glissando:text', text); {NO_STORAGE} }}", kept)
    page.reload()
    page.wait_for_selector("#pad .key")
    assert page.evaluate("() => glissando.draft.text") == ""


def test_full_storage_keeps_nothing_and_the_page_works(page_in_memory):
    page = page_in_memory
    page.evaluate(f"() => {{ {NO_STORAGE} }}")
    page.keyboard.type("text")
    page.evaluate("() => window.dispatchEvent(new Event('pagehide'))")
    assert text(page) == "text"


@pytest.fixture(scope="module")
def page_in_memory(browser, keyboard_site):
    """A page whose text may be anything."""
    with opened(browser, keyboard_site) as page:
        page.wait_for_selector("#pad .key")
        yield page


class Host:
    """A web host with a folder under a path, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self.folder = folder
        handler = functools.partial(_Handler, self.asked, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/some/keyboard/"

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, asked: list[str], *args, **options) -> None:
        self.asked = asked
        super().__init__(*args, **options)

    def log_message(self, *_: object) -> None:
        self.asked.append(self.path)


@contextmanager
def hosted(folder: Path) -> Iterator[Host]:
    host = Host(folder)
    yield host
    host.stop()


def write_keyboard(folder: Path, count: int = 3000) -> None:
    """A keyboard of three layouts and two languages with short lists of words."""
    layouts = {name: load_layout(name) for name in ("qwerty", "clearflow", "jcuken")}
    lexicons = {}
    for code in ("en", "ru"):
        whole = Lexicon.from_language(code)
        lexicons[code] = Lexicon(code, code, tuple(whole.words[at] for at in range(count)), whole.frequencies[:count])
    runtime = WasmRuntime.from_directory(npm_runtime())
    kit = Kit(layouts, tuple(lexicons), load_weights("encoder"), load_weights("matcher"), lexicons, runtime)
    write_site(kit, folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("host")
    write_keyboard(root / "some" / "keyboard")
    return root


def test_a_folder_of_files_is_a_whole_keyboard_under_any_path(browser, folder):
    with hosted(folder) as host, opened(browser, host.address) as page:
        installed(page)
        assert page.locator("a[data-href]:visible").count() == 0  # nothing that needs a server is offered
        check_features(page)
        assert all(path.startswith("/some/keyboard/") for path in host.asked)
        assert not [path for path in host.asked if "/api/" in path]
        host.stop()  # the host is gone
        page.reload()
        reads_itself(page)
        check_features(page)


def test_swipes_wait_as_holes_until_the_download_is_done(browser, folder):
    with hosted(folder) as host, opened(browser, "about:blank", service_workers="block") as page:
        held = []
        page.context.route("**/encoder.onnx.gz*", lambda route: held.append(route))
        page.goto(host.address)
        page.wait_for_selector("#pad .key")
        finger = Finger(page)
        finger.tap("a", QWERTY)
        finger.swipe("hello", QWERTY)
        assert page.locator("#text .pending").count() == 1
        assert text(page).strip() == "A"  # keys work at once
        page.wait_for_function("() => document.querySelector('#reader').textContent.includes('You can swipe already')")
        while not held:
            page.wait_for_timeout(10)
        held[0].abort()  # the network is gone
        page.wait_for_selector("#text .failed")
        page.context.unroute("**/encoder.onnx.gz*")
        page.evaluate("() => window.dispatchEvent(new Event('online'))")
        assert swiped_words(page, 2) == ["A", "hello"]
        reads_itself(page)


def change(file: Path, before: str, after: str) -> None:
    """Replace a part of a file that is there."""
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def test_a_newer_version_is_fetched_in_the_background_and_used_at_the_next_start(browser, folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    root = tmp_path / "some" / "keyboard"
    old, new = json.loads((root / "kit" / "index.json").read_text())["build"], "f" * 16
    with hosted(tmp_path) as host, opened(browser, host.address) as page:
        installed(page)
        change(root / "kit" / "index.json", old, new)
        change(root / "static" / "shift.js", "export class Shift", "window.newer = true;\n\nexport class Shift")
        page.reload()
        reads_itself(page)
        page.wait_for_function("() => document.querySelector('#toast').textContent.includes('newer version')")
        until(page, f"() => ({INDEX})().then((index) => index.build === '{new}')")
        page.evaluate("() => { document.querySelector('#toast').textContent = ''; }")
        # A browser that looks for a newer page before the page has started would use it at once.
        change(root / "sw.js", '"version": "', '"version": "2')
        page.evaluate("() => navigator.serviceWorker.getRegistration().then((one) => one.update()).then(() => {})")
        until(page, "() => navigator.serviceWorker.getRegistration().then((one) => Boolean(one.waiting))")
        page.wait_for_function("() => document.querySelector('#toast').textContent.includes('newer version')")
        assert page.evaluate("() => window.newer") is None
        page.reload()
        sync_api = pytest.importorskip("playwright.sync_api")
        try:
            page.wait_for_function("() => window.newer", timeout=60_000)
        except sync_api.TimeoutError:  # the browser took the newer worker before the page asked for it
            page.reload()
            page.wait_for_function("() => window.newer")
        reads_itself(page)
        until(page, "() => caches.keys().then((names) => names.length === 3)")  # what is old has gone
        assert not [name for name in page.evaluate("() => caches.keys()") if name.endswith(old)]


SPOIL = """async () => {
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        const found = (await cache.keys()).filter(({ url }) => url.endsWith("/page.js"));
        for (const { url } of found) await cache.put(url, new Response("damaged("));
    }
}"""


def test_the_other_pages_take_their_modules_from_the_server(browser, device_site):
    with opened(browser, device_site) as page:
        installed(page)
        page.evaluate(SPOIL)
        page.goto(f"{device_site}/docs")
        page.wait_for_selector("#operations h2")  # docs.js imports page.js
        assert "/api/decode" in page.locator("#operations").inner_text()
