"""Encoders on disk: a safetensors file whose metadata carries the config, so that a file is all it takes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from glissando.errors import GlissandoError, WeightsError
from glissando.model.config import EncoderConfig
from glissando.model.encoder import Encoder

FORMAT = "glissando-encoder"


def save_encoder(path: str | os.PathLike[str], encoder: Encoder, extra: dict[str, Any] | None = None) -> None:
    """Write an encoder, its config and what else JSON can hold; the file appears whole or not at all.

    Args:
        path: the file to write, ".safetensors" by custom.
        encoder: the encoder, on any device.
        extra: provenance, metrics, the step: what ``load_encoder`` shall give back.
    """
    metadata = {
        "format": FORMAT,
        "config": json.dumps(encoder.config.to_dict()),
        "extra": json.dumps(extra or {}),
    }
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in encoder.state_dict().items()}
    write_atomically(path, safetensors.torch.save(state, metadata))


def load_encoder(path: str | os.PathLike[str]) -> tuple[Encoder, dict[str, Any]]:
    """Read what ``save_encoder`` wrote.

    Returns:
        The encoder, on the CPU and in evaluation mode, and the ``extra`` it was saved with.
    """
    metadata, state = _read(path)
    if metadata.get("format") != FORMAT:
        raise WeightsError(f"{path} is not an encoder's checkpoint: its format is {metadata.get('format')!r}")
    try:
        encoder = Encoder(EncoderConfig.from_dict(json.loads(metadata["config"])))
        extra = json.loads(metadata["extra"])
    except (KeyError, ValueError, GlissandoError) as error:
        raise WeightsError(f"checkpoint {path} has no usable config: {error}") from None
    _check_state(path, encoder.state_dict(), state)
    encoder.load_state_dict(state)
    return encoder.eval(), extra


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file beside its place, then move it there, so that no reader ever meets half of it."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise WeightsError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Read a safetensors file: metadata and tensors."""
    if not Path(path).is_file():
        raise WeightsError(f"no checkpoint at {path}")
    try:
        with safe_open(path, framework="pt") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"checkpoint {path} is damaged or no safetensors file: {error}") from None


def _check_state(path: str | os.PathLike[str], wanted: dict[str, Tensor], got: dict[str, Tensor]) -> None:
    """Refuse tensors that are not the ones the config asks for, or that are no numbers."""
    missing, surplus = sorted(wanted.keys() - got.keys()), sorted(got.keys() - wanted.keys())
    if missing or surplus:
        what = f"lacks {missing[0]!r}" if missing else f"has an unknown {surplus[0]!r}"
        raise WeightsError(f"checkpoint {path} does not fit its config: it {what}")
    for name, tensor in got.items():
        if tensor.shape != wanted[name].shape:
            shapes = f"{tuple(tensor.shape)}, the config asks for {tuple(wanted[name].shape)}"
            raise WeightsError(f"checkpoint {path} does not fit its config: {name!r} is {shapes}")
        if not torch.isfinite(tensor).all():
            raise WeightsError(f"checkpoint {path} is damaged: {name!r} holds values that are not finite")
