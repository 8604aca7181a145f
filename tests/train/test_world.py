"""Two processes must train what one trains; one launch serves the encoder and the decoder."""

import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from train import toy

from glissando.model.config import DecoderConfig
from glissando.train.augment import AugmentConfig
from glissando.train.batches import TrainingSet
from glissando.train.decoder.config import DecoderTraining
from glissando.train.decoder.trainer import DecoderTrainer, gather
from glissando.train.encoder.trainer import EncoderTrainer
from glissando.train.run import Run
from glissando.train.state import load_state
from glissando.train.world import World, join_world

CPU = torch.device("cpu")


def frozen_steps(world: World, pack: Path) -> dict[str, torch.Tensor]:
    """Train without dropout and with batch norm's statistics frozen, where processes must add up to one.

    By plain gradient descent: Adam divides by the size of the gradient, which magnifies rounding.
    """
    model = replace(toy.MODEL, dropout=0.0)
    config = toy.toy_config(model=model, augment=AugmentConfig.off(), steps=6, learning_rate=0.5)
    trainer = EncoderTrainer(config, TrainingSet.open(pack, 32), world)
    trainer.optimizer = torch.optim.SGD(trainer.network.parameters())
    trainer.network.eval()
    for step, batch in zip(range(6), trainer.since(0), strict=False):
        trainer.step(batch, step, (step + 1) / 6)
    return trainer.network.state_dict()


def train_decoder(world: World, pack: Path, encoder: Path, negatives: Path, out: Path) -> None:
    """A few steps without anything that processes draw differently."""
    model = DecoderConfig(keys=6, coefficients=16, hidden=16, blocks=1, dropout=0.0)
    config = DecoderTraining(model=model, batch=16, steps=4, gate_epochs=1e9, consistency_weight=0.0, val_negatives=2)
    job = toy.job(pack, out)
    run = Run(DecoderTrainer(config, gather(config, job, encoder, negatives, world.device), world), job)
    run.start()
    run.go()


def train_all(pack: Path, encoder: Path, negatives: Path, out: Path) -> dict[str, torch.Tensor]:
    """What each of two processes does; the last run ends by its clock."""
    with join_world("cpu") as world:
        weights = frozen_steps(world, pack)
        train_decoder(world, pack, encoder, negatives, out / "two")
        config = toy.toy_config(epochs=10**6, max_seconds=0.3, rearranged=0.25, ema=0.9)
        run = Run(EncoderTrainer(config, TrainingSet.open(pack, 32), world), toy.job(pack, out / "encoder"))
        run.start()
        run.go()
        return weights


def test_two_processes_train_what_one_trains(kit, tmp_path, monkeypatch):
    files = [kit.pack, kit.encoder, kit.negatives, tmp_path]
    alone = frozen_steps(World(CPU), kit.pack)
    train_decoder(World(CPU), *files[:3], tmp_path / "one")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    for name, value in {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "WORLD_SIZE": 2, "RANK": 0}.items():
        monkeypatch.setenv(name, str(value))
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "RANK": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    code = "import sys; from pathlib import Path; from train import test_world, toy; import torch;"
    code += "weights = test_world.train_all(*map(Path, sys.argv[1:])); torch.save(weights, sys.argv[4] + '/1.pt')"
    other = subprocess.Popen([sys.executable, "-c", code, *map(str, files)], env=environment)
    leading = train_all(*files)
    assert other.wait() == 0
    for weights in (leading, torch.load(tmp_path / "1.pt")):
        torch.testing.assert_close(dict(weights), dict(alone), rtol=1e-5, atol=1e-5)
    one, two = (load_state(tmp_path / name / "checkpoint.safetensors")[0] for name in ("one", "two"))
    torch.testing.assert_close(one["optimizer/head.bias/momentum"], two["optimizer/head.bias/momentum"])
    # Both processes ended together, and one of them wrote.
    lines = toy.lines_of(tmp_path / "encoder")
    steps = [line["step"] for line in lines]
    assert steps == sorted(set(steps))
    assert (lines[-1]["progress"], lines[-1]["learning_rate"]) == (1, pytest.approx(2e-5))
    assert lines[-1]["seconds"] >= 0.3
    assert (tmp_path / "encoder/encoder.safetensors").exists()
