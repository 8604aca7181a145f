"""From a checkpoint to a file and its card."""

import json

import pytest

pytest.importorskip("torch")

from networks import small_decoder, small_encoder

from glissando.errors import WeightsError
from glissando.export import executorch, onnx
from glissando.export.checkpoint import ExportOptions, export_checkpoint
from glissando.layout import load_layout
from glissando.model.checkpoint import save_decoder, save_encoder
from glissando.runtime import DecoderRuntime
from glissando.weights import load_weights


@pytest.fixture
def quick(monkeypatch):
    """Exports that write their arguments."""
    for module in (onnx, executorch):
        for name in ("export_encoder", "export_decoder"):
            write = lambda _, path, *rest: path.write_text(repr(rest))  # noqa: E731
            monkeypatch.setattr(module, name, write)


def test_the_card_says_how_the_weights_were_made_but_names_no_directory(exported):
    card = load_weights(exported.folder / "encoder.onnx").card  # compares the checksum
    assert card["config"] == json.loads(json.dumps(exported.encoder.config.to_dict()))
    assert card["parameters"] == sum(parameter.numel() for parameter in exported.encoder.parameters())
    assert (card["precision"], card["metrics"]) == ("fp32", {"step": 3, "val_ctc": 1.5})
    settings = {"batch": 7, "teachers": ["first.safetensors"], "synthetic_words": "en.txt"}
    assert card["provenance"] == {"note": "made for a test", "corpus": "digest", "settings": settings}


def test_a_decoder_names_its_layout_its_encoder_and_its_language(exported):
    weights = load_weights(exported.folder / "decoder.onnx")
    assert weights.card["encoder"] == load_weights(exported.folder / "encoder.onnx").card["sha256"]
    assert weights.card["language"] == "en"
    runtime = DecoderRuntime(weights)
    assert runtime.layout.letters == load_layout("qwerty").letters
    assert runtime.frames == 32  # those of its encoder


def test_a_checkpoint_without_provenance_is_exported_too(quick, tmp_path):
    save_encoder(tmp_path / "bare.safetensors", small_encoder(dilations=(1,)))
    export_checkpoint(tmp_path / "bare.safetensors", tmp_path / "bare.onnx", ExportOptions(precision="int8"))
    card = load_weights(tmp_path / "bare.onnx").card
    assert (card["provenance"], card["metrics"], card["precision"]) == ({}, {}, "int8")
    assert (tmp_path / "bare.onnx").read_text() == "('int8',)"


def test_a_program_has_a_card_of_its_own(quick, tmp_path):
    save_decoder(tmp_path / "d.safetensors", small_decoder(blocks=1), {"layout": load_layout("qwerty").to_dict()})
    options = ExportOptions(precision="mixed", frames=32, note="a test")
    export_checkpoint(tmp_path / "d.safetensors", tmp_path / "d.pte", options)
    card = json.loads((tmp_path / "d.pte.json").read_text())
    assert list(card) == ["config", "precision", "parameters", "layout", "provenance", "sha256"]
    assert (card["layout"]["name"], card["precision"]) == ("qwerty", "mixed")
    assert (tmp_path / "d.pte").read_text() == "(32, 'mixed')"


def test_what_cannot_be_exported_leaves_nothing_behind(quick, tmp_path):
    save_decoder(tmp_path / "loose.safetensors", small_decoder(blocks=1))
    with pytest.raises(WeightsError, match="no checkpoint at"):
        export_checkpoint(tmp_path / "none.safetensors", tmp_path / "out.onnx", ExportOptions())
    with pytest.raises(WeightsError, match=r"must end in \.onnx or \.pte"):
        export_checkpoint(tmp_path / "loose.safetensors", tmp_path / "out.bin", ExportOptions())
    with pytest.raises(WeightsError, match="does not say which layout"):
        export_checkpoint(tmp_path / "loose.safetensors", tmp_path / "out.onnx", ExportOptions())
    assert [file.name for file in tmp_path.iterdir()] == ["loose.safetensors"]
