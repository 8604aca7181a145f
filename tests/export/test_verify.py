"""Verification: a faithful file passes, another network's does not, and the bars are those stated."""

import shutil

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from networks import small_decoder, small_encoder

import glissando
from glissando.errors import WeightsError
from glissando.export.onnx import export_decoder, export_encoder
from glissando.export.reduced import reduce_file
from glissando.export.verify import FULL, LIKELY, REDUCED, Bar, Reference, Verdict
from glissando.layout import load_layout
from glissando.model.checkpoint import save_decoder, save_encoder
from glissando.synth import swipe
from glissando.weights import write_card

WORDS = ["hello", "world", "water", "glass", "quick", "jazz", "to", "too", "tower", "of", "off", "or"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Checkpoints of an encoder and a decoder, and the files made of them."""
    folder = tmp_path_factory.mktemp("verify")
    encoder, decoder = small_encoder(dilations=(1, 2)), small_decoder()
    save_encoder(folder / "encoder.safetensors", encoder)
    save_decoder(folder / "decoder.safetensors", decoder, {"layout": load_layout("qwerty").to_dict()})
    export_encoder(encoder, folder / "encoder.onnx")
    export_decoder(decoder, folder / "decoder.onnx", frames=32)
    export_encoder(small_encoder(dilations=(1, 3)), folder / "other.onnx")
    for name in ("encoder", "other"):
        write_card(folder / f"{name}.onnx", {"config": encoder.config.to_dict()})
    write_card(folder / "decoder.onnx", {"layout": load_layout("qwerty").to_dict()})
    shutil.copy(folder / "encoder.onnx", folder / "half.onnx")
    reduce_file(folder / "half.onnx", "fp16")
    write_card(folder / "half.onnx", {"precision": "fp16"})
    return folder


@pytest.fixture(scope="module")
def keyboard(folder):
    words = dict.fromkeys(WORDS, 1)
    return glissando.load("qwerty", lexicon=words, weights=folder / "encoder.onnx", method="encoder")


@pytest.fixture(scope="module")
def reference(folder, keyboard):
    gestures = [swipe(word, keyboard.layout) for word in WORDS]
    return Reference(folder / "encoder.safetensors", keyboard, gestures)


def test_a_faithful_file_passes(folder, reference):
    calls = []
    verdict = reference.check(folder / "encoder.onnx", lambda done, total: calls.append((done, total)))
    assert verdict.passed
    assert (verdict.kind, verdict.precision, verdict.swipes) == ("encoder", "fp32", len(WORDS))
    assert verdict.emissions <= verdict.worst < 1e-4
    assert verdict.agreement == 100
    assert verdict.megabytes == pytest.approx((folder / "encoder.onnx").stat().st_size / 1e6)
    assert calls[-1] == (len(WORDS), len(WORDS))


def test_reduced_precision_is_held_to_its_own_bar(folder, reference):
    verdict = reference.check(folder / "half.onnx")
    assert verdict.bar == REDUCED
    assert verdict.emissions > reference.check(folder / "encoder.onnx").emissions
    assert verdict.passed


def test_another_networks_file_does_not_pass(folder, reference):
    verdict = reference.check(folder / "other.onnx")
    assert verdict.bar == FULL
    assert verdict.emissions > 0.01
    assert not verdict.passed


def test_the_reference_is_the_keyboard_of_the_same_weights(keyboard, reference):
    """Torch and onnxruntime decode alike, so the reference's words are those of the keyboard itself."""
    assert reference.words == [keyboard.decode(gesture, k=1)[0].word for gesture in reference.gestures]
    np.testing.assert_allclose(reference.log_probs, keyboard.letter_log_probs(reference.gestures), atol=1e-4)


def test_a_decoder_is_fed_by_the_keyboards_encoder(folder, keyboard):
    gestures = [swipe(word, keyboard.layout) for word in WORDS]
    reference = Reference(folder / "decoder.safetensors", keyboard, gestures)
    verdict = reference.check(folder / "decoder.onnx")
    assert verdict.kind == "decoder"
    assert verdict.passed
    assert verdict.worst > 0
    with pytest.raises(WeightsError, match="are no decoder"):
        reference.check(folder / "encoder.onnx")


def test_what_cannot_be_verified(folder, reference, tmp_path):
    with pytest.raises(WeightsError, match=r"decoder\.onnx take inputs"):
        reference.check(folder / "decoder.onnx")
    shutil.copy(folder / "encoder.onnx", tmp_path / "encoder.tflite")
    write_card(tmp_path / "encoder.tflite", {})
    with pytest.raises(WeightsError, match=r"must end in \.onnx or \.pte"):
        reference.check(tmp_path / "encoder.tflite")
    frames = small_encoder(dilations=(1,), frames=64)
    export_encoder(frames, tmp_path / "frames.onnx")
    write_card(tmp_path / "frames.onnx", {})
    with pytest.raises(WeightsError, match=r"gives emissions \(64, 27\); the checkpoint's are \(32, 27\)"):
        reference.check(tmp_path / "frames.onnx")


@pytest.mark.parametrize(
    ("emissions", "agreement", "passed"), [(1e-4, 99.9, True), (1.1e-4, 100, False), (0, 99.89, False)]
)
def test_both_bars_must_hold(emissions, agreement, passed):
    verdict = Verdict("a.onnx", "encoder", "fp32", 1.0, 10, emissions, 1.0, agreement, Bar(1e-4, 99.9))
    assert verdict.passed is passed
    assert verdict.to_dict()["passed"] is passed
    assert verdict.to_dict()["bar"] == {"emissions": 1e-4, "agreement": 99.9}


def test_what_is_out_of_the_question_does_not_count(folder, reference, monkeypatch):
    import glissando.export.verify as module

    likely = reference.check(folder / "other.onnx").worst
    monkeypatch.setattr(module, "LIKELY", float(np.median(reference.log_probs)))
    assert LIKELY < module.LIKELY
    assert reference.check(folder / "other.onnx").worst <= likely
