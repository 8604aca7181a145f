"""Hard negatives on disk and on a device: every word has a pool of words that its swipes are mistaken for.

An .npz without objects:

    letters      uint8  [letters]  key indices of all words, end to end
    offsets      int64  [W + 1]    where each word begins
    frequencies  uint8  [W]        frequency bytes
    candidates   int64  []         number of words, the first ones, that may be negatives
    queries      int32  [Q]        the words that have pools
    starts       int64  [Q + 1]    where each pool begins
    members      int32  [M]        the negatives, most often retrieved first
    counts       int32  [M]        how often each was retrieved
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from glissando.errors import TrainingError
from glissando.files import replacing
from glissando.train.decoder.words import SpelledWords

ARRAYS = ("letters", "offsets", "frequencies", "candidates", "queries", "starts", "members", "counts")


@dataclass(frozen=True, eq=False)
class Pools:
    """The negatives of words; arrays as the module's docstring lists them."""

    vocabulary: SpelledWords
    queries: np.ndarray
    starts: np.ndarray
    members: np.ndarray
    counts: np.ndarray

    @classmethod
    def gather(
        cls, vocabulary: SpelledWords, queries: np.ndarray, pairs: np.ndarray, nearness: np.ndarray, most: int
    ) -> Pools:
        """Make pools of the retrieved words, sorted by hits, and among equal hits by mean nearness.

        Args:
            vocabulary: all words.
            queries: [Q] words that get a pool.
            pairs: [n, 2] int64 (word, retrieved word), once for every hit.
            nearness: [n] of each hit.
            most: most negatives of a word.
        """
        key, inverse, counts = np.unique(
            pairs[:, 0] * len(vocabulary) + pairs[:, 1], return_inverse=True, return_counts=True
        )
        mean = np.bincount(inverse, weights=nearness) / counts
        word, member = np.divmod(key, len(vocabulary))
        order = np.lexsort((-mean, -counts, word))
        word, member, counts = word[order], member[order], counts[order]
        first = np.searchsorted(word, word)  # where each word's hits begin
        kept = (np.arange(len(word)) - first < most) & np.isin(word, queries)
        word, member, counts = word[kept], member[kept], counts[kept]
        queries = np.sort(queries)
        starts = np.append(np.searchsorted(word, queries), len(word))
        return cls(vocabulary, queries.astype(np.int32), starts, member.astype(np.int32), counts.astype(np.int32))

    @classmethod
    def open(cls, path: str | Path) -> Pools:
        """Read what ``save`` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in ARRAYS}
        except (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise TrainingError(f"cannot read negatives {path}: {error}") from None
        letters, offsets, frequencies, candidates = (arrays.pop(name) for name in ARRAYS[:4])
        pools = cls(SpelledWords(letters, offsets, frequencies, int(candidates)), **arrays)
        if len(pools.starts) != len(pools.queries) + 1 or pools.starts[-1] != len(pools.members):
            raise TrainingError(f"negatives {path} are damaged: pools and members do not fit")
        if len(pools.members) and not 0 <= pools.members.min() <= pools.members.max() < len(pools.vocabulary):
            raise TrainingError(f"negatives {path} are damaged: a member is no word")
        return pools

    def save(self, path: str | Path) -> None:
        """Write the pools, whole or not at all."""
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **self.arrays)  # type: ignore[arg-type]

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, by name."""
        words = self.vocabulary
        parts = (words.letters, words.offsets, words.frequencies, np.int64(words.candidates))
        rest = (self.queries, self.starts, self.members, self.counts)
        return {name: np.asarray(array) for name, array in zip(ARRAYS, (*parts, *rest), strict=True)}

    @cached_property
    def digest(self) -> str:
        """A checksum of all arrays; a run resumes only with the same negatives."""
        digest = hashlib.blake2b(digest_size=16)
        for name, array in self.arrays.items():
            digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def summary(self) -> str:
        """The number of words and of their negatives, in words."""
        sizes = np.diff(self.starts)
        return f"{len(sizes):,} words with {sizes.mean():.0f} negatives each, of {self.vocabulary.candidates:,} words"

    def pool(self, word: int) -> tuple[np.ndarray, np.ndarray]:
        """The negatives of a word and how often each was retrieved."""
        place = int(np.searchsorted(self.queries, word))
        if place == len(self.queries) or self.queries[place] != word:
            raise TrainingError(f"word {word} has no pool")
        span = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.members[span], self.counts[span]

    def place(self, words: np.ndarray) -> np.ndarray:
        """Where each word's pool is among ``queries``. Shape: [n] -> [n] int64."""
        place = np.searchsorted(self.queries, words).clip(max=len(self.queries) - 1)
        if len(words) and (self.queries[place] != words).any():
            lost = int((self.queries[place] != words).sum())
            raise TrainingError(f"{lost:,} swipes have words without negatives; mine negatives for this corpus")
        return place


class Candidates(NamedTuple):
    """The words to rank for each swipe, the truth first.

    Attributes:
        targets: [B, 1 + n, L] key indices.
        lengths: [B, 1 + n].
        frequencies: [B, 1 + n] bytes.
        valid: [B, 1 + n] bool, False where the pool has no more words.
    """

    targets: Tensor
    lengths: Tensor
    frequencies: Tensor
    valid: Tensor


class PoolTable:
    """Pools on a device, to draw from.

    Args:
        pools: the negatives.
        device: where they are wanted.
    """

    def __init__(self, pools: Pools, device: torch.device) -> None:
        self.targets, self.lengths, self.frequencies = pools.vocabulary.padded(device)
        sizes = np.diff(pools.starts)
        inside = np.arange(max(1, sizes.max())) < sizes[:, None]  # [Q, most]
        members = np.zeros(inside.shape, dtype=np.int64)
        members[inside] = pools.members
        self.queries = torch.from_numpy(pools.queries.astype(np.int64)).to(device)
        self.members, self.inside = torch.from_numpy(members).to(device), torch.from_numpy(inside).to(device)

    def draw(self, place: Tensor, count: int, generator: torch.Generator) -> Candidates:
        """Draw negatives evenly, without replacement.

        Args:
            place: [B] pools, from ``Pools.place``.
            count: negatives of each.
            generator: on the device.
        """
        size = self.members.shape[1]
        lots = torch.rand(len(place), size, generator=generator, device=place.device)
        lots = torch.where(self.inside[place], lots, -1.0)  # places without a word are drawn last
        return self.beside(place, lots.topk(min(count, size), dim=1).indices)

    def first(self, place: Tensor, count: int) -> Candidates:
        """The most often retrieved negatives of each pool."""
        chosen = torch.arange(min(count, self.members.shape[1]), device=place.device)
        return self.beside(place, chosen.expand(len(place), -1))

    def beside(self, place: Tensor, chosen: Tensor) -> Candidates:
        """The truth of each pool and the chosen of its members. Shapes: [B], [B, n]."""
        words = torch.cat([self.queries[place][:, None], self.members[place].gather(1, chosen)], dim=1)
        valid = torch.cat([torch.ones_like(place, dtype=torch.bool)[:, None], self.inside[place].gather(1, chosen)], 1)
        parts = self.targets[words].long(), self.lengths[words].long(), self.frequencies[words]
        return Candidates(*parts, valid)
