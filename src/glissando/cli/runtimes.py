"""A keyboard in every runtime that is installed, for ``glissando bench`` to time side by side. Imports torch."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch
from torch import nn

from glissando.errors import GlissandoError
from glissando.export import executorch
from glissando.export.runners import Forward, MatcherProgram, Program, TorchForward, bound_decoder, in_place_of
from glissando.keyboard import Keyboard
from glissando.model.checkpoint import load_encoder
from glissando.model.config import DecoderConfig, EncoderConfig, MatcherConfig
from glissando.model.decoder import Decoder
from glissando.model.encoder import Encoder
from glissando.model.matcher import Matcher
from glissando.runtime import DecoderRuntime

RUNTIMES = ("executorch", "torch", "torch.compile")  # beside onnxruntime
A_SWIPE = ((0.2, 0.2, 0), (0.5, 0.5, 200), (0.8, 0.2, 400))


@dataclass
class Contenders:
    """Keyboards that differ in what runs their networks.

    Attributes:
        keyboards: by runtime.
        skipped: why a runtime is missing.
        parameters: of each network.
        megabytes: of their files.
    """

    keyboards: dict[str, Keyboard] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)


def line_up(keyboard: Keyboard, runtimes: Sequence[str] = RUNTIMES, checkpoint: Path | None = None) -> Contenders:
    """Put a keyboard's networks into other runtimes, on one thread.

    Time does not depend on the values of the weights. So without a checkpoint torch and executorch run an untrained
    encoder of the same size, and decoder and matcher are always untrained in them.

    Args:
        keyboard: in onnxruntime.
        runtimes: which others, of ``RUNTIMES``.
        checkpoint: of its encoder.
    """
    torch.set_num_threads(1)
    config = EncoderConfig.from_dict(keyboard.encoder.weights.card["config"])
    encoder = load_encoder(checkpoint)[0] if checkpoint else Encoder(config).eval()
    decoder, bound = _decoder(keyboard)
    networks: dict[str, nn.Module] = {"encoder": encoder, "decoder": decoder}
    if keyboard.matcher is not None:
        networks["matcher"] = Matcher(MatcherConfig.from_dict(keyboard.matcher.weights.card.get("config", {}))).eval()
    keyboard = keyboard.replace(decoder=bound)
    contenders = Contenders(keyboards={"onnxruntime": keyboard})
    for kind, network in networks.items():
        contenders.parameters[kind] = sum(parameter.numel() for parameter in network.parameters())
        contenders.megabytes[f"{kind}.onnx"] = len(getattr(keyboard, kind).weights.data) / 1e6
    for name in runtimes:
        try:
            forwards = _forwards(name, networks, bound.frames, contenders.megabytes)
            other = keyboard.replace(
                **{kind: in_place_of(getattr(keyboard, kind), forward) for kind, forward in forwards.items()}
            )
            other.decode(A_SWIPE)  # compiles if there is something to compile
        except (GlissandoError, RuntimeError, OSError) as error:  # for example torch.compile without a compiler
            contenders.skipped[name] = str(error).splitlines()[0]
        else:
            contenders.keyboards[name] = other
    return contenders


def _forwards(
    name: str, networks: Mapping[str, nn.Module], frames: int, megabytes: dict[str, float]
) -> dict[str, Forward]:
    """The networks in one of ``RUNTIMES``."""
    if name != "executorch":
        return {kind: TorchForward(network, name == "torch.compile") for kind, network in networks.items()}
    export: dict[str, Callable[..., None]] = {
        "encoder": executorch.export_encoder,
        "decoder": partial(executorch.export_decoder, frames=frames),
        "matcher": executorch.export_matcher,
    }
    forwards: dict[str, Forward] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, network in networks.items():
            file = Path(folder) / f"{kind}.pte"
            export[kind](network, file)
            megabytes[file.name] = file.stat().st_size / 1e6
            forwards[kind] = (MatcherProgram if kind == "matcher" else Program)(file.read_bytes())
    return forwards


def _decoder(keyboard: Keyboard) -> tuple[Decoder, DecoderRuntime]:
    """An untrained decoder of the size of the keyboard's, in torch and in onnxruntime (there the keyboard's own)."""
    if keyboard.decoder is not None and "config" in keyboard.decoder.weights.card:
        config = DecoderConfig.from_dict(keyboard.decoder.weights.card["config"])
    else:
        resolution = keyboard.encoder.weights.card["config"].get("resolution", 8)
        config = DecoderConfig(keys=len(keyboard.layout.keys), coefficients=resolution**2)
    decoder = Decoder(config).eval()
    if keyboard.decoder is not None:
        return decoder, keyboard.decoder
    return decoder, bound_decoder(decoder, keyboard.layout.to_dict(), keyboard.encoder.frames)
