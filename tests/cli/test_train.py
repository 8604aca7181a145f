"""``glissando train``: every network on a toy, one step after another, from the command line."""

import json

import numpy as np
import pytest
from command import refused, run
from train import toy

from glissando.corpus.records import Swipe, write_swipes
from glissando.layout import load_layout
from glissando.model.checkpoint import load_decoder
from glissando.synth import swipe


def train(*words):
    """What a training that must succeed prints."""
    result = run("train", *words)
    assert result.code == 0, result
    return result.out


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toy.write_pack(tmp_path / "train.npz")
    toy.write_pack(tmp_path / "val.npz", rows=30, seed=9)
    (tmp_path / "words.txt").write_text("\n".join([*toy.WORDS, "feed", "fab", "decade"]))
    return tmp_path


def test_from_swipes_to_an_encoder_and_a_decoder(desk):
    packs = ["--pack", "train.npz", "--val", "val.npz", "--device", "cpu"]
    small = ["--set=batch=16", "--set=model.width=8", "--set=model.hidden=8", "--set=model.dilations=[1]"]
    out = train("encoder", *packs, "--out", "encoder", *small, "--set=steps=3")
    assert "encoder/encoder.safetensors: step 3" in out
    assert "swipes/s" in out
    small = ["--set=model.keys=6", "--set=model.width=8", "--set=batch=32", "--set=steps=3"]
    out = train("embedder", *packs, "--lexicon", "words.txt", "--out", "embedder", *small)
    assert "embedder/embedder.safetensors: step 3" in out
    found = ["--lexicon", "words.txt", "--embedder", "embedder/embedder.safetensors", "--out", "pools.npz"]
    assert "10 words with 12 negatives each, of 13 words" in train("negatives", *packs, *found)
    files = ["--encoder", "encoder/encoder.safetensors", "--negatives", "pools.npz", "--out", "run"]
    small = ["--set=model.hidden=8", "--set=model.blocks=1", "--set=batch=32", "--set=steps=3"]
    assert "run/decoder.safetensors: step 3" in train("decoder", *packs, *files, *small)
    assert load_decoder(desk / "run/decoder.safetensors")[1]["training"]["config"]["batch"] == 32
    assert json.loads((desk / "run/metrics.jsonl").read_text().splitlines()[0])["step"] == 0


def test_an_encoder_goes_on_from_a_file(desk, tiny_weights):
    packs = ["--pack", "train.npz", "--val", "val.npz", "--device", "cpu", "--set=batch=16", "--set=epochs=1"]
    assert "one/encoder.safetensors: step" in train("encoder", *packs, "--out", "one", "--from", tiny_weights)
    again = train("encoder", *packs, "--out", "two", "--from", "one/encoder.safetensors")
    assert "two/encoder.safetensors: step" in again
    assert json.loads((desk / "two/config.json").read_text())["config"]["learning_rate"] == 1e-4
    assert "no weights 'nothing'" in refused("train", "encoder", *packs, "--out", "three", "--from", "nothing")


def test_a_missing_file_is_one_line(desk):
    files = ["--pack", "train.npz", "--encoder", "none.safetensors", "--negatives", "pools.npz", "--out", "run"]
    assert "no checkpoint at none.safetensors" in refused("train", "decoder", *files, "--set=batch=8")
    assert not (desk / "run").exists()


def test_from_swipes_to_a_matcher_that_is_exported_and_verified(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qwerty, rng = load_layout("qwerty"), np.random.default_rng(0)
    words = ["hello", "world", "it", "is"] * 12
    swipes = [Swipe(word, swipe(word, qwerty, rng), "qwerty", session=str(i % 6)) for i, word in enumerate(words)]
    write_swipes(tmp_path / "s.jsonl", swipes)
    (tmp_path / "words.txt").write_text("hello hells world would it is its if in".replace(" ", "\n"))
    out = train("finalists", "s.jsonl", "--lexicon", "words.txt", "--out", "f.npz", "--count", "6")
    assert "f.npz: 48 swipes, the word meant is among the finalists of" in out
    small = ["--set=model.width=8", "--set=model.path_blocks=1", "--set=model.word_blocks=1", "--set=batch=8"]
    small += ["--set=steps=2", "--set=finalists=6", "--device", "cpu"]
    out = train("matcher", "--pack", "f.npz", "--val", "f.npz", "--out", "run", *small)
    assert "run/matcher.safetensors: step 2" in out
    assert run("export", "onnx", "run/matcher.safetensors", "m.onnx").code == 0
    compared = run("export", "verify", "m.onnx", "--checkpoint", "run/matcher.safetensors", "--count", 8)
    assert compared.code == 0, compared
    assert "a matcher's scores" in compared.out
    assert run("evaluate", "s.jsonl", "--lexicon", "words.txt", "--method", "matcher", "--matcher", "m.onnx").code == 0
    assert "cannot read the finalists" in refused("train", "matcher", "--pack", "none.npz", "--out", "other")
