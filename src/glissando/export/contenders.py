"""A keyboard in every runtime that is installed, for ``glissando bench`` to time side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from glissando.errors import GlissandoError
from glissando.export import executorch
from glissando.export.onnx import export_decoder
from glissando.export.runners import Forward, Program, TorchForward, in_place_of
from glissando.keyboard import Keyboard
from glissando.model.checkpoint import load_decoder, load_encoder
from glissando.model.config import DecoderConfig, EncoderConfig
from glissando.model.decoder import Decoder
from glissando.model.encoder import Encoder
from glissando.runtime import DecoderRuntime
from glissando.weights import load_weights, write_card

RUNTIMES = ("executorch", "torch", "torch.compile")  # beside onnxruntime


@dataclass
class Contenders:
    """Keyboards that differ in what runs their networks.

    Attributes:
        keyboards: by runtime.
        skipped: why a runtime is missing.
        parameters: of encoder and decoder.
        megabytes: of their files.
    """

    keyboards: dict[str, Keyboard] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)


def line_up(
    keyboard: Keyboard,
    runtimes: Sequence[str] = RUNTIMES,
    checkpoint: Path | None = None,
    decoder_checkpoint: Path | None = None,
) -> Contenders:
    """Put a keyboard's networks into other runtimes, on one thread.

    Time does not depend on what the weights are, so without a checkpoint torch and executorch run the same
    network untrained; without any decoder for the layout an untrained one is timed.

    Args:
        keyboard: in onnxruntime.
        runtimes: which others, of ``RUNTIMES``.
        checkpoint: of its encoder.
        decoder_checkpoint: of its decoder.
    """
    torch.set_num_threads(1)
    config = EncoderConfig.from_dict(keyboard.encoder.weights.card["config"])
    encoder = load_encoder(checkpoint)[0] if checkpoint else Encoder(config).eval()
    decoder, bound = _decoder(keyboard, decoder_checkpoint)
    keyboard = _keyboard(keyboard, None, bound)
    found = Contenders(keyboards={"onnxruntime": keyboard})
    for name, network in (("encoder", encoder), ("decoder", decoder)):
        found.parameters[name] = sum(parameter.numel() for parameter in network.parameters())
    found.megabytes["encoder.onnx"] = len(keyboard.encoder.weights.data) / 1e6
    found.megabytes["decoder.onnx"] = len(bound.weights.data) / 1e6
    for name in runtimes:
        try:
            forwards = _forwards(name, encoder, decoder, bound.frames, found.megabytes)
            made = _keyboard(keyboard, *forwards)
            made.decode([(0.2, 0.2, 0), (0.5, 0.5, 200), (0.8, 0.2, 400)])  # compiles where there is something to
        except (GlissandoError, RuntimeError, OSError) as error:  # torch.compile without a compiler, for one
            found.skipped[name] = str(error).splitlines()[0]
        else:
            found.keyboards[name] = made
    return found


def _forwards(
    name: str, encoder: Encoder, decoder: Decoder, frames: int, megabytes: dict[str, float]
) -> tuple[Forward, Forward]:
    """Encoder and decoder in one of ``RUNTIMES``."""
    if name != "executorch":
        return TorchForward(encoder, name == "torch.compile"), TorchForward(decoder, name == "torch.compile")
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: Path(folder) / f"{kind}.pte" for kind in ("encoder", "decoder")}
        executorch.export_encoder(encoder, files["encoder"])
        executorch.export_decoder(decoder, files["decoder"], frames=frames)
        for file in files.values():
            megabytes[file.name] = file.stat().st_size / 1e6
        return Program(files["encoder"].read_bytes()), Program(files["decoder"].read_bytes())


def _keyboard(keyboard: Keyboard, encode: Forward | None, decode: Forward | DecoderRuntime) -> Keyboard:
    """The keyboard with other networks."""
    encoder = in_place_of(keyboard.encoder, encode) if encode else keyboard.encoder
    decoder = decode
    if not isinstance(decoder, DecoderRuntime):
        assert keyboard.decoder is not None
        decoder = in_place_of(keyboard.decoder, decoder)
    return keyboard.replace(encoder=encoder, decoder=decoder)


def _decoder(keyboard: Keyboard, checkpoint: Path | None) -> tuple[Decoder, DecoderRuntime]:
    """The keyboard's decoder in torch and in onnxruntime, or an untrained one."""
    if checkpoint:
        decoder = load_decoder(checkpoint)[0]
    elif keyboard.decoder is not None and "config" in keyboard.decoder.weights.card:
        decoder = Decoder(DecoderConfig.from_dict(keyboard.decoder.weights.card["config"])).eval()
    else:
        resolution = keyboard.encoder.weights.card["config"].get("resolution", 8)
        decoder = Decoder(DecoderConfig(keys=len(keyboard.layout.keys), coefficients=resolution**2)).eval()
    if keyboard.decoder is not None:
        return decoder, keyboard.decoder
    card: dict[str, Any] = {"layout": keyboard.layout.to_dict()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decoder.onnx"
        export_decoder(decoder, path, keyboard.encoder.frames)
        write_card(path, card)
        return decoder, DecoderRuntime(load_weights(path))
