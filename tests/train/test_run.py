"""The loop that all trainings share, with the encoder as its learner."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from train import toy

from glissando.errors import GlissandoError, TrainingError
from glissando.train.encoder.trainer import EncoderTrainer, train_encoder
from glissando.train.state import load_state, save_state


def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(pack, tmp_path):
    config = toy.toy_config(steps=14, rearranged=0.25, ema=0.9, word_power=0.5, extra_keys=2)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train_encoder(config, toy.job(pack, whole))
    train_encoder(config, toy.job(pack, parts, until=8))
    assert not (parts / "encoder.safetensors").exists()
    assert toy.lines_of(parts)[-1]["step"] == 8
    train_encoder(config, toy.job(pack, parts, resume=True))
    toy.assert_same_checkpoint(whole, parts)
    assert (parts / "encoder.safetensors").exists()
    assert [line["step"] for line in toy.lines_of(parts)] == [5, 8, 13, 14]


def test_the_callers_random_state_is_left_alone(pack, tmp_path):
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    train_encoder(toy.toy_config(steps=2), toy.job(pack, tmp_path / "run"))
    assert torch.equal(torch.rand(3), expected)


def test_what_is_not_finite_stops_the_run_and_keeps_the_last_good_checkpoint(pack, tmp_path, monkeypatch):
    step = EncoderTrainer.step

    def break_at_eight(self, batch, number, progress):
        if number == 7:
            batch = batch._replace(path=batch.path * math.inf)
        return step(self, batch, number, progress)

    config, out = toy.toy_config(steps=12, checkpoint_seconds=0.0), tmp_path / "run"
    monkeypatch.setattr(EncoderTrainer, "step", break_at_eight)
    with pytest.raises(TrainingError, match=r"broke at step 8: loss (nan|inf).*checkpoint\.safetensors, step 5"):
        train_encoder(config, toy.job(pack, out))
    tensors, info = load_state(out / "checkpoint.safetensors")
    assert info["step"] == 5
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    monkeypatch.undo()
    train_encoder(config, toy.job(pack, out, resume=True))


def assert_refused(match: str, job, **settings) -> None:
    """A run that must not start and must not write."""
    before = {path: path.read_bytes() for path in job.out.glob("*")}
    with pytest.raises(GlissandoError, match=match):
        train_encoder(toy.toy_config(**{"steps": 6, **settings}), job)
    assert {path: path.read_bytes() for path in job.out.glob("*")} == before


def test_bad_input_is_refused_before_anything_is_written(pack, tmp_path):
    out = tmp_path / "run"
    assert_refused("cannot read the pack", toy.job(tmp_path / "none.npz", out))
    nan = toy.write_pack(tmp_path / "nan.npz", paths=np.full((200, 2, 64), np.nan))
    assert_refused("paths is float64", toy.job(nan, out))
    assert_refused("less than one batch of 256", toy.job(pack, out), batch=256)
    assert_refused('ctc="triton" needs a GPU', toy.job(pack, out), ctc="triton")
    words = {"targets": np.zeros(200 * 33, dtype=np.uint8), "offsets": 33 * np.arange(201, dtype=np.int64)}
    long = toy.write_pack(tmp_path / "long.npz", **words)
    assert_refused("no swipe to use: 200 rows, none fits 32 frames", toy.job(long, out))
    assert_refused("no swipe to use", toy.job(pack, out, val=long))
    assert not out.exists()


def test_a_run_is_never_overwritten_and_only_resumed_as_itself(pack, tmp_path):
    out = tmp_path / "run"
    resume = toy.job(pack, out, resume=True)
    assert_refused("nothing to resume", resume)
    train_encoder(toy.toy_config(steps=6), toy.job(pack, out, until=3))
    assert_refused(r"config\.json exists; resume that run", toy.job(pack, out))
    assert_refused(r"config\.batch is 16, not 8", resume, batch=8)
    assert_refused(r"config\.model\.width is 16, not 20", resume, model=replace(toy.MODEL, width=20))
    assert_refused("its corpus is", replace(resume, pack=toy.write_pack(tmp_path / "other.npz", seed=5)))
    checkpoint = out / "checkpoint.safetensors"
    for damaged in (checkpoint.read_bytes()[:-9], b"not a checkpoint"):
        checkpoint.write_bytes(damaged)
        assert_refused("is damaged", resume)


def test_a_checkpoint_with_a_removed_setting_resumes_where_the_setting_did_nothing(pack, tmp_path):
    out = tmp_path / "run"
    train_encoder(toy.toy_config(steps=6), toy.job(pack, out, until=3))
    tensors, info = load_state(out / "checkpoint.safetensors")
    old = {"pace": {"evened": 0.0, "even": 0.9}, "generator": {"care": 0.5}, "synthetic": 0.0, "teachers": []}
    save_state(out / "checkpoint.safetensors", tensors, {**info, "config": {**info["config"], **old}})
    assert train_encoder(toy.toy_config(steps=6), toy.job(pack, out, resume=True))["step"] == 6
    save_state(out / "checkpoint.safetensors", tensors, {**info, "config": {**info["config"], "synthetic": 0.3}})
    assert_refused("synthetic is gone", toy.job(pack, out, resume=True))


def test_config_and_report_hold_what_was_asked_and_measured(pack, val, tmp_path):
    lines = []
    config = toy.toy_config(steps=4, log_every=2)
    train_encoder(config, toy.job(pack, tmp_path / "run", val=val, report=lines.append))
    assert json.loads((tmp_path / "run/config.json").read_text())["config"] == config.to_dict()
    assert lines == toy.lines_of(tmp_path / "run")
    assert [line["step"] for line in lines] == [2, 4]
    assert "val_greedy" in lines[-1]
