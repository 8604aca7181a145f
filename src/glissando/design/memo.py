"""Costs once computed, by a 64-bit key, on the device: the search meets most words of a step again in the next."""

from __future__ import annotations

import torch
from torch import Tensor

EMPTY = 0  # no key hashes to it but with odds of one in 2^64


class Memo:
    """A hash table of a fixed size, one entry to a place: a newcomer takes the place of what was there.

    Args:
        bits: it has 2^bits places of 16 bytes.
        device: where it lives.
    """

    def __init__(self, bits: int, device: torch.device) -> None:
        self.keys = torch.full((1 << bits,), EMPTY, dtype=torch.int64, device=device)
        self.values = torch.zeros(1 << bits, device=device)
        self.claims = torch.zeros(1 << bits, dtype=torch.int32, device=device)
        self.mask = (1 << bits) - 1

    def get(self, keys: Tensor) -> tuple[Tensor, Tensor]:
        """Values and whether each is known. Shape: [n] int64 -> [n] float32, [n] bool."""
        place = keys & self.mask
        return self.values[place], self.keys[place] == keys

    def put(self, keys: Tensor, values: Tensor) -> None:
        """Keep values. Shapes: [n] int64, [n] float32.

        Of several newcomers to a place one writes both key and value: writes to one place race on a GPU.
        """
        place = keys & self.mask
        row = torch.arange(len(keys), dtype=torch.int32, device=keys.device)
        self.claims[place] = row
        won = (self.claims[place] == row).nonzero()[:, 0]
        self.keys[place[won]] = keys[won]
        self.values[place[won]] = values[won]


def hash_table(rows: int, columns: int, seed: int, device: torch.device) -> Tensor:
    """Random 64-bit numbers whose sums serve as keys (Zobrist). Shape: [rows, columns] int64."""
    generator = torch.Generator().manual_seed(seed)
    # Two draws, since torch draws at most 63 bits; products and sums wrap.
    high = torch.randint(0, 1 << 62, (rows, columns), generator=generator)
    low = torch.randint(0, 1 << 62, (rows, columns), generator=generator)
    return (high * 4 + low % 4 - (1 << 62)).to(device)
