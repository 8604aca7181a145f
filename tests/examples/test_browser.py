"""The browser port: golden vectors in Node and in Chromium, and a finger on the page, with no server behind it."""

import functools
import hashlib
import http.server
import json
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from web.serving import Finger, chromium, opened, swiped_words

import glissando
from glissando.export.bundle import write_bundle
from glissando.layout import Layout, load_layout

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "browser"
# A few hundred common words, with what ports stumble over: capitals, accents, apostrophes, words typed alike.
ODD = ["it's", "its", "don't", "I'm", "café", "Berlin", "naïve", "o'clock", "well", "we'll", "were", "we're"]


@pytest.fixture(scope="module")
def node():
    """Node with onnxruntime-web beside the example."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node is not installed (Debian: nodejs)")
    if not (EXAMPLE / "node_modules" / "onnxruntime-web").is_dir():
        pytest.skip("onnxruntime-web is not installed: npm install --prefix examples/browser")
    return program


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def lexicon():
    import wordfreq

    words = [*wordfreq.top_n_list("en", 400), *ODD]
    return {word: 1e6 / (rank + 1) for rank, word in enumerate(words) if word.replace("'", "").isalpha()}


def export(keyboard, folder, swipes):
    """A bundle with its page, onnxruntime-web linked into it as npm install would put it."""
    write_bundle(keyboard, folder, swipes=swipes, browser=True)
    (folder / "node_modules").symlink_to((EXAMPLE / "node_modules").resolve(), target_is_directory=True)
    return folder


@pytest.fixture(scope="module")
def bundle(node, tmp_path_factory):
    """QWERTY with the packaged encoder."""
    keyboard = glissando.load("qwerty", "en", lexicon=lexicon(), method="encoder")
    return export(keyboard, tmp_path_factory.mktemp("browser") / "bundle", 40)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(bundle):
    """Static files and nothing else."""
    handler = functools.partial(Quiet, directory=str(bundle))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def check_in_node(node, folder):
    """(exit code, report, errors) of the example's own check."""
    command = [node, "check.mjs", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr


def test_golden_vectors_pass_in_node(node, bundle):
    code, report, errors = check_in_node(node, bundle)
    assert (code, errors) == (0, "")
    assert (report["swipes"], report["failures"]) == (40, 0)
    for stage, tolerance in {"path": 1e-6, "emissions": 5e-4, "scores": 1e-3}.items():
        assert report["worst"][stage] <= tolerance


# Keys of two sizes, even in number, a letter twice, 32 frames, no frequency floor, a narrow beam, look-ahead.
TWICE = Layout.from_rows("twice", ["qwertyuiop", "asdfeghjkl", "zxcvbnm "], pitch=[1, 1, 1.2])
AHEAD = {
    "location_weight": 1.0,
    "shape_weight": 3.0,
    "temperature": 2.0,
    "pruning_frequency": 0.05,
    "pruning_floor": 40,
}
RUSSIAN = {"привет": 3, "мир": 2, "ёж": 1}


@pytest.mark.parametrize(
    ("layout", "options", "stage", "low", "high"),
    [
        (TWICE, {"scoring": AHEAD, "width": 20}, "letters", 1e-12, 5e-4),
        ("qwerty", {"method": "decoder"}, "corrected", 1e-12, 1e-3),  # its keys are in another order than the layout's
        ("jcuken", {"lexicon": RUSSIAN, "scoring": {}}, "distances", 0, 0),  # no geometry
    ],
)  # fmt: skip
def test_other_keyboards_pass_too(node, tiny_weights, tiny_decoder, tmp_path, layout, options, stage, low, high):
    options = {"language": "en", "lexicon": lexicon(), "weights": tiny_weights, "decoder": tiny_decoder} | options
    code, report, errors = check_in_node(node, export(glissando.load(layout, **options), tmp_path / "bundle", 20))
    assert (code, errors) == (0, "")
    assert low <= report["worst"][stage] <= high


def altered(bundle, folder, change):
    """A copy of the bundle with changed golden vectors and a manifest that matches them."""
    shutil.copytree(bundle, folder, symlinks=True)
    records = [json.loads(line) for line in (folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    change(records)
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    (folder / "golden.jsonl").write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["golden.jsonl"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def test_a_wrong_answer_does_not_pass(node, bundle, tmp_path):
    """Every stage is compared: one changed number in one swipe is reported."""

    def change(records):
        records[0]["path"][1][63] += 2e-6
        records[1]["emissions"][5][3] += 0.02
        swipes = [record for record in records if record["kind"] == "swipe"]
        swipes[0]["candidates"][1]["score"] += 0.002
        swipes[1]["candidates"][0]["log_prob"] -= 0.002
        swipes[2]["candidates"][0]["location"] += 0.002
        swipes[3]["candidates"][0]["probability"] += 0.002
        swipes[4]["candidates"][0]["word"] = "nothing"
        swipes[5]["candidates"][0]["letters"] = "nothing"

    code, report, errors = check_in_node(node, altered(bundle, tmp_path / "wrong", change))
    assert code == 1
    stages = ("path", "emissions", "scores", "scores", "distances", "probabilities", "reads", "lacks", "misspells")
    assert report["failures"] == len(stages)
    for stage in set(stages):
        assert f": {stage} " in errors


def test_damage_is_refused(node, bundle, tmp_path):
    shutil.copytree(bundle, tmp_path / "bad", symlinks=True)
    whole = (bundle / "trie.bin").read_bytes()
    (tmp_path / "bad" / "trie.bin").write_bytes(whole[:900] + bytes([whole[900] ^ 1]) + whole[901:])
    code, _, errors = check_in_node(node, tmp_path / "bad")
    assert code == 1
    assert "trie.bin is damaged" in errors  # before Node 20 by its own checksum
    script = (
        "import { readTrie } from './port/trie.js'; import { readFileSync } from 'node:fs';"
        "const bytes = new Uint8Array(readFileSync('trie.bin')); readTrie(bytes.buffer);"
    )
    command = [node, "--input-type=module", "-e", script]
    done = subprocess.run(command, cwd=tmp_path / "bad", capture_output=True, text=True, check=False)
    assert "trie.bin is damaged: section" in done.stderr


def test_golden_vectors_pass_in_chromium(browser, site):
    page = browser.new_page()
    page.goto(f"{site}/check.html")
    page.wait_for_function("() => window.report", timeout=120_000)
    report = page.evaluate("() => window.report")
    assert report["failures"] == []
    assert report["swipes"] == 40
    assert page.locator("#verdict").inner_text().startswith("All 40 swipes agree.")
    page.close()


def test_the_page_decodes_a_finger_without_a_request(browser, site):
    with opened(browser, "about:blank") as page:
        asked = []
        page.on("request", lambda request: asked.append((request.method, request.url)))
        page.goto(site)
        page.wait_for_selector("#pad[data-ready] .key")
        assert all(method == "GET" and url.startswith((site, "data:", "blob:")) for method, url in asked)
        asked.clear()
        finger, layout = Finger(page), load_layout("qwerty")
        expected = ["there", "people", "know"]
        for count, word in enumerate(expected, 1):
            finger.swipe(word, layout, seed=count)
            swiped_words(page, count)
        assert swiped_words(page, 3) == expected
        assert page.locator("#terms tbody tr").count() == page.locator(".candidate").count() > 1
        page.locator(".candidate").nth(1).tap()
        assert swiped_words(page, 3)[-1] != "know"
        finger.tap("a", layout)
        swiped_words(page, 4)
        assert asked == []  # decoding sent no request
