"""Several processes that train one network, as torchrun starts them; with one process everything here is a no-op.

The network is small (2.5 MB of gradients), so gradients are averaged in one message after the backward pass instead of
through DistributedDataParallel's wrapper: the compiled graph stays whole. Batch norm uses each process's own rows; its
running statistics are averaged before they are used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from glissando.errors import TrainingError


@dataclass(frozen=True)
class World:
    """Which process this is, of how many, and its device."""

    device: torch.device
    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes files and validates."""
        return self.rank == 0

    def average(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by their mean over all processes, in place, in one message."""
        if self.size == 1 or not tensors:
            return
        flat = torch.cat([tensor.detach().reshape(-1).float() for tensor in tensors])
        dist.all_reduce(flat)
        parts = (flat / self.size).split([tensor.numel() for tensor in tensors])
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.detach().copy_(part.view_as(tensor))

    def average_gradients(self, module: nn.Module) -> None:
        """Make every process hold the gradient of the whole batch."""
        self.average([parameter.grad for parameter in module.parameters() if parameter.grad is not None])

    def average_statistics(self, module: nn.Module) -> None:
        """Make every process hold the mean of all processes' batch-norm statistics."""
        norms = [part for part in module.modules() if isinstance(part, nn.BatchNorm1d)]
        self.average([buffer for norm in norms for buffer in norm.buffers() if buffer.is_floating_point()])

    def leading(self, value: float) -> float:
        """The leading process's value, on every process."""
        if self.size == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64, device=self.device)
        dist.broadcast(shared, src=0)
        return float(shared.item())

    def wait(self) -> None:
        """Wait until every process is here."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def join_world(device: str | None = None) -> Iterator[World]:
    """Join the processes torchrun started, if it did, and choose this one's device.

    Args:
        device: "cuda", "cuda:1" or "cpu"; by default a GPU where there is one.
    """
    size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    name = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda":
        name = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    try:
        chosen = torch.device(name)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise TrainingError(f"no device {device!r}: {str(error).splitlines()[0]}") from None
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    if size == 1:
        yield World(chosen)
        return
    dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield World(chosen, rank, size)
    finally:
        dist.destroy_process_group()
