"""Checkpoints: everything needed to go on as if the run had never stopped, in one file without pickle.

A checkpoint is a safetensors file whose tensors are named ``network/...``, ``average/...`` and
``optimizer/<parameter>/<slot>``; its metadata holds the rest as JSON. It has no random state: the step's number seeds
everything random.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from glissando.errors import TrainingError
from glissando.files import write_whole


def save_state(path: Path, tensors: dict[str, Tensor], info: dict[str, Any]) -> None:
    """Write a checkpoint, whole or not at all."""
    host = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(path, safetensors.torch.save(host, {"glissando": json.dumps(info)}))


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a checkpoint.

    Raises:
        TrainingError: it is missing or damaged.
    """
    try:
        with safe_open(path, framework="pt") as file:
            info = json.loads((file.metadata() or {})["glissando"])
            return {name: file.get_tensor(name) for name in file.keys()}, info  # noqa: SIM118 (not a mapping)
    except FileNotFoundError:
        raise TrainingError(f"nothing to resume: there is no {path}") from None
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise TrainingError(f"the checkpoint {path} is damaged: {error}") from None


def module_tensors(module: nn.Module, prefix: str) -> dict[str, Tensor]:
    """The weights and statistics of a module by name."""
    return {f"{prefix}/{name}": tensor for name, tensor in module.state_dict().items()}


def restore_module(module: nn.Module, prefix: str, tensors: dict[str, Tensor]) -> None:
    """Put back what ``module_tensors`` gave."""
    mine = {name.removeprefix(f"{prefix}/"): value for name, value in tensors.items() if name.startswith(f"{prefix}/")}
    try:
        module.load_state_dict(mine)
    except RuntimeError as error:
        raise TrainingError(f"the checkpoint does not fit the network: {str(error).splitlines()[-1].strip()}") from None


def optimizer_tensors(optimizer: torch.optim.Optimizer, module: nn.Module) -> dict[str, Tensor]:
    """The moments and step counts of an optimizer by parameter name and slot."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in module.named_parameters()}
    return {
        f"optimizer/{names[parameter]}/{slot}": torch.as_tensor(value)
        for parameter, slots in optimizer.state.items()
        for slot, value in slots.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, module: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Put back what ``optimizer_tensors`` gave."""
    state = optimizer.state_dict()
    names = {parameter: name for name, parameter in module.named_parameters()}
    order = [names[parameter] for group in optimizer.param_groups for parameter in group["params"]]
    state["state"] = {}
    for number, name in enumerate(order):
        prefix = f"optimizer/{name}/"
        slots = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
        if not slots:
            raise TrainingError(f"the checkpoint has no optimizer state of {name}")
        state["state"][number] = slots
    optimizer.load_state_dict(state)
