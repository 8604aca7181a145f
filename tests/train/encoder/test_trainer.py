from dataclasses import replace

import pytest
import torch
from train import toy

from glissando.model.checkpoint import load_encoder
from glissando.train.augment import sample_parameters
from glissando.train.batches import TrainingSet
from glissando.train.encoder.trainer import EncoderTrainer, train_encoder, validate
from glissando.train.world import World

CPU = torch.device("cpu")


def test_a_toy_is_learned_and_comes_back_from_disk(trained, val):
    lines = toy.lines_of(trained)
    last = lines[-1]
    assert last["val_greedy"] > 0.9
    assert last["loss"] < 0.3 * lines[0]["loss"]
    assert {"epoch", "loss", "ctc", "emission", "learning_rate", "gradient_norm", "swipes_per_second"} <= set(lines[0])
    encoder, extra = load_encoder(trained / "encoder.safetensors")
    assert extra["training"]["config"]["steps"] == extra["metrics"]["step"] == 150
    assert last["learning_rate"] == pytest.approx(extra["training"]["config"]["floor_rate"])
    again = validate(encoder, TrainingSet.open(val, 32), CPU)
    assert again["val_greedy"] == pytest.approx(last["val_greedy"])


def test_streaming_trains_the_same_weights(pack, tmp_path):
    for resident in ("yes", "no"):
        train_encoder(toy.toy_config(steps=4, batch=64, resident=resident), toy.job(pack, tmp_path / resident))
    toy.assert_same_checkpoint(tmp_path / "yes", tmp_path / "no")


def test_the_step_is_one_graph_that_is_compiled_once(pack):
    model = replace(toy.MODEL, dropout=0.0, dilations=(1,))
    config = toy.toy_config(model=model, steps=4, rearranged=0.25, extra_keys=2, precision="bf16")
    trainer = EncoderTrainer(config, TrainingSet.open(pack, 32), World(CPU))
    plain = trainer.forward
    graph = torch.compile(plain, backend="eager", fullgraph=True, dynamic=False)
    stream = trainer.since(0)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for step in range(2):
            batch = next(stream)
            parameters = sample_parameters(batch, trainer.config.augment, torch.Generator().manual_seed(step))
            torch.testing.assert_close(graph(batch, parameters).ctc, plain(batch, parameters).ctc)


def test_a_share_of_the_people_is_another_corpus(pack):
    whole = EncoderTrainer(toy.toy_config(), TrainingSet.open(pack, 32), World(CPU))
    part = EncoderTrainer(toy.toy_config(part=(0.0, 0.5)), TrainingSet.open(pack, 32), World(CPU))
    assert 0 < len(part.corpus) < len(whole.corpus)
    assert part.steps < whole.steps
