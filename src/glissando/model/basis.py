"""How coefficients become a field over the keyboard, read off at the keys.

The keyboard enters here, at run time, and nowhere else. Either basis is a weighting [B, K, N * N] of the
coefficients; a key's logit is their product (eq. 2).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def cosine_basis(keys: Tensor, resolution: int = 8) -> Tensor:
    """Evaluate the cosine basis at every key centre (eq. 1).

    Args:
        keys: [B, K, 2] key centres in the unit square.
        resolution: N; the head emits N * N coefficients.

    Returns:
        [B, K, N * N], row k holding cos(pi u x_k) cos(pi v y_k), v fastest.
    """
    frequency = math.pi * torch.arange(resolution, dtype=keys.dtype, device=keys.device)
    return _separable(torch.cos(keys[..., None] * frequency))


def grid_basis(keys: Tensor, resolution: int = 8) -> Tensor:
    """Weigh a grid of N x N values by bilinear interpolation at every key centre.

    The nodes are spread evenly over the unit square, its edges included, so each row is a product of two hat
    functions and sums to one.

    Args:
        keys: [B, K, 2] key centres; outside the unit square they count as on its edge.
        resolution: N; the head emits the values at N * N nodes.

    Returns:
        [B, K, N * N], the node's row (along y) fastest.
    """
    node = torch.arange(resolution, dtype=keys.dtype, device=keys.device)
    cells = keys.clamp(0, 1)[..., None] * (resolution - 1)
    return _separable((1 - (cells - node).abs()).clamp(min=0))


def _separable(waves: Tensor) -> Tensor:
    """Multiply what depends on x with what depends on y. Shape: [B, K, 2, N] -> [B, K, N * N]."""
    return (waves[..., 0, :, None] * waves[..., 1, None, :]).flatten(-2)
