"""Two processes must train what one trains; one launch serves the encoder and the decoder."""

import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from train import toy

from glissando.model.config import DecoderConfig
from glissando.train.batches import TrainingSet
from glissando.train.decoder.config import DecoderTraining
from glissando.train.decoder.trainer import DecoderTrainer, gather
from glissando.train.encoder.trainer import EncoderTrainer
from glissando.train.run import Job, Run
from glissando.train.state import load_state
from glissando.train.world import World

CPU = torch.device("cpu")


def frozen_steps(world: World, pack: Path, steps: int) -> dict[str, torch.Tensor]:
    """Train without dropout and with batch norm's statistics frozen, where processes must add up to one.

    By plain gradient descent: Adam divides by the size of the gradient, which magnifies rounding.
    """
    model = replace(toy.MODEL, dropout=0.0)
    config = toy.toy_config(model=model, augment=toy.still(), steps=steps, learning_rate=0.5)
    trainer = EncoderTrainer(config, TrainingSet.open(pack, 32), world)
    trainer.optimizer = torch.optim.SGD(trainer.network.parameters())
    trainer.network.eval()
    for step, batch in zip(range(steps), trainer.since(0), strict=False):
        trainer.step(batch, step, (step + 1) / steps)
    return trainer.network.state_dict()


def train_small_decoder(world: World, job: Job, encoder: Path, negatives: Path) -> None:
    """A few steps without anything that processes draw differently."""
    model = DecoderConfig(keys=6, coefficients=16, hidden=16, blocks=1, dropout=0.0)
    config = DecoderTraining(model=model, batch=16, steps=4, gate_epochs=1e9, consistency_weight=0.0, val_negatives=2)
    run = Run(DecoderTrainer(config, gather(config, job, encoder, negatives, world.device), world), job)
    run.start()
    run.go()


WORKER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import torch
from safetensors.torch import save_file
from train import test_world, toy
from glissando.train.batches import TrainingSet
from glissando.train.encoder.trainer import EncoderTrainer
from glissando.train.run import Run
from glissando.train.world import join_world
torch.set_num_threads(1)
pack, out = Path({pack!r}), Path({out!r})
with join_world("cpu") as world:
    weights = test_world.frozen_steps(world, pack, 6)
    save_file({{name: tensor.contiguous() for name, tensor in weights.items()}}, out / f"{{world.rank}}.safetensors")
    test_world.train_small_decoder(world, toy.job(pack, out / "two"), {encoder!r}, {negatives!r})
    config = toy.toy_config(epochs=10**6, max_seconds=0.5, rearranged=0.25, ema=0.9)
    run = Run(EncoderTrainer(config, TrainingSet.open(pack, 32), world), toy.job(pack, out / "encoder"))
    run.start()
    run.go()
"""


def test_two_processes_train_what_one_trains(kit, tmp_path):
    files = {"pack": str(kit.pack), "encoder": str(kit.encoder), "negatives": str(kit.negatives), "out": str(tmp_path)}
    code = WORKER.format(tests=str(Path(__file__).parents[1]), **files)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "MASTER_ADDR": "localhost", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    environment["OMP_NUM_THREADS"] = "1"
    workers = [
        subprocess.Popen([sys.executable, "-c", code], env={**environment, "RANK": str(rank)}) for rank in range(2)
    ]
    alone = frozen_steps(World(CPU), kit.pack, 6)
    train_small_decoder(World(CPU), toy.job(kit.pack, tmp_path / "one"), kit.encoder, kit.negatives)
    assert [worker.wait() for worker in workers] == [0, 0]
    for rank in range(2):
        shared = load_file(tmp_path / f"{rank}.safetensors")
        for name, tensor in alone.items():
            torch.testing.assert_close(shared[name], tensor, rtol=1e-5, atol=1e-5, msg=f"{name} on process {rank}")
    # A whole run that ends by its clock: both processes end it together, one writes.
    steps = [line["step"] for line in toy.lines_of(tmp_path / "encoder")]
    assert steps == sorted(set(steps))
    assert (tmp_path / "encoder/encoder.safetensors").exists()
    one, two = (load_state(tmp_path / name / "checkpoint.safetensors")[0] for name in ("one", "two"))
    torch.testing.assert_close(one["optimizer/head.bias/momentum"], two["optimizer/head.bias/momentum"])
