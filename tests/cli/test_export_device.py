"""glissando export executorch and verify, and onnx in reduced precision."""

import json

import pytest
from command import lines, refused, row, run

pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from networks import small_decoder, small_encoder

from glissando.layout import load_layout
from glissando.model.checkpoint import save_decoder, save_encoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two checkpoints, and the files of the first in two precisions."""
    folder = tmp_path_factory.mktemp("device")
    save_encoder(folder / "one.safetensors", small_encoder(dilations=(1,)))
    save_encoder(folder / "two.safetensors", small_encoder(dilations=(2,)))
    for precision in ("fp32", "fp16"):
        result = run(
            "export", "onnx", folder / "one.safetensors", folder / f"{precision}.onnx", "--precision", precision
        )
        assert result.code == 0, result.err
    return folder


@pytest.fixture
def words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("hello 9\nworld 8\nwater 5\n")
    return file


def verify(folder, words, *files, checkpoint="one"):
    checkpoint = folder / f"{checkpoint}.safetensors"
    return run(
        "export",
        "verify",
        *files,
        "--checkpoint",
        checkpoint,
        "--lexicon",
        words,
        "--weights",
        folder / "fp32.onnx",
        "--count",
        8,
    )


def test_the_precision_is_in_the_json(folder):
    cards = [json.loads((folder / f"{name}.json").read_text()) for name in ("fp32", "fp16")]
    assert [card["precision"] for card in cards] == ["fp32", "fp16"]
    assert (folder / "fp16.onnx").stat().st_size < (folder / "fp32.onnx").stat().st_size
    assert "no precision 'fp8'" in refused(
        "export", "onnx", folder / "one.safetensors", folder / "a.onnx", "--precision", "fp8"
    )


def test_faithful_files_pass_on_made_up_swipes(folder, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    result = verify(folder, words, folder / "fp32.onnx", folder / "fp16.onnx")
    assert result.code == 0, result
    assert "8 swipes" in result.out
    assert result.out.count("yes") == 2


def test_a_file_of_another_checkpoint_fails(folder, words):
    result = verify(folder, words, folder / "fp32.onnx", checkpoint="two")
    assert result.code == 1
    assert "NO" in result.out


def test_recorded_swipes_and_json(folder, words, tmp_path):
    swipes = tmp_path / "swipes.jsonl"
    swipes.write_bytes(lines([row("hello"), row("world"), row("hello", "dvorak")]))
    call = ("export", "verify", folder / "fp32.onnx", "--checkpoint", folder / "one.safetensors", "--json")
    result = run(*call, "--swipes", swipes, "--lexicon", words, "--weights", folder / "fp32.onnx")
    assert result.code == 0, result.err
    (verdict,) = json.loads(result.out)
    assert verdict["swipes"] == 2
    assert verdict["passed"] is True
    assert verdict["bar"] == {"emissions": 1e-4, "agreement": 99.9}


def test_a_program_and_its_own_json(tmp_path, folder, words):
    pytest.importorskip("executorch", reason="executorch is not installed")
    output = tmp_path / "one.pte"
    result = run("export", "executorch", folder / "one.safetensors", output, "--note", "made for a test")
    assert result.code == 0, result.err
    card = json.loads((tmp_path / "one.pte.json").read_text())
    assert (card["precision"], card["provenance"]["note"]) == ("fp32", "made for a test")
    assert verify(folder, words, output).code == 0


def test_a_decoders_program_names_its_layout(tmp_path):
    pytest.importorskip("executorch", reason="executorch is not installed")
    save_decoder(tmp_path / "d.safetensors", small_decoder(blocks=1), {"layout": load_layout("qwerty").to_dict()})
    result = run(
        "export", "executorch", tmp_path / "d.safetensors", tmp_path / "d.pte", "--precision", "mixed", "--frames", 32
    )
    assert result.code == 0, result.err
    card = json.loads((tmp_path / "d.pte.json").read_text())
    assert (card["layout"]["name"], card["precision"]) == ("qwerty", "mixed")


def test_what_executorch_refuses(tmp_path, folder):
    assert "must end in .pte" in refused("export", "executorch", folder / "one.safetensors", tmp_path / "one.onnx")
    message = refused("export", "executorch", folder / "one.safetensors", tmp_path / "one.pte", "--precision", "int8")
    assert "no precision 'int8' for ExecuTorch" in message
