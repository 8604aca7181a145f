"""From an exported encoder back to one that can be trained: the inverse of ``folded.FoldedEncoder``.

What was folded cannot be told apart any more: batch norm comes back as its shift alone, with the statistics that leave
its input as it is, and the adapter as the identity. The function is the same.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from glissando.errors import GlissandoError, WeightsError
from glissando.model.config import EncoderConfig
from glissando.model.encoder import Encoder
from glissando.weights import Weights


def unfold_encoder(weights: Weights) -> Encoder:
    """The encoder of an ``.onnx`` file in float32, on the CPU and in evaluation mode.

    Raises:
        WeightsError: the file holds another network, or one of reduced precision.
    """
    try:
        config = EncoderConfig.from_dict(weights.card["config"])
    except (KeyError, GlissandoError) as error:
        raise WeightsError(f"weights {weights.name} are not an encoder's: {error}") from None
    if weights.card.get("precision", "fp32") != "fp32" or config.hidden < 2 * config.width:
        raise WeightsError(f"weights {weights.name} cannot be trained on: they are reduced or too narrow")
    found = _initializers(weights)
    encoder = Encoder(config)
    try:
        state = _state(encoder, found)
        encoder.load_state_dict(state)
    except (KeyError, RuntimeError) as error:
        raise WeightsError(f"weights {weights.name} are not an encoder's: {str(error).splitlines()[0]}") from None
    return encoder.eval()


def _initializers(weights: Weights) -> dict[str, Tensor]:
    """The tensors of an ONNX file by name."""
    import onnx
    from google.protobuf.message import DecodeError

    try:
        graph = onnx.load_model_from_string(weights.data).graph
        return {one.name: torch.from_numpy(np.array(onnx.numpy_helper.to_array(one))) for one in graph.initializer}
    except (DecodeError, ValueError) as error:
        raise WeightsError(f"weights {weights.name} are no ONNX file: {error}") from None


def _state(encoder: Encoder, found: dict[str, Tensor]) -> dict[str, Tensor]:
    """The state of an encoder from the tensors of its folded form."""
    state = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    config, eps = encoder.config, encoder.adapter.norm.eps  # of all norms
    state["stem.weight"] = found["stem.weight"].transpose(1, 2).reshape(config.width, -1)
    state["stem.bias"] = found["stem.bias"]
    for number in range(len(config.dilations)):
        block = f"blocks.{number}."
        kernel = found[f"{block}depthwise.weight"]  # [C, 1, 1, kernel]
        state[f"{block}depthwise.weight"] = kernel.reshape(config.width, -1).T
        state |= _identity_norm(f"{block}norm.", found[f"{block}depthwise.bias"], eps)
        for part in ("weight", "bias"):
            halves = [found[f"{block}{half}.{part}"] for half in ("value", "gate")]
            state[f"{block}expand.{part}"] = torch.cat(halves)
            state[f"{block}project.{part}"] = found[f"{block}project.{part}"]
            for layer in ("squeeze", "excite"):
                state[f"{block}excite.{layer}.{part}"] = found[f"{block}excite.{layer}.{part}"]
        state[f"{block}response.gamma"] = found[f"{block}gamma"]
        state[f"{block}response.beta"] = torch.zeros_like(found[f"{block}gamma"])
    heads = found["heads.weight"]  # [N * N + 1, 2 C]
    state["adapter.weight.weight"] = torch.eye(config.hidden, 2 * config.width)
    state |= _identity_norm("adapter.norm.", torch.zeros(config.hidden), eps)
    state["heads.weight"] = torch.nn.functional.pad(heads, (0, config.hidden - 2 * config.width))
    state["heads.bias"] = found["heads.bias"]
    return state


def _identity_norm(prefix: str, shift: Tensor, eps: float) -> dict[str, Tensor]:
    """A batch norm that only adds ``shift`` [C]."""
    ones = torch.ones_like(shift)
    names = {"weight": ones, "bias": shift, "running_mean": torch.zeros_like(shift), "running_var": ones - eps}
    return {f"{prefix}{name}": tensor for name, tensor in names.items()}
