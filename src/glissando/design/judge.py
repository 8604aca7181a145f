"""The encoder as the judge: the cost of reading a word from its exact swipe, for batches of words.

On one grid a word's swipe, and so its cost, depends only on the keys it visits: not on the letters they carry, nor on
where the other letters are. The search rests on this.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from glissando.design.config import SearchConfig
from glissando.design.spline import minimum_jerk_paths
from glissando.design.task import DesignTask
from glissando.design.words import SearchWords
from glissando.errors import DesignError
from glissando.model.checkpoint import load_encoder
from glissando.model.encoder import DepthwiseConv, Encoder
from glissando.threads import cores
from glissando.train.losses import IMPOSSIBLE, recursion, torch_ctc_loss
from glissando.train.world import World

CPU_BATCH = 1024  # words whose paths and CTC are computed together where nothing is compiled
GPU_BATCH = 16384
# On a CPU, batches are filled up to a multiple of this: otherwise the last words are computed without vectors, and what
# a word costs would depend, in the last bits, on the words that are read with it.
FULL = 32
RUNTIME_BATCH = 64  # words onnxruntime takes at once: more do not fit in a core's cache
CHECKED = 512  # words on which the quick judge is compared with the exact one
DISAGREEMENT = 0.2  # nats per word; bfloat16 costs about 0.03

Emit = Callable[[Tensor], Tensor]  # paths [B, 2, n] -> log-probabilities [B, T, K + 1]


class Judge:
    """Costs of words, given by the keys they visit.

    Args:
        emit: the encoder on the task's keys.
        task: where the keys are.
        device: where to compute.
        fast: on a GPU, compile, and read words in batches of one size.
        batch: words to read at once; 0 for what suits the device.
    """

    def __init__(self, emit: Emit, task: DesignTask, device: torch.device, fast: bool = True, batch: int = 0) -> None:
        self.emit, self.device = emit, device
        self.compiled = fast and device.type == "cuda"
        self.centres = torch.tensor(task.grid.centres, device=device)
        self.size_mm = torch.tensor(task.size_mm, device=device)
        self.batch = batch or (GPU_BATCH if self.compiled else CPU_BATCH)
        self.score = torch.compile(self._score, dynamic=False) if self.compiled else self._score
        self.swipes = 0  # words read so far

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
            size = self.batch if self.compiled else count + -count % FULL  # one shape for the compiled graph
            if count < size:
                rows = torch.arange(size, device=self.device) % count
                keys, counts = keys[rows], counts[rows]
            parts.append(self.score(keys, counts)[:count])
        return torch.cat(parts)

    def _score(self, slots: Tensor, lengths: Tensor) -> Tensor:
        """Shapes: [B, L], [B] -> [B]."""
        log_probs = self.emit(minimum_jerk_paths(self.centres[slots], lengths, self.size_mm))
        return (forward_cost if self.compiled else torch_ctc_loss)(log_probs, slots, lengths)


def make_judge(weights: str, task: DesignTask, config: SearchConfig, world: World, exact: bool = False) -> Judge:
    """Put the encoder on the task's keys, as quick as the device allows, or in full precision.

    Args:
        weights: a packaged encoder, an .onnx file or a .safetensors checkpoint. On a CPU onnxruntime reads the first
            two; it is more than twice as quick as torch there.
        task: where the keys are.
        config: precision, view and batch.
        world: the device, and how many processes share the cores.
        exact: use float32, and compile nothing.
    """
    keys = task.grid.centres
    keys = keys[:, ::-1].copy() if config.view == "turned" else keys
    emit: Emit
    if world.device.type == "cuda" or weights.endswith(".safetensors"):
        half = config.precision == "bf16" or (config.precision == "auto" and world.device.type == "cuda")
        emit = torch_emitter(load_encoder(_checkpoint(weights))[0], keys, world.device, half and not exact)
    else:
        emit = runtime_emitter(weights, keys, threads=max(1, cores() // world.size))
    if config.view == "turned":
        emit = partial(_emit_turned, emit)
    return Judge(emit, task, world.device, fast=not exact, batch=0 if exact else config.batch)


def _emit_turned(emit: Emit, paths: Tensor) -> Tensor:
    """Read paths with x and y exchanged."""
    return emit(paths.flip(1))


def check_judges(quick: Judge, exact: Judge, words: SearchWords) -> None:
    """Refuse a quick judge whose compiled form does not agree with the plain form on this device."""
    count = min(len(words), CHECKED)
    slots = torch.tensor(words.letters[:count], device=quick.device).long()  # letter k on key k: any layout will do
    lengths = torch.tensor(words.lengths[:count], device=quick.device)
    difference = float((quick.costs(slots, lengths) - exact.costs(slots, lengths)).abs().mean())
    quick.swipes = 0
    if not difference < DISAGREEMENT:
        raise DesignError(
            f"the compiled encoder differs from its plain form by {difference:.3g} nats per word; "
            "try --set precision=fp32"
        )


def forward_cost(log_probs: Tensor, targets: Tensor, lengths: Tensor) -> Tensor:
    """CTC's cost alone, by the forward recursion. Shapes: [B, T, K + 1], [B, L], [B] -> [B].

    ``losses.ctc_loss`` computes the backward recursion as well, for the gradient, which takes twice as long. Here a
    word that has more letters than there are frames costs ``-IMPOSSIBLE``.
    """
    blank = torch.full_like(targets, log_probs.shape[2] - 1)
    labels = functional.pad(torch.stack([blank, targets], 2).flatten(1), (0, 1), value=log_probs.shape[2] - 1)  # [B, S]
    emissions = log_probs.gather(2, labels[:, None].expand(-1, log_probs.shape[1], -1))  # [B, T, S]
    letter = torch.arange(labels.shape[1], device=labels.device) % 2 == 1
    skip = letter & functional.pad(labels[:, 2:] != labels[:, :-2], (2, 0), value=False)
    scores = recursion(emissions, skip)
    last = 2 * lengths[:, None]
    ends = scores[:, -1].gather(1, torch.cat([last - 1, last], 1))
    return -torch.logsumexp(ends, 1).clamp(min=IMPOSSIBLE)


def torch_emitter(encoder: Encoder, keys: np.ndarray, device: torch.device, half: bool = False) -> Emit:
    """The torch encoder on keys [K, 2]; ``half`` computes in bfloat16."""
    encoder = encoder.to(device).eval()
    if device.type == "cuda":
        # In training mode the depthwise convolution is a sum of shifted copies, which the compiler fuses; cuDNN's is
        # slow. The mode changes nothing else in this module.
        for part in encoder.modules():
            if isinstance(part, DepthwiseConv):
                part.train()
    centres = torch.tensor(keys, device=device)[None]
    mask = torch.ones(centres.shape[:2], dtype=torch.bool, device=device)

    def emit(paths: Tensor) -> Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            return encoder(paths, centres, mask).log_probs

    return emit


def runtime_emitter(weights: str, keys: np.ndarray, threads: int = 1) -> Emit:
    """The exported encoder on keys [K, 2] in onnxruntime, on the CPU."""
    from glissando.runtime import EncoderRuntime
    from glissando.weights import load_weights

    runtime = EncoderRuntime(load_weights(weights), threads=threads)

    def emit(paths: Tensor) -> Tensor:
        parts = [runtime.run(part.numpy(), keys).log_probs for part in paths.split(RUNTIME_BATCH)]
        return torch.cat([torch.from_numpy(part) for part in parts])

    return emit


def _checkpoint(weights: str) -> Path:
    """The torch form of a judge: a .safetensors file, given or packaged."""
    if weights.endswith(".safetensors"):
        return Path(weights)
    packaged = Path(str(resources.files("glissando") / "assets" / "weights" / f"{weights}.safetensors"))
    if not packaged.is_file():
        raise DesignError(
            f"on a GPU the judge is 'judge' or a .safetensors checkpoint, got {weights!r}; --device cpu takes any"
        )
    return packaged
