"""AdamW, its learning rate over the run, and the moving average of the weights."""

from __future__ import annotations

import copy
import math
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)


def parameter_groups(module: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Divide parameters: matrices and filters decay; biases, norms and response gains, all vectors, do not."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    return [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]


def adamw(module: nn.Module, *, rate: float, betas: tuple[float, float], weight_decay: float) -> torch.optim.AdamW:
    """AdamW over a module's parameters, in one fused kernel on a GPU."""
    device = next(module.parameters()).device
    if device.type != "cuda":
        return torch.optim.AdamW(parameter_groups(module, weight_decay), lr=rate, betas=betas)
    # The rate is a tensor, so that a recorded step reads each step's own.
    groups = parameter_groups(module, weight_decay)
    return torch.optim.AdamW(groups, lr=torch.tensor(rate, device=device), betas=betas, fused=True, capturable=True)


def scheduled_rate(progress: float, *, peak: float, floor: float, warm_up: float) -> float:
    """The learning rate at a share of the run: linear from 0 to ``peak``, then a half cosine to ``floor``."""
    if progress < warm_up:
        return peak * progress / warm_up
    share = min(1.0, (progress - warm_up) / (1 - warm_up))
    return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Give every group the same learning rate."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


class Average(Generic[Module]):
    """An exponential moving average of a module's weights and batch-norm statistics, as a module of its own.

    The decay grows with the steps up to its full value, (1 + t) / (10 + t), so that the start is forgotten soon.
    """

    def __init__(self, module: Module, decay: float) -> None:
        self.decay = decay
        self.module = copy.deepcopy(module).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, module: Module, step: int) -> None:
        """Move towards the module; counters and other whole numbers are copied."""
        weight = 1 - min(self.decay, (1 + step) / (10 + step))
        mine, theirs = _tensors(self.module), _tensors(module)
        floating = [i for i, tensor in enumerate(mine) if tensor.is_floating_point()]
        torch._foreach_lerp_([mine[i] for i in floating], [theirs[i] for i in floating], weight)
        for mine_whole, theirs_whole in zip(mine, theirs, strict=True):
            if not mine_whole.is_floating_point():
                mine_whole.copy_(theirs_whole)


def _tensors(module: nn.Module) -> list[Tensor]:
    """Parameters and buffers, in a fixed order."""
    return [tensor.detach() for tensors in (module.parameters(), module.buffers()) for tensor in tensors]
