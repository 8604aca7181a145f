"""The encoder as one ONNX file, features, network and layout in one graph; and the decoder as another.

A file holds the same function in the form that runs fastest: what is constant at inference is folded into
the weights before the export, and operations are spelled as onnxruntime computes them quickest.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import logging
import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.errors import MissingExtraError
from glissando.export.folded import FoldedEncoder
from glissando.export.folded_decoder import FoldedDecoder
from glissando.files import write_whole
from glissando.layout import MAX_KEYS
from glissando.model.decoder import Decoder
from glissando.model.encoder import Encoder

if TYPE_CHECKING:
    from onnx import ModelProto

INPUTS = ("features", "layout_keys", "layout_mask")
OUTPUTS = ("log_emissions", "coefficients", "gate")
DECODER_INPUTS = OUTPUTS  # of the encoder, its log-emissions in the decoder's order of keys
DECODER_OUTPUTS = ("log_probs",)
FRAMES = 64  # of the shipped encoder
OPSET = 18


def export_encoder(encoder: Encoder, path: str | os.PathLike[str], max_keys: int = MAX_KEYS) -> None:
    """Write an encoder as a single ONNX file, atomically.

    Inputs are ``features`` [B, 2, n] float32, ``layout_keys`` [B, max_keys, 2] float32 and ``layout_mask``
    [B, max_keys] bool; outputs ``log_emissions`` [B, T, max_keys + 1], ``coefficients`` [B, T, N * N] and
    ``gate`` [B, T]. B is free.

    Args:
        encoder: the trained encoder; it is left as it is.
        path: the file to write.
        max_keys: the most keys a layout may have.
    """
    example = (torch.zeros(2, 2, encoder.config.points), torch.zeros(2, max_keys, 2), torch.ones(2, max_keys).bool())
    # Making layers draws random numbers; a training run that exports on its way must not notice.
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        folded = FoldedEncoder(copy.deepcopy(encoder).cpu().float().eval())
    _write(folded, path, example, INPUTS, OUTPUTS)


def export_decoder(decoder: Decoder, path: str | os.PathLike[str], frames: int = FRAMES) -> None:
    """Write a decoder as a single ONNX file, atomically.

    Inputs are ``log_emissions`` [B, T, K + 1], ``coefficients`` [B, T, N * N] and ``gate`` [B, T], the encoder's
    outputs with K the decoder's own keys in its own order; the output is ``log_probs`` [B, T, K + 1]. B is free.

    Args:
        decoder: the trained decoder; it is left as it is.
        path: the file to write.
        frames: T, the frames of the encoder it corrects.
    """
    config = decoder.config
    example = (torch.zeros(2, frames, config.keys + 1), torch.zeros(2, frames, config.coefficients))
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        folded = FoldedDecoder(copy.deepcopy(decoder).cpu().float().eval())
        for block in folded.blocks:
            block.norm = _FrameNorm(frames, cast(nn.LayerNorm, block.norm).eps)
    _write(folded, path, (*example, torch.zeros(2, frames)), DECODER_INPUTS, DECODER_OUTPUTS)


class _FrameNorm(nn.Module):
    """A layer norm without scale and shift, as an instance norm whose channels are the frames.

    onnxruntime adds up the numbers of an instance norm several at a time, those of a layer norm one by one.
    """

    def __init__(self, frames: int, eps: float) -> None:
        super().__init__()
        self.frames, self.eps = frames, eps

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B T, H] -> [B T, H]."""
        return F.instance_norm(x.view(-1, self.frames, x.shape[-1]), eps=self.eps).flatten(0, 1)


def _write(
    network: nn.Module,
    path: str | os.PathLike[str],
    example: tuple[Tensor, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> None:
    """Export a network in inference form, its first axis free, and write it atomically."""
    if importlib.util.find_spec("onnxscript") is None:
        raise MissingExtraError("exporting to ONNX needs onnx and onnxscript: pip install 'glissando[export]'")
    batch = {0: torch.export.Dim("batch")}
    with torch.no_grad(), _quiet():
        program = torch.onnx.export(
            network.eval(),
            example,
            dynamo=True,
            opset_version=OPSET,
            input_names=inputs,
            output_names=outputs,
            dynamic_shapes=(batch,) * len(example),
            external_data=False,
            verbose=False,
        )
    assert program is not None
    write_whole(path, _bare(program.model_proto).SerializeToString())


def _bare(model: ModelProto) -> ModelProto:
    """Strip what only the exporter cares for: a tenth of the file, stack traces with local paths among it."""
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.initializer, *graph.input, *graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    graph.ClearField("value_info")
    model.producer_name, model.producer_version = "glissando", ""
    return model


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporter's notes on its own internals off the terminal."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
