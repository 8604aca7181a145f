"""The spline's elimination as one Triton kernel: a program per block of words, along their letters and back.

``spline.solve_band`` launches a few small kernels per letter; this does the same in one. It is imported only where
there is a GPU.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 128  # words per program


@torch.library.custom_op("glissando::solve_band", mutates_args=())
def solve_band(band: Tensor) -> Tensor:
    """Solve as ``spline.solve_band`` does. Shapes: [B, m, 4, 2, 2] -> [B, m, 2, 2]."""
    batch, points = band.shape[:2]
    # Words side by side, so that neighbouring threads read neighbouring numbers.
    rows = band.float().flatten(2).permute(1, 2, 0).contiguous()  # [m, 16, B]
    kept = torch.empty(points, 8, batch, device=band.device)
    rates = torch.empty(points, 4, batch, device=band.device)
    _eliminate[(triton.cdiv(batch, BLOCK),)](rows, kept, rates, batch, points, BLOCK)
    return rates.permute(2, 0, 1).reshape(batch, points, 2, 2)


@solve_band.register_fake
def _(band: Tensor) -> Tensor:
    return torch.empty(*band.shape[:2], 2, 2, device=band.device)


@triton.jit
def _eliminate(rows, kept, rates, batch, points: tl.constexpr, block: tl.constexpr):  # type: ignore[no-untyped-def]
    word = tl.program_id(0) * block + tl.arange(0, block)
    inside = word < batch
    zero = tl.zeros([block], dtype=tl.float32)
    g0, g1, g2, g3 = zero, zero, zero, zero  # what the next point weighs in this one
    k0, k1, k2, k3 = zero, zero, zero, zero  # what is known of this one
    for i in range(points):
        here = rows + i * 16 * batch + word
        l0, l1, l2, l3 = _load(here, batch, inside)
        c0, c1, c2, c3 = _load(here + 4 * batch, batch, inside)
        r0, r1, r2, r3 = _load(here + 8 * batch, batch, inside)
        j0, j1, j2, j3 = _load(here + 12 * batch, batch, inside)
        p0, p1, p2, p3 = _product(l0, l1, l2, l3, g0, g1, g2, g3)
        c0, c1, c2, c3 = c0 - p0, c1 - p1, c2 - p2, c3 - p3
        scale = 1 / (c0 * c3 - c1 * c2)
        n0, n1, n2, n3 = c3 * scale, -c1 * scale, -c2 * scale, c0 * scale  # the inverse
        p0, p1, p2, p3 = _product(l0, l1, l2, l3, k0, k1, k2, k3)
        k0, k1, k2, k3 = _product(n0, n1, n2, n3, j0 - p0, j1 - p1, j2 - p2, j3 - p3)
        g0, g1, g2, g3 = _product(n0, n1, n2, n3, r0, r1, r2, r3)
        _store(kept + i * 8 * batch + word, batch, inside, g0, g1, g2, g3)
        _store(kept + (i * 8 + 4) * batch + word, batch, inside, k0, k1, k2, k3)
    x0, x1, x2, x3 = zero, zero, zero, zero
    for back in range(points):
        i = points - 1 - back
        g0, g1, g2, g3 = _load(kept + i * 8 * batch + word, batch, inside)
        k0, k1, k2, k3 = _load(kept + (i * 8 + 4) * batch + word, batch, inside)
        p0, p1, p2, p3 = _product(g0, g1, g2, g3, x0, x1, x2, x3)
        x0, x1, x2, x3 = k0 - p0, k1 - p1, k2 - p2, k3 - p3
        _store(rates + i * 4 * batch + word, batch, inside, x0, x1, x2, x3)


@triton.jit
def _product(a0, a1, a2, a3, b0, b1, b2, b3):  # type: ignore[no-untyped-def]
    return a0 * b0 + a1 * b2, a0 * b1 + a1 * b3, a2 * b0 + a3 * b2, a2 * b1 + a3 * b3


@triton.jit
def _load(place, stride, inside):  # type: ignore[no-untyped-def]
    a = tl.load(place, mask=inside, other=0.0)
    b = tl.load(place + stride, mask=inside, other=0.0)
    c = tl.load(place + 2 * stride, mask=inside, other=0.0)
    d = tl.load(place + 3 * stride, mask=inside, other=0.0)
    return a, b, c, d


@triton.jit
def _store(place, stride, inside, a, b, c, d):  # type: ignore[no-untyped-def]
    tl.store(place, a, mask=inside)
    tl.store(place + stride, b, mask=inside)
    tl.store(place + 2 * stride, c, mask=inside)
    tl.store(place + 3 * stride, d, mask=inside)
