"""Verification: a faithful file passes, and the bars are those stated; tests/cli has a file that fails."""

import dataclasses
import shutil

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import glissando  # noqa: E402
from glissando.errors import WeightsError  # noqa: E402
from glissando.export.onnx import reduce_precision  # noqa: E402
from glissando.export.verify import FULL, REDUCED, Bar, Comparison, Reference  # noqa: E402
from glissando.synth import swipe  # noqa: E402
from glissando.weights import write_card  # noqa: E402

WORDS = ["hello", "world", "water", "glass", "quick", "jazz", "to", "too", "tower", "of", "off", "or"]


@pytest.fixture(scope="module")
def keyboard(exported):
    words = dict.fromkeys(WORDS, 1)
    return glissando.load("qwerty", lexicon=words, weights=exported.folder / "encoder.onnx", method="encoder")


@pytest.fixture(scope="module")
def reference(exported, keyboard):
    gestures = [swipe(word, keyboard.layout) for word in WORDS]
    return Reference(exported.folder / "encoder.safetensors", keyboard, gestures)


def test_a_faithful_file_passes(exported, reference):
    calls = []
    file = exported.folder / "encoder.onnx"
    comparison = reference.compare(file, lambda done, total: calls.append((done, total)))
    assert comparison.passed
    assert comparison.bar == FULL
    assert (comparison.kind, comparison.precision, comparison.swipes) == ("encoder", "fp32", len(WORDS))
    assert comparison.outputs <= comparison.worst < 1e-4
    assert comparison.agreement == 100
    assert comparison.megabytes == pytest.approx(file.stat().st_size / 1e6)
    assert calls[-1] == (len(WORDS), len(WORDS))


def test_reduced_precision_is_held_to_its_own_bar(exported, reference, tmp_path):
    onnx.save(reduce_precision(onnx.load(exported.folder / "encoder.onnx"), "fp16"), tmp_path / "half.onnx")
    write_card(tmp_path / "half.onnx", {"precision": "fp16"})
    comparison = reference.compare(tmp_path / "half.onnx")
    assert comparison.bar == REDUCED
    assert comparison.outputs > reference.compare(exported.folder / "encoder.onnx").outputs
    assert comparison.passed


def test_a_decoder_is_fed_by_the_keyboards_encoder(exported, keyboard):
    gestures = [swipe(word, keyboard.layout) for word in WORDS]
    reference = Reference(exported.folder / "decoder.safetensors", keyboard, gestures)
    comparison = reference.compare(exported.folder / "decoder.onnx")
    assert comparison.kind == "decoder"
    assert comparison.passed
    assert comparison.worst > 0
    with pytest.raises(WeightsError, match="are not a decoder"):
        reference.compare(exported.folder / "encoder.onnx")


def test_a_matcher_is_asked_about_every_swipe(exported):
    words, weights = dict.fromkeys(WORDS, 1), exported.folder / "encoder.onnx"
    board = glissando.load("qwerty", lexicon=words, weights=weights, matcher=exported.folder / "matcher.onnx")
    sure = board.replace(scoring=dataclasses.replace(board.scoring, doubt=0.0))
    gestures = [swipe(word, board.layout) for word in WORDS]
    reference = Reference(exported.folder / "matcher.safetensors", sure, gestures)
    assert (np.isfinite(reference.outputs).sum(axis=1) == len(WORDS)).all()
    assert (reference.compared.sum(axis=1) == len(WORDS) - 1).all()  # all but the lowest
    comparison = reference.compare(exported.folder / "matcher.onnx")
    assert (comparison.kind, comparison.agreement) == ("matcher", 100)
    assert comparison.passed
    assert 0 < comparison.outputs <= comparison.worst < 1e-4
    with pytest.raises(WeightsError, match="a matcher takes path, keys, mask"):
        reference.compare(exported.folder / "encoder.onnx")


def test_one_word_gives_a_matcher_nothing_to_compare(exported):
    weights = exported.folder / "encoder.onnx"
    board = glissando.load("qwerty", lexicon={"hello": 1}, weights=weights, matcher=exported.folder / "matcher.onnx")
    board = board.replace(scoring=board.scoring.closed())  # without literals, which it could compare
    with pytest.raises(WeightsError, match="these 1 swipes give a matcher nothing to compare"):
        Reference(exported.folder / "matcher.safetensors", board, [swipe("hello", board.layout)])


def test_what_cannot_be_verified(exported, reference, tmp_path, monkeypatch):
    with pytest.raises(WeightsError, match=r"decoder\.onnx take inputs"):
        reference.compare(exported.folder / "decoder.onnx")
    shutil.copy(exported.folder / "encoder.onnx", tmp_path / "encoder.tflite")
    write_card(tmp_path / "encoder.tflite", {})
    with pytest.raises(WeightsError, match=r"must end in \.onnx or \.pte"):
        reference.compare(tmp_path / "encoder.tflite")
    monkeypatch.setattr(reference, "outputs", np.zeros((len(WORDS), 64, 27)))
    with pytest.raises(WeightsError, match=r"gives \(32, 27\) numbers; the checkpoint gives \(64, 27\)"):
        reference.compare(exported.folder / "encoder.onnx")


@pytest.mark.parametrize(
    ("outputs", "agreement", "passed"), [(1e-4, 99.9, True), (1.1e-4, 100, False), (0, 99.89, False)]
)
def test_both_bars_must_hold(outputs, agreement, passed):
    comparison = Comparison("a.onnx", "encoder", "fp32", 1.0, 10, outputs, 1.0, agreement, Bar(1e-4, 99.9))
    assert comparison.passed is passed
    assert comparison.to_dict()["passed"] is passed
    assert comparison.to_dict()["bar"] == {"outputs": 1e-4, "agreement": 99.9}
