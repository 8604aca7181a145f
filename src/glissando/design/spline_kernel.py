"""The spline's elimination as one Triton kernel: a program per block of words, along their letters and back.

The plain form in minimum_jerk.py launches some fifty small kernels per letter; this is the same in one. It is
imported only where there is a GPU.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 128  # words per program


@torch.library.custom_op("glissando::spline_rates", mutates_args=())
def spline_rates(step: Tensor, h: Tensor, rest: Tensor) -> Tensor:
    """Velocities and accelerations, as ``minimum_jerk._rates`` finds them.

    Shapes: [B, L - 1, 2], [B, L - 1], [B, L] bool -> [B, L, 4] with vx, vy, ax, ay.
    """
    batch, legs = h.shape
    # Letter by letter, words side by side, so that neighbouring threads read neighbouring numbers.
    x, y = step.float().permute(2, 1, 0).contiguous()  # [L - 1, B]
    times, still = h.float().T.contiguous(), rest.T.to(torch.int8).contiguous()
    kept = torch.empty(legs, 8, batch, device=h.device)
    rates = torch.zeros(legs + 1, 4, batch, device=h.device)
    _eliminate[(triton.cdiv(batch, BLOCK),)](x, y, times, still, kept, rates, batch, legs, BLOCK)
    return rates.permute(2, 0, 1).contiguous()


@spline_rates.register_fake
def _(step: Tensor, h: Tensor, rest: Tensor) -> Tensor:
    return torch.empty(h.shape[0], h.shape[1] + 1, 4, device=h.device)


@triton.jit
def _eliminate(x, y, times, still, kept, rates, batch, legs: tl.constexpr, block: tl.constexpr):  # type: ignore[no-untyped-def]
    word = tl.program_id(0) * block + tl.arange(0, block)
    inside = word < batch
    zero = tl.zeros([block], dtype=tl.float32)
    g00, g01, g10, g11 = zero, zero, zero, zero  # what the next point weighs in this one's unknowns
    vx, ax, vy, ay = zero, zero, zero, zero  # what is known of them
    for i in range(1, legs):
        before = 1 / tl.load(times + (i - 1) * batch + word, mask=inside, other=1.0)
        after = 1 / tl.load(times + i * batch + word, mask=inside, other=1.0)
        b2, b3, a2, a3 = before * before, before * before * before, after * after, after * after * after
        # Row 1 is jerk, row 2 is snap; the left neighbour's share is eliminated by what is known of it.
        l00, l01, l10, l11 = -24 * b2, -3 * before, -168 * b3, -24 * b2
        m00 = 36 * (a2 - b2) - (l00 * g00 + l01 * g10)
        m01 = 9 * (after + before) - (l00 * g01 + l01 * g11)
        m10 = -192 * (a3 + b3) - (l10 * g00 + l11 * g10)
        m11 = 36 * (b2 - a2) - (l10 * g01 + l11 * g11)
        free = tl.load(still + i * batch + word, mask=inside, other=1) == 0
        scale = tl.where(free, 1 / (m00 * m11 - m01 * m10), 0.0)
        n00, n01, n10, n11 = m11 * scale, -m01 * scale, -m10 * scale, m00 * scale
        x0 = tl.load(x + (i - 1) * batch + word, mask=inside, other=0.0)
        x1 = tl.load(x + i * batch + word, mask=inside, other=0.0)
        y0 = tl.load(y + (i - 1) * batch + word, mask=inside, other=0.0)
        y1 = tl.load(y + i * batch + word, mask=inside, other=0.0)
        jerk_x = 60 * (x1 * a3 - x0 * b3) - (l00 * vx + l01 * ax)
        snap_x = -360 * (x1 * a3 * after + x0 * b3 * before) - (l10 * vx + l11 * ax)
        jerk_y = 60 * (y1 * a3 - y0 * b3) - (l00 * vy + l01 * ay)
        snap_y = -360 * (y1 * a3 * after + y0 * b3 * before) - (l10 * vy + l11 * ay)
        vx, ax = n00 * jerk_x + n01 * snap_x, n10 * jerk_x + n11 * snap_x
        vy, ay = n00 * jerk_y + n01 * snap_y, n10 * jerk_y + n11 * snap_y
        r00, r01, r10, r11 = 24 * a2, -3 * after, -168 * a3, 24 * a2
        g00, g01 = n00 * r00 + n01 * r10, n00 * r01 + n01 * r11
        g10, g11 = n10 * r00 + n11 * r10, n10 * r01 + n11 * r11
        here = kept + i * 8 * batch + word
        tl.store(here, g00, mask=inside)
        tl.store(here + batch, g01, mask=inside)
        tl.store(here + 2 * batch, g10, mask=inside)
        tl.store(here + 3 * batch, g11, mask=inside)
        tl.store(here + 4 * batch, vx, mask=inside)
        tl.store(here + 5 * batch, ax, mask=inside)
        tl.store(here + 6 * batch, vy, mask=inside)
        tl.store(here + 7 * batch, ay, mask=inside)
    vx, ax, vy, ay = zero, zero, zero, zero
    for back in range(1, legs):
        i = legs - back
        here = kept + i * 8 * batch + word
        h00 = tl.load(here, mask=inside, other=0.0)
        h01 = tl.load(here + batch, mask=inside, other=0.0)
        h10 = tl.load(here + 2 * batch, mask=inside, other=0.0)
        h11 = tl.load(here + 3 * batch, mask=inside, other=0.0)
        next_vx = tl.load(here + 4 * batch, mask=inside, other=0.0) - (h00 * vx + h01 * ax)
        next_ax = tl.load(here + 5 * batch, mask=inside, other=0.0) - (h10 * vx + h11 * ax)
        next_vy = tl.load(here + 6 * batch, mask=inside, other=0.0) - (h00 * vy + h01 * ay)
        next_ay = tl.load(here + 7 * batch, mask=inside, other=0.0) - (h10 * vy + h11 * ay)
        vx, ax, vy, ay = next_vx, next_ax, next_vy, next_ay
        out = rates + i * 4 * batch + word
        tl.store(out, vx, mask=inside)
        tl.store(out + batch, vy, mask=inside)
        tl.store(out + 2 * batch, ax, mask=inside)
        tl.store(out + 3 * batch, ay, mask=inside)
