"""Train a matcher: the word meant against the other finalists of the beam.

Frequency and length of a word are in the logits too, with weights that are learned along, so that the network learns
what the path says and not which words the corpus holds.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from glissando.model.checkpoint import save_matcher
from glissando.model.matcher import Matcher
from glissando.train.matcher.bend import bend, draw_bend, reverse_words
from glissando.train.matcher.config import MatcherTraining
from glissando.train.matcher.finalists import NO_KEY, FinalistFile, unpack_paths
from glissando.train.optim import Average, adamw, scheduled_rate, set_rate
from glissando.train.run import Job, Run
from glissando.train.sampling import Order, draws, mix_seed
from glissando.train.state import module_tensors, optimizer_tensors, restore_module, restore_optimizer
from glissando.train.world import World

INITIAL_SEED, DROPOUT_SEED, BEND_SEED = 40, 41, 42  # what a seed is for
RARE = 60  # rarer words count as this frequent, as in the scoring constants
CHUNK = 256  # swipes compared at a time outside of training
ABSENT = -1e4  # logit of a finalist that is not there
WEIGHTS = tuple(0.1 * step for step in range(1, 31))  # of a matcher against the encoder's score, tried in validation


def train_matcher(config: MatcherTraining, job: Job) -> dict[str, Any]:
    """Train a matcher, or go on training it; returns the last line of metrics.jsonl.

    Args:
        config: the settings.
        job: files of finalists, and the run's directory.
    """
    with job.world(tf32=True) as world:
        finalists = FinalistFile.open(job.pack)
        val = FinalistFile.open(job.val) if job.val else None
        run = Run(MatcherTrainer(config, finalists, world, val), job)
        run.start()
        return run.go()


class Lists(NamedTuple):
    """Swipes and their finalists on a device.

    Attributes:
        path: [B, 64, 2] in key widths.
        layout: [B, K, 2] key centres in key widths.
        keys: [B, N, L] int64 key indices, 0 beyond a finalist's end.
        lengths: [B, N] int64 letters, 0 where there is no finalist.
        frequencies: [B, N] float bytes.
        scores: [B, N] the encoder's.
        place: [B] int64 of the word meant, -1 where it is not there.
    """

    path: Tensor
    layout: Tensor
    keys: Tensor
    lengths: Tensor
    frequencies: Tensor
    scores: Tensor
    place: Tensor


class Shelf:
    """Files of finalists on a device, as they are stored: what a batch is made of.

    Args:
        finalists: the file.
        rows: [n] the swipes of it to use.
        config: the settings.
        device: where it goes.
    """

    def __init__(
        self, finalists: FinalistFile, rows: np.ndarray, config: MatcherTraining, device: torch.device
    ) -> None:
        count = config.finalists
        keys = finalists.keys[rows, :count]
        lengths = (keys != NO_KEY).sum(axis=2)
        lengths[lengths > config.letters] = 0
        place = finalists.places[rows].astype(np.int64)
        missing = (place < 0) | (place >= keys.shape[1])
        place[missing | (np.take_along_axis(lengths, place.clip(0, keys.shape[1] - 1)[:, None], 1)[:, 0] == 0)] = -1
        arrays = {
            "paths": finalists.paths[rows].astype(np.int32), "keys": keys[:, :, : config.letters],
            "lengths": lengths.astype(np.uint8), "frequencies": finalists.frequencies[rows, :count],
            "scores": finalists.scores[rows, :count], "place": place, "layouts": finalists.layouts[rows],
            "scales": scales(finalists)[rows],
        }  # fmt: skip
        self.arrays = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
        self.layouts = layout_tensor(finalists).to(device)

    def __len__(self) -> int:
        return len(self.arrays["place"])

    def take(self, index: Tensor) -> Lists:
        """Some of the swipes."""
        rows = {name: array[index] for name, array in self.arrays.items()}
        scale = rows["scales"][:, None]  # [B, 1, 2]
        keys = rows["keys"].long()
        return Lists(
            path=(unpack_paths(rows["paths"].float()).transpose(1, 2) - 0.5) * scale,
            layout=(self.layouts[rows["layouts"].long()] - 0.5) * scale,
            keys=torch.where(keys == NO_KEY, 0, keys),
            lengths=rows["lengths"].long(),
            frequencies=rows["frequencies"].float(),
            scores=rows["scores"].float(),
            place=rows["place"],
        )

    def chunks(self) -> Generator[Lists, None, None]:
        """All swipes, in order."""
        for index in torch.arange(len(self), device=self.layouts.device).split(CHUNK):
            yield self.take(index)


class Prior(nn.Module):
    """What a word's frequency and length say of it; learned beside the matcher, used in training alone."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor([0.03, 0.3]))

    def forward(self, batch: Lists) -> Tensor:
        """Logits; a finalist that is not there has none to speak of. Shape: [B, N]."""
        logits = self.weights[0] * batch.frequencies.clamp(min=RARE) + self.weights[1] * batch.lengths
        return logits.masked_fill(batch.lengths == 0, ABSENT)


class MatcherTrainer:
    """A matcher in training; a ``glissando.train.run.Learner``.

    Args:
        config: the settings.
        finalists: the swipes to train on.
        world: the processes.
        val: swipes of other people.
    """

    kind: str = "matcher"
    names: tuple[str, ...] = ("loss", "right", "gradient_norm")

    def __init__(
        self,
        config: MatcherTraining,
        finalists: FinalistFile,
        world: World,
        val: FinalistFile | None = None,
    ) -> None:
        self.config, self.world = config, world
        device = world.device
        held = _drawn(finalists, config)
        self.shelf = Shelf(finalists, np.flatnonzero(~held), config, device)
        usable = self.shelf.arrays["place"] >= 0
        self.rows = torch.nonzero(usable)[:, 0]
        self.held = Shelf(finalists, np.flatnonzero(held), config, device) if held.any() else None
        self.val = None if val is None else Shelf(val, np.arange(len(val)), config, device)
        self.order = Order(len(self.rows), config.batch, config.seed, world.rank, world.size)
        self.steps_per_epoch = self.order.steps_per_epoch
        self.steps = config.steps or config.epochs * self.steps_per_epoch
        self.identity = {"config": config.to_dict(), "corpus": finalists.digest}
        torch.manual_seed(mix_seed(config.seed, INITIAL_SEED))
        self.network = Matcher(config.model).to(device).train()
        self.prior = Prior().to(device)
        both = nn.ModuleList([self.network, self.prior])
        self.optimizer = adamw(both, rate=config.learning_rate, betas=(0.9, 0.99), weight_decay=config.weight_decay)
        self.trained = both
        self.average = Average(self.network, config.average)
        on_gpu = device.type == "cuda"
        self.compare = torch.compile(self.network, dynamic=False) if on_gpu and config.compiled else self.network

    def since(self, step: int) -> Generator[Tensor, None, None]:
        """The rows of the steps from ``step`` on."""
        for index in self.order.since(step, self.world.device):
            yield self.rows[index]

    def step(self, rows: Tensor, step: int, progress: float) -> list[Tensor]:
        """Train on a batch; returns loss, share of swipes whose word is first, norm of the gradient."""
        config, device = self.config, self.world.device
        set_rate(self.optimizer, self.rates(progress)["learning_rate"])
        batch = self.shelf.take(rows)
        draw = torch.Generator(device).manual_seed(mix_seed(config.seed, self.world.rank, BEND_SEED, step))
        bent = draw_bend(len(rows), config.model.points, config.bend, draw)
        path = bend(batch.path, bent) + bent.sway
        path = torch.where(bent.reverse[:, None, None], path.flip(1), path)
        layout, keys = bend(batch.layout, bent), reverse_words(batch.keys, batch.lengths, bent.reverse)
        torch.manual_seed(mix_seed(config.seed, self.world.rank, DROPOUT_SEED, step))
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            matched = self.compare(path, *spelled(layout, keys, batch.lengths))
        logits = matched + self.prior(batch)
        loss = functional.cross_entropy(logits, batch.place)
        loss.backward()
        self.world.average_gradients(self.trained)
        norm = nn.utils.clip_grad_norm_(self.trained.parameters(), config.clip)
        self.optimizer.step()
        self.average.update(self.network, step)
        return [loss.detach(), (logits.argmax(dim=1) == batch.place).float().mean(), norm]

    def rates(self, progress: float) -> dict[str, float]:
        """The learning rate at a share of the schedule."""
        config = self.config
        peak, floor = config.learning_rate, config.floor_rate
        return {"learning_rate": scheduled_rate(progress, peak=peak, floor=floor, warm_up=config.warm_up)}

    @torch.no_grad()
    def validate(self, step: int) -> dict[str, float]:
        """Top-1 and top-3 of people set aside and of the held-out file; the other processes wait.

        An untrained matcher is not measured.
        """
        measures: dict[str, float] = {}
        if self.world.leads and step:
            for name, shelf in (("held", self.held), ("val", self.val)):
                if shelf is not None:
                    measures |= measure(self.average.module, self.prior, shelf, name)
        self.world.wait()
        return measures

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name."""
        return {
            **module_tensors(self.trained, "network"),
            **module_tensors(self.average.module, "average"),
            **optimizer_tensors(self.optimizer, self.trained),
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``tensors`` gave."""
        restore_module(self.trained, "network", tensors)
        restore_module(self.average.module, "average", tensors)
        restore_optimizer(self.optimizer, self.trained, tensors)

    def save(self, path: Path, extra: dict[str, Any]) -> None:
        """Write the average of the weights, and what frequency and length weighed beside it."""
        save_matcher(path, self.average.module, {**extra, "prior": self.prior.weights.tolist()})


def spelled(layout: Tensor, keys: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The key centres of finalists and which letters are real: what a matcher takes.

    Shape: [B, K, 2], [B, N, L], [B, N] -> [B, N, L, 2], [B, N, L] bool.
    """
    centres = layout.gather(1, keys.flatten(1)[..., None].expand(-1, -1, 2)).unflatten(1, keys.shape[1:])
    return centres, torch.arange(keys.shape[2], device=keys.device) < lengths[..., None]


@torch.no_grad()
def opinions(network: Matcher, prior: Prior, shelf: Shelf) -> Tensor:
    """The logits of every finalist, without augmentation. Shape: [n, N]."""
    device = shelf.layouts.device
    parts = []
    for batch in shelf.chunks():
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            matched = network(batch.path, *spelled(batch.layout, batch.keys, batch.lengths))
        parts.append(matched.float() + prior(batch))
    return torch.cat(parts)


def measure(network: Matcher, prior: Prior, shelf: Shelf, name: str) -> dict[str, float]:
    """How often the word meant is first, or among three: by the matcher alone, and with the encoder's score.

    The weight of the matcher against that score is the likeliest of a few, so it flatters the figure a little.
    """
    alone = opinions(network, prior, shelf)
    place, scores = shelf.arrays["place"], shelf.arrays["scores"].float()
    matched = torch.where(shelf.arrays["lengths"] == 0, 0.0, alone)
    there = place >= 0
    costs = [functional.cross_entropy((scores + w * matched)[there], place[there]).item() for w in WEIGHTS]
    both = scores + WEIGHTS[int(np.argmin(costs))] * matched
    return {
        f"{name}_alone": _top(alone, place, 1),
        f"{name}_top1": _top(both, place, 1),
        f"{name}_top3": _top(both, place, 3),
    }


def scales(finalists: FinalistFile) -> np.ndarray:
    """From fractions of the letter area to key widths, both ways, for every swipe. Shape: [n, 2] float32."""
    widths = np.array([layout.key_size[0] for layout in finalists.layout_list])[finalists.layouts]
    return np.stack([1 / widths, finalists.aspects / widths], axis=1).astype(np.float32)


def layout_tensor(finalists: FinalistFile) -> Tensor:
    """The key centres of all layouts, zeros beyond the last key. Shape: [layouts, K, 2]."""
    layouts = finalists.layout_list
    table = np.zeros((len(layouts), max(len(layout.keys) for layout in layouts), 2), dtype=np.float32)
    for row, layout in zip(table, layouts, strict=True):
        row[: len(layout.keys)] = layout.centres
    return torch.from_numpy(table)


def _drawn(finalists: FinalistFile, config: MatcherTraining) -> np.ndarray:
    """The rows of people whom a training sets aside. Shape: [n] bool."""
    low, high = config.held
    if low == high:
        return np.zeros(len(finalists), dtype=bool)
    drawn = draws(finalists.sessions, config.held_seed)
    return (drawn >= low) & (drawn < high)


def _top(logits: Tensor, place: Tensor, k: int) -> float:
    """The share of swipes whose word is among the k best; one that is missing is not. Shape: [n, N], [n]."""
    own = logits.gather(1, place.clamp(min=0)[:, None])
    above = (logits > own).sum(dim=1)
    return ((above < k) & (place >= 0)).double().mean().item()
