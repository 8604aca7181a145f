"""Train the fixed-layout decoder over a frozen encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from glissando.errors import TrainingError
from glissando.files import replacing
from glissando.layout import Layout
from glissando.model.checkpoint import load_encoder, save_decoder
from glissando.model.decoder import Decoder
from glissando.train.batches import TrainingSet
from glissando.train.decoder.config import DecoderTraining
from glissando.train.decoder.frames import EncodedSwipes
from glissando.train.decoder.negatives import Pools, PoolTable
from glissando.train.decoder.ranking import Scorer, candidate_costs, consistency, lambda_loss
from glissando.train.decoder.validation import Validation
from glissando.train.decoder.words import only_layout
from glissando.train.losses import ctc_loss, use_kernel
from glissando.train.optim import Average, Lion, parameter_groups, scheduled_rate, set_rate
from glissando.train.run import Job, Run
from glissando.train.sampling import Order, held_out, mix_seed
from glissando.train.state import module_tensors, optimizer_tensors, restore_module, restore_optimizer
from glissando.train.world import World

INITIAL_SEED, DROPOUT_SEED, DRAW_SEED = 30, 31, 32  # what a seed is for
STANDARD_ROWS = 4096  # swipes that the inputs' mean and spread are taken from


def train_decoder(config: DecoderTraining, job: Job, encoder: Path, negatives: Path) -> dict[str, Any]:
    """Train a decoder, or go on training it; returns the last line of metrics.jsonl.

    Args:
        config: the settings.
        job: the corpora, on one layout, and the run's directory.
        encoder: the trained encoder, a checkpoint.
        negatives: the file that ``mine_negatives`` wrote.
    """
    with job.world(tf32=config.precision != "fp32") as world:
        material = gather(config, job, encoder, negatives, world.device)
        sizes = {"keys": len(material.layout.keys), "coefficients": material.train.config.resolution**2}
        config = replace(config, model=replace(config.model, **sizes))
        run = Run(DecoderTrainer(config, material, world), job)
        run.start()
        if world.leads and config.holdout:
            with replacing(job.out / "held.npz") as temporary, temporary.open("wb") as file:
                np.savez_compressed(file, rows=material.held.astype(np.int64))
        return run.go()


@dataclass(frozen=True, eq=False)
class Material:
    """What a decoder is trained on, on the device.

    Attributes:
        train: the swipes to learn from.
        sets: held-out swipes by name; the first opens the gate and chooses the constants of the others.
        table: the negatives of words.
        layout: of all swipes.
        identity: checksums of corpus, negatives and encoder, by name.
        held: rows of the pack that are set aside.
    """

    train: EncodedSwipes
    sets: dict[str, EncodedSwipes]
    table: PoolTable
    layout: Layout
    identity: dict[str, Any]
    held: np.ndarray


def gather(config: DecoderTraining, job: Job, encoder: Path, negatives: Path, device: torch.device) -> Material:
    """Bring the swipes, their frames and the negatives to the device."""
    network = load_encoder(encoder)[0].to(device)
    corpus = TrainingSet.open(job.pack, network.config.frames)
    layout = only_layout(corpus.pack, str(job.pack))
    aside = held_out(corpus.sessions, config.holdout, config.holdout_seed)
    pools = Pools.open(negatives)
    sets = {}
    if job.val:
        val = TrainingSet.open(job.val, network.config.frames)
        if only_layout(val.pack, str(job.val)).letters != layout.letters:
            raise TrainingError(f"{job.val} is on another layout than {job.pack}")
        sets["val"] = EncodedSwipes(network, val, np.arange(len(val)), pools)
    if aside.any():
        sets["held"] = EncodedSwipes(network, corpus, np.flatnonzero(aside), pools)
    train = EncodedSwipes(network, corpus, np.flatnonzero(~aside), pools)
    checksum = hashlib.blake2b(Path(encoder).read_bytes(), digest_size=16).hexdigest()
    identity = {"corpus": corpus.digest, "negatives": pools.digest, "encoder": checksum}
    return Material(train, sets, PoolTable(pools, device), layout, identity, corpus.kept[aside])


class DecoderTrainer:
    """A decoder in training; a ``glissando.train.run.Learner``.

    Attributes:
        goal: validation CTC below which ranking starts.
        opened: the step at which it started, or -1.
    """

    kind: str = "decoder"
    names: tuple[str, ...] = ("loss", "ctc", "ranking", "consistency", "gradient_norm", "weight", "bonus")

    def __init__(self, config: DecoderTraining, material: Material, world: World) -> None:
        self.config, self.material, self.world = config, material, world
        count = len(material.train)
        self.order = Order(count, config.batch, config.seed, world.rank, world.size)
        self.steps_per_epoch = self.order.steps_per_epoch
        self.steps = config.steps or config.epochs * self.steps_per_epoch
        self.identity = {"config": config.to_dict(), **material.identity}
        self.fused = use_kernel(config.ctc, world.device)
        self.validation = Validation(material.sets, material.table, config.val_negatives, fused=self.fused)
        torch.manual_seed(mix_seed(config.seed, INITIAL_SEED))  # the same on every process
        self.network = Decoder(config.model).to(world.device).train()
        sample = torch.arange(0, count, max(1, count // STANDARD_ROWS), device=world.device)
        self.network.fit_standard(material.train.features(sample))
        self.average = Average(self.network, config.ema)
        groups, betas = parameter_groups(self.network, config.weight_decay), (config.beta1, config.beta2)
        self.optimizer = Lion(groups, lr=config.learning_rate, betas=betas)
        self.scorer = Scorer(config.gamma, config.weight, config.bonus).to(world.device)
        momentum = config.scorer_momentum
        self.scorer_optimizer = torch.optim.SGD(self.scorer.parameters(), lr=config.scorer_rate, momentum=momentum)
        self.goal, self.opened = 0.0, -1

    def since(self, step: int) -> Generator[Tensor, None, None]:
        """The rows [B] of the steps from ``step`` on."""
        yield from self.order.since(step, self.world.device)

    def step(self, rows: Tensor, step: int, progress: float) -> list[Tensor]:
        """Train on a step's rows; returns the measures ``names`` lists."""
        config = self.config
        if self.opened < 0 and step >= config.gate_epochs * self.steps_per_epoch:
            self.opened = step
        rates = self.rates(progress)
        set_rate(self.optimizer, rates["learning_rate"])
        set_rate(self.scorer_optimizer, rates["scorer_rate"])
        draw = torch.Generator(self.world.device)
        draw.manual_seed(mix_seed(config.seed, self.world.rank, DRAW_SEED, step))
        torch.manual_seed(mix_seed(config.seed, self.world.rank, DROPOUT_SEED, step))
        self.optimizer.zero_grad(set_to_none=True)
        self.scorer_optimizer.zero_grad(set_to_none=True)
        loss, parts = self.loss(rows, draw)
        loss.backward()
        self.world.average_gradients(self.network)
        self.world.average_gradients(self.scorer)
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        self.optimizer.step()
        self.scorer_optimizer.step()
        self.scorer.clamp()
        self.average.update(self.network, step)
        return [loss.detach(), *parts, norm, self.scorer.weight.detach(), self.scorer.bonus.detach()]

    def loss(self, rows: Tensor, draw: torch.Generator) -> tuple[Tensor, list[Tensor]]:
        """The combined loss (eq. 5) and its parts before weighting: CTC, ranking, consistency."""
        config, train = self.config, self.material.train
        ranks = self.opened >= 0 and config.ranking_weight > 0
        words = self.material.table.draw(train.place[rows], config.negatives if ranks else 0, draw)
        one, other = self.views(train.features(rows), draw)
        costs = candidate_costs(one, words.targets, words.lengths, fused=self.fused)  # [B, 1 + n]
        length = words.lengths[:, 0]
        ctc = (costs[:, 0] / length).mean()
        agree = ranking = torch.zeros_like(ctc)
        if other is not None:
            second = ctc_loss(other, words.targets[:, 0], length, fused=self.fused)
            ctc = (ctc + (second / length).mean()) / 2
            agree = consistency(one, other, length)
        if ranks:
            scores = self.scorer(costs, words.lengths, words.frequencies)
            ranking = lambda_loss(scores, words.valid, mu=config.mu, sigma=config.sigma).mean()
        total = config.ctc_weight * ctc + config.ranking_weight * ranking + config.consistency_weight * agree
        return total, [part.detach() for part in (ctc, ranking, agree)]

    def views(self, features: Tensor, draw: torch.Generator) -> tuple[Tensor, Tensor | None]:
        """The decoder's log-probabilities of two noised views, or, without consistency, of the plain features."""
        if not self.config.consistency_weight:
            return self.network(features), None
        inputs = self.network.standardise(features).repeat(2, 1, 1)  # [2 B, T, inputs]
        noise = torch.randn(inputs.shape, generator=draw, device=inputs.device)
        log_probs = self.network.emissions_of(features).repeat(2, 1, 1)
        one, other = self.network.correct(log_probs, inputs + self.config.noise * noise).chunk(2)
        return one, other

    def rates(self, progress: float) -> dict[str, float]:
        """The rates of Lion and of the scorer's SGD at a share of the schedule."""
        config, rate = self.config, self.config.learning_rate
        warm = min(0.5, config.warm_up * self.steps_per_epoch / self.steps)
        scorer = scheduled_rate(progress, peak=config.scorer_rate, floor=config.scorer_floor, warm_up=0.0)
        lion = scheduled_rate(progress, peak=rate, floor=rate, warm_up=warm)
        return {"learning_rate": lion, "scorer_rate": scorer}

    def validate(self, step: int) -> dict[str, float]:
        """Judge the average on every held-out set, and start ranking when it is time; the other processes wait."""
        figures = self.validation.measure(self.average.module, self.scorer) if self.world.leads else {}
        if self.material.sets:
            figures["ranking_since"] = float(self._turn_gate(figures, step))
        self.world.wait()
        return figures

    def _turn_gate(self, figures: dict[str, float], step: int) -> int:
        """Start ranking once validation CTC is far enough below the encoder's own, which is that of step 0.

        Returns:
            The step at which ranking started, or -1.
        """
        name = f"{next(iter(self.material.sets))}_ctc_per_letter"
        cost = self.world.leading(figures.get(name, 0.0))
        if step == 0:
            self.goal = self.config.gate * cost
        if self.opened < 0 and cost < self.goal:
            self.opened = step
        return self.opened

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name."""
        gate = {"gate/goal": torch.tensor(self.goal, dtype=torch.float64), "gate/opened": torch.tensor(self.opened)}
        tensors = [module_tensors(module, name) for name, module in self._modules().items()]
        tensors += [optimizer_tensors(self.optimizer, self.network)]
        tensors += [optimizer_tensors(self.scorer_optimizer, self.scorer)]
        return {name: tensor for part in (gate, *tensors) for name, tensor in part.items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``tensors`` gave."""
        self.goal, self.opened = float(tensors["gate/goal"]), int(tensors["gate/opened"])
        for name, module in self._modules().items():
            restore_module(module, name, tensors)
        restore_optimizer(self.optimizer, self.network, tensors)
        if any(name.startswith("optimizer/bonus/") for name in tensors):  # it has none before ranking starts
            restore_optimizer(self.scorer_optimizer, self.scorer, tensors)

    def save(self, path: Path, extra: dict[str, Any]) -> None:
        """Write the average, bound to its layout, with the constants it learned."""
        extra = {**extra, "layout": self.material.layout.to_dict(), "scorer": self.scorer.constants()}
        save_decoder(path, self.average.module, extra)

    def _modules(self) -> dict[str, nn.Module]:
        """Everything with weights, by its name in a checkpoint."""
        return {"network": self.network, "average": self.average.module, "scorer": self.scorer}
