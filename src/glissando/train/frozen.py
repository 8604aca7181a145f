"""What the frozen encoder says of swipes, precomputed once.

Only coefficients and gate are kept; log-emissions are rebuilt from them when a batch is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from glissando.model.decoder import frame_features
from glissando.model.encoder import Encoder, read_heads
from glissando.train.batches import Corpus, Shelf, Stored

CHUNK = 1024  # swipes encoded at a time


class Frames:
    """The decoder's inputs for rows of a corpus.

    Args:
        encoder: in evaluation mode, on the device.
        corpus: swipes on one layout.
        rows: [n] which of them.
    """

    def __init__(self, encoder: Encoder, corpus: Corpus, rows: np.ndarray) -> None:
        device = next(encoder.parameters()).device
        self.config = encoder.config
        self.keys, self.mask = corpus.keys[0, :, :2].to(device), corpus.mask[0].to(device)  # [K, 2], [K]
        shelf, stored = Shelf.of(corpus, device), corpus.read(rows)
        path = shelf.unpack(Stored(*(part.to(device) for part in stored))).path
        self.heads = torch.cat([self._encode(encoder, some) for some in path.split(CHUNK)])  # [n, T, N * N + 1]

    def __len__(self) -> int:
        return len(self.heads)

    def features(self, index: Tensor) -> Tensor:
        """The features of some of the rows. Shapes: [B] -> [B, T, K + 1 + N * N + 1]."""
        with exact_products():
            return frame_features(read_heads(self.config, self.heads[index], *self._layout(len(index))))

    @torch.no_grad()
    def _encode(self, encoder: Encoder, path: Tensor) -> Tensor:
        """Coefficients and gate of some paths. Shape: [B, T, N * N + 1]."""
        with exact_products():
            emissions = encoder(path, *self._layout(len(path)))
        return torch.cat([emissions.coefficients, emissions.gate[..., None]], dim=-1)

    def _layout(self, batch: int) -> tuple[Tensor, Tensor]:
        """Key centres [B, K, 2] and which are keys [B, K], the same for every swipe."""
        return self.keys.expand(batch, -1, -1), self.mask.expand(batch, -1)


@contextmanager
def exact_products() -> Iterator[None]:
    """Multiply matrices in all of float32: coefficients are large, and TF32 would move emissions by hundredths."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
