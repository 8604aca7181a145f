"""What the frozen encoder says of the training swipes: precomputed once, or made anew for moved paths.

Only coefficients and gate are kept; log-emissions are rebuilt from them when a batch is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from glissando.model.decoder import frame_features
from glissando.model.encoder import Encoder, read_heads
from glissando.train.batches import Corpus, Shelf, Stored
from glissando.train.jitter import JitterConfig, jitter
from glissando.train.strangers import Readers

CHUNK = 1024  # swipes encoded at a time


class Frames:
    """The decoder's inputs for rows of a corpus.

    Args:
        encoder: frozen, on the device.
        corpus: swipes on one layout.
        rows: [n] which of them.
        moves: how paths are moved; where they are, or where the encoder drops out, nothing is precomputed.
        readers: strangers that read rows in the encoder's place.
    """

    def __init__(
        self,
        encoder: Encoder,
        corpus: Corpus,
        rows: np.ndarray,
        moves: JitterConfig | None = None,
        readers: Readers | None = None,
    ) -> None:
        device = next(encoder.parameters()).device
        self.encoder, self.moves, self.readers = encoder, moves or JitterConfig(), readers or Readers()
        self.keys, self.mask = corpus.keys[0].to(device), corpus.mask[0].to(device)
        batch = Shelf.of(corpus, device).unpack(Stored(*(part.to(device) for part in corpus.read(rows))))
        self.path, self.targets, self.lengths = batch.path, batch.targets, batch.lengths
        self.alive = self.moves.moves or any(part.training for part in encoder.modules())
        empty = torch.empty(0, device=device)
        self.heads = empty if self.alive else self._precompute()  # [n, T, N * N + 1]
        self.strange = empty if self.alive else self._precompute_strange()  # the same by each row's stranger

    def __len__(self) -> int:
        return len(self.lengths)

    def features(self, index: Tensor, generator: torch.Generator | None = None, counts: tuple[int, ...] = ()) -> Tensor:
        """The features of some rows. Shapes: [B] -> [B, T, K + 1 + N * N + 1].

        Args:
            index: places among the rows.
            generator: moves the paths, where they are moved.
            counts: rows of the encoder, of the first stranger ..., as ``Readers.deal`` sorts them; none reads all rows
                by the encoder.
        """
        counts = counts or (len(index),)
        if not self.alive:
            known, strange = index[: counts[0]], index[counts[0] :]
            return self._read(
                torch.cat([self.heads[known], self.strange[strange]]) if len(strange) else self.heads[known]
            )
        path = self.path[index]
        if self.moves.moves and generator is not None:
            path = jitter(path, 2 * self.keys[:, 2:].mean(dim=0), self.moves, generator)
        readers = (self.encoder, *self.readers.strangers)
        parts = zip(readers, path.split(counts), strict=False)
        return self._read(torch.cat([self._encode(part, reader) for reader, part in parts if len(part)]))

    def _precompute(self) -> Tensor:
        """Coefficients and gate of all rows, by the encoder."""
        return torch.cat([self._encode(path, self.encoder) for path in self.path.split(CHUNK)])

    def _precompute_strange(self) -> Tensor:
        """Coefficients and gate of all rows, each by its stranger; anything for those that have none."""
        if self.readers.of is None:
            return self.heads[:0]
        found = torch.empty_like(self.heads)
        for number, stranger in enumerate(self.readers.strangers, start=1):
            for rows in torch.nonzero(self.readers.of == number)[:, 0].split(CHUNK):
                found[rows] = self._encode(self.path[rows], stranger)
        return found

    @torch.no_grad()
    def _encode(self, path: Tensor, encoder: Encoder) -> Tensor:
        """Coefficients and gate of some paths. Shape: [B, T, N * N + 1]."""
        keys, mask = self.keys[:, :2].expand(len(path), -1, -1), self.mask.expand(len(path), -1)
        with exact_products():
            emissions = encoder(path, keys, mask)
        return torch.cat([emissions.coefficients, emissions.gate[..., None]], dim=-1)

    def _read(self, heads: Tensor) -> Tensor:
        """Rebuild the log-emissions on the layout."""
        keys, mask = self.keys[None, :, :2].expand(len(heads), -1, -1), self.mask.expand(len(heads), -1)
        with exact_products():
            return frame_features(read_heads(self.encoder.config, heads, keys, mask))


@contextmanager
def exact_products() -> Iterator[None]:
    """Multiply matrices in all of float32: coefficients are large, and TF32 would move emissions by hundredths."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def freeze(encoder: Encoder, dropout: float = 0.0) -> Encoder:
    """Make an encoder give features: no gradients, statistics fixed, dropout as asked for."""
    encoder.eval().requires_grad_(False)
    for module in encoder.modules():
        if isinstance(module, nn.Dropout) and dropout:
            module.p = dropout
            module.train()
    return encoder
