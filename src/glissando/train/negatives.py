"""Mine hard negatives: for every word, the words that its swipes are mistaken for.

Every swipe of a word, and the word's own path, retrieve their nearest words in the embedding; what is retrieved
most often makes up the word's pool. Words without swipes have their path alone.

    python -m glissando.train.negatives --pack train.npz --val val.npz --lexicon en.combined.gz \\
        --embedder runs/embedder/embedder.safetensors --out negatives.npz
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from glissando.errors import TrainingError
from glissando.model.checkpoint import load_embedder
from glissando.model.embedder import Embedder
from glissando.train.batches import Corpus
from glissando.train.decoder_config import MiningConfig
from glissando.train.embedder import embed_vocabulary, open_words, swipes_of
from glissando.train.holdout import held_out
from glissando.train.pools import Pools
from glissando.train.run import run_command
from glissando.train.vocabulary import Vocabulary, spellings
from glissando.train.world import join_world

QUERIES = 1024  # swipes that look for neighbours at a time


def mine(
    embedder: Embedder,
    corpus: Corpus,
    held: np.ndarray,
    vocabulary: Vocabulary,
    queries: np.ndarray,
    config: MiningConfig,
    progress: Callable[[float], None] | None = None,
) -> Pools:
    """Find the pools of words.

    Args:
        embedder: on the device to work on.
        corpus: the swipes, on the embedder's layout.
        held: [n] bool, rows that are set aside.
        vocabulary: all words.
        queries: [Q] numbers of the words that need pools, each once.
        config: how many.
        progress: told the share that is done.
    """
    device = next(embedder.parameters()).device
    keys = corpus.keys[0].to(device)
    texts = embed_vocabulary(embedder, vocabulary, keys)
    swipes = swipes_of(corpus, np.flatnonzero(~held), vocabulary, device)
    asked = torch.from_numpy(queries).to(device)
    # What looks for neighbours, and for which word: swipes first, then the words themselves.
    seekers = torch.cat([swipes.words, asked])
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for start in range(0, len(seekers), QUERIES):
        words = seekers[start : start + QUERIES]
        paths = swipes.path[start : start + QUERIES]
        with torch.no_grad():
            embedded = embedder.embed_swipes(paths, keys) if len(paths) else texts[:0]
        embedded = torch.cat([embedded, texts[words[len(paths) :]]])
        found.append(_nearest(embedded, words, texts[: vocabulary.candidates], config.neighbours))
        if progress:
            progress((start + len(words)) / len(seekers))
    pairs = np.concatenate([pair for pair, _ in found])
    nearness = np.concatenate([near for _, near in found])
    return Pools.gather(vocabulary, queries, pairs, nearness, config.pool)


def _nearest(embedded: Tensor, words: Tensor, texts: Tensor, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (word, neighbour) [n, 2] and their nearness [n]; a word is not its own neighbour."""
    near, neighbour = (embedded @ texts.T).topk(min(count + 1, len(texts)), dim=1)
    other = neighbour != words[:, None]
    other &= other.cumsum(dim=1) <= count
    pairs = torch.stack([words[:, None].expand_as(neighbour), neighbour], dim=2)[other]
    return pairs.cpu().numpy(), near[other].float().cpu().numpy()


def mine_negatives(
    config: MiningConfig, options: argparse.Namespace, progress: Callable[[float], None] | None = None
) -> Pools:
    """Mine the negatives of two corpora's words and write them.

    Args:
        config: the settings.
        options: ``pack``, ``val``, ``lexicon``, ``embedder``, ``out`` and ``device`` as the command line gives them.
        progress: told the share that is done.
    """
    for name in ("lexicon", "embedder"):
        if getattr(options, name) is None:
            raise TrainingError(f"mining negatives needs --{name}")
    with join_world(options.device) as world:
        embedder, _ = load_embedder(options.embedder)
        corpus = Corpus.open(options.pack, embedder.config.points)
        val = Corpus.open(options.val, embedder.config.points) if options.val else None
        held = held_out(np.asarray(corpus.pack.sessions)[corpus.kept], config.holdout, config.holdout_seed)
        words = open_words(corpus, val, options.lexicon, held, config.least_frequency)
        wanted = spellings(corpus.pack, corpus.kept) + ([] if val is None else spellings(val.pack, val.kept))
        queries = np.unique(words.find(wanted))
        pools = mine(embedder.to(world.device), corpus, held, words, queries, config, progress)
        pools.save(options.out)
        return pools


def main(arguments: Sequence[str] | None = None) -> int:
    """Mine from the command line."""

    def act(options: argparse.Namespace) -> None:
        pools = mine_negatives(MiningConfig().changed(options.set), options)
        print(f"{options.out}: {pools.summary()}")

    return run_command("negatives", "Mine the hard negatives of a packed corpus.", arguments, act)


if __name__ == "__main__":
    sys.exit(main())
