"""Train an encoder: from a packed corpus to weights.

A step never waits for the GPU: batches come from the device, random numbers are drawn there, and the measures stay
there until the journal reads them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glissando.model.checkpoint import save_encoder
from glissando.model.encoder import Encoder
from glissando.train.augment import Parameters, augment, sample_parameters
from glissando.train.batches import Batch, Batches, TrainingSet
from glissando.train.encoder.config import EncoderTraining
from glissando.train.encoder.graphed import GraphedUpdate
from glissando.train.encoder.mix import Mix
from glissando.train.encoder.start import recentre, take_over
from glissando.train.losses import Losses, ctc_loss, encoder_loss, greedy_matches, torch_ctc_loss, use_kernel
from glissando.train.optim import Average, adamw, scheduled_rate, set_rate
from glissando.train.run import Job, Run
from glissando.train.sampling import Order, mix_seed, word_weights
from glissando.train.state import module_tensors, optimizer_tensors, restore_module, restore_optimizer
from glissando.train.world import World

INITIAL_SEED, DROPOUT_SEED, AUGMENT_SEED = 10, 11, 12  # what a seed is for
RESIDENT_BYTES = 8 << 30  # a corpus up to this size is kept on the device
VALIDATION_BATCH = 512
RECENTRED = 16  # batches that give the statistics of a training's start

Forward = Callable[[Batch, Parameters], Losses]


def train_encoder(config: EncoderTraining, job: Job, start: Encoder | None = None) -> dict[str, Any]:
    """Train an encoder, or go on training it; returns the last line of metrics.jsonl.

    Args:
        config: the settings.
        job: what it reads and writes.
        start: a trained encoder to begin with, of the same ``config.model``; by default random weights.

    Raises:
        TrainingError: before the first step and before anything is written, where config, corpus or
            checkpoint are not usable; later, where a loss or a gradient is not finite.
    """
    with job.world(tf32=config.precision != "fp32") as world:
        corpus = TrainingSet.open(job.pack, config.model.frames)
        val = TrainingSet.open(job.val, config.model.frames) if job.val else None
        run = Run(EncoderTrainer(config, corpus, world, val, start), job)
        run.start()
        return run.go()


class EncoderTrainer:
    """An encoder in training; a ``glissando.train.run.Learner``.

    Attributes:
        network: the encoder.
        average: the moving average of its weights, or None.
        corpus: the swipes of the people it is trained on.
        val: a held-out corpus, or None.
    """

    kind: str = "encoder"
    names: tuple[str, ...] = ("loss", "ctc", "emission", "gradient_norm")

    def __init__(
        self,
        config: EncoderTraining,
        corpus: TrainingSet,
        world: World,
        val: TrainingSet | None = None,
        start: Encoder | None = None,
    ) -> None:
        self.config, self.world, self.val = config, world, val
        self.corpus = corpus = corpus.of_people(*config.part, config.part_seed).with_room(config.extra_keys)
        weights = word_weights(corpus.word_counts, config.word_power)
        order = Order(len(corpus), config.batch, config.seed, world.rank, world.size, weights)
        self.steps_per_epoch = order.steps_per_epoch
        self.steps = config.steps or config.epochs * order.steps_per_epoch
        self.identity = {"config": config.to_dict(), "corpus": corpus.digest}
        self.mix = Mix(corpus, config, config.batch // world.size, world.device, world.rank)
        self.batches = Batches(corpus, order, world.device, resident=_is_resident(config, corpus))
        torch.manual_seed(mix_seed(config.seed, INITIAL_SEED))  # the same on every process
        self.network = Encoder(config.model).to(world.device).train()
        if start is not None:
            self.identity["start"] = take_over(self.network, start)
            recentre(self.network, self._first_batches())
        self.average = Average(self.network, config.ema) if config.ema else None
        betas = (config.beta1, config.beta2)
        self.optimizer = adamw(self.network, rate=config.learning_rate, betas=betas, weight_decay=config.weight_decay)
        self.forward = compiled_forward(config, self.network, world.device)
        graphed = config.graph and world.device.type == "cuda" and world.size == 1
        self.update = GraphedUpdate(self.change) if graphed else self.change

    def since(self, step: int) -> Generator[Batch, None, None]:
        """The batches of the steps from ``step`` on, with carried swipes, not yet augmented."""
        for number, (rows, index) in enumerate(self.batches.since(step), start=step):
            yield self.mix(rows, index, number)

    def _first_batches(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Path, keys and mask of the first batches, augmented as training has them."""
        with closing(self.since(0)) as batches:
            for step, batch in zip(range(RECENTRED), batches, strict=False):
                parameters = sample_parameters(batch, self.config.augment, self.mix.seeded(AUGMENT_SEED, step))
                moved = augment(batch, parameters)
                yield moved.path, moved.keys[..., :2], moved.mask

    def step(self, batch: Batch, step: int, progress: float) -> list[Tensor]:
        """Train on a batch; returns the measures that ``names`` lists."""
        config = self.config
        set_rate(self.optimizer, self.rates(progress)["learning_rate"])
        parameters = sample_parameters(batch, config.augment, self.mix.seeded(AUGMENT_SEED, step))
        torch.manual_seed(mix_seed(config.seed, self.world.rank, DROPOUT_SEED, step))
        measures = self.update(batch, parameters)
        if self.average is not None:
            self.average.update(self.network, step)
        return measures

    def change(self, batch: Batch, parameters: Parameters) -> list[Tensor]:
        """Move the weights by one batch; returns the measures. A single GPU records and replays this."""
        self.optimizer.zero_grad(set_to_none=True)
        losses = self.forward(batch, parameters)
        losses.total.backward()
        self.world.average_gradients(self.network)
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip)
        self.optimizer.step()
        return [losses.total.detach(), losses.ctc, losses.emission, norm]

    def rates(self, progress: float) -> dict[str, float]:
        """The learning rate at a share of the schedule."""
        config = self.config
        peak, floor = config.learning_rate, config.floor_rate
        return {"learning_rate": scheduled_rate(progress, peak=peak, floor=floor, warm_up=config.warm_up)}

    @property
    def result(self) -> Encoder:
        """The encoder to validate and export: the average, where there is one."""
        return self.network if self.average is None else self.average.module

    def validate(self, step: int) -> dict[str, float]:
        """Validate on the leading process while the others wait; an untrained encoder is not validated."""
        self._settle()
        measures = {}
        if (step or "start" in self.identity) and self.val is not None and self.world.leads:
            measures = validate(self.result, self.val, self.world.device)
        self.world.wait()
        return measures

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name."""
        self._settle()
        average = {} if self.average is None else module_tensors(self.average.module, "average")
        optimizer = optimizer_tensors(self.optimizer, self.network)
        return {**module_tensors(self.network, "network"), **average, **optimizer}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``tensors`` gave."""
        restore_module(self.network, "network", tensors)
        restore_optimizer(self.optimizer, self.network, tensors)
        if self.average is not None:
            restore_module(self.average.module, "average", tensors)

    def save(self, path: Path, extra: dict[str, Any]) -> None:
        """Write the encoder."""
        save_encoder(path, self.result, extra)

    def _settle(self) -> None:
        """Average the batch-norm statistics of all processes."""
        self.world.average_statistics(self.network)
        if self.average is not None:
            self.world.average_statistics(self.average.module)


def compiled_forward(config: EncoderTraining, network: Encoder, device: torch.device) -> Forward:
    """From a batch to its losses, as one graph where the config compiles."""
    half = config.precision == "bf16" or (config.precision == "auto" and device.type == "cuda")
    mode = ("default" if device.type == "cuda" else "off") if config.compile == "auto" else config.compile
    fused = use_kernel(config.ctc, device)

    def forward(batch: Batch, parameters: Parameters) -> Losses:
        moved = augment(batch, parameters)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            log_probs = network(moved.path, moved.keys[..., :2], moved.mask).log_probs
        log_probs = log_probs.float()
        cost = ctc_loss(log_probs, moved.targets, batch.lengths, fused=fused)
        return encoder_loss(cost, log_probs, batch.lengths, weight=config.emission_weight, per_letter=config.per_letter)

    return forward if mode == "off" else torch.compile(forward, fullgraph=True, dynamic=False, mode=mode)


@torch.no_grad()
def validate(encoder: Encoder, corpus: TrainingSet, device: torch.device) -> dict[str, float]:
    """CTC and greedy accuracy on a held-out corpus, in float32, without augmentation."""
    began = time.perf_counter()
    training = encoder.training
    encoder.eval()
    sums = torch.zeros(3, dtype=torch.float64, device=device)
    for batch in corpus.walk(VALIDATION_BATCH, device):
        log_probs = encoder(batch.path, batch.keys[..., :2], batch.mask).log_probs
        cost = torch_ctc_loss(log_probs, batch.targets, batch.lengths)
        right = greedy_matches(log_probs, batch.targets, batch.lengths)
        sums += torch.stack([cost.sum(), (cost / batch.lengths).sum(), right.sum()])
    encoder.train(training)
    ctc, per_letter, greedy = (sums / len(corpus)).tolist()
    seconds = time.perf_counter() - began
    return {"val_ctc": ctc, "val_ctc_per_letter": per_letter, "val_greedy": greedy, "val_seconds": seconds}


def _is_resident(config: EncoderTraining, corpus: TrainingSet) -> bool:
    """Whether the corpus is kept on the device."""
    bytes_per_row = 2 * 2 * config.model.points + corpus.longest
    return config.resident == "yes" or (config.resident == "auto" and len(corpus) * bytes_per_row <= RESIDENT_BYTES)
