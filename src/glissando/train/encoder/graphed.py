"""A training step recorded once as a CUDA graph and replayed: one launch instead of a thousand.

A small network at a few hundred steps per second waits for Python, not for the GPU; a replayed step needs no Python.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from glissando.train.augment import Parameters
from glissando.train.batches import Batch

WARM_UP = 3  # steps taken without recording first: they compile, and make the optimizer's state

Update = Callable[[Batch, Parameters], list[Tensor]]


class GraphedUpdate:
    """Runs an update for a few steps without recording, then records it, and from then on replays it.

    Args:
        update: a step from a batch to its measures, with tensors of the same shapes every time, nothing read back
            to the host, and all state changed in place.
    """

    def __init__(self, update: Update) -> None:
        self.update = update
        self.calls = 0
        self.graph: torch.cuda.CUDAGraph | None = None
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.stream = torch.cuda.Stream()

    def __call__(self, batch: Batch, parameters: Parameters) -> list[Tensor]:
        """Take a step. The measures returned are copies, so that they outlive the next step."""
        if self.graph is None and self.calls < WARM_UP:
            return self._warm_up(batch, parameters)
        if self.graph is None:
            self._record(batch, parameters)
        for mine, given in zip(self.inputs, [*batch, *parameters], strict=True):
            mine.copy_(given, non_blocking=True)
        assert self.graph is not None
        self.graph.replay()
        return [output.clone() for output in self.outputs]

    def _warm_up(self, batch: Batch, parameters: Parameters) -> list[Tensor]:
        """Take a step without recording, on a stream of its own, as recording requires."""
        self.calls += 1
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            measures = self.update(batch, parameters)
        torch.cuda.current_stream().wait_stream(self.stream)
        return measures

    def _record(self, batch: Batch, parameters: Parameters) -> None:
        """Record a step; recording itself changes nothing."""
        self.inputs = [tensor.clone() for tensor in (*batch, *parameters)]
        fixed_batch, fixed_parameters = Batch(*self.inputs[: len(batch)]), Parameters(*self.inputs[len(batch) :])
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.outputs = self.update(fixed_batch, fixed_parameters)
