"""Start a training from an encoder that was trained before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from glissando.errors import TrainingError
from glissando.model.encoder import Encoder


def take_over(network: Encoder, start: Encoder) -> str:
    """Give a new network the weights of a trained one; returns a hash of them."""
    if network.config != start.config:
        raise TrainingError("the encoder to start from has another config than the one to train; leave model.* unset")
    state = start.state_dict()
    network.load_state_dict(state)
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(state):
        digest.update(state[name].detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


@torch.no_grad()
def recentre(network: Encoder, batches: Iterable[tuple[Tensor, Tensor, Tensor]]) -> None:
    """Set the statistics of every batch norm to those of some batches; what the network computes stays the same.

    Training normalises by its own batches. Where an encoder's statistics are others, or are unknown because they were
    folded into its filters, the first step would throw it off.

    Args:
        network: the encoder to change.
        batches: (path [B, 2, n], keys [B, K, 2], mask [B, K]) as the encoder takes them.
    """
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm1d)]
    sums = {norm: torch.zeros(3, norm.num_features, dtype=torch.float64, device=norm.weight.device) for norm in norms}

    def add(norm: nn.BatchNorm1d, inputs: tuple[Tensor, ...]) -> None:
        rows = inputs[0].double()  # [N, C]
        sums[norm] += torch.stack([torch.ones_like(rows[0]) * len(rows), rows.sum(0), rows.square().sum(0)])

    hooks = [norm.register_forward_pre_hook(add) for norm in norms]
    training = network.training
    network.eval()
    try:
        for batch in batches:
            network(*batch)
    finally:
        network.train(training)
        for hook in hooks:
            hook.remove()
    for norm in norms:
        count, total, squares = sums[norm]
        mean = total / count
        _renorm(norm, mean, (squares / count - mean.square()).clamp(min=1e-12))


def _renorm(norm: nn.BatchNorm1d, mean: Tensor, variance: Tensor) -> None:
    """Give a batch norm other statistics, and the scale and shift that undo them. Shape: [C], [C]."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    shift = norm.bias.double() - norm.running_mean.double() * scale
    norm.weight.copy_(scale * (variance + norm.eps).sqrt())
    norm.bias.copy_(shift + mean * scale)
    norm.running_mean.copy_(mean)
    norm.running_var.copy_(variance)
