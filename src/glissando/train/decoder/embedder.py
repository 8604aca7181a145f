"""Train the embedder: a swipe near its own word, away from other words (InfoNCE)."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from glissando.errors import TrainingError
from glissando.model.checkpoint import save_embedder
from glissando.model.embedder import Embedder
from glissando.train.batches import TrainingSet
from glissando.train.decoder.config import EmbedderTraining
from glissando.train.decoder.words import SpelledWords, only_layout, open_words, spellings
from glissando.train.optim import adamw, scheduled_rate, set_rate
from glissando.train.run import Job, Run
from glissando.train.sampling import Order, held_out, mix_seed
from glissando.train.state import module_tensors, optimizer_tensors, restore_module, restore_optimizer
from glissando.train.world import World

INITIAL_SEED, DROPOUT_SEED, STRANGER_SEED = 20, 21, 22  # what a seed is for
MOST_SHARP = 4.6  # logarithm of the highest inverse temperature, a hundred, as is usual
CHUNK = 4096  # words or swipes embedded at a time
RECALLS = (1, 10, 128)


def train_embedder(config: EmbedderTraining, job: Job, lexicon: Path) -> dict[str, Any]:
    """Train an embedder, or go on training it; returns the last line of metrics.jsonl.

    Args:
        config: the settings.
        job: the corpora, on one layout, and the run's directory.
        lexicon: the words to be told apart, AOSP or a word per line.
    """
    with job.world(tf32=False) as world:
        corpus = TrainingSet.open(job.pack, config.model.points)
        val = TrainingSet.open(job.val, config.model.points) if job.val else None
        held = held_out(corpus.sessions, config.holdout, config.holdout_seed)
        words = open_words(corpus, val, lexicon, held)
        run = Run(EmbedderTrainer(config, (corpus, np.flatnonzero(~held)), words, world, val), job)
        run.start()
        return run.go()


class Swipes(NamedTuple):
    """Swipes on a device: paths [B, 2, n], the numbers of their words [B], and the keys of their layout [K, 4]."""

    path: Tensor
    words: Tensor
    keys: Tensor

    @classmethod
    def of(cls, corpus: TrainingSet, rows: np.ndarray, vocabulary: SpelledWords, device: torch.device) -> Swipes:
        """Bring rows of a corpus to a device, with the numbers of their words."""
        words = vocabulary.find(spellings(corpus.pack, corpus.kept[rows]))
        if (words < 0).any():
            raise TrainingError(f"the vocabulary lacks the words of {int((words < 0).sum())} swipes")
        keys = corpus.table.keys[0].to(device)
        return cls(corpus.load(rows, device).path, torch.from_numpy(words).to(device), keys)


class EmbedderTrainer:
    """An embedder in training; a ``glissando.train.run.Learner``.

    Args:
        config: the settings.
        swipes: a corpus on one layout, and the rows of it to train on.
        vocabulary: all words; every row's is among them.
        world: the processes.
        val: a held-out corpus.
    """

    kind: str = "embedder"
    names: tuple[str, ...] = ("loss", "right", "gradient_norm")

    def __init__(
        self,
        config: EmbedderTraining,
        swipes: tuple[TrainingSet, np.ndarray],
        vocabulary: SpelledWords,
        world: World,
        val: TrainingSet | None = None,
    ) -> None:
        self.config, self.world, self.vocabulary = config, world, vocabulary
        device = world.device
        corpus, rows = swipes
        self.layout = only_layout(corpus.pack, "the corpus")
        self.targets, self.lengths, _ = vocabulary.padded(device)
        self.swipes = Swipes.of(corpus, rows, vocabulary, device)
        self.val = None if val is None else Swipes.of(val, np.arange(len(val)), vocabulary, device)
        self.order = Order(len(rows), config.batch, config.seed, world.rank, world.size)
        self.steps_per_epoch = self.order.steps_per_epoch
        self.steps = config.steps or config.epochs * self.steps_per_epoch
        self.identity = {"config": config.to_dict(), "corpus": corpus.digest, "words": len(vocabulary)}
        torch.manual_seed(mix_seed(config.seed, INITIAL_SEED))
        self.network = Embedder(config.model).to(device).train()
        self.optimizer = adamw(
            self.network, rate=config.learning_rate, betas=(0.9, 0.98), weight_decay=config.weight_decay
        )

    def since(self, step: int) -> Generator[Swipes, None, None]:
        """The batches of the steps from ``step`` on."""
        for index in self.order.since(step, self.world.device):
            yield Swipes(self.swipes.path[index], self.swipes.words[index], self.swipes.keys)

    def step(self, batch: Swipes, step: int, progress: float) -> list[Tensor]:
        """Train on a batch; returns loss, share of swipes whose own word is nearest, norm of the gradient."""
        config, device = self.config, self.world.device
        set_rate(self.optimizer, self.rates(progress)["learning_rate"])
        draw = torch.Generator(device).manual_seed(mix_seed(config.seed, self.world.rank, STRANGER_SEED, step))
        strangers = torch.randint(self.vocabulary.candidates, (config.strangers,), generator=draw, device=device)
        torch.manual_seed(mix_seed(config.seed, self.world.rank, DROPOUT_SEED, step))
        words = torch.cat([batch.words, strangers])
        self.optimizer.zero_grad(set_to_none=True)
        swipes = self.network.embed_swipes(batch.path, self.swipes.keys)
        texts = self.network.embed_words(self.targets[words].long(), self.lengths[words].long(), self.swipes.keys)
        loss, right = contrast(swipes, texts, batch.words, words, self.network.sharpness)
        loss.backward()
        self.world.average_gradients(self.network)
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        self.optimizer.step()
        with torch.no_grad():
            self.network.sharpness.clamp_(max=MOST_SHARP)
        return [loss.detach(), right, norm]

    def rates(self, progress: float) -> dict[str, float]:
        """The learning rate at a share of the schedule."""
        config = self.config
        peak, floor = config.learning_rate, config.floor_rate
        return {"learning_rate": scheduled_rate(progress, peak=peak, floor=floor, warm_up=config.warm_up)}

    @torch.no_grad()
    def validate(self, step: int) -> dict[str, float]:
        """How often a swipe's own word is among its nearest, of the whole vocabulary; the other processes wait.

        An untrained embedder is not measured.
        """
        measures: dict[str, float] = {}
        if self.val is not None and self.world.leads and step:
            self.network.eval()
            texts = embed_vocabulary(self.network, self.vocabulary, self.swipes.keys)
            ranks = []
            for path, words in zip(self.val.path.split(CHUNK // 16), self.val.words.split(CHUNK // 16), strict=True):
                near = self.network.embed_swipes(path, self.swipes.keys) @ texts.T  # [b, W]
                ranks.append((near > near.gather(1, words[:, None])).sum(dim=1))
            self.network.train()
            rank = torch.cat(ranks)
            measures = {f"val_recall_{k}": (rank < k).double().mean().item() for k in RECALLS}
        self.world.wait()
        return measures

    def tensors(self) -> dict[str, Tensor]:
        """Everything that training changes, by name."""
        return {**module_tensors(self.network, "network"), **optimizer_tensors(self.optimizer, self.network)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what ``tensors`` gave."""
        restore_module(self.network, "network", tensors)
        restore_optimizer(self.optimizer, self.network, tensors)

    def save(self, path: Path, extra: dict[str, Any]) -> None:
        """Write the embedder, bound to its layout."""
        save_embedder(path, self.network, {**extra, "layout": self.layout.to_dict()})


def contrast(swipes: Tensor, texts: Tensor, own: Tensor, words: Tensor, sharpness: Tensor) -> tuple[Tensor, Tensor]:
    """InfoNCE both ways: a swipe among words, and a word among swipes.

    Another swipe's word is no negative where it is the same word.

    Args:
        swipes: [B, D].
        texts: [B + s, D], the swipes' own words first, in order.
        own: [B] the numbers of the swipes' words.
        words: [B + s] the numbers of the texts.
        sharpness: logarithm of the inverse temperature.

    Returns:
        The loss, and the share of swipes that are nearest to their own word.
    """
    logits = swipes @ texts.T * sharpness.exp()  # [B, B + s]
    place = torch.arange(len(swipes), device=swipes.device)
    same = own[:, None] == words
    same[place, place] = False
    logits = logits.masked_fill(same, -1e4)
    forth = functional.cross_entropy(logits, place)
    back = functional.cross_entropy(logits[:, : len(swipes)].T, place)
    return (forth + back) / 2, (logits.argmax(dim=1) == place).float().mean()


@torch.no_grad()
def embed_vocabulary(embedder: Embedder, vocabulary: SpelledWords, keys: Tensor) -> Tensor:
    """Embed every word by its letters. Shape: [W, D], on the device of ``keys``."""
    targets, lengths, _ = vocabulary.padded(keys.device)
    pairs = zip(targets.split(CHUNK), lengths.split(CHUNK), strict=True)
    return torch.cat([embedder.embed_words(some.long(), long.long(), keys) for some, long in pairs])
