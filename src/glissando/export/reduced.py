"""Smaller ONNX files: the large matrices in half precision, or as eight-bit integers.

Only matrices shrink. What they stand between (the features of the path, the depthwise filters, whose taps reach the
hundreds once batch norm is folded in, gains, biases and the head that is read at the keys) makes up a tenth of the file
and most of the error: with everything in half precision the log-emissions move a hundred times as far.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from glissando.errors import WeightsError
from glissando.files import write_whole

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

PRECISIONS = ("fp32", "fp16", "int8")
LARGE = 8192  # numbers in a matrix that is worth shrinking; the excitations' have half as many


def reduce_file(path: Path, precision: str) -> None:
    """Rewrite an ONNX file in a smaller form, atomically.

    Args:
        path: an encoder or decoder as ``glissando.export.onnx`` writes it.
        precision: "fp32" does nothing. "fp16" halves the file and keeps float32 arithmetic, as fast as before:
            onnxruntime casts the weights once, when it loads them. "int8" computes the large products in integers, the
            activations scaled as they come: half of the file and two thirds of the time, at a loss that ``verify``
            measures.
    """
    import onnx

    if precision not in PRECISIONS:
        raise WeightsError(f"no precision {precision!r} for ONNX; there are {', '.join(PRECISIONS)}")
    if precision == "fp16":
        write_whole(path, halve(onnx.load(path)).SerializeToString())
    elif precision == "int8":
        _quantise(path)


def halve(model: ModelProto) -> ModelProto:
    """Store the large matrices of a model in half precision, each with a cast back; the model is changed in place."""
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


def _weight_of(node: NodeProto) -> str:
    return node.input[1] if len(node.input) > 1 else ""


def _quantise(path: Path) -> None:
    """Turn the large products of a file into integer products, a scale for every column of their weights."""
    import logging

    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # Rounding in the first block is amplified by all the others: with it one swipe in 180 reads as another word.
    products = [node for node in large_products(onnx.load(path)) if not _weight_of(node).startswith("blocks.0.")]
    # The quantiser splits every Gemm into a product and a sum before it looks at names.
    names = [node.name + ("_MatMul" if node.op_type == "Gemm" else "") for node in products]
    logger = logging.getLogger()  # it asks, through the root logger, for a preparation that changes nothing here
    level = logger.level
    logger.setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path.name
        try:
            quantize_dynamic(path, target, per_channel=True, weight_type=QuantType.QInt8, nodes_to_quantize=names)
        finally:
            logger.setLevel(level)
        write_whole(path, target.read_bytes())
