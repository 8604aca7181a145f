"""glissando bench."""

import json

import pytest
from command import lines, refused, row, run

from glissando.evaluation.profile import ColdStart


@pytest.fixture
def words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("hello 9\nworld 8\n")
    return file


def test_recorded_swipes(tmp_path, words, tiny_weights, monkeypatch):
    monkeypatch.setattr("glissando.evaluation.profile.cold_start", lambda options: None)
    file = tmp_path / "swipes.jsonl"
    file.write_bytes(lines([row("hello"), row("hello", "dvorak"), row("zebra"), row("world")]))
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
    for step in ("resample", "encoder", "search", "geometry", "rank", "end to end"):
        assert step in result.out
    for part in (
        "encoder, forward",
        "end to end: resample, encoder, beam",
        "encoder.onnx",
        "from import to first word",
    ):
        assert part in result.out
    assert (tmp_path / "latency.svg").is_file()


def test_runtimes_side_by_side(tmp_path, words, tiny_weights, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("glissando.evaluation.profile.cold_start", lambda options: ColdStart(0.5, 100.0, 110.0))
    file = tmp_path / "swipes.jsonl"
    file.write_bytes(lines([row("hello"), row("world")]))
    call = ("bench", "--swipes", file, "--lexicon", words, "--weights", tiny_weights, "--json")
    profile = json.loads(run(*call, "--runtime", "torch").out)["profile"]
    assert list(profile["latency"]) == ["onnxruntime", "torch"]
    assert profile["latency"]["torch"]["corrected"]["p50"] > 0
    assert set(profile["megabytes"]) == {"encoder.onnx", "decoder.onnx"}
    assert profile["cold_start"] == {"seconds": 0.5, "megabytes": 100.0, "peak": 110.0}
    assert "no runtime 'tflite'" in refused(*call, "--runtime", "tflite")


def test_words_that_the_layout_cannot_type(tiny_weights):
    message = refused("bench", "--layout", "hindi", "--language", "vi", "--weights", tiny_weights)
    assert "can be typed on layout hindi" in message
