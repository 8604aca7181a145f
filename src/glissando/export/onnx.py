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
from typing import TYPE_CHECKING, TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glissando.errors import MissingExtraError
from glissando.layout import MAX_KEYS
from glissando.model.checkpoint import write_atomically
from glissando.model.emissions import Emissions
from glissando.model.encoder import GRN_FLOOR, Adapter, Block, Encoder, frame_pairs, read_heads
from glissando.model.features import CHANNELS

if TYPE_CHECKING:
    from onnx import ModelProto

INPUTS = ("features", "layout_keys", "layout_mask")
OUTPUTS = ("log_emissions", "coefficients", "gate")
OPSET = 18

Filled = TypeVar("Filled", nn.Linear, nn.Conv1d, nn.Conv2d)


class FoldedEncoder(nn.Module):
    """An encoder in inference form: the same emissions from fewer, cheaper operations.

    Batch norm goes into the convolution before it. No activation stands between adapter, batch norm and heads,
    so the three become one product. Means over time are products with a constant row, and depthwise
    convolutions have a dummy height: onnxruntime has faster kernels for these forms (together a quarter of
    the forward).
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.config = config = encoder.config
        self.features = encoder.features
        self.stride = encoder.adapter.stride
        self.stem = nn.Conv1d(CHANNELS, config.width, config.kernel, padding=config.kernel // 2)
        taps = encoder.stem.weight.view(config.width, config.kernel, CHANNELS)
        _fill(self.stem, taps.transpose(1, 2), encoder.stem.bias)
        self.blocks = nn.ModuleList(FoldedBlock(cast(Block, block), config.points) for block in encoder.blocks)
        self.heads = _folded_heads(encoder.adapter, encoder.heads)

    def forward(self, features: Tensor, layout_keys: Tensor, layout_mask: Tensor) -> Emissions:
        """As ``Encoder.forward``, its arguments named as the report's deployed encoder names them."""
        x = F.hardswish(self.stem(self.features(features))).transpose(1, 2)  # [B, n, C]
        for block in self.blocks:
            x = block(x)
        heads = _flat_linear(self.heads, frame_pairs(x, self.stride))  # [B, T, N * N + 1]
        return read_heads(self.config, heads, layout_keys, layout_mask)


class FoldedBlock(nn.Module):
    """A block of the encoder in inference form."""

    mean: Tensor
    gamma: Tensor

    def __init__(self, block: Block, points: int) -> None:
        super().__init__()
        self.depthwise = _folded_depthwise(block)
        self.value, self.gate = _halves(block.expand)
        self.project = _folded_projection(block)
        self.excite = block.excite
        self.register_buffer("gamma", block.response.gamma.detach())
        self.register_buffer("mean", torch.full((1, points), 1 / points))

    def forward(self, x: Tensor) -> Tensor:
        """Shape: [B, T, C] -> [B, T, C]."""
        y = self.depthwise(x.transpose(1, 2).unsqueeze(2)).squeeze(2).transpose(1, 2)
        flat = y.flatten(0, 1)  # [B T, C]: two axes make it a Gemm, which adds the bias on its way
        z = (self.value(flat) * torch.sigmoid(self.gate(flat))).view(-1, x.shape[1], self.value.out_features)
        energy = (self.mean @ (z * z) + GRN_FLOOR).sqrt()  # [B, 1, inner]
        z = z * (1 + self.gamma * energy / (energy.mean(-1, keepdim=True) + GRN_FLOOR))
        y = _flat_linear(self.project, z)  # [B, T, C]
        squeezed = torch.relu(self.excite.squeeze((self.mean @ y).squeeze(1)))  # [B, C / 4]
        return x + y * torch.sigmoid(self.excite.excite(squeezed)).unsqueeze(1)


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


def _folded_depthwise(block: Block) -> nn.Conv2d:
    """Fold the batch norm into the depthwise convolution before it."""
    kernel, width = block.depthwise.weight.shape
    dilation = block.depthwise.dilation
    folded = nn.Conv2d(
        width, width, (1, kernel), dilation=(1, dilation), padding=(0, dilation * (kernel // 2)), groups=width
    )
    scale, shift = _affine(block.norm)
    return _fill(folded, (block.depthwise.weight * scale).T[:, None, None], shift)


def _folded_projection(block: Block) -> nn.Linear:
    """Fold the response norm's beta into the bias of the projection after it."""
    weight = block.project.weight.double()
    bias = block.project.bias + weight @ block.response.beta.double()
    return _fill(nn.Linear(weight.shape[1], weight.shape[0]), weight, bias)


def _folded_heads(adapter: Adapter, heads: nn.Linear) -> nn.Linear:
    """Multiply adapter, batch norm and heads into one linear map from two frames. Shape: 2 C -> N * N + 1."""
    scale, shift = _affine(adapter.norm)
    weight = heads.weight.double() * scale  # [N * N + 1, H]
    bias = heads.bias + heads.weight.double() @ shift
    joined = weight @ adapter.weight.weight.double()
    return _fill(nn.Linear(joined.shape[1], joined.shape[0]), joined, bias)


def _halves(linear: nn.Linear) -> tuple[nn.Linear, nn.Linear]:
    """Split the expansion into the gated linear unit's value and gate, so that neither is copied out."""
    weights, biases = linear.weight.chunk(2), linear.bias.chunk(2)
    first, second = (
        _fill(nn.Linear(linear.in_features, len(bias)), weight, bias)
        for weight, bias in zip(weights, biases, strict=True)
    )
    return first, second


def _affine(norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    """The scale and shift, in float64, that batch norm is at inference."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight.double() / (norm.running_var.double() + norm.eps).sqrt()
    return scale, norm.bias - norm.running_mean * scale


def _fill(module: Filled, weight: Tensor, bias: Tensor) -> Filled:
    """Set a layer's weight and bias and return it."""
    with torch.no_grad():
        module.weight.copy_(weight)
        module.bias.copy_(bias)  # type: ignore[union-attr]
    return module


def _flat_linear(linear: nn.Linear, x: Tensor) -> Tensor:
    """Apply a linear map with batch and time as one axis. Shape: [B, T, C] -> [B, T, D]."""
    return linear(x.flatten(0, 1)).view(-1, x.shape[1], linear.out_features)
