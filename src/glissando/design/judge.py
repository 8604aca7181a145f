"""The encoder as the judge: what it costs to read a word off its exact swipe, for batches of words.

On one grid a word's swipe, and so its cost, depends on nothing but the keys it visits: not on which letters they
carry, nor on where the other letters are. All that follows rests on this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from glissando.design.minimum_jerk import minimum_jerk_paths
from glissando.design.task import DesignTask
from glissando.model.encoder import DepthwiseConv, Encoder
from glissando.train.losses import IMPOSSIBLE, recursion, torch_ctc_loss

CPU_BATCH = 1024  # words whose paths and CTC are computed together where nothing is compiled
GPU_BATCH = 16384
RUNTIME_BATCH = 64  # what onnxruntime takes at once: more falls out of a core's cache

Precision = Literal["bf16", "fp32"]
Emit = Callable[[Tensor], Tensor]  # paths [B, 2, n] -> log-probabilities [B, T, K + 1]


class Judge:
    """Costs of words given by the keys they visit.

    Args:
        emit: the encoder on the task's keys.
        task: where the keys are.
        device: where to compute.
        fast: on a GPU, compile, and read words in batches of one size.
        batch: words to read at once; 0 for what suits the device.
    """

    def __init__(self, emit: Emit, task: DesignTask, device: torch.device, fast: bool = True, batch: int = 0) -> None:
        self.emit, self.device = emit, device
        self.fused = fast and device.type == "cuda"
        self.centres = torch.tensor(task.centres, device=device)
        self.size_mm = torch.tensor(task.size_mm, device=device)
        self.batch = batch or (GPU_BATCH if self.fused else CPU_BATCH)
        self.score = torch.compile(self._score, dynamic=False) if self.fused else self._score
        self.swipes = 0  # words read so far
        if self.fused:  # these register their kernels
            import glissando.design.spline_kernel
            import glissando.train.ctc_kernel  # noqa: F401

    @torch.no_grad()
    def costs(self, slots: Tensor, lengths: Tensor) -> Tensor:
        """Read words and give the negative log-likelihood of each.

        Args:
            slots: [n, L] keys visited; beyond a word's length the last one again.
            lengths: [n].

        Returns:
            [n] float32.
        """
        self.swipes += len(slots)
        parts = [torch.zeros(0, device=self.device)]
        for begin in range(0, len(slots), self.batch):
            keys, counts = slots[begin : begin + self.batch], lengths[begin : begin + self.batch]
            count = len(keys)
            if self.fused and count < self.batch:  # one shape for the compiled graph
                rows = torch.arange(self.batch, device=self.device) % count
                keys, counts = keys[rows], counts[rows]
            parts.append(self.score(keys, counts)[:count])
        return torch.cat(parts)

    def _score(self, slots: Tensor, lengths: Tensor) -> Tensor:
        """Shapes: [B, L], [B] -> [B]."""
        log_probs = self.emit(minimum_jerk_paths(self.centres[slots], lengths, self.size_mm, fused=self.fused))
        if self.fused:
            return forward_cost(log_probs, slots, lengths, fused=True)
        return torch_ctc_loss(log_probs, slots, lengths)


def forward_cost(log_probs: Tensor, targets: Tensor, lengths: Tensor, fused: bool = False) -> Tensor:
    """CTC's cost alone, without what its gradient needs. Shapes: [B, T, K + 1], [B, L], [B] -> [B].

    Unlike ``losses.ctc_loss`` it costs ``-IMPOSSIBLE`` to spell what the frames have no room for.
    """
    blank = torch.full_like(targets, log_probs.shape[2] - 1)
    labels = functional.pad(torch.stack([blank, targets], 2).flatten(1), (0, 1), value=log_probs.shape[2] - 1)  # [B, S]
    emissions = log_probs.gather(2, labels[:, None].expand(-1, log_probs.shape[1], -1))  # [B, T, S]
    letter = torch.arange(labels.shape[1], device=labels.device) % 2 == 1
    skip = letter & functional.pad(labels[:, 2:] != labels[:, :-2], (2, 0), value=False)
    scores = torch.ops.glissando.ctc_recursion(emissions, skip) if fused else recursion(emissions, skip)
    last = 2 * lengths[:, None]
    ends = scores[:, -1].gather(1, torch.cat([last - 1, last], 1))
    return -torch.logsumexp(ends, 1).clamp(min=IMPOSSIBLE)


def torch_emitter(
    encoder: Encoder,
    task: DesignTask,
    device: torch.device,
    precision: Precision = "fp32",
    turned: bool = False,
) -> Emit:
    """The torch encoder on the task's keys; ``turned`` shows it keyboard and swipe with x and y exchanged."""
    encoder = encoder.to(device).eval()
    if device.type == "cuda":
        # Sums of shifted copies, which the compiler fuses; cuDNN's depthwise convolution is slow. It is all this does.
        for part in encoder.modules():
            if isinstance(part, DepthwiseConv):
                part.train()
    keys = torch.tensor(task.centres, device=device)[None]
    keys = keys.flip(2) if turned else keys
    mask = torch.ones(keys.shape[:2], dtype=torch.bool, device=device)

    def emit(paths: Tensor) -> Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
            return encoder(paths.flip(1) if turned else paths, keys, mask).log_probs

    return emit


def runtime_emitter(weights: str, task: DesignTask, threads: int, turned: bool = False) -> Emit:
    """The exported encoder in onnxruntime, on the CPU; ``turned`` as for ``torch_emitter``."""
    from glissando.runtime import EncoderRuntime
    from glissando.weights import load_weights

    runtime = EncoderRuntime(load_weights(weights), threads=threads)
    keys = task.centres[:, ::-1] if turned else task.centres

    def emit(paths: Tensor) -> Tensor:
        seen = paths.flip(1) if turned else paths
        parts = [runtime.run(part.numpy(), keys).log_probs for part in seen.split(RUNTIME_BATCH)]
        return torch.cat([torch.from_numpy(part) for part in parts])

    return emit
