"""``glissando train encoder | embedder | negatives | decoder``: one after another on a toy, from the command line."""

import json

import pytest
from train import toy
from typer.testing import CliRunner

from glissando.cli import app
from glissando.model.checkpoint import load_decoder


def glissando(*words: object) -> str:
    """Run a command that must succeed; returns what it printed."""
    done = CliRunner().invoke(app, ["train", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.output


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
    out = glissando("encoder", *packs, "--out", "encoder", *small, "--set=steps=3")
    assert "encoder/encoder.safetensors: step 3" in out
    assert "swipes/s" in out
    small = ["--set=model.keys=6", "--set=model.width=8", "--set=batch=32", "--set=steps=3"]
    out = glissando("embedder", *packs, "--lexicon", "words.txt", "--out", "embedder", *small)
    assert "embedder/embedder.safetensors: step 3" in out
    found = ["--lexicon", "words.txt", "--embedder", "embedder/embedder.safetensors", "--out", "pools.npz"]
    assert "10 words with 12 negatives each, of 13 words" in glissando("negatives", *packs, *found)
    files = ["--encoder", "encoder/encoder.safetensors", "--negatives", "pools.npz", "--out", "run"]
    small = ["--set=model.hidden=8", "--set=model.blocks=1", "--set=batch=32", "--set=steps=3"]
    assert "run/decoder.safetensors: step 3" in glissando("decoder", *packs, *files, *small)
    assert load_decoder(desk / "run/decoder.safetensors")[1]["training"]["config"]["batch"] == 32
    assert json.loads((desk / "run/metrics.jsonl").read_text().splitlines()[0])["step"] == 0


def test_a_missing_file_is_one_line(desk):
    files = ["--pack", "train.npz", "--encoder", "none.safetensors", "--negatives", "pools.npz", "--out", "run"]
    done = CliRunner().invoke(app, ["train", "decoder", *files, "--set=batch=8"])
    assert done.exit_code == 1
    assert "no checkpoint at none.safetensors" in str(done.exception) + done.output
    assert not (desk / "run").exists()
