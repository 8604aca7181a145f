"""glissando export: what each command writes, says and refuses."""

import json
import re
import sys

import pytest
from command import refused, row, run

from glissando.export.bundle import read_bundle
from glissando.export.wasm import MODULE, WASM

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from networks import small_encoder  # noqa: E402 (needs torch)

from glissando.model.checkpoint import save_encoder  # noqa: E402
from glissando.weights import load_weights  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two checkpoints, and the file of the first."""
    folder = tmp_path_factory.mktemp("export")
    save_encoder(folder / "one.safetensors", small_encoder(dilations=(1,)), {"metrics": {"step": 3}})
    save_encoder(folder / "two.safetensors", small_encoder(dilations=(2,)))
    call = ("export", "onnx", folder / "one.safetensors", folder / "one.onnx")
    result = run(*call, "--note", "made for a test")
    assert result.code == 0, result.err
    (folder / "said").write_text(result.out)
    return folder


def test_onnx_writes_a_file_and_its_json(folder):
    card = load_weights(folder / "one.onnx").card
    assert (card["precision"], card["metrics"]) == ("fp32", {"step": 3})
    assert card["provenance"] == {"note": "made for a test"}
    assert (folder / "said").read_text().strip().endswith(f"MB, {card['parameters']:,} parameters")


def test_a_program_and_its_own_json(tmp_path, folder, words):
    pytest.importorskip("executorch", reason="executorch is not installed")
    output = tmp_path / "one.pte"
    result = run("export", "executorch", folder / "one.safetensors", output, "--note", "made for a test")
    assert result.code == 0, result.err
    card = json.loads((tmp_path / "one.pte.json").read_text())
    assert (card["precision"], card["provenance"]["note"]) == ("fp32", "made for a test")
    assert verify(folder, words, output).code == 0


def verify(folder, words, *files, checkpoint="one"):
    options = ("--lexicon", words, "--weights", folder / "one.onnx", "--count", 8)
    return run("export", "verify", *files, "--checkpoint", folder / f"{checkpoint}.safetensors", *options)


def test_verify_fails_where_a_file_is_of_another_checkpoint(folder, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    good = verify(folder, words, folder / "one.onnx", folder / "one.onnx")
    assert (good.code, good.out.count("yes")) == (0, 2), good
    assert "8 swipes" in good.out
    bad = verify(folder, words, folder / "one.onnx", checkpoint="two")
    assert bad.code == 1
    assert "NO" in bad.out


def test_an_encoder_is_refused_as_a_matcher(folder, words, tmp_path):
    message = refused("export", "bundle", "--lexicon", words, "--matcher", folder / "one.onnx", tmp_path / "bundle")
    assert "a matcher takes path, keys, mask" in message


def test_verify_takes_recorded_swipes_and_prints_json(folder, words, corpus):
    swipes = corpus([row("hello"), row("world"), row("hello", "dvorak")])
    call = ("export", "verify", folder / "one.onnx", "--checkpoint", folder / "one.safetensors", "--json")
    result = run(*call, "--swipes", swipes, "--lexicon", words, "--weights", folder / "one.onnx")
    assert result.code == 0, result.err
    (comparison,) = json.loads(result.out)
    assert (comparison["swipes"], comparison["passed"]) == (2, True)
    assert comparison["bar"] == {"outputs": 1e-4, "agreement": 99.9}


def test_what_is_refused_is_one_line(folder, words, tiny_weights, tmp_path, monkeypatch):
    checkpoint, new = folder / "one.safetensors", tmp_path / "new"
    assert "must end in .onnx" in refused("export", "onnx", checkpoint, tmp_path / "a.bin")
    assert "must end in .pte" in refused("export", "executorch", checkpoint, tmp_path / "a.onnx")
    assert "no checkpoint at" in refused("export", "onnx", tmp_path / "none.safetensors", tmp_path / "a.onnx")
    assert "no precision 'fp8'" in refused("export", "onnx", checkpoint, tmp_path / "a.onnx", "--precision", "fp8")
    message = refused("export", "executorch", checkpoint, tmp_path / "a.pte", "--precision", "int8")
    assert "no precision 'int8' for ExecuTorch" in message
    assert "not empty and no bundle" in refused(
        "export", "bundle", "--lexicon", words, "--weights", tiny_weights, tmp_path
    )
    assert "no layout 'nowhere'" in refused("export", "bundle", "--layout", "nowhere", new)
    assert "no method 'magic'" in refused("export", "bundle", "--method", "magic", "--lexicon", words, new)
    monkeypatch.setitem(sys.modules, "glissando.export.checkpoint", None)  # importing it fails
    assert "glissando[export]" in refused("export", "onnx", checkpoint, tmp_path / "a.onnx")
    assert [file.name for file in tmp_path.iterdir()] == ["words.txt"]


def test_a_bundle_is_written_and_its_files_are_listed(tiny_weights, words, tmp_path):
    layout = {"name": "mine", "language": "de", "rows": ["qwertzuiop", "asdfghjkl", "yxcvbnm"]}
    (tmp_path / "mine.json").write_text(json.dumps(layout))
    out = tmp_path / "bundle"
    options = ["--layout", tmp_path / "mine.json", "--lexicon", words, "--weights", tiny_weights, "--beam", 30]
    result = run("export", "bundle", *options, "--golden", 50, out)
    assert result.code == 0, result
    bundle = read_bundle(out)
    assert (bundle.manifest["layout"], bundle.manifest["language"]) == ("mine", "de")
    assert bundle.keyboard.width == 30
    for name, facts in bundle.manifest["files"].items():
        assert f"{facts['bytes']:,}  {out / name}" in result.out
    assert "2 words, 50 golden swipes" in result.out


@pytest.fixture
def runtime(tmp_path):
    """A directory with a runtime that is none."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / MODULE).write_text("export default 1;\n")
    (folder / WASM).write_bytes(b"\0asm")
    return folder


def test_a_keyboard_is_written_and_its_sizes_are_printed(runtime, words, tmp_path):
    (tmp_path / "mine").mkdir()
    layout = {"name": "mine", "language": "cy", "rows": ["qwertyuiop", "asdfghjkl", "zxcvbnm"]}
    (tmp_path / "mine" / "ours.json").write_text(json.dumps(layout))
    site = tmp_path / "site"
    call = ("export", "keyboard", site, "--languages", "tok", "--runtime", runtime)
    own = ("--lexicon", words, "--language", "cy", "--layouts", tmp_path / "mine", "--title", "Ein")
    result = run(*call, *own)
    assert result.code == 0, result.err
    index = json.loads((site / "kit" / "index.json").read_text())
    assert list(index["languages"]) == ["cy", "tok"]
    assert "ours" in [one["name"] for one in index["layouts"]]
    assert "<title>Ein</title>" in (site / "index.html").read_text()
    assert re.search(r"MB  cy: who writes in it downloads \d+\.\d MB in all, once\n", result.out)
    assert result.out.endswith("Upload this folder to any web host with HTTPS, then send its address.\n")
    again = run(*call, "--json")
    report = json.loads(again.out)
    assert report["build"] != index["build"]
    assert list(report["downloads"]) == ["tok"]
    assert report["files"]["sw.js"] == (site / "sw.js").stat().st_size
    assert report["compressed"] > report["downloads"]["tok"]


def test_a_keyboard_that_cannot_be_written_says_why(runtime, words, tmp_path, monkeypatch):
    call = ("export", "keyboard", tmp_path / "site", "--runtime", runtime)
    assert "no language 'xx'" in refused(*call, "--languages", "xx")
    assert "does not say its language" in refused(*call, "--lexicon", words)
    assert "--languages chooses" in refused(*call, "--language", "de")
    assert "no directory of layouts" in refused(*call, "--layouts", tmp_path / "none")
    assert "holds other things" in refused("export", "keyboard", tmp_path, "--languages", "tok", "--runtime", runtime)
    assert "no directory" in refused(*call[:3], "--languages", "tok", "--runtime", tmp_path / "none")
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setattr("glissando.corpus.fetch.PAUSE_S", 0.0)
    message = refused(*call[:3], "--languages", "tok")
    assert "onnxruntime-web cannot be had: cannot fetch http://127.0.0.1:9" in message
    assert "--runtime" in message
    assert not (tmp_path / "site").exists()
