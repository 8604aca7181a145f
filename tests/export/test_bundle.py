"""Bundles: what is written comes back and decodes alike, and damage is named."""

import hashlib
import json
import shutil
import stat
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import glissando
from glissando.context import load_context
from glissando.errors import BundleError, FileError
from glissando.export.awkward import Golden
from glissando.export.bundle import read_bundle, write_bundle
from glissando.gesture import Gesture
from glissando.layout import Key, Layout, load_layout
from glissando.scoring import load_scoring
from glissando.synth import swipe
from glissando.vocabulary import Vocabulary
from glissando.weights import load_weights

WORDS = {"hello": 50, "jello": 1, "its": 40, "it's": 90, "letter": 30, "later": 30, "café": 2, "Berlin": 9, "animal": 7}


@pytest.fixture(scope="module")
def keyboard(tiny_weights):
    closed = load_scoring("en").closed()  # without literals
    return glissando.load("qwerty", lexicon=WORDS, weights=tiny_weights, scoring=closed, width=40)


@pytest.fixture(scope="module")
def written(keyboard, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundles") / "one"
    write_bundle(keyboard, folder, swipes=30)
    return folder


@pytest.fixture
def copy(written, tmp_path):
    """A bundle to damage."""
    return Path(shutil.copytree(written, tmp_path / "copy"))


def exact(keyboard, count=2):
    """Swipes for golden vectors that need not be chosen."""
    return [Golden("swipe", word, swipe(word, keyboard.layout)) for word in keyboard.lexicon.words[:count]]


def same_words(bundle, keyboard, gesture, context=None):
    """Whether two keyboards read a swipe alike, up to rounding."""
    one, other = (board.decode(gesture, 99, context) for board in (bundle.keyboard, keyboard))
    return [(c.word, pytest.approx(c.score, abs=1e-5)) for c in one] == [(c.word, c.score) for c in other]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_the_manifest_lists_every_file_and_the_library_reads_each_alone(written, keyboard):
    manifest, files = json.loads((written / "manifest.json").read_text(encoding="utf-8")), contents(written)
    networks = {"encoder.onnx", "encoder.json"}
    assert set(files) == {"manifest.json", *manifest["files"]}
    assert set(manifest["files"]) == {*networks, "layout.json", "constants.json", "trie.bin", "golden.jsonl"}
    for name, facts in manifest["files"].items():
        assert facts == {"bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()}
    assert (manifest["format"], manifest["version"]) == ("glissando-bundle", 4)
    assert manifest["golden"]["swipes"] == files["golden.jsonl"].count(b"\n") == 30
    assert load_layout(written / "layout.json") == keyboard.layout
    assert load_scoring(written / "constants.json") == keyboard.scoring
    assert load_weights(written / "encoder.onnx").data == keyboard.encoder.weights.data


def test_it_decodes_as_the_keyboard_it_was_made_of(written, keyboard):
    bundle, rng = read_bundle(written), np.random.default_rng(7)
    assert all(same_words(bundle, keyboard, swipe(word, keyboard.layout, rng)) for word in [*WORDS, *WORDS])
    assert bundle.keyboard.width == 40
    for record in (record for record in bundle.golden() if "own" not in record):
        tapped = record.get("prefix", ""), record.get("suffix", "")
        words = [candidate.word for candidate in bundle.keyboard.decode(record["points"], 3, None, *tapped)]
        assert words == [candidate["word"] for candidate in record["candidates"][:3]]


def test_the_same_keyboard_makes_the_same_bytes_and_a_directory_like_others(keyboard, written, tmp_path):
    write_bundle(keyboard, tmp_path / "again", swipes=30)
    assert contents(tmp_path / "again") == contents(written)
    (tmp_path / "plain").mkdir()
    assert stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_letter_with_two_keys_and_a_lexicon_file_of_ones_own(tiny_weights, tmp_path):
    keys = tuple(Key(letter, (i + 0.5) / 5, 0.5, 0.1, 0.5) for i, letter in enumerate("abcad"))
    (tmp_path / "words.txt").write_text("cab 3\nabba 2\ndad 1\n")
    keyboard = glissando.load(Layout("mine", keys), lexicon=tmp_path / "words.txt", weights=tiny_weights)
    manifest = write_bundle(keyboard, tmp_path / "out", swipes=exact(keyboard))
    assert same_words(read_bundle(tmp_path / "out"), keyboard, swipe("dad", keyboard.layout))
    assert manifest["lexicon"] == {"name": "words.txt", "words": 3}  # no directory of this machine
    assert str(tmp_path) not in (tmp_path / "out" / "manifest.json").read_text()


def test_a_decoder_comes_along(keyboard, tiny_weights, tiny_decoder, tmp_path):
    """Its keys are in another order; the manifest says which column of the emissions each of them reads."""
    options = {"lexicon": WORDS, "weights": tiny_weights, "scoring": "en"}
    corrected = glissando.load("qwerty", decoder=tiny_decoder, method="decoder", **options)
    manifest = write_bundle(corrected, tmp_path / "out", swipes=exact(corrected))
    columns = manifest["models"]["decoder"]["columns"]
    assert [keyboard.layout.letters[column] for column in columns[:-1]] == sorted(keyboard.layout.letters)
    assert columns[-1] == 26
    bundle = read_bundle(tmp_path / "out")
    assert bundle.keyboard.method == "decoder"
    assert same_words(bundle, corrected, swipe("letter", keyboard.layout))
    record = next(bundle.golden())
    gesture = Gesture.from_points(record["points"])
    np.testing.assert_allclose(record["corrected"], corrected.read([gesture]).corrected[0], atol=1e-4)
    np.testing.assert_allclose(record["emissions"], keyboard.emissions(gesture).log_probs[0], atol=1e-4)
    assert not np.allclose(record["corrected"], record["emissions"], atol=0.01)


@pytest.fixture(scope="module")
def helped(tiny_weights):
    """With the packaged matcher and the packaged English context."""
    return glissando.load("qwerty", "en", lexicon=WORDS, weights=tiny_weights, scoring="en-matcher")


def test_a_matcher_and_a_context_come_along(helped, tmp_path):
    manifest = write_bundle(helped, tmp_path / "out", swipes=exact(helped))
    bundle, files = read_bundle(tmp_path / "out"), contents(tmp_path / "out")
    assert manifest["models"]["matcher"] == {"file": "matcher.onnx", "card": "matcher.json"}
    assert manifest["context"] == {"file": "language.context", "name": "en", "language": "en", "words": 55_572}
    packaged = resources.files("glissando") / "assets" / "contexts"
    assert files["language.context"] == (packaged / "en.context").read_bytes()
    assert files["LICENSE-pocketsphinx"] == (packaged / "LICENSE-pocketsphinx").read_bytes()  # as it asks
    constants = json.loads(files["constants.json"])
    assert constants["scoring"]["matched"] == helped.scoring.matched.to_dict()
    assert constants["matcher"] == {"finalists": 16, "longest": 20}
    assert constants["context"] == {
        "step": 1 / 16, "trust": 0, "min_trust": -4, "max_trust": 3, "tail": 256, "elisions": []
    }  # fmt: skip
    assert bundle.keyboard.method == "matcher"
    gestures = [swipe(word, helped.layout) for word in WORDS]
    assert any(matches is not None for matches in bundle.keyboard.stages(gestures).matches)
    assert all(same_words(bundle, helped, one, text) for one in gestures for text in (None, "", "he wrote a"))


@pytest.fixture(scope="module")
def literal(helped, tmp_path_factory):
    """The bundle of a keyboard that reads literals."""
    folder = tmp_path_factory.mktemp("literal") / "out"
    write_bundle(helped, folder, swipes=exact(helped))
    return folder


def test_the_table_of_letters_comes_along_and_literals_are_read_alike(helped, literal):
    manifest, fluency = json.loads((literal / "manifest.json").read_text()), helped.dictionary.fluency
    assert manifest["fluency"] == {"file": "fluency.bin", "order": 4}
    assert (literal / "fluency.bin").read_bytes() == fluency.costs.tobytes()
    bundle = read_bundle(literal)
    np.testing.assert_array_equal(bundle.keyboard.dictionary.fluency.costs, fluency.costs)
    gesture = swipe("jeler", helped.layout)
    assert any(one.literal for one in helped.decode(gesture, 99))
    assert same_words(bundle, helped, gesture)
    assert bundle.keyboard.decode(gesture, 9).none == pytest.approx(helped.decode(gesture, 9).none, abs=1e-5)
    constants = json.loads((literal / "constants.json").read_text())
    assert constants["literals"] == {
        "strings": 8, "longest": 20, "plain": -2.0, "width": 16, "restricted_width": 64, "fluency": 0.4, "letter": 1.2,
        "unlikely": -9.0, "step": 1 / 16,
    }  # fmt: skip
    assert constants["vocabulary"]["first"] == 60
    assert constants["typed_as"]["ß"] == "ss"


def test_literals_without_their_table_are_refused(literal, tmp_path):
    copy = Path(shutil.copytree(literal, tmp_path / "copy"))
    edit_manifest(copy, lambda manifest: manifest["files"].pop("fluency.bin"))
    with pytest.raises(BundleError, match=r"lacks 'fluency\.bin'"):
        read_bundle(copy)
    shutil.copy(literal / "manifest.json", copy)
    edit_manifest(copy, lambda manifest: manifest["fluency"].update(order=3))
    with pytest.raises(BundleError, match=r"fluency\.bin has 531,441 bytes, which is no table of grams of 3"):
        read_bundle(copy)


def test_own_words_and_habits_stay_at_home(helped, literal, tmp_path):
    """The bundle of a keyboard with a person's words is that of the keyboard without."""
    person = helped.replace(vocabulary=Vocabulary())
    person.learn("jelleter")
    person.learn("animal")
    write_bundle(person, tmp_path / "out", swipes=exact(person))
    assert contents(tmp_path / "out") == contents(literal)
    board = read_bundle(literal).keyboard
    gesture = swipe("jelleter", board.layout)
    board.learn("Jelleter")
    found = [(one.word, one.literal) for one in board.decode(gesture, 9)]
    assert ("Jelleter", False) in found
    assert board.forget("Jelleter")


def test_a_context_may_be_of_another_language_or_missing(helped, tmp_path):
    french, without = (helped.replace(context=load_context(one)) for one in ("fr", None))
    manifest = write_bundle(french, tmp_path / "french", swipes=exact(french))
    assert (manifest["language"], manifest["context"]["language"]) == ("en", "fr")
    elisions = json.loads((tmp_path / "french" / "constants.json").read_text())["context"]["elisions"]
    assert "qu" in elisions
    assert not (tmp_path / "french" / "LICENSE-pocketsphinx").exists()  # not made of it
    assert read_bundle(tmp_path / "french").keyboard.context.language == "fr"
    manifest = write_bundle(without, tmp_path / "without", swipes=exact(without))
    assert "context" not in manifest
    bundle = read_bundle(tmp_path / "without")
    assert bundle.keyboard.context is None
    assert same_words(bundle, without, swipe("hello", helped.layout), "known to nobody")


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


def edit_manifest(folder, change):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda manifest: manifest.update(version=9), "has version 9; this program reads 4"),
        (lambda manifest: manifest.update(version=3), "has version 3; this program reads 4"),
        (lambda manifest: manifest.update(format="cake"), "no bundle"),
        (lambda manifest: manifest["files"].pop("layout.json"), r"lacks 'layout\.json'"),
        (lambda manifest: manifest.update(files={"layout.json": {}}), r"no size and checksum of layout\.json"),
        (lambda manifest: manifest.update(files=[]), "lists no files"),
    ],
)
def test_a_manifest_of_something_else_is_refused(copy, change, message):
    edit_manifest(copy, change)
    with pytest.raises(BundleError, match=message):
        read_bundle(copy)


def test_what_is_no_bundle_is_named(copy, tmp_path):
    with pytest.raises(BundleError, match=r"no bundle: manifest\.json: No such file"):
        read_bundle(tmp_path / "nowhere")
    (copy / "manifest.json").write_text("{")
    with pytest.raises(BundleError, match="not JSON"):
        read_bundle(copy)


def test_constants_this_version_does_not_decode_with_are_refused(copy):
    data = (copy / "constants.json").read_bytes().replace(b'"points": 32', b'"points": 16')
    (copy / "constants.json").write_bytes(data)
    facts = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    edit_manifest(copy, lambda manifest: manifest["files"].update({"constants.json": facts}))
    with pytest.raises(BundleError, match=r"other constants \(geometry\)"):
        read_bundle(copy)


def test_a_directory_with_other_things_is_left_alone(keyboard, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BundleError, match="not empty and no bundle; --force"):
        write_bundle(keyboard, tmp_path)
    with pytest.raises(BundleError, match="it is a file"):
        write_bundle(keyboard, tmp_path / "letter.txt")
    assert contents(tmp_path) == {"letter.txt": b"dear"}
    write_bundle(keyboard, tmp_path, swipes=exact(keyboard), force=True)
    assert (tmp_path / "letter.txt").read_text() == "dear"
    read_bundle(tmp_path)


def test_a_bundle_is_replaced_and_what_is_not_its_own_stays(keyboard, copy, tmp_path):
    (copy / "node_modules").mkdir()
    (tmp_path / "precious").write_text("keep")  # a manifest may list it, but it is outside
    old = {"../precious": {}, str(tmp_path / "precious"): {}, "old.bin": {}}
    edit_manifest(copy, lambda manifest: manifest["files"].update(old))
    (copy / "old.bin").write_bytes(b"of an older version")
    write_bundle(keyboard, copy, swipes=exact(keyboard, 3))
    assert len(list(read_bundle(copy).golden())) == 3
    assert not (copy / "old.bin").exists()
    assert (copy / "node_modules").is_dir()
    assert (tmp_path / "precious").exists()


def test_a_failure_leaves_nothing_behind(keyboard, copy, tmp_path, monkeypatch):
    """Neither a directory nor a hidden one beside it; and an older bundle as it was."""
    before, write = contents(copy), Path.write_bytes

    def fail(path, data):
        if path.name == "trie.bin":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail)
    for name in ("new", "copy"):
        with pytest.raises(FileError, match="No space left"):
            write_bundle(keyboard, tmp_path / name, swipes=exact(keyboard))
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]
    assert contents(copy) == before


def test_a_replacement_cut_short_is_noticed(keyboard, copy, monkeypatch):
    """The manifest comes last: a reader in between meets checksums that do not match."""
    replace = Path.replace

    def stop(path, target):
        if target.name == "manifest.json":
            raise OSError(5, "cut short")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(FileError, match="cut short"):
        write_bundle(keyboard, copy, swipes=exact(keyboard))
    with pytest.raises(BundleError, match=r"damaged: golden\.jsonl"):
        read_bundle(copy)
