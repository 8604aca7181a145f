"""Networks on disk: a safetensors file whose metadata carries the config, so one file is enough."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from glissando.errors import GlissandoError, WeightsError
from glissando.files import write_whole
from glissando.model.config import DecoderConfig, EmbedderConfig, EncoderConfig, MatcherConfig
from glissando.model.decoder import Decoder
from glissando.model.embedder import Embedder
from glissando.model.encoder import Encoder
from glissando.model.matcher import Matcher

FORMAT = "glissando-encoder"
DECODER_FORMAT = "glissando-decoder"
EMBEDDER_FORMAT = "glissando-embedder"
MATCHER_FORMAT = "glissando-matcher"

Network = TypeVar("Network", bound=nn.Module)
Saved = Encoder | Decoder | Embedder | Matcher


def save_encoder(path: str | Path, encoder: Encoder, extra: dict[str, Any] | None = None) -> None:
    """Write an encoder, its config and what else JSON can hold; the file appears whole or not at all.

    Args:
        path: the file to write, ".safetensors" by custom.
        encoder: the encoder, on any device.
        extra: provenance, metrics, the step: ``load_encoder`` gives it back.
    """
    _save(path, FORMAT, encoder, extra)


def load_encoder(path: str | Path) -> tuple[Encoder, dict[str, Any]]:
    """Read what ``save_encoder`` wrote.

    Returns:
        The encoder, on the CPU and in evaluation mode, and the ``extra`` it was saved with.
    """
    return _load(path, FORMAT, "an encoder's", lambda data: Encoder(EncoderConfig.from_dict(data)))


def save_decoder(path: str | Path, decoder: Decoder, extra: dict[str, Any] | None = None) -> None:
    """Write a decoder; see ``save_encoder``. Training puts the layout it is bound to in ``extra["layout"]``."""
    _save(path, DECODER_FORMAT, decoder, extra)


def load_decoder(path: str | Path) -> tuple[Decoder, dict[str, Any]]:
    """Read what ``save_decoder`` wrote, on the CPU and in evaluation mode."""
    return _load(path, DECODER_FORMAT, "a decoder's", lambda data: Decoder(DecoderConfig.from_dict(data)))


def save_embedder(path: str | Path, embedder: Embedder, extra: dict[str, Any] | None = None) -> None:
    """Write an embedder; see ``save_encoder``."""
    _save(path, EMBEDDER_FORMAT, embedder, extra)


def load_embedder(path: str | Path) -> tuple[Embedder, dict[str, Any]]:
    """Read what ``save_embedder`` wrote, on the CPU and in evaluation mode."""
    return _load(path, EMBEDDER_FORMAT, "an embedder's", lambda data: Embedder(EmbedderConfig.from_dict(data)))


def save_matcher(path: str | Path, matcher: Matcher, extra: dict[str, Any] | None = None) -> None:
    """Write a matcher; see ``save_encoder``."""
    _save(path, MATCHER_FORMAT, matcher, extra)


def load_matcher(path: str | Path) -> tuple[Matcher, dict[str, Any]]:
    """Read what ``save_matcher`` wrote, on the CPU and in evaluation mode."""
    return _load(path, MATCHER_FORMAT, "a matcher's", lambda data: Matcher(MatcherConfig.from_dict(data)))


def read_format(path: str | Path) -> str:
    """Which network a checkpoint holds, one of the formats above; "" for a file without a format."""
    return _read(path)[0].get("format", "")


def _save(path: str | Path, form: str, network: Saved, extra: dict[str, Any] | None) -> None:
    """Write a network with its config and what goes with it."""
    metadata = {"format": form, "config": json.dumps(network.config.to_dict()), "extra": json.dumps(extra or {})}
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    write_whole(path, safetensors.torch.save(state, metadata))


def _load(
    path: str | Path, form: str, whose: str, build: Callable[[Mapping[str, Any]], Network]
) -> tuple[Network, dict[str, Any]]:
    """Read a network of a format, checked against its own config."""
    metadata, state = _read(path)
    if metadata.get("format") != form:
        raise WeightsError(f"{path} is not {whose} checkpoint: its format is {metadata.get('format')!r}")
    try:
        network = build(json.loads(metadata["config"]))
        extra = json.loads(metadata["extra"])
    except (KeyError, ValueError, GlissandoError) as error:
        raise WeightsError(f"checkpoint {path} has no usable config: {error}") from None
    _check_state(path, network.state_dict(), state)
    network.load_state_dict(state)
    return network.eval(), extra


def _read(path: str | Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Read a safetensors file: metadata and tensors."""
    if not Path(path).is_file():
        raise WeightsError(f"no checkpoint at {path}")
    try:
        with safe_open(path, framework="pt") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"checkpoint {path} is damaged or no safetensors file: {error}") from None


def _check_state(path: str | Path, wanted: dict[str, Tensor], got: dict[str, Tensor]) -> None:
    """Refuse tensors that do not fit the config, or that are not finite."""
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
