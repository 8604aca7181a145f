"""Random keyboards to carry swipes to, so that the network learns no layout by heart."""

from __future__ import annotations

import torch
from torch import Tensor

from glissando.train.batches import LayoutTable

ROWS = (2, 3, 3, 3, 3, 4, 4, 5, 5, 6)  # each as likely as it is listed
UNEVEN = 0.25  # rows differ in length by up to this share
FULL = 0.6  # share of keyboards that fill the width; as many fill the height
SMALLEST = (0.65, 0.7)  # share of width and height that the others take at the least
CENTRED = 0.5  # share of keyboards whose rows are centred; of the others each row starts anywhere it has room


def random_grids(count: int, letters: int, generator: torch.Generator, extra: int = 0) -> LayoutTable:
    """Draw keyboards: 2 to 6 rows, letters anywhere, and up to ``extra`` keys that no word uses.

    The extra keys stand for alphabets larger than the corpus's: more keys are narrower and have more neighbours.

    Args:
        count: B, keyboards to draw.
        letters: keys that words use; they come first.
        generator: on the device to draw them on.
        extra: most further keys; each keyboard draws its own number.

    Returns:
        keys [B, K, 4], mask [B, K], rows [B] with K = letters + extra.
    """
    capacity, device = letters + extra, generator.device
    draw = torch.rand((count, capacity + 3 * max(ROWS) + 8), generator=generator, device=device)
    order, weights, starts, other = draw.split([capacity, max(ROWS), 2 * max(ROWS), 8], dim=1)
    used = letters + (other[:, :1] * (extra + 1)).long()  # [B, 1] keys in all
    mask = torch.arange(capacity, device=device) < used  # [B, K]
    slot = torch.where(mask, order, 2.0).argsort(1).argsort(1)  # [B, K] a place for every key, those in use first
    table = torch.tensor(ROWS, device=device)
    rows = table[(other[:, 1] * len(ROWS)).long()]  # [B]
    ends = _row_ends(rows, used, weights)  # [B, R]
    row = (slot[..., None] >= ends[:, None]).sum(-1).clamp(max=max(ROWS) - 1)  # [B, K]
    first = torch.nn.functional.pad(ends[:, :-1], (1, 0))
    lengths = ends - first  # [B, R]
    widest = lengths.amax(1, keepdim=True)
    room = (widest - lengths).float()
    begin = room * torch.where(other[:, 2:3] < CENTRED, 0.5, starts[:, : max(ROWS)])  # [B, R] in key widths
    column = (slot - first.gather(1, row)) + begin.gather(1, row) + 0.5
    span_x = torch.where(other[:, 3] < FULL, 1.0, SMALLEST[0] + (1 - SMALLEST[0]) * other[:, 4])[:, None]
    span_y = torch.where(other[:, 5] < FULL, 1.0, SMALLEST[1] + (1 - SMALLEST[1]) * other[:, 6])[:, None]
    width, height = span_x / widest, span_y / rows[:, None]  # [B, 1] of a key
    x = (1 - span_x) * other[:, 7:8] + column * width
    y = (1 - span_y) * starts[:, -1:] + (row + 0.5) * height
    keys = torch.stack([x, y, (width / 2).expand_as(x), (height / 2).expand_as(y)], dim=2)
    return LayoutTable(torch.where(mask[..., None], keys, 0.0), mask, rows)


def _row_ends(rows: Tensor, used: Tensor, weights: Tensor) -> Tensor:
    """Where each row ends when keys are dealt out row by row. Shapes: [B], [B, 1], [B, R] -> [B, R]."""
    number = torch.arange(weights.shape[1], device=rows.device)
    share = torch.where(number < rows[:, None], 1 + UNEVEN * (2 * weights - 1), 0.0).cumsum(1)
    return (share / share[:, -1:] * used).round().long()
