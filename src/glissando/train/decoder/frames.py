"""The decoder's inputs: the outputs of the frozen encoder, computed once.

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
from glissando.train.batches import TrainingSet
from glissando.train.decoder.negatives import Pools
from glissando.train.decoder.words import spellings

CHUNK = 1024  # swipes encoded at a time


class EncodedSwipes:
    """Rows of a corpus as the decoder reads them.

    Args:
        encoder: in evaluation mode, on the device.
        corpus: swipes on one layout.
        rows: [n] which of them.
        pools: the negatives of their words.

    Attributes:
        place: [n] where each row's word is among the pools.
    """

    def __init__(self, encoder: Encoder, corpus: TrainingSet, rows: np.ndarray, pools: Pools) -> None:
        device = next(encoder.parameters()).device
        self.config = encoder.config
        words = pools.vocabulary.find(spellings(corpus.pack, corpus.kept[rows]))
        self.place = torch.from_numpy(pools.place(words)).to(device)
        keys, mask, _ = corpus.table.to(device)
        self.keys, self.mask = keys[0, :, :2], mask[0]  # [K, 2], [K]
        path = corpus.load(rows, device).path
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
        """Key centres [B, K, 2] and mask [B, K], the same for every swipe."""
        return self.keys.expand(batch, -1, -1), self.mask.expand(batch, -1)


@contextmanager
def exact_products() -> Iterator[None]:
    """Multiply matrices in full float32: coefficients are large, and TF32 would move emissions by hundredths."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
