"""Bundles: what is written comes back and decodes alike, and damage is named."""

import hashlib
import json
import posixpath
import re
import stat
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import glissando
from glissando.errors import BundleError, FileError
from glissando.export import bundle as module
from glissando.export.bundle import page_files, read_bundle, write_bundle
from glissando.export.golden import Golden
from glissando.gesture import Gesture
from glissando.layout import Key, Layout, load_layout
from glissando.scoring import load_scoring
from glissando.synth import swipe
from glissando.weights import load_weights

WORDS = {"hello": 50, "jello": 1, "its": 40, "it's": 90, "letter": 30, "later": 30, "café": 2, "Berlin": 9, "animal": 7}


@pytest.fixture(scope="module")
def keyboard(tiny_weights):
    return glissando.load("qwerty", lexicon=WORDS, weights=tiny_weights, scoring="en", width=40)


@pytest.fixture(scope="module")
def written(keyboard, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundles") / "one"
    write_bundle(keyboard, folder, swipes=20)
    return folder


@pytest.fixture
def few(monkeypatch):
    """Golden vectors taken at random: a bundle is written at once."""

    def draw(keyboard, count):
        words = list(keyboard.lexicon.words)
        for i in range(count):
            word = words[i % len(words)]
            yield Golden("swipe", word, swipe(word, keyboard.layout, np.random.default_rng(i)))

    monkeypatch.setattr(module, "golden_swipes", draw)


@pytest.fixture
def copy(written, tmp_path):
    """A bundle to damage."""
    for file in written.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def alike(some, others):
    """Whether candidates are the same words with the same scores but for rounding."""
    return [(one.word, pytest.approx(one.score, abs=1e-5), one.frequency) for one in some] == [
        (one.word, one.score, one.frequency) for one in others
    ]


def test_what_is_in_it(written):
    manifest = json.loads((written / "manifest.json").read_text(encoding="utf-8"))
    files = {path.name for path in written.iterdir()}
    assert files == {*manifest["files"], "manifest.json"}
    assert files == {
        "manifest.json", "encoder.onnx", "encoder.json", "layout.json", "constants.json", "trie.bin", "golden.jsonl",
    }  # fmt: skip
    for name, facts in manifest["files"].items():
        data = (written / name).read_bytes()
        assert facts == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    assert (manifest["format"], manifest["version"]) == ("glissando-bundle", 2)
    assert (
        manifest["golden"]["swipes"] == len((written / "golden.jsonl").read_text(encoding="utf-8").splitlines()) == 20
    )
    assert list(manifest["models"]) == ["encoder"]


def test_its_files_are_those_the_library_reads(written, keyboard):
    """Layout, constants and weights load by themselves, too."""
    assert load_layout(written / "layout.json") == keyboard.layout
    assert load_scoring(written / "constants.json") == keyboard.scoring
    assert load_weights(written / "encoder.onnx").data == keyboard.encoder.weights.data


def test_it_decodes_as_the_keyboard_it_was_made_of(written, keyboard):
    again = read_bundle(written).keyboard
    rng = np.random.default_rng(7)
    for word in [*WORDS, *WORDS]:
        gesture = swipe(word, keyboard.layout, rng)
        assert alike(again.decode(gesture, 9), keyboard.decode(gesture, 9))
    assert again.width == 40


def test_the_golden_vectors_come_with_it(written):
    bundle = read_bundle(written)
    records = list(bundle.golden())
    assert len(records) == bundle.manifest["golden"]["swipes"]
    for record in records:
        decoded = bundle.keyboard.decode(record["points"], 3)
        assert [one.word for one in decoded] == [one["word"] for one in record["candidates"][:3]]


def test_a_letter_with_two_keys_and_a_lexicon_file_of_ones_own(few, tiny_weights, tmp_path):
    keys = tuple(Key(letter, (i + 0.5) / 5, 0.5, 0.1, 0.5) for i, letter in enumerate("abcad"))
    (tmp_path / "words.txt").write_text("cab 3\nabba 2\ndad 1\n")
    keyboard = glissando.load(Layout("mine", keys), lexicon=tmp_path / "words.txt", weights=tiny_weights)
    manifest = write_bundle(keyboard, tmp_path / "out", swipes=20)
    gesture = swipe("dad", keyboard.layout)
    assert alike(read_bundle(tmp_path / "out").keyboard.decode(gesture), keyboard.decode(gesture))
    assert manifest["lexicon"] == {"name": "words.txt", "words": 3}  # no directory of this machine
    assert str(tmp_path) not in (tmp_path / "out" / "manifest.json").read_text()


def test_the_same_keyboard_makes_the_same_bytes(keyboard, written, tmp_path):
    write_bundle(keyboard, tmp_path / "again", swipes=20)
    for file in written.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def test_a_decoder_comes_along(few, tiny_weights, tiny_decoder, tmp_path):
    """Its keys are in another order; the manifest says which column of the emissions each of them reads."""
    options = {"lexicon": WORDS, "weights": tiny_weights, "scoring": "en"}
    keyboard = glissando.load("qwerty", decoder=tiny_decoder, method="decoder", **options)
    manifest = write_bundle(keyboard, tmp_path / "out", swipes=20)
    columns = manifest["models"]["decoder"]["columns"]
    assert [keyboard.layout.letters[column] for column in columns[:-1]] == sorted(keyboard.layout.letters)
    assert columns[-1] == 26
    bundle = read_bundle(tmp_path / "out")
    assert bundle.keyboard.method == "decoder"
    gesture = swipe("letter", keyboard.layout)
    assert alike(bundle.keyboard.decode(gesture), keyboard.decode(gesture))
    record = next(bundle.golden())
    corrected = keyboard.read([Gesture.from_points(record["points"])]).corrected[0]
    np.testing.assert_allclose(record["corrected"], corrected, atol=1e-4)
    alone = glissando.load("qwerty", method="encoder", **options)
    np.testing.assert_allclose(record["emissions"], alone.emissions(record["points"]).log_probs[0], atol=1e-4)
    assert not np.allclose(record["corrected"], record["emissions"], atol=0.01)


@pytest.mark.parametrize("name", ["encoder.onnx", "encoder.json", "layout.json", "constants.json", "trie.bin"])
def test_damage_is_named(copy, name):
    whole = (copy / name).read_bytes()
    (copy / name).write_bytes(whole[:-1])
    with pytest.raises(BundleError, match=rf"{name} has [\d,]+ bytes, not"):
        read_bundle(copy)
    (copy / name).write_bytes(whole[:-2] + bytes([whole[-2] ^ 1, whole[-1]]))
    with pytest.raises(BundleError, match=f"{name} does not match its checksum"):
        read_bundle(copy)
    (copy / name).unlink()
    with pytest.raises(BundleError, match=f"{name}: No such file"):
        read_bundle(copy)


def edited(folder, **changes):
    """Change the manifest."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def test_what_is_no_bundle_is_named(copy, tmp_path):
    with pytest.raises(BundleError, match=r"no bundle: manifest\.json: No such file"):
        read_bundle(tmp_path / "nowhere")
    edited(copy, version=9)
    with pytest.raises(BundleError, match="has version 9; this program reads 2"):
        read_bundle(copy)
    edited(copy, format="cake")
    with pytest.raises(BundleError, match="no bundle"):
        read_bundle(copy)
    (copy / "manifest.json").write_text("{")
    with pytest.raises(BundleError, match="not JSON"):
        read_bundle(copy)


def test_a_manifest_that_leaves_things_out_is_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    edited(copy, files={name: facts for name, facts in manifest["files"].items() if name != "layout.json"})
    with pytest.raises(BundleError, match=r"lacks 'layout\.json'"):
        read_bundle(copy)
    edited(copy, files={"layout.json": {}})
    with pytest.raises(BundleError, match=r"no size and checksum of layout\.json"):
        read_bundle(copy)
    edited(copy, files=[])
    with pytest.raises(BundleError, match="lists no files"):
        read_bundle(copy)


def test_constants_this_version_does_not_decode_with_are_refused(copy):
    constants = json.loads((copy / "constants.json").read_text())
    constants["geometry"]["points"] = 16
    data = json.dumps(constants).encode()
    (copy / "constants.json").write_bytes(data)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["constants.json"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    edited(copy, **manifest)
    with pytest.raises(BundleError, match=r"other constants \(geometry\)"):
        read_bundle(copy)


def test_a_directory_with_other_things_is_left_alone(few, keyboard, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BundleError, match="not empty and no bundle; --force"):
        write_bundle(keyboard, tmp_path, swipes=20)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    write_bundle(keyboard, tmp_path, swipes=20, force=True)
    assert (tmp_path / "letter.txt").read_text() == "dear"
    read_bundle(tmp_path)
    with pytest.raises(BundleError, match="it is a file"):
        write_bundle(keyboard, tmp_path / "letter.txt", swipes=20)


def test_a_bundle_is_replaced_and_what_is_not_its_own_stays(few, keyboard, copy):
    (copy / "node_modules").mkdir()
    write_bundle(keyboard, copy, swipes=20, browser=True)
    assert (copy / "port" / "beam.js").exists()
    assert len(list(read_bundle(copy).golden())) == 20
    write_bundle(keyboard, copy, swipes=25)  # without the page this time
    assert len(list(read_bundle(copy).golden())) == 25
    assert not (copy / "index.html").exists()
    assert (copy / "node_modules").is_dir()


def test_a_failure_leaves_nothing_behind(few, keyboard, tmp_path, monkeypatch):
    """Neither a directory nor a hidden one beside it; and an older bundle as it was."""
    write_bundle(keyboard, tmp_path / "old", swipes=2)
    before = {path.name: path.read_bytes() for path in (tmp_path / "old").iterdir()}
    write = Path.write_bytes

    def fail(path, data):
        if path.name == "trie.bin":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail)
    for name in ("new", "old"):
        with pytest.raises(FileError, match="No space left"):
            write_bundle(keyboard, tmp_path / name, swipes=3)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "old").iterdir()} == before


def test_a_replacement_cut_short_is_noticed(few, keyboard, copy, monkeypatch):
    """The manifest comes last: a reader in between meets checksums that do not match."""
    replace = Path.replace

    def stop(path, target):
        if target.name == "manifest.json":
            raise OSError(5, "cut short")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(FileError, match="cut short"):
        write_bundle(keyboard.replace(width=30), copy, swipes=2)
    monkeypatch.undo()
    with pytest.raises(BundleError, match=r"damaged: (constants\.json|golden\.jsonl)"):
        read_bundle(copy)


def test_it_may_be_read_as_other_new_directories_may(written, tmp_path):
    (tmp_path / "plain").mkdir()
    assert stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_old_files_are_only_looked_for_inside(few, keyboard, copy, tmp_path):
    """A manifest that lists a path outside its directory deletes nothing there."""
    outside = tmp_path.parent / f"{tmp_path.name}-precious"
    outside.write_text("keep")
    edited(copy, page=[f"../{outside.name}", str(outside)])
    write_bundle(keyboard, copy, swipes=20)
    assert outside.read_text() == "keep"


# What a page loads: modules, scripts, styles, icons.
REFERENCE = re.compile(rb"""(?:from |import\()["'](\.[^"']+)["']|(?:src|href)=["']([^"':#]+)["']""")


def test_every_reference_of_the_page_leads_to_a_file():
    files = page_files()
    targets = [
        posixpath.normpath(posixpath.join(posixpath.dirname(name), (match[1] or match[2]).decode()))
        for name, data in files.items()
        if name.endswith((".js", ".mjs", ".html"))
        for match in REFERENCE.finditer(data)
    ]
    assert len(targets) > 20
    assert set(targets) <= set(files)
    static = resources.files("glissando") / "web" / "static"
    assert files["web/pad.js"] == (static / "pad.js").read_bytes()  # the web keyboard's own


def test_onnxruntime_is_pinned_and_the_only_thing_from_elsewhere():
    files = page_files()
    assert re.fullmatch(r"\d+\.\d+\.\d+", json.loads(files["package.json"])["dependencies"]["onnxruntime-web"])
    modules = b"".join(data for name, data in files.items() if name.endswith((".js", ".mjs")))
    bare = set(re.findall(rb'from "([^."][^"]*)"', modules))
    assert bare == {b"onnxruntime-web/wasm", b"node:fs/promises", b"node:path"}
    assert not [name for name, data in files.items() if re.search(rb"https?://(?!www\.w3\.org)", data)]
