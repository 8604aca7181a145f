"""The networks in other runtimes than onnxruntime, with the interface of ``glissando.runtime``."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from glissando.errors import MissingExtraError, WeightsError
from glissando.export.folded import exporting
from glissando.export.onnx import export_decoder
from glissando.keyboard import MATCHED
from glissando.model.decoder import Decoder, frame_features
from glissando.model.emissions import EncoderOutput
from glissando.runtime import LONGEST, DecoderRuntime, EncoderRuntime, MatcherRuntime
from glissando.weights import load_weights, write_card

# Arrays of one swipe in the order of the exported file's inputs -> its outputs in order.
Forward = Callable[..., Sequence[np.ndarray]]
Runtime = TypeVar("Runtime", EncoderRuntime, DecoderRuntime, MatcherRuntime)


class Program:
    """A ``.pte`` file, or its bytes, in executorch's own runtime, on one thread."""

    def __init__(self, program: Path | bytes) -> None:
        with exporting():
            try:
                from executorch.extension.pybindings import portable_lib
                from executorch.runtime import Runtime
            except ImportError:
                raise MissingExtraError(
                    "running a .pte needs executorch: pip install 'glissando[executorch]'"
                ) from None
            if portable_lib._threadpool_get_thread_count() != 1:
                portable_lib._unsafe_reset_threadpool(1)  # unsafe while a program runs; none does yet
            try:
                self._program = Runtime.get().load_program(program)
                self._method = self._program.load_method("forward")
            except RuntimeError as error:
                name = program if isinstance(program, Path) else "what was given"
                raise WeightsError(f"{name} is not a program executorch can run: {error}") from None

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Run the program on one swipe."""
        outputs = self._method.execute([torch.from_numpy(np.ascontiguousarray(array)) for array in arrays])
        return [output.numpy() for output in outputs]


class MatcherProgram(Program):
    """A matcher's ``.pte`` file, or its bytes; it fills finalists and letters up to the program's shapes."""

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Run the program on one swipe. Shape: [1, 64, 2], [1, N, L, 2], [1, N, L] -> [1, N]."""
        path, keys, mask = arrays
        count, letters = mask.shape[1:]
        if count > MATCHED or letters > LONGEST:
            raise WeightsError(
                f"a matcher's program compares {MATCHED} finalists of {LONGEST} letters, got {count} of {letters}"
            )
        room = ((0, 0), (0, MATCHED - count), (0, LONGEST - letters))
        (scores,) = super().__call__(path, np.pad(keys, (*room, (0, 0))), np.pad(mask, room))
        return [scores[:, :count]]


class TorchForward:
    """A network in torch, eager or compiled."""

    def __init__(self, network: nn.Module, compiled: bool = False) -> None:
        self.takes_frames = isinstance(network, Decoder)
        self.network: Any = torch.compile(network.eval(), dynamic=False) if compiled else network.eval()

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Run the network on any number of swipes."""
        tensors = [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]
        inputs = [frame_features(EncoderOutput(*tensors))] if self.takes_frames else tensors
        with torch.inference_mode():
            outputs = self.network(*inputs)
        return [output.numpy() for output in (outputs if isinstance(outputs, tuple) else (outputs,))]


def bound_decoder(decoder: Decoder, layout: Any, frames: int) -> DecoderRuntime:
    """A decoder from torch in onnxruntime, as a keyboard takes it.

    Args:
        decoder: the decoder.
        layout: the layout it is bound to, in the JSON form.
        frames: T, the frames of the encoder it corrects.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decoder.onnx"
        export_decoder(decoder, path, frames)
        write_card(path, {"layout": layout})
        return DecoderRuntime(load_weights(path))


def in_place_of(runtime: Runtime, forward: Forward) -> Runtime:
    """A network that another function runs, one swipe at a time.

    Args:
        runtime: the network in onnxruntime; it is left as it is.
        forward: what computes the same function.
    """
    twin = copy.copy(runtime)
    twin.session = _Session(forward, runtime.session)
    return twin


class _Session:
    """The part of an onnxruntime session that ``glissando.runtime`` uses."""

    def __init__(self, forward: Forward, original: Any) -> None:
        self.forward = forward
        self.get_outputs = original.get_outputs

    def run(self, names: Sequence[str], feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Run swipe by swipe. Shape: every array [B, ...]."""
        arrays = list(feed.values())
        rows = [self.forward(*(array[i : i + 1] for array in arrays)) for i in range(len(arrays[0]))]
        return [np.concatenate(parts) for parts in zip(*rows, strict=True)] if len(rows) > 1 else list(rows[0])
