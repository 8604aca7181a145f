"""glissando export: the file that decodes, and the JSON that says what it is."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from glissando.errors import GlissandoError, MissingExtraError, WeightsError
from glissando.layout import load_layout
from glissando.runtime import DecoderRuntime, EncoderRuntime
from glissando.weights import load_weights

torch = pytest.importorskip("torch")

from glissando.model.checkpoint import save_decoder, save_encoder  # noqa: E402 (needs torch)
from glissando.model.config import DecoderConfig, EncoderConfig  # noqa: E402
from glissando.model.decoder import Decoder  # noqa: E402
from glissando.model.encoder import Encoder  # noqa: E402

CONFIG = {"batch": 7, "teachers": ["private/first.safetensors"], "synthetic_words": "/private/en.txt"}
EXTRA = {"training": {"config": CONFIG, "corpus": "digest"}, "metrics": {"step": 3, "val_ctc": 1.5}}


def run(*arguments: object) -> str:
    """Run the command of the real command line; an error of ours comes out as itself."""
    from glissando.cli import app

    result = CliRunner().invoke(app, ["export", "onnx", *map(str, arguments)])
    if isinstance(result.exception, GlissandoError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    torch.manual_seed(0)
    network = Encoder(EncoderConfig(width=16, hidden=24, dilations=(1, 2))).eval()
    with torch.no_grad():  # the heads start at zero, which would make every key alike
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return network


@pytest.fixture(scope="module")
def exported(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("export")
    save_encoder(folder / "encoder.safetensors", encoder, EXTRA)
    output = run(folder / "encoder.safetensors", folder / "out.onnx", "--note", "made for a test")
    return folder / "out.onnx", output


def test_the_file_computes_what_the_checkpoint_computes(encoder, exported):
    path = torch.rand(3, 2, 64, generator=torch.Generator().manual_seed(1))
    keys = torch.rand(5, 2, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        expected = encoder(path, keys.expand(3, 5, 2), torch.ones(3, 5).bool()).log_probs
    got = EncoderRuntime(load_weights(exported[0])).run(path.numpy(), keys.numpy())
    np.testing.assert_allclose(got.log_probs, expected.numpy(), atol=1e-4)


def test_the_json_says_how_the_weights_came_about(encoder, exported):
    card = load_weights(exported[0]).card  # compares the checksum
    assert card["config"] == json.loads(json.dumps(encoder.config.to_dict()))
    assert card["metrics"] == EXTRA["metrics"]
    assert card["provenance"]["note"] == "made for a test"
    assert card["provenance"]["corpus"] == "digest"
    assert card["provenance"]["settings"]["batch"] == 7


def test_the_json_names_files_but_no_directories(exported):
    settings = load_weights(exported[0]).card["provenance"]["settings"]
    assert (settings["teachers"], settings["synthetic_words"]) == (["first.safetensors"], "en.txt")
    assert "private" not in exported[0].with_suffix(".json").read_text(encoding="utf-8")


def test_the_command_says_what_it_wrote(encoder, exported):
    parameters = sum(parameter.numel() for parameter in encoder.parameters())
    assert load_weights(exported[0]).card["parameters"] == parameters
    assert exported[1].strip().endswith(f"MB, {parameters:,} parameters")


def test_a_checkpoint_that_brings_nothing_along_is_exported_too(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("glissando.export.onnx.export_encoder", lambda _, path: path.write_bytes(b"quicker"))
    save_encoder(tmp_path / "bare.safetensors", encoder)
    run(tmp_path / "bare.safetensors", tmp_path / "bare.onnx")
    card = load_weights(tmp_path / "bare.onnx").card
    assert (card["provenance"], card["metrics"]) == ({}, {})


def test_what_cannot_be_exported_leaves_nothing_behind(encoder, tmp_path):
    save_encoder(tmp_path / "good.safetensors", encoder)
    with pytest.raises(WeightsError, match="no checkpoint at"):
        run(tmp_path / "none.safetensors", tmp_path / "out.onnx")
    with pytest.raises(WeightsError, match=r"must end in \.onnx"):
        run(tmp_path / "good.safetensors", tmp_path / "out.bin")
    assert [file.name for file in tmp_path.iterdir()] == ["good.safetensors"]


def test_without_torch_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "glissando.export.onnx", None)  # importing it fails as if something were missing
    with pytest.raises(MissingExtraError, match=r"glissando\[export\]"):
        run(tmp_path / "a.safetensors", tmp_path / "a.onnx")


def test_help_shows_examples():
    assert "glissando export onnx runs/one/encoder.safetensors one.onnx" in run("--help")


@pytest.fixture
def decoder_file(tmp_path) -> Path:
    decoder = Decoder(DecoderConfig(hidden=16, bottleneck=8, blocks=1))
    extra = {"layout": load_layout("qwerty").to_dict(), "training": {"config": {"batch": 5}, "corpus": "digest"}}
    save_decoder(tmp_path / "decoder.safetensors", decoder, extra)
    return tmp_path / "decoder.safetensors"


def test_a_decoder_names_its_layout_its_encoder_and_its_language(decoder_file, tiny_weights):
    output = decoder_file.with_suffix(".onnx")
    run(decoder_file, output, "--encoder", tiny_weights, "--note", "a test")
    weights = load_weights(output)
    assert weights.card["encoder"] == load_weights(tiny_weights).card["sha256"]
    assert weights.card["language"] == "en"
    assert weights.card["provenance"] == {"note": "a test", "corpus": "digest", "settings": {"batch": 5}}
    runtime = DecoderRuntime(weights)
    assert runtime.layout.letters == load_layout("qwerty").letters
    assert runtime.frames == 32  # those of its encoder


def test_a_decoder_without_a_layout_is_not_exported(tmp_path):
    save_decoder(tmp_path / "loose.safetensors", Decoder(DecoderConfig(hidden=16, bottleneck=8, blocks=1)))
    with pytest.raises(WeightsError, match="does not say which layout"):
        run(tmp_path / "loose.safetensors", tmp_path / "loose.onnx")
    assert not (tmp_path / "loose.onnx").exists()
