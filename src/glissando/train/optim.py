"""Optimizers (AdamW, Lion), the learning rate over a run, and the moving average of the weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

Module = TypeVar("Module", bound=nn.Module)


def parameter_groups(module: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Two groups of parameters: matrices and filters decay; biases, norms and gains, all vectors, do not."""
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


class Lion(torch.optim.Optimizer):
    """Lion (Chen et al. 2023): every weight moves by the same step, in the direction of its momentum.

    For each weight p with gradient g and momentum m:

        p <- p - rate * (sign(beta1 m + (1 - beta1) g) + weight_decay p)
        m <- beta2 m + (1 - beta2) g

    Args:
        params: parameters, or groups of them.
        lr: the rate; every weight moves by as much each step.
        betas: of the direction, and of the momentum kept.
        weight_decay: decoupled, times the rate.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move every weight that has a gradient."""
        for group in self.param_groups:
            weights = [weight for weight in group["params"] if weight.grad is not None]
            if not weights:
                continue
            gradients = [weight.grad for weight in weights]
            momenta = [self._momentum(weight) for weight in weights]
            towards, keep = group["betas"]
            steps = torch._foreach_lerp(momenta, gradients, 1 - towards)
            torch._foreach_sign_(steps)
            torch._foreach_add_(steps, weights, alpha=group["weight_decay"])
            torch._foreach_add_(weights, steps, alpha=-group["lr"])
            torch._foreach_lerp_(momenta, gradients, 1 - keep)

    def _momentum(self, weight: Tensor) -> Tensor:
        """The momentum of a weight, zero at first."""
        slots = self.state[weight]
        if not slots:
            slots["momentum"] = torch.zeros_like(weight)
        return slots["momentum"]


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

    The decay grows with the steps, (1 + t) / (10 + t), up to its full value, so the first weights are soon forgotten.
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
