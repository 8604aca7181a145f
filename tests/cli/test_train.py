"""``glissando train encoder | embedder | negatives | decoder``: one after another on a toy, from the command line."""

import json

import pytest
from command import refused, run
from train import toy

from glissando.model.checkpoint import load_decoder


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


def test_a_missing_file_is_one_line(desk):
    files = ["--pack", "train.npz", "--encoder", "none.safetensors", "--negatives", "pools.npz", "--out", "run"]
    assert "no checkpoint at none.safetensors" in refused("train", "decoder", *files, "--set=batch=8")
    assert not (desk / "run").exists()
