"""Lion (Chen et al. 2023): every weight moves by the same step, in the direction that two momenta agree on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor


class Lion(torch.optim.Optimizer):
    """The published update, for each weight p with gradient g and momentum m:

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
