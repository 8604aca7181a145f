"""One training step of the decoder, and all that it changes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glissando.errors import TrainingError
from glissando.layout import Layout
from glissando.model.checkpoint import save_decoder
from glissando.model.decoder import Decoder
from glissando.train.decoder_config import DecoderTraining
from glissando.train.decoder_validation import Judgement, judge_pools
from glissando.train.lion import Lion
from glissando.train.losses import ctc_loss
from glissando.train.optim import Average, parameter_groups, scheduled_rate, set_rate
from glissando.train.order import Order, mix_seed
from glissando.train.pools import PoolTable
from glissando.train.ranking import Scorer, candidate_costs, consistency, lambda_loss
from glissando.train.run import Pace
from glissando.train.state import module_tensors, optimizer_tensors, restore_module, restore_optimizer
from glissando.train.world import World

INITIAL_SEED, DROPOUT_SEED, DRAW_SEED = 30, 31, 32  # what a seed is for
STANDARD_ROWS = 4096  # swipes that the inputs' mean and spread are taken from


@dataclass(frozen=True, eq=False)
class Material:
    """What a decoder is trained on, on the device.

    Attributes:
        train: the swipes to learn from.
        sets: held-out swipes by name; the first opens the gate and chooses the constants of the others.
        table: the negatives of words.
        layout: that everything is on.
        identity: what tells this material from other.
    """

    train: Judgement
    sets: dict[str, Judgement]
    table: PoolTable
    layout: Layout
    identity: dict[str, Any]


class DecoderTrainer:
    """A decoder in training, as ``glissando.train.run.Learner`` describes."""

    kind: str = "decoder"
    names: tuple[str, ...] = ("loss", "ctc", "ranking", "consistency", "gradient_norm", "weight", "bonus")

    def __init__(self, config: DecoderTraining, material: Material, world: World) -> None:
        self.config, self.material, self.world = config, material, world
        count = len(material.train.frames)
        self.order = Order(count, config.batch, config.seed, world.rank, world.size)
        per_epoch = self.order.steps_per_epoch
        steps = config.steps or config.epochs * per_epoch
        pace = config.max_seconds, config.log_every, config.validate_every, config.checkpoint_seconds
        self.pace = Pace(steps, per_epoch, config.batch, *pace, config.snapshot_every)
        self.identity = {"config": config.to_dict(), **material.identity}
        self.fused = load_kernel(config, world.device)
        torch.manual_seed(mix_seed(config.seed, INITIAL_SEED))  # the same on every process
        self.network = Decoder(config.model).to(world.device).train()
        sample = torch.arange(0, count, max(1, count // STANDARD_ROWS), device=world.device)
        self.network.fit_standard(material.train.frames.features(sample))
        self.average = Average(self.network, config.ema)
        groups, betas = parameter_groups(self.network, config.weight_decay), (config.beta1, config.beta2)
        self.optimizer = Lion(groups, lr=config.learning_rate, betas=betas)
        self.scorer = Scorer(config.gamma, config.weight, config.bonus).to(world.device)
        momentum = config.scorer_momentum
        self.scorer_optimizer = torch.optim.SGD(self.scorer.parameters(), lr=config.scorer_rate, momentum=momentum)
        self.goal = 0.0  # validation CTC below which ranking starts
        self.opened = -1  # the step it started at

    def since(self, step: int) -> Generator[Tensor, None, None]:
        """The rows [B] of the steps from ``step`` on."""
        while True:
            epoch, within = divmod(step, self.order.steps_per_epoch)
            yield from self.order.epoch(epoch)[within:].to(self.world.device)
            step += self.order.steps_per_epoch - within

    def step(self, rows: Tensor, step: int, progress: float) -> list[Tensor]:
        """Train on a step's rows; returns the measures ``names`` lists."""
        config = self.config
        if self.opened < 0 and step >= config.gate_epochs * self.order.steps_per_epoch:
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
        one, other = self.views(train.frames.features(rows), draw)
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
        """What the decoder makes of the swipes: of two noised views, or without consistency of the plain one."""
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
        warm = min(0.5, config.warm_up * self.order.steps_per_epoch / self.pace.steps)
        scorer = scheduled_rate(progress, peak=config.scorer_rate, floor=config.scorer_floor, warm_up=0.0)
        lion = scheduled_rate(progress, peak=rate, floor=rate, warm_up=warm)
        return {"learning_rate": lion, "scorer_rate": scorer}

    def validate(self, step: int) -> dict[str, float]:
        """Judge the average on every held-out set, and open the gate where it is time; the other processes wait."""
        found: dict[str, float] = {}
        if self.world.leads and self.material.sets:
            sets, table, network = self.material.sets, self.material.table, self.average.module
            found = judge_pools(network, sets, table, self.scorer, self.config.val_negatives, fused=self.fused)
        self._turn_gate(found, step)
        self.world.wait()
        return found

    def _turn_gate(self, found: dict[str, float], step: int) -> None:
        """Open ranking once validation CTC is far enough below the encoder's own, which is that of step 0."""
        if not self.material.sets:
            return
        name = f"{next(iter(self.material.sets))}_ctc_per_letter"
        cost = self.world.leading(found.get(name, 0.0))
        if step == 0:
            self.goal = self.config.gate * cost
        if self.opened < 0 and cost < self.goal:
            self.opened = step
        found["ranking_since"] = float(self.opened)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name."""
        gate = {"gate/goal": torch.tensor(self.goal, dtype=torch.float64), "gate/opened": torch.tensor(self.opened)}
        modules = {"network": self.network, "average": self.average.module, "scorer": self.scorer}
        tensors = {
            key: value for name, module in modules.items() for key, value in module_tensors(module, name).items()
        }
        optimizers = optimizer_tensors(self.optimizer, self.network)
        return {**gate, **tensors, **optimizers, **optimizer_tensors(self.scorer_optimizer, self.scorer)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``tensors`` gave."""
        self.goal, self.opened = float(tensors["gate/goal"]), int(tensors["gate/opened"])
        for name, module in (("network", self.network), ("average", self.average.module), ("scorer", self.scorer)):
            restore_module(module, name, tensors)
        restore_optimizer(self.optimizer, self.network, tensors)
        if any(name.startswith("optimizer/bonus/") for name in tensors):  # it has none before ranking starts
            restore_optimizer(self.scorer_optimizer, self.scorer, tensors)

    def save(self, path: Path, extra: dict[str, Any]) -> None:
        """Write the average, bound to its layout, with the constants it learned."""
        extra = {**extra, "layout": self.material.layout.to_dict(), "scorer": self.scorer.constants()}
        save_decoder(path, self.average.module, extra)


def load_kernel(config: DecoderTraining, device: torch.device) -> bool:
    """Register the Triton recursion where it is asked for; returns whether it is used."""
    if config.ctc == "own" or (config.ctc == "auto" and device.type != "cuda"):
        return False
    if device.type != "cuda":
        raise TrainingError(f'ctc="triton" needs a GPU, the device is {device}; ctc="own" runs anywhere')
    try:
        import glissando.train.ctc_kernel  # noqa: F401 (registers an operator)
    except ImportError as error:
        raise TrainingError(f'ctc="triton" needs Triton: {error}; ctc="own" runs anywhere') from None
    return True
