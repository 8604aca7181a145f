"""Train the embedder: a swipe and its own word near each other, other words away (InfoNCE).

python -m glissando.train.embedder --pack train.npz --val val.npz --lexicon en.combined.gz --out runs/embedder
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from glissando.errors import TrainingError
from glissando.lexicon import Lexicon
from glissando.model.checkpoint import save_embedder
from glissando.model.embedder import Embedder
from glissando.train.batches import Corpus, Shelf, Stored
from glissando.train.decoder_config import EmbedderTraining
from glissando.train.holdout import held_out
from glissando.train.journal import Report
from glissando.train.optim import adamw, scheduled_rate, set_rate
from glissando.train.order import Order, mix_seed
from glissando.train.run import Pace, Run, own_randomness, print_line, run_command
from glissando.train.state import module_tensors, optimizer_tensors, restore_module, restore_optimizer
from glissando.train.vocabulary import Vocabulary, only_layout, spellings
from glissando.train.world import World, join_world

INITIAL_SEED, DROPOUT_SEED, STRANGER_SEED = 20, 21, 22  # what a seed is for
MOST_SHARP = 4.6  # the inverse temperature stays below a hundred, as is usual
CHUNK = 4096  # words or swipes embedded at a time
RECALLS = (1, 10, 128)


class Swipes(NamedTuple):
    """Swipes on a device: paths [B, 2, n], and the numbers of their words [B]."""

    path: Tensor
    words: Tensor


class EmbedderTrainer:
    """An embedder in training, as ``glissando.train.run.Learner`` describes.

    Args:
        config: the settings.
        corpus: swipes on one layout.
        held: [n] bool, rows of the corpus that are set aside.
        vocabulary: all words; every row's is among them.
        world: the processes.
        val: a held-out corpus.
    """

    kind: str = "embedder"
    names: tuple[str, ...] = ("loss", "right", "gradient_norm")

    def __init__(
        self,
        config: EmbedderTraining,
        corpus: Corpus,
        held: np.ndarray,
        vocabulary: Vocabulary,
        world: World,
        val: Corpus | None = None,
    ) -> None:
        self.config, self.world, self.vocabulary = config, world, vocabulary
        device = world.device
        self.layout = only_layout(corpus.pack, "the corpus")
        self.keys = corpus.keys[0].to(device)
        self.targets, self.lengths, _ = vocabulary.padded(device)
        rows = np.flatnonzero(~held)
        self.swipes = swipes_of(corpus, rows, vocabulary, device)
        self.val = None if val is None else swipes_of(val, np.arange(len(val)), vocabulary, device)
        self.order = Order(len(rows), config.batch, config.seed, world.rank, world.size)
        steps = config.steps or config.epochs * self.order.steps_per_epoch
        pace = config.max_seconds, config.log_every, config.validate_every, config.checkpoint_seconds
        self.pace = Pace(steps, self.order.steps_per_epoch, config.batch, *pace, config.snapshot_every)
        self.identity = {"config": config.to_dict(), "corpus": corpus.digest, "words": len(vocabulary)}
        torch.manual_seed(mix_seed(config.seed, INITIAL_SEED))
        self.network = Embedder(config.model).to(device).train()
        self.optimizer = adamw(
            self.network, rate=config.learning_rate, betas=(0.9, 0.98), weight_decay=config.weight_decay
        )

    def since(self, step: int) -> Generator[Swipes, None, None]:
        """The batches of the steps from ``step`` on."""
        while True:
            epoch, within = divmod(step, self.order.steps_per_epoch)
            for index in self.order.epoch(epoch)[within:].to(self.world.device):
                yield Swipes(self.swipes.path[index], self.swipes.words[index])
                step += 1

    def step(self, batch: Swipes, step: int, progress: float) -> list[Tensor]:
        """Train on a batch; returns loss, share of swipes whose own word is nearest, norm of the gradient."""
        config, device = self.config, self.world.device
        set_rate(self.optimizer, self.rates(progress)["learning_rate"])
        draw = torch.Generator(device).manual_seed(mix_seed(config.seed, self.world.rank, STRANGER_SEED, step))
        strangers = torch.randint(self.vocabulary.candidates, (config.strangers,), generator=draw, device=device)
        torch.manual_seed(mix_seed(config.seed, self.world.rank, DROPOUT_SEED, step))
        words = torch.cat([batch.words, strangers])
        self.optimizer.zero_grad(set_to_none=True)
        swipes = self.network.embed_swipes(batch.path, self.keys)
        texts = self.network.embed_words(self.targets[words].long(), self.lengths[words].long(), self.keys)
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

        Before the first step it is chance, and is not measured.
        """
        measures: dict[str, float] = {}
        if self.val is not None and self.world.leads and step:
            self.network.eval()
            texts = embed_vocabulary(self.network, self.vocabulary, self.keys)
            ranks = []
            for path, words in zip(self.val.path.split(CHUNK // 16), self.val.words.split(CHUNK // 16), strict=True):
                near = self.network.embed_swipes(path, self.keys) @ texts.T  # [b, W]
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
def embed_vocabulary(embedder: Embedder, vocabulary: Vocabulary, keys: Tensor) -> Tensor:
    """Embed every word by its letters. Shape: [W, D], on the device of ``keys``."""
    targets, lengths, _ = vocabulary.padded(keys.device)
    pairs = zip(targets.split(CHUNK), lengths.split(CHUNK), strict=True)
    return torch.cat([embedder.embed_words(some.long(), long.long(), keys) for some, long in pairs])


def swipes_of(corpus: Corpus, rows: np.ndarray, vocabulary: Vocabulary, device: torch.device) -> Swipes:
    """Bring rows of a corpus to a device, with the numbers of their words."""
    words = vocabulary.find(spellings(corpus.pack, corpus.kept[rows]))
    if (words < 0).any():
        raise TrainingError(f"{int((words < 0).sum())} swipes are of words that the vocabulary lacks")
    stored = Stored(*(part.to(device) for part in corpus.read(rows)))
    return Swipes(Shelf.of(corpus, device).unpack(stored).path, torch.from_numpy(words).to(device))


def open_words(pack: Corpus, val: Corpus | None, lexicon: Path, held: np.ndarray, least: int = 0) -> Vocabulary:
    """The words of a lexicon and of two corpora; held-out rows and ``val`` add no candidates."""
    layout = only_layout(pack.pack, "the corpus")
    known = spellings(pack.pack, pack.kept[~held])
    queries = spellings(pack.pack, pack.kept[held]) + ([] if val is None else spellings(val.pack, val.kept))
    if val is not None and only_layout(val.pack, "the held-out corpus").letters != layout.letters:
        raise TrainingError("the held-out corpus has another layout than the corpus")
    return Vocabulary.build(Lexicon.from_file(lexicon), layout, known, queries, least)


def train_embedder(
    config: EmbedderTraining,
    options: argparse.Namespace,
    *,
    until: int | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Train an embedder, or go on training it; returns the last line of metrics.jsonl.

    Args:
        config: the settings.
        options: ``pack``, ``val``, ``lexicon``, ``out``, ``resume`` and ``device`` as the command line gives them.
        until: stop after this step with a checkpoint, to be resumed.
        report: called with every line of metrics.jsonl.
    """
    if options.lexicon is None:
        raise TrainingError("an embedder needs --lexicon, the words to be told apart")
    with join_world(options.device) as world, own_randomness(world):
        corpus = Corpus.open(options.pack, config.model.points)
        val = Corpus.open(options.val, config.model.points) if options.val else None
        held = held_out(np.asarray(corpus.pack.sessions)[corpus.kept], config.holdout, config.holdout_seed)
        words = open_words(corpus, val, options.lexicon, held)
        run = Run(EmbedderTrainer(config, corpus, held, words, world, val), options.out, report)
        run.resume() if options.resume else run.begin()
        return run.go(until)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train from the command line."""

    def act(options: argparse.Namespace) -> None:
        train_embedder(EmbedderTraining().changed(options.set), options, report=print_line)

    return run_command("embedder", "Train an embedder on a packed corpus.", arguments, act)


if __name__ == "__main__":
    sys.exit(main())
