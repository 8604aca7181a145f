"""One training step of the encoder, compiled, and all that it changes.

A step never waits for the GPU: batches come from the device, random numbers are drawn there, the measures stay
there until the journal reads them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from pathlib import Path

import torch
from torch import Tensor, nn

from glissando.errors import TrainingError
from glissando.model.checkpoint import load_encoder
from glissando.model.encoder import DepthwiseConv, Encoder
from glissando.train.augment import Parameters, augment, sample_parameters
from glissando.train.batches import Batch, Batches, Corpus
from glissando.train.config import TrainConfig
from glissando.train.graphed import GraphedUpdate
from glissando.train.losses import Losses, divergence, encoder_loss, greedy_matches, torch_ctc_loss
from glissando.train.mix import Mix, Shares
from glissando.train.optim import Average, adamw, scheduled_rate, set_rate
from glissando.train.order import Order, mix_seed, word_weights
from glissando.train.state import module_tensors, optimizer_tensors, restore_module, restore_optimizer
from glissando.train.world import World

INITIAL_SEED, DROPOUT_SEED, AUGMENT_SEED = 10, 11, 12  # what a seed is for
RESIDENT_BYTES = 8 << 30  # a corpus up to this size is kept on the device
VALIDATION_BATCH = 512

Forward = Callable[[Batch, Parameters], Losses]


class Trainer:
    """An encoder in training.

    Attributes:
        network: the encoder.
        average: the moving average of its weights, or None.
        order: the rows of every step.
        steps: of the whole schedule.
    """

    def __init__(self, config: TrainConfig, corpus: Corpus, world: World) -> None:
        self.config, self.world = config, world
        self.corpus = corpus = corpus.of_people(*config.part, config.part_seed).with_room(config.extra_keys)
        self.order, self.mix = _deal(config, corpus, world)
        self.steps = config.steps or config.epochs * self.order.steps_per_epoch
        torch.manual_seed(mix_seed(config.seed, INITIAL_SEED))  # the same on every process
        self.network = Encoder(config.model).to(world.device).train()
        self.average = Average(self.network, config.ema) if config.ema else None
        betas = (config.beta1, config.beta2)
        self.optimizer = adamw(self.network, rate=config.learning_rate, betas=betas, weight_decay=config.weight_decay)
        self.batches = Batches(corpus, self.order, world.device, resident=_fits(config, corpus))
        self.forward = compiled_forward(config, self.network, world.device)
        graphed = config.graph and world.device.type == "cuda" and world.size == 1 and config.ctc != "torch"
        self.update = GraphedUpdate(self.change) if graphed else self.change

    def since(self, step: int) -> Generator[Batch, None, None]:
        """The batches of the steps from ``step`` on, mixed but not yet augmented."""
        for number, (drawn, index) in enumerate(self.batches.since(step), start=step):
            yield self.mix(drawn, index, number)

    def step(self, batch: Batch, step: int, progress: float) -> list[Tensor]:
        """Train on a batch and return the journal's measures of it, still on the device.

        Args:
            batch: from ``since``.
            step: its number, from 0.
            progress: share of the schedule that is over when this step is.
        """
        config = self.config
        set_rate(self.optimizer, self.rate(progress))
        parameters = sample_parameters(batch, config.augment, self.mix.seeded(AUGMENT_SEED, step))
        torch.manual_seed(mix_seed(config.seed, self.world.rank, DROPOUT_SEED, step))
        measures = self.update(batch, parameters)
        if self.average is not None:
            self.average.update(self.network, step)
        return measures

    def change(self, batch: Batch, parameters: Parameters) -> list[Tensor]:
        """Move the weights by one batch; returns the measures."""
        self.optimizer.zero_grad(set_to_none=True)
        losses = self.forward(batch, parameters)
        losses.total.backward()
        self.world.average_gradients(self.network)
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip)
        self.optimizer.step()
        return [losses.total.detach(), losses.ctc, losses.emission, norm]

    def rate(self, progress: float) -> float:
        """The learning rate at a share of the schedule."""
        config = self.config
        return scheduled_rate(progress, peak=config.learning_rate, floor=config.floor_rate, warm_up=config.warm_up)

    @property
    def result(self) -> Encoder:
        """The encoder to validate and export: the average, where there is one."""
        return self.network if self.average is None else self.average.module

    def settle(self) -> None:
        """Bring the batch-norm statistics of all processes together."""
        self.world.average_statistics(self.network)
        if self.average is not None:
            self.world.average_statistics(self.average.module)

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name."""
        average = {} if self.average is None else module_tensors(self.average.module, "average")
        optimizer = optimizer_tensors(self.optimizer, self.network)
        return {**module_tensors(self.network, "network"), **average, **optimizer}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``tensors`` gave."""
        restore_module(self.network, "network", tensors)
        restore_optimizer(self.optimizer, self.network, tensors)
        if self.average is not None:
            restore_module(self.average.module, "average", tensors)


def compiled_forward(config: TrainConfig, network: Encoder, device: torch.device) -> Forward:
    """From a batch to its losses, as one graph where the config compiles."""
    half = config.precision == "bf16" or (config.precision == "auto" and device.type == "cuda")
    mode = ("default" if device.type == "cuda" else "off") if config.compile == "auto" else config.compile
    teachers = load_teachers(config, device)

    def emit(batch: Batch, parameters: Parameters) -> tuple[Tensor, Tensor, Tensor | None]:
        moved = augment(batch, parameters)
        swipes = moved.path, moved.keys[..., :2], moved.mask
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            emissions = network(*swipes)
            with torch.no_grad():
                taught = [teacher(*swipes).log_probs for teacher in teachers]
        mean = torch.stack(taught).logsumexp(0) - math.log(len(taught)) if taught else None
        return emissions.log_probs, moved.targets, mean

    def judge(log_probs: Tensor, targets: Tensor, lengths: Tensor, taught: Tensor | None) -> Losses:
        weight, per_letter = config.emission_weight, config.per_letter
        losses = encoder_loss(log_probs, targets, lengths, weight=weight, ctc=config.ctc, per_letter=per_letter)
        if taught is None:
            return losses
        lesson = divergence(log_probs, taught, lengths)
        total = (1 - config.distil) * losses.total + config.distil * lesson
        return Losses(total, losses.ctc, losses.emission)  # not _replace, which torch 2.11 does not compile

    def forward(batch: Batch, parameters: Parameters) -> Losses:
        log_probs, targets, taught = emit(batch, parameters)
        return judge(log_probs, targets, batch.lengths, taught)

    if config.ctc == "triton":
        _load_kernel(device)
    if mode == "off":
        return forward
    if config.ctc == "torch":  # reads lengths on the host, so it cannot be part of the graph
        emit = torch.compile(emit, fullgraph=True, dynamic=False, mode=mode)
        return forward
    return torch.compile(forward, fullgraph=True, dynamic=False, mode=mode)


def load_teachers(config: TrainConfig, device: torch.device) -> list[Encoder]:
    """The trained encoders to learn from, frozen; their frames must be the network's."""
    teachers = []
    for file in config.teachers:
        teacher, _ = load_encoder(Path(file))
        if teacher.config.frames != config.model.frames:
            raise TrainingError(f"teacher {file} has {teacher.config.frames} frames, not {config.model.frames}")
        teacher = teacher.to(device).eval().requires_grad_(False)
        for module in teacher.modules():
            if isinstance(module, DepthwiseConv):
                module.train()  # the form of the convolution that compiles well
        teachers.append(teacher)
    return teachers


@torch.no_grad()
def validate(encoder: Encoder, corpus: Corpus, device: torch.device) -> dict[str, float]:
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


def prepare_backend(config: TrainConfig, device: torch.device) -> None:
    """Let float32 matrix products use TF32 on a GPU, unless all of float32 is wanted."""
    if device.type == "cuda" and config.precision != "fp32":
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True


def _load_kernel(device: torch.device) -> None:
    """Register the Triton recursion, or say what it lacks."""
    if device.type != "cuda":
        raise TrainingError(f'ctc="triton" needs a GPU, the device is {device}; ctc="own" runs anywhere')
    try:
        import glissando.train.ctc_kernel  # noqa: F401 (registers an operator)
    except ImportError as error:
        raise TrainingError(f'ctc="triton" needs Triton: {error}') from None


def _deal(config: TrainConfig, corpus: Corpus, world: World) -> tuple[Order, Mix]:
    """Decide which rows each step draws, and what is added to them."""
    if config.batch % world.size:
        raise TrainingError(f"batch {config.batch} does not divide among {world.size} processes")
    shares = Shares.of(config, config.batch // world.size)
    weights = word_weights(corpus.word_counts, config.word_power)
    order = Order(len(corpus), shares.drawn * world.size, config.seed, world.rank, world.size, weights)
    return order, Mix(corpus, config, shares, world.device, world.rank)


def _fits(config: TrainConfig, corpus: Corpus) -> bool:
    """Whether the corpus is kept on the device."""
    bytes_per_row = 2 * 2 * config.model.points + corpus.longest
    return config.resident == "yes" or (config.resident == "auto" and len(corpus) * bytes_per_row <= RESIDENT_BYTES)
