"""Recorded steps. Without a GPU a stand-in replays them, which tests what is copied where; the rest needs a GPU."""

from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import MagicMock

import pytest
import torch
from train import toy

from glissando.train.augment import AugmentConfig, Parameters, sample_parameters
from glissando.train.batches import Batch, TrainingSet
from glissando.train.encoder.graphed import WARM_UP, GraphedUpdate
from glissando.train.encoder.trainer import EncoderTrainer
from glissando.train.world import World


class Replayed:
    """A step in plain Python with a graph's manners: recorded once without effect, then run on the same tensors."""

    def __init__(self) -> None:
        self.total = torch.zeros(())
        self.recording = False
        self.recorded: list[tuple[Batch, Parameters]] = []
        self.output = torch.zeros(())

    def update(self, batch: Batch, parameters: Parameters) -> list[torch.Tensor]:
        """Add up the paths and the angles seen; the measure is the sum so far."""
        if self.recording:
            self.recorded.append((batch, parameters))
            return [self.output]
        self.total += batch.path.sum() + parameters.angle.sum()
        return [self.total.clone()]

    @contextmanager
    def capture(self, _graph):
        self.recording = True
        yield
        self.recording = False

    def replay(self) -> None:
        ((batch, parameters),) = self.recorded  # recorded once
        self.output.copy_(self.update(batch, parameters)[0])


def draw(step: int) -> tuple[Batch, Parameters]:
    """A batch and its parameters, other ones at every step."""
    generator = torch.Generator().manual_seed(step)
    whole = torch.ones(3, 2, dtype=torch.int64)
    batch = Batch(
        torch.rand(3, 2, 64, generator=generator), torch.rand(3, 4, 4), whole > 0, whole, whole[:, 0], whole[:, 0]
    )
    return batch, sample_parameters(batch, AugmentConfig(), generator)


def test_every_step_sees_its_own_batch_and_takes_effect_once(monkeypatch):
    replayed = Replayed()
    cuda = MagicMock(CUDAGraph=lambda: replayed, graph=replayed.capture)
    monkeypatch.setattr("glissando.train.encoder.graphed.torch.cuda", cuda)
    graphed = GraphedUpdate(replayed.update)
    steps = [draw(step) for step in range(WARM_UP + 5)]
    seen = torch.stack([batch.path.sum() + parameters.angle.sum() for batch, parameters in steps])
    measures = [graphed(batch, parameters)[0] for batch, parameters in steps]  # they outlive the next step
    torch.testing.assert_close(torch.stack(measures), seen.cumsum(0))
    assert len(replayed.recorded) == 1
    again = torch.stack([batch.path.sum() + parameters.angle.sum() for batch, parameters in steps])
    assert torch.equal(again, seen)  # the caller's tensors are not written to


@pytest.mark.skipif(not torch.cuda.is_available(), reason="recording a step needs a GPU")
def test_on_a_gpu_recorded_steps_train_what_plain_steps_train(tmp_path):
    corpus = TrainingSet.open(toy.write_pack(tmp_path / "pack.npz"), 32)
    model = replace(toy.MODEL, dropout=0.0)
    losses = {}
    for graph in (False, True):
        config = toy.toy_config(model=model, steps=12, graph=graph, precision="fp32", rearranged=0.5, extra_keys=2)
        trainer = EncoderTrainer(config, corpus, World(torch.device("cuda")))
        assert isinstance(trainer.update, GraphedUpdate) == graph
        steps = zip(range(12), trainer.since(0), strict=False)
        losses[graph] = [trainer.step(batch, step, (step + 1) / 12)[0].item() for step, batch in steps]
    assert losses[True] == pytest.approx(losses[False], rel=1e-3)
