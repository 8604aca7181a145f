"""The CTC recursion as one Triton kernel: a program per word, all its frames in one launch.

torch.compile turns the plain recursion of losses.py into a small kernel per frame, each of which has to be compiled and
launched; this is the same loop inside one kernel. ``losses.use_kernel`` imports it.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

NOWHERE: tl.constexpr = tl.constexpr(-1e30)  # losses.IMPOSSIBLE


@torch.library.custom_op("glissando::ctc_recursion", mutates_args=())
def ctc_recursion(emissions: Tensor, skip: Tensor) -> Tensor:
    """Score the paths to every state, as ``losses.recursion`` does. Shapes: [B, T, S], [B, S] bool -> [B, T, S]."""
    emissions = emissions.contiguous()
    scores = torch.empty_like(emissions)
    batch, frames, states = emissions.shape
    block = triton.next_power_of_2(states)
    _recursion_kernel[(batch,)](
        emissions, skip.to(torch.int8), scores, frames, states, block, num_warps=1, num_stages=1
    )
    return scores


@ctc_recursion.register_fake
def _(emissions: Tensor, skip: Tensor) -> Tensor:
    return torch.empty_like(emissions, memory_format=torch.contiguous_format)


@triton.jit
def _recursion_kernel(emissions, skip, scores, frames: tl.constexpr, states, block: tl.constexpr):  # type: ignore[no-untyped-def]
    word = tl.program_id(0).to(tl.int64)
    state = tl.arange(0, block)
    inside = state < states
    may_skip = tl.load(skip + word * states + state, mask=inside & (state >= 2), other=0) != 0
    here = word * frames * states + state
    score = tl.load(emissions + here, mask=inside & (state < 2), other=NOWHERE)
    tl.store(scores + here, score, mask=inside)
    for _ in range(1, frames):
        # A state's neighbours are in other threads' registers, so they are read from what was just stored.
        tl.debug_barrier()
        one = tl.load(scores + here - 1, mask=inside & (state >= 1), other=NOWHERE)
        two = tl.load(scores + here - 2, mask=may_skip, other=NOWHERE)
        here += states
        emission = tl.load(emissions + here, mask=inside, other=NOWHERE)
        best = tl.maximum(tl.maximum(score, one), two)
        mass = tl.exp(score - best) + tl.exp(one - best) + tl.exp(two - best)
        score = tl.maximum(best + tl.log(mass) + emission, NOWHERE)
        tl.store(scores + here, score, mask=inside)
