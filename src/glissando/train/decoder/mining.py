"""Mine hard negatives: for every word, the words that its swipes are mistaken for.

Every swipe of a word, and the word's own path, retrieve their nearest words in the embedding; the words retrieved most
often make up the word's pool. Words without swipes have their path alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from glissando.model.checkpoint import load_embedder
from glissando.model.embedder import Embedder
from glissando.train.batches import TrainingSet
from glissando.train.decoder.config import MiningConfig
from glissando.train.decoder.embedder import Swipes, embed_vocabulary
from glissando.train.decoder.negatives import Pools
from glissando.train.decoder.words import SpelledWords, open_words, spellings
from glissando.train.run import Job
from glissando.train.sampling import held_out

QUERIES = 1024  # swipes that look for neighbours at a time

Hits = tuple[np.ndarray, np.ndarray]  # pairs (word, neighbour) [n, 2], and their nearness [n]


def mine_negatives(config: MiningConfig, job: Job, lexicon: Path, embedder: Path) -> Pools:
    """Mine the negatives of two corpora's words and write them to ``job.out``.

    Args:
        config: the settings.
        job: the corpora, the file to write and the device; ``job.report`` gets {"progress": share}.
        lexicon: a word list, AOSP or a word per line.
        embedder: the trained embedder.
    """
    with job.world(tf32=False) as world:
        network, _ = load_embedder(embedder)
        corpus = TrainingSet.open(job.pack, network.config.points)
        val = TrainingSet.open(job.val, network.config.points) if job.val else None
        held = held_out(corpus.sessions, config.holdout, config.holdout_seed)
        words = open_words(corpus, val, lexicon, held, config.least_frequency)
        wanted = spellings(corpus.pack, corpus.kept) + ([] if val is None else spellings(val.pack, val.kept))
        swipes = Swipes.of(corpus, np.flatnonzero(~held), words, world.device)
        queries = np.unique(words.find(wanted))
        network.to(world.device)
        parts = []
        for part, share in retrieve(network, swipes, queries, words, config.neighbours):
            parts.append(part)
            if job.report:
                job.report({"progress": share})
        pairs, nearness = (np.concatenate(column) for column in zip(*parts, strict=True))
        pools = Pools.gather(words, queries, pairs, nearness, config.pool)
        pools.save(job.out)
        return pools


def retrieve(
    embedder: Embedder, swipes: Swipes, queries: np.ndarray, vocabulary: SpelledWords, count: int
) -> Iterator[tuple[Hits, float]]:
    """Let swipes and words retrieve their neighbours, some at a time.

    Args:
        embedder: on the device of the swipes.
        swipes: on the embedder's layout.
        queries: [Q] numbers of the words that need pools, each once; they seek by their own path.
        vocabulary: all words.
        count: neighbours of each.

    Yields:
        The hits of some seekers, and the share of all that is done.
    """
    texts = embed_vocabulary(embedder, vocabulary, swipes.keys)
    # The word of every seeker: swipes first, then the words themselves.
    owners = torch.cat([swipes.words, torch.from_numpy(queries).to(texts.device)])
    for start in range(0, len(owners), QUERIES):
        words = owners[start : start + QUERIES]
        paths = swipes.path[start : start + QUERIES]
        with torch.no_grad():
            embedded = embedder.embed_swipes(paths, swipes.keys) if len(paths) else texts[:0]
        embedded = torch.cat([embedded, texts[words[len(paths) :]]])
        yield _nearest(embedded, words, texts[: vocabulary.candidates], count), (start + len(words)) / len(owners)


def _nearest(embedded: Tensor, words: Tensor, texts: Tensor, count: int) -> Hits:
    """Pairs (word, neighbour) [n, 2] and their nearness [n]; a word is not its own neighbour."""
    near, neighbour = (embedded @ texts.T).topk(min(count + 1, len(texts)), dim=1)
    other = neighbour != words[:, None]
    other &= other.cumsum(dim=1) <= count
    pairs = torch.stack([words[:, None].expand_as(neighbour), neighbour], dim=2)[other]
    return pairs.cpu().numpy(), near[other].float().cpu().numpy()
