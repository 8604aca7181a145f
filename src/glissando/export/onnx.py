"""The encoder as one ONNX file, features, network and layout in one graph; decoder and matcher as others.

A file holds the same function in the form that runs fastest: what is constant at inference is folded into the weights
before the export, and operations are spelled as onnxruntime computes them quickest.

In a smaller file only the large matrices shrink, to half precision or to eight-bit integers. What they stand between
(the features of the path, the depthwise filters, whose taps reach the hundreds once batch norm is folded in, gains,
biases and the heads) makes up a tenth of the file and most of the error: with everything in half precision the
log-emissions move a hundred times as far.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.errors import MissingExtraError
from glissando.export.folded import FoldedDecoder, FoldedEncoder, check_precision, exporting, plain_copy
from glissando.files import write_whole
from glissando.layout import MAX_KEYS
from glissando.model.decoder import Decoder
from glissando.model.encoder import Encoder
from glissando.model.matcher import Matcher
from glissando.runtime import CORRECTED, INPUTS, LONGEST, MATCHED, MATCHER_INPUTS, OUTPUTS

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

FRAMES = 64  # of the shipped encoder
OPSET = 18
PRECISIONS = ("fp32", "fp16", "int8")
LARGE = 8192  # numbers in a matrix that is worth shrinking; the excitations' have half as many


def export_encoder(encoder: Encoder, path: str | os.PathLike[str], precision: str = "fp32") -> None:
    """Write an encoder as a single ONNX file, whole or not at all.

    Inputs are ``features`` [B, 2, n] float32, ``layout_keys`` [B, 64, 2] float32 and ``layout_mask`` [B, 64] bool;
    outputs ``log_emissions`` [B, T, 65], ``coefficients`` [B, T, N * N] and ``gate`` [B, T]. B is free.

    Args:
        encoder: the trained encoder; it is left as it is.
        path: the file to write.
        precision: "fp16" halves the file and keeps float32 arithmetic, as fast as before: onnxruntime casts the
            weights once, when it loads them. "int8" computes the large products in integers, the activations scaled as
            they come: half of the file and two thirds of the time, at a loss that ``verify`` measures.
    """
    check_precision(precision, PRECISIONS, "ONNX")
    example = (torch.zeros(2, 2, encoder.config.points), torch.zeros(2, MAX_KEYS, 2), torch.ones(2, MAX_KEYS).bool())
    with exporting():
        model = _export(FoldedEncoder(plain_copy(encoder)), example, tuple(INPUTS), OUTPUTS)
        write_whole(path, reduce_precision(model, precision).SerializeToString())


def export_decoder(
    decoder: Decoder, path: str | os.PathLike[str], frames: int = FRAMES, precision: str = "fp32"
) -> None:
    """Write a decoder as a single ONNX file, whole or not at all.

    Inputs are ``log_emissions`` [B, T, K + 1], ``coefficients`` [B, T, N * N] and ``gate`` [B, T], the encoder's
    outputs with K the decoder's own keys in its own order; the output is ``log_probs`` [B, T, K + 1]. B is free.

    Args:
        decoder: the trained decoder; it is left as it is.
        path: the file to write.
        frames: T, the frames of the encoder it corrects.
        precision: as for ``export_encoder``.
    """
    check_precision(precision, PRECISIONS, "ONNX")
    config = decoder.config
    example = (torch.zeros(2, frames, config.keys + 1), torch.zeros(2, frames, config.coefficients))
    with exporting():
        folded = FoldedDecoder(plain_copy(decoder))
        for block in folded.blocks:
            block.norm = _FrameNorm(frames, cast(nn.LayerNorm, block.norm).eps)
        model = _export(folded, (*example, torch.zeros(2, frames)), OUTPUTS, CORRECTED)
        write_whole(path, reduce_precision(model, precision).SerializeToString())


def export_matcher(matcher: Matcher, path: str | os.PathLike[str], precision: str = "fp32") -> None:
    """Write a matcher as a single ONNX file, whole or not at all.

    Inputs are ``path`` [B, 64, 2] and ``keys`` [B, N, L, 2] in key widths and ``mask`` [B, N, L] bool; the output is
    ``scores`` [B, N]. B, N and L are free.

    Args:
        matcher: the trained matcher; it is left as it is.
        path: the file to write.
        precision: as for ``export_encoder``.
    """
    check_precision(precision, PRECISIONS, "ONNX")
    finalists, letters = 3, LONGEST
    example = (torch.zeros(2, matcher.config.points, 2), torch.zeros(2, finalists, letters, 2))
    batch, count, length = (torch.export.Dim(name) for name in ("batch", "finalists", "letters"))
    shapes = ({0: batch}, {0: batch, 1: count, 2: length}, {0: batch, 1: count, 2: length})
    with exporting():
        mask = torch.ones(2, finalists, letters).bool()
        model = _export(plain_copy(matcher), (*example, mask), MATCHER_INPUTS, MATCHED, shapes)
        write_whole(path, reduce_precision(model, precision).SerializeToString())


def large_products(model: ModelProto) -> list[NodeProto]:
    """The products with a large constant matrix, apart from the heads."""
    sizes = {tensor.name: int(np.prod(tensor.dims)) for tensor in model.graph.initializer}
    return [
        node
        for node in model.graph.node
        if node.op_type in ("Gemm", "MatMul")
        and sizes.get(_weight_of(node), 0) >= LARGE
        and not _weight_of(node).startswith("head")
    ]


def reduce_precision(model: ModelProto, precision: str) -> ModelProto:
    """The model with its large matrices in a precision of ``PRECISIONS``; it may be changed in place."""
    return {"fp32": lambda same: same, "fp16": _halve, "int8": _quantise}[precision](model)


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


def _export(
    network: nn.Module,
    example: tuple[Tensor, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    shapes: tuple[dict[int, Any], ...] | None = None,
) -> ModelProto:
    """A network in inference form as an ONNX model; its free axes are ``shapes``, or the first of every input."""
    if importlib.util.find_spec("onnxscript") is None:
        raise MissingExtraError("exporting to ONNX needs onnx and onnxscript: pip install 'glissando[export]'")
    batch = {0: torch.export.Dim("batch")}
    program = torch.onnx.export(
        network.eval(),
        example,
        dynamo=True,
        opset_version=OPSET,
        input_names=inputs,
        output_names=outputs,
        dynamic_shapes=shapes or (batch,) * len(example),
        external_data=False,
        verbose=False,
    )
    assert program is not None
    return _bare(program.model_proto)


def _bare(model: ModelProto) -> ModelProto:
    """Strip what only the exporter needs: a tenth of the file, stack traces with local paths among it."""
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.initializer, *graph.input, *graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    graph.ClearField("value_info")
    model.producer_name, model.producer_version = "glissando", ""
    return model


def _halve(model: ModelProto) -> ModelProto:
    """Store the large matrices in half precision, each with a cast back."""
    from onnx import TensorProto, helper, numpy_helper

    names = {_weight_of(node) for node in large_products(model)}
    casts = []
    for tensor in model.graph.initializer:
        if tensor.name in names:
            half = numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), f"{tensor.name}.half")
            casts.append(helper.make_node("Cast", [half.name], [tensor.name], to=TensorProto.FLOAT))
            tensor.CopyFrom(half)
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def _quantise(model: ModelProto) -> ModelProto:
    """Turn the large products into integer products, with a scale for every column of their weights."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # Rounding in the first block is amplified by all the others: with it one swipe in 180 reads as another word.
    products = [node for node in large_products(model) if not _weight_of(node).startswith("blocks.0.")]
    # The quantiser splits every Gemm into a product and a sum before it looks at names.
    names = [node.name + ("_MatMul" if node.op_type == "Gemm" else "") for node in products]
    with tempfile.TemporaryDirectory() as folder:  # it reads and writes files
        source, target = Path(folder) / "full.onnx", Path(folder) / "reduced.onnx"
        onnx.save(model, source)
        quantize_dynamic(source, target, per_channel=True, weight_type=QuantType.QInt8, nodes_to_quantize=names)
        return onnx.load(target)


def _weight_of(node: NodeProto) -> str:
    return node.input[1] if len(node.input) > 1 else ""
