"""The torch encoder behind an exported one, for searching on a GPU with nothing but the packaged weights."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from glissando.errors import MissingExtraError, WeightsError
from glissando.model.config import EncoderConfig
from glissando.model.encoder import Encoder
from glissando.weights import Weights


def encoder_from_onnx(weights: Weights) -> Encoder:
    """Read an encoder back from its ONNX file.

    The export has folded batch norms into convolutions, and adapter and heads into one product. So here the norms do
    nothing, and the adapter hands on what the folded heads say: another encoder, with the same emissions.
    """
    tensors = _initializers(weights)
    try:
        config = EncoderConfig.from_dict(weights.card["config"])
        state = _unfolded(tensors, config)
    except KeyError as error:
        raise WeightsError(f"weights {weights.name} are not an exported encoder: they lack {error}") from None
    encoder = Encoder(config)
    missing, _ = encoder.load_state_dict(state, strict=False)
    lost = [name for name in missing if "num_batches" not in name]
    if lost:
        raise WeightsError(f"weights {weights.name} do not hold a whole encoder: {lost[0]} is not in the file")
    return encoder.eval()


def _unfolded(tensors: dict[str, Tensor], config: EncoderConfig) -> dict[str, Tensor]:
    """The state of an encoder with the same emissions as a folded one."""
    outputs = config.resolution**2 + 1
    if config.hidden < outputs:
        raise WeightsError(f"an adapter of {config.hidden} channels cannot hold the {outputs} outputs of folded heads")
    stem = tensors["stem.weight"].reshape(config.width, -1, config.kernel)  # [C, 8, kernel]
    state = {"stem.weight": stem.transpose(1, 2).flatten(1), "stem.bias": tensors["stem.bias"]}
    for index in range(len(config.dilations)):
        name = f"blocks.{index}."
        inner = tensors[name + "gamma"]
        state |= {
            name + "depthwise.weight": tensors[name + "depthwise.weight"].reshape(config.width, config.kernel).T,
            name + "expand.weight": torch.cat([tensors[name + "value.weight"], tensors[name + "gate.weight"]]),
            name + "expand.bias": torch.cat([tensors[name + "value.bias"], tensors[name + "gate.bias"]]),
            name + "response.gamma": inner,
            name + "response.beta": torch.zeros_like(inner),
        }
        state |= _idle_norm(name + "norm", tensors[name + "depthwise.bias"])
        for part in ("project", "excite.squeeze", "excite.excite"):
            state |= {f"{name}{part}.{kind}": tensors[f"{name}{part}.{kind}"] for kind in ("weight", "bias")}
    adapter = torch.zeros(config.hidden, 2 * config.width)
    adapter[:outputs] = tensors["heads.weight"]
    shift = torch.zeros(config.hidden)
    shift[:outputs] = tensors["heads.bias"]
    passed_on = {"heads.weight": torch.eye(outputs, config.hidden), "heads.bias": torch.zeros(outputs)}
    return {**state, "adapter.weight.weight": adapter, **_idle_norm("adapter.norm", shift), **passed_on}


def _idle_norm(name: str, shift: Tensor) -> dict[str, Tensor]:
    """A batch norm that only adds a shift."""
    ones = torch.ones_like(shift)
    spread = ones - torch.nn.BatchNorm1d(1).eps  # its root, the floor added, is one
    zeros = torch.zeros_like(shift)
    parts = {"weight": ones, "bias": shift, "running_mean": zeros, "running_var": spread}
    return {f"{name}.{part}": value for part, value in parts.items()}


def _initializers(weights: Weights) -> dict[str, Tensor]:
    """The constants of an ONNX file by name."""
    try:
        import onnx
        from onnx import numpy_helper
    except ModuleNotFoundError:
        raise MissingExtraError(
            "reading weights back from ONNX needs onnx: pip install 'glissando[export]'; or give a .safetensors file"
        ) from None
    graph = onnx.load_model_from_string(weights.data).graph
    return {entry.name: torch.from_numpy(np.array(numpy_helper.to_array(entry))) for entry in graph.initializer}
