import importlib.util
import json
import math
import os
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from glissando.errors import GlissandoError, TrainingError
from glissando.model.checkpoint import load_decoder, load_encoder
from glissando.model.config import DecoderConfig, EmbedderConfig
from glissando.train.batches import Corpus
from glissando.train.decoder import main, train_decoder
from glissando.train.decoder_config import DecoderTraining, EmbedderTraining, MiningConfig
from glissando.train.decoder_trainer import DecoderTrainer
from glissando.train.embedder import train_embedder
from glissando.train.encoder import Files, train_encoder
from glissando.train.holdout import held_out
from glissando.train.negatives import mine_negatives
from glissando.train.pools import Pools
from glissando.train.state import load_state

# Tests are not a package, so the toy corpus beside this file is loaded by its path.
_SPEC = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
toy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)

MODEL = DecoderConfig(hidden=16, bottleneck=8, context=2, blocks=2)
STRANGERS = ["fab", "bee", "dab", "add", "caf", "cade", "fade", "decade", "ebb", "dead", "feed"]


@pytest.fixture(scope="session")
def kit(tmp_path_factory) -> Namespace:
    """A corpus of twenty people, one for validation, a word list, and an encoder, embedder and negatives of them."""
    folder = tmp_path_factory.mktemp("kit")
    sessions = (np.arange(200) % 20).astype(np.int32)
    pack = toy.write_pack(folder / "train.npz", sessions=sessions)
    val = toy.write_pack(folder / "val.npz", rows=40, seed=9)
    lexicon = folder / "words.txt"
    words = [*toy.WORDS[:8], *STRANGERS]
    lexicon.write_text("".join(f"{word} {count}\n" for count, word in enumerate(words, start=1)))
    options = Namespace(pack=pack, val=val, lexicon=lexicon, resume=False, device="cpu")
    encoder = Files(pack, folder / "encoder", val)
    train_encoder(toy.toy_config(augment=toy.still(), steps=70, learning_rate=1e-2), encoder, device="cpu")
    settings = EmbedderTraining(EmbedderConfig(keys=6, width=16, dimensions=8), batch=32, strangers=8, steps=10)
    train_embedder(settings, Namespace(**vars(options), out=folder / "embedder"))
    options.encoder, options.embedder = encoder.encoder, folder / "embedder/embedder.safetensors"
    mine_negatives(MiningConfig(neighbours=6, pool=8), Namespace(**vars(options), out=folder / "negatives.npz"))
    options.negatives = folder / "negatives.npz"
    return options


def toy_training(**settings) -> DecoderTraining:
    """A config for a decoder that trains in seconds."""
    common = {"model": MODEL, "batch": 16, "log_every": 5, "negatives": 3, "val_negatives": 4, "warm_up": 0.5}
    return DecoderTraining(**{**common, "gate_epochs": 0.5, **settings})


def train(kit, out, config, resume=False, until=None):
    return train_decoder(config, Namespace(**{**vars(kit), "out": out, "resume": resume}), until=until)


def lines_of(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def same_tensors(one: Path, two: Path) -> None:
    """Compare two checkpoints bit by bit."""
    first, second = load_state(one)[0], load_state(two)[0]
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert torch.equal(tensor, second[name]), name


def test_a_decoder_learns_and_comes_back_from_disk(kit, tmp_path):
    config = toy_training(steps=100, learning_rate=3e-3, ema=0.9)
    last = train(kit, tmp_path / "run", config)
    lines = lines_of(tmp_path / "run")
    assert lines[0]["step"] == 0  # the encoder alone
    assert lines[0]["val_ctc_per_letter"] > 1.2 * last["val_ctc_per_letter"]
    assert last["val_greedy"] >= lines[0]["val_greedy"]
    assert {"ctc", "ranking", "consistency", "gradient_norm", "weight", "bonus", "learning_rate", "held_top1"} <= set(
        last
    )
    decoder, extra = load_decoder(tmp_path / "run/decoder.safetensors")
    assert decoder.config == replace(MODEL, keys=6, coefficients=16)
    assert extra["layout"]["name"] == "toy"
    assert extra["scorer"]["gamma"] == config.gamma
    assert extra["training"]["negatives"] == Pools.open(kit.negatives).digest


def test_step_zero_is_the_encoder(kit, tmp_path):
    train(kit, tmp_path / "run", toy_training(steps=1))
    encoder, _ = load_encoder(kit.encoder)
    from glissando.train.trainer import validate

    plain = validate(encoder, Corpus.open(kit.val, 32), torch.device("cpu"))
    first = lines_of(tmp_path / "run")[0]
    assert first["val_ctc"] == pytest.approx(plain["val_ctc"], rel=1e-4)
    assert first["val_greedy"] == pytest.approx(plain["val_greedy"])


@pytest.mark.parametrize("weight", [0.0, 0.1], ids=["plain", "consistent"])
def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(weight, kit, tmp_path):
    config = toy_training(steps=20, gate_epochs=1.0, consistency_weight=weight)
    train(kit, tmp_path / "whole", config)
    train(kit, tmp_path / "parts", config, until=5)  # before ranking starts
    train(kit, tmp_path / "parts", config, resume=True, until=14)  # and after
    assert not (tmp_path / "parts/decoder.safetensors").exists()
    train(kit, tmp_path / "parts", config, resume=True)
    same_tensors(tmp_path / "whole/checkpoint.safetensors", tmp_path / "parts/checkpoint.safetensors")
    assert [line["step"] for line in lines_of(tmp_path / "parts")] == sorted(
        {line["step"] for line in lines_of(tmp_path / "parts")}
    )


def test_ranking_waits_for_its_gate(kit, tmp_path):
    closed = toy_training(steps=12, gate=0.0, gate_epochs=1e9)
    assert train(kit, tmp_path / "closed", closed)["ranking_since"] == -1
    assert {line["ranking"] for line in lines_of(tmp_path / "closed")[1:]} == {0.0}
    assert lines_of(tmp_path / "closed")[-1]["weight"] == closed.weight
    waits = replace(closed, gate=0.999, steps=60, learning_rate=1e-3, validate_every=1)
    lines = (train(kit, tmp_path / "waits", waits), lines_of(tmp_path / "waits"))[1]
    since = int(lines[-1]["ranking_since"])
    goal = 0.999 * lines[0]["val_ctc_per_letter"]
    judged = [line for line in lines if "val_ctc_per_letter" in line]
    assert since == next(line["step"] for line in judged if line["val_ctc_per_letter"] < goal) > 0
    assert all((line["ranking"] > 0) == (line["step"] > since) for line in lines[1:])


def test_people_set_aside_are_not_trained_on(kit, tmp_path, monkeypatch):
    seen = set()
    step = DecoderTrainer.step

    def watch(self, rows, number, progress):
        seen.update(rows.tolist())
        return step(self, rows, number, progress)

    monkeypatch.setattr(DecoderTrainer, "step", watch)
    train(kit, tmp_path / "run", toy_training(epochs=3, holdout=0.3, batch=10))
    sessions = np.load(kit.pack)["sessions"]
    aside = held_out(sessions, 0.3)
    assert 0 < aside.sum() < len(aside)
    assert max(seen) < (~aside).sum()  # places among the rows that are left
    assert len(seen) > 0.9 * (~aside).sum()
    np.testing.assert_array_equal(np.load(tmp_path / "run/held.npz")["rows"], np.flatnonzero(aside))


def test_what_is_not_finite_stops_the_run(kit, tmp_path, monkeypatch):
    step = DecoderTrainer.step

    def break_at_eight(self, rows, number, progress):
        if number == 7:
            with torch.no_grad():
                self.network.head.bias[0] = math.nan
        return step(self, rows, number, progress)

    monkeypatch.setattr(DecoderTrainer, "step", break_at_eight)
    with pytest.raises(TrainingError, match=r"broke at step 8: loss nan.*checkpoint\.safetensors, step 5"):
        train(kit, tmp_path / "run", toy_training(steps=50, checkpoint_seconds=0.0))


def test_what_cannot_run_is_refused_before_anything_is_written(kit, tmp_path, capsys):
    out = tmp_path / "run"
    arguments = ["--pack", str(kit.pack), "--out", str(out), "--encoder", str(kit.encoder), "--device", "cpu"]
    assert main(arguments) == 1
    assert "needs --negatives" in capsys.readouterr().err
    arguments += ["--negatives", str(kit.negatives)]
    for setting, message in (
        ("batch=9999", "less than one batch"),
        ("ctc=triton", "needs a GPU"),
        ("noise=-1", "noise must be 0 or more"),
        ("nonsense=1", "no setting nonsense"),
    ):
        assert main([*arguments, "--set=batch=16", "--set", setting]) == 1, setting
        assert message in capsys.readouterr().err
    assert not out.exists()
    assert main([*arguments, "--set=batch=16", "--set=steps=1", "--set=model.hidden=8"]) == 0
    assert main([*arguments, "--set=batch=16", "--set=steps=1"]) == 1
    assert "exists; resume that run" in capsys.readouterr().err
    assert main([*arguments, "--set=batch=16", "--set=steps=2", "--set=model.hidden=8", "--resume"]) == 1
    assert "its config.steps is 1, not 2" in capsys.readouterr().err


def test_two_processes_train_like_one(kit, tmp_path):
    config = ["batch=16", "steps=4", "model.hidden=16", "model.blocks=1", "model.dropout=0", "gate_epochs=1e9"]
    settings = [f"--set={setting}" for setting in (*config, "consistency_weight=0", "val_negatives=2")]
    files = ["--pack", kit.pack, "--encoder", kit.encoder, "--negatives", kit.negatives, "--device", "cpu"]
    common = [*map(str, files), *settings]
    assert main([*common, "--out", str(tmp_path / "one")]) == 0
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=29713"]
    command = [*launch, "-m", "glissando.train.decoder", *common, "--out", str(tmp_path / "two")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr[-2000:]
    one, two = (load_state(tmp_path / name / "checkpoint.safetensors")[0] for name in ("one", "two"))
    torch.testing.assert_close(one["optimizer/head.bias/momentum"], two["optimizer/head.bias/momentum"])


def test_errors_are_glissandos(kit, tmp_path):
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK nothing")
    for changes, message in (
        ({"negatives": broken}, "cannot read negatives"),
        ({"encoder": broken}, "damaged or no safetensors"),
    ):
        options = Namespace(**{**vars(kit), "out": tmp_path / "run", **changes})
        with pytest.raises(GlissandoError, match=message):
            train_decoder(toy_training(steps=1), options)
