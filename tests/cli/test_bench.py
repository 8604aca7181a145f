"""glissando bench."""

import json
import sys

import pytest
from command import refused, row, run

import glissando
from glissando.evaluation.profile import ColdStart
from glissando.synth import swipe


def test_recorded_swipes(corpus, words, tiny_weights, monkeypatch):
    monkeypatch.setattr("glissando.evaluation.profile.cold_start", lambda options: None)
    file = corpus([row("hello"), row("hello", "dvorak"), row("zebra"), row("world")])
    call = ("bench", "--swipes", file, "--lexicon", words, "--weights", tiny_weights, "--runtime", "onnxruntime")
    figures = json.loads(run(*call, "--json").out)
    assert (figures["swipes"], figures["spellings"], figures["recall"]) == (3, 3, 100)  # zebra is added
    assert json.loads(run(*call, "--count", 1, "--json").out)["swipes"] == 1
    assert json.loads(run(*call, "--layout", "dvorak", "--json").out)["swipes"] == 1
    assert "has no swipe on layout azerty" in refused(*call, "--layout", "azerty")


def test_made_up_swipes_and_the_tables(tiny_weights, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    call = ("bench", "--language", "vi", "--weights", tiny_weights, "--count", 3, "--runtime", "onnxruntime")
    result = run(*call, "--plot", tmp_path / "latency.png")
    assert result.code == 0, result.err
    assert "3 swipes, beam 100" in result.out
    steps = ("resample", "encoder", "search", "geometry", "match", "rank after a text", "without the matcher")
    parts = ("encoder, forward", "end to end: resample, encoder, beam", "encoder.onnx", "from import to first word")
    matching = ("the text before adds", "the matcher is asked about", "decode with the matcher", "matcher.onnx")
    assert all(part in result.out for part in steps + parts + matching), result.out
    assert (tmp_path / "latency.svg").is_file()


def test_runtimes_side_by_side(corpus, words, tiny_weights, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("glissando.evaluation.profile.cold_start", lambda options: ColdStart(0.5, 100.0, 110.0))
    monkeypatch.setitem(sys.modules, "executorch", None)
    for name in [name for name in sys.modules if name.startswith("executorch.")]:
        monkeypatch.delitem(sys.modules, name)
    call = (
        "bench",
        "--swipes",
        corpus([row("hello"), row("world")]),
        "--lexicon",
        words,
        "--weights",
        tiny_weights,
        "--json",
    )
    profile = json.loads(run(*call, "--runtime", "torch", "--runtime", "executorch").out)["profile"]
    assert list(profile["latency"]) == ["onnxruntime", "torch"]
    assert profile["latency"]["torch"]["corrected"]["p50"] > 0
    assert "pip install 'glissando[executorch]'" in profile["skipped"]["executorch"]
    assert profile["latency"]["torch"]["matcher"]["p50"] > 0
    assert set(profile["megabytes"]) == {"encoder.onnx", "decoder.onnx", "matcher.onnx"}
    assert profile["cold_start"] == {"seconds": 0.5, "megabytes": 100.0, "peak": 110.0}
    assert "no runtime 'tflite'" in refused(*call, "--runtime", "tflite")


def test_with_its_checkpoint_torch_decodes_as_onnxruntime_does(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    from networks import small_encoder

    from glissando.cli.runtimes import line_up
    from glissando.export.onnx import export_encoder
    from glissando.model.checkpoint import save_encoder
    from glissando.weights import write_card

    encoder, file, spelled = small_encoder(dilations=(1,)), tmp_path / "encoder.onnx", ("hello", "world", "water")
    save_encoder(tmp_path / "encoder.safetensors", encoder)
    export_encoder(encoder, file)
    write_card(file, {"config": encoder.config.to_dict()})
    keyboard = glissando.load("qwerty", lexicon=dict.fromkeys(spelled, 1), weights=file, method="encoder")
    lined = line_up(keyboard, ["torch"], tmp_path / "encoder.safetensors")
    assert list(lined.keyboards) == ["onnxruntime", "torch"]
    for word in spelled:
        gesture = swipe(word, keyboard.layout)
        ours, theirs = (one.decode(gesture)[0] for one in lined.keyboards.values())
        assert ours.word == theirs.word == keyboard.decode(gesture)[0].word  # an untrained decoder changes nothing
        assert ours.score == pytest.approx(theirs.score, abs=1e-3)
    assert lined.parameters == {"encoder": sum(p.numel() for p in encoder.parameters()), "decoder": 304_667}
    assert lined.megabytes["encoder.onnx"] == pytest.approx(file.stat().st_size / 1e6)
    assert 1.1 < lined.megabytes["decoder.onnx"] < 1.3


def test_words_that_the_layout_cannot_type(tiny_weights):
    message = refused("bench", "--layout", "hindi", "--language", "vi", "--weights", tiny_weights)
    assert "can be typed on layout hindi" in message
