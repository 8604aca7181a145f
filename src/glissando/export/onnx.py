"""The encoder as one ONNX file: features, network and layout in one graph.

The file holds the same function in the form that runs fastest: what is constant at inference is folded into
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
from typing import TYPE_CHECKING

import torch

from glissando.errors import MissingExtraError
from glissando.export.folded import FoldedEncoder
from glissando.layout import MAX_KEYS
from glissando.model.checkpoint import write_atomically
from glissando.model.encoder import Encoder

if TYPE_CHECKING:
    from onnx import ModelProto

INPUTS = ("features", "layout_keys", "layout_mask")
OUTPUTS = ("log_emissions", "coefficients", "gate")
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
    if importlib.util.find_spec("onnxscript") is None:
        raise MissingExtraError("exporting to ONNX needs onnx and onnxscript: pip install 'glissando[export]'")
    example = (torch.zeros(2, 2, encoder.config.points), torch.zeros(2, max_keys, 2), torch.ones(2, max_keys).bool())
    batch = {0: torch.export.Dim("batch")}
    # Making layers draws random numbers; a training run that exports on its way must not notice.
    with torch.no_grad(), torch.random.fork_rng(devices=[]), _quiet():
        program = torch.onnx.export(
            FoldedEncoder(copy.deepcopy(encoder).cpu().float().eval()).eval(),
            example,
            dynamo=True,
            opset_version=OPSET,
            input_names=INPUTS,
            output_names=OUTPUTS,
            dynamic_shapes=(batch, batch, batch),
            external_data=False,
            verbose=False,
        )
    assert program is not None
    write_atomically(path, _bare(program.model_proto).SerializeToString())


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
