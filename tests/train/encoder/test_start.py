from dataclasses import replace

import pytest
import torch
from train import toy

from glissando.errors import TrainingError
from glissando.model.checkpoint import load_encoder
from glissando.train.batches import TrainingSet
from glissando.train.encoder.start import recentre
from glissando.train.encoder.trainer import EncoderTrainer, train_encoder, validate
from glissando.train.world import World

CPU = torch.device("cpu")


def batches(pack, rows):
    return [(one.path, one.keys[..., :2], one.mask) for one in TrainingSet.open(pack, 32).walk(rows, CPU)]


def test_other_statistics_do_not_change_what_the_encoder_computes(trained, pack):
    encoder, _ = load_encoder(trained / "encoder.safetensors")
    given = batches(pack, 64)
    with torch.inference_mode():
        before = encoder(*given[0]).log_probs
    norm = encoder.blocks[0].norm
    old = norm.running_mean.clone()
    recentre(encoder, given)
    with torch.inference_mode():
        torch.testing.assert_close(encoder(*given[0]).log_probs, before, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(norm.running_mean, old)
    seen = []
    norm.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    with torch.inference_mode():
        for batch in given:
            encoder(*batch)
    rows = torch.cat(seen)
    torch.testing.assert_close(norm.running_mean, rows.mean(0), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(norm.running_var, rows.var(0, correction=0), atol=1e-4, rtol=1e-3)


def test_training_goes_on_from_an_encoder(trained, pack, val, tmp_path):
    start, _ = load_encoder(trained / "encoder.safetensors")
    known = validate(start, TrainingSet.open(val, 32), CPU)
    config = toy.toy_config(model=start.config, steps=3, learning_rate=1e-5, floor_rate=1e-6)
    train_encoder(config, toy.job(pack, tmp_path / "run", val=val), start)
    first, *_, last = toy.lines_of(tmp_path / "run")
    assert (first["step"], first["val_greedy"]) == (0, pytest.approx(known["val_greedy"], abs=0.02))
    assert last["val_greedy"] >= first["val_greedy"] - 0.05
    assert "start" in load_encoder(tmp_path / "run" / "encoder.safetensors")[1]["training"]


def test_a_start_of_another_shape_is_refused(trained, pack):
    start, _ = load_encoder(trained / "encoder.safetensors")
    config = toy.toy_config(model=replace(toy.MODEL, dilations=(1,)))
    with pytest.raises(TrainingError, match="another config"):
        EncoderTrainer(config, TrainingSet.open(pack, 32), World(CPU), start=start)
