from dataclasses import replace

import numpy as np
import pytest
import torch
from train import toy

from glissando.errors import GlissandoError
from glissando.model.checkpoint import load_decoder, load_encoder
from glissando.model.config import DecoderConfig
from glissando.train.batches import TrainingSet
from glissando.train.decoder.config import DecoderTraining
from glissando.train.decoder.negatives import Pools
from glissando.train.decoder.trainer import DecoderTrainer, train_decoder
from glissando.train.encoder.trainer import validate
from glissando.train.sampling import held_out

MODEL = DecoderConfig(hidden=16, bottleneck=8, context=2, blocks=2)


def toy_training(**settings) -> DecoderTraining:
    """A config for a decoder that trains in seconds."""
    common = {"model": MODEL, "batch": 16, "log_every": 5, "negatives": 3, "val_negatives": 4, "warm_up": 0.5}
    return DecoderTraining(**{**common, "gate_epochs": 0.5, **settings})


def train(kit, out, config, **options):
    return train_decoder(config, toy.job(kit.pack, out, val=kit.val, **options), kit.encoder, kit.negatives)


@pytest.fixture(scope="module")
def learned(kit, tmp_path_factory):
    """The directory of a decoder that learned the toy."""
    out = tmp_path_factory.mktemp("runs") / "decoder"
    train(kit, out, toy_training(steps=80, learning_rate=3e-3, ema=0.9, validate_every=5))
    return out


def test_a_decoder_learns_and_comes_back_from_disk(kit, learned):
    first, *_, last = toy.lines_of(learned)
    assert first["val_ctc_per_letter"] > 1.2 * last["val_ctc_per_letter"]
    assert last["val_greedy"] >= first["val_greedy"]
    measures = {"ctc", "ranking", "consistency", "gradient_norm", "weight", "bonus", "learning_rate", "held_top1"}
    assert measures <= set(last)
    decoder, extra = load_decoder(learned / "decoder.safetensors")
    assert decoder.config == replace(MODEL, keys=6, coefficients=16)
    assert extra["layout"]["name"] == "toy"
    assert extra["scorer"]["gamma"] == 0.3
    assert extra["training"]["negatives"] == Pools.open(kit.negatives).digest


def test_step_zero_is_the_encoder(kit, learned):
    encoder, _ = load_encoder(kit.encoder)
    plain = validate(encoder, TrainingSet.open(kit.val, 32), torch.device("cpu"))
    first = toy.lines_of(learned)[0]
    assert first["step"] == 0
    assert first["val_ctc"] == pytest.approx(plain["val_ctc"], rel=1e-4)
    assert first["val_greedy"] == pytest.approx(plain["val_greedy"])


def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(kit, tmp_path):
    config = toy_training(steps=16, gate_epochs=1.0)
    train(kit, tmp_path / "whole", config)
    train(kit, tmp_path / "parts", config, until=5)  # before ranking starts
    train(kit, tmp_path / "parts", config, resume=True, until=13)  # and after
    train(kit, tmp_path / "parts", config, resume=True)
    toy.assert_same_checkpoint(tmp_path / "whole", tmp_path / "parts")


def test_ranking_waits_for_its_gate(kit, tmp_path):
    closed = toy_training(steps=5, gate=0.0, gate_epochs=1e9)
    assert train(kit, tmp_path / "closed", closed)["ranking_since"] == -1
    assert {line["ranking"] for line in toy.lines_of(tmp_path / "closed")[1:]} == {0.0}
    assert toy.lines_of(tmp_path / "closed")[-1]["weight"] == closed.weight
    train(kit, tmp_path / "waits", replace(closed, gate=0.999, steps=40, learning_rate=1e-3, validate_every=1))
    lines = toy.lines_of(tmp_path / "waits")
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
    train(kit, tmp_path / "run", toy_training(epochs=2, holdout=0.3, batch=10))
    aside = held_out(np.load(kit.pack)["sessions"], 0.3)
    assert 0 < aside.sum() < len(aside)
    assert max(seen) < (~aside).sum()  # places among the rows that are left
    assert len(seen) > 0.9 * (~aside).sum()
    np.testing.assert_array_equal(np.load(tmp_path / "run/held.npz")["rows"], np.flatnonzero(aside))


def test_what_cannot_run_is_refused_before_anything_is_written(kit, tmp_path):
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK nothing")
    for config, files, message in (
        (toy_training(batch=9999), kit, "less than one batch"),
        (toy_training(ctc="triton"), kit, "needs a GPU"),
        (toy_training(), replace(kit, negatives=broken), "cannot read negatives"),
        (toy_training(), replace(kit, encoder=broken), "damaged or no safetensors"),
    ):
        with pytest.raises(GlissandoError, match=message):
            train(files, tmp_path / "run", config)
    assert not (tmp_path / "run").exists()
