"""Does an exported file compute what the checkpoint does? Its emissions and the words they decode to, compared."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from torch import nn

from glissando.errors import WeightsError
from glissando.export.onnx import export_decoder
from glissando.export.runners import Forward, Program, TorchForward, in_place_of
from glissando.gesture import Gesture
from glissando.keyboard import BATCH, Keyboard
from glissando.model.checkpoint import DECODER_FORMAT, load_decoder, load_encoder, read_format
from glissando.model.decoder import Decoder
from glissando.runtime import CORRECTED, OUTPUTS, DecoderRuntime, EncoderRuntime
from glissando.weights import Weights, load_weights, write_card

Kind = Literal["encoder", "decoder"]

# Log-probability below which a letter is out of the question. Trained networks go down to -400, where float32 itself
# has few decimals left; what is compared is what a beam could still take.
LIKELY = -20.0
# Of the likely emissions, the share (percent) that must be within the bar. Not all of them: where a trained network is
# on the brink between two letters it amplifies rounding, and there torch in float32 is 1e-3 from torch in float64.
SHARE = 99.9


@dataclass(frozen=True)
class Bar:
    """What a file of some precision is held to.

    Attributes:
        emissions: how far ``SHARE`` of its likely log-emissions may be from torch's.
        agreement: percent of swipes whose best word must be the same.
    """

    emissions: float
    agreement: float


FULL, REDUCED = Bar(1e-4, 99.9), Bar(2e-2, 99.5)


@dataclass(frozen=True)
class Verdict:
    """What was found of one file.

    Attributes:
        file: its name.
        kind, precision, megabytes: what it is.
        swipes: how many it was tried on.
        emissions: ``SHARE`` of its likely log-emissions are this close to torch's.
        worst: the one furthest off.
        agreement: percent of swipes whose best word is the same.
        bar: what it is held to.
        passed: whether it holds.
    """

    file: str
    kind: Kind
    precision: str
    megabytes: float
    swipes: int
    emissions: float
    worst: float
    agreement: float
    bar: Bar

    @property
    def passed(self) -> bool:
        """Whether emissions and words are within the bar."""
        return self.emissions <= self.bar.emissions and self.agreement >= self.bar.agreement

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "passed": self.passed}


class Reference:
    """A checkpoint in torch: the emissions it gives for some swipes, and the words they decode to."""

    def __init__(self, checkpoint: Path, keyboard: Keyboard, gestures: Sequence[Gesture]) -> None:
        """Compute them.

        Args:
            checkpoint: an encoder's or a decoder's.
            keyboard: what decodes; its encoder feeds a decoder, in torch as in the file.
            gestures: swipes on the keyboard's layout, at least one.
        """
        self.kind: Kind = "decoder" if read_format(checkpoint) == DECODER_FORMAT else "encoder"
        self.gestures = gestures
        network: nn.Module
        if self.kind == "decoder":
            network, extra = load_decoder(checkpoint)
            self.keyboard = _with(keyboard, decoder=_decoder_runtime(network, extra, keyboard.encoder.frames))
        else:
            network, _ = load_encoder(checkpoint)
            self.keyboard = _with(keyboard)
        self.log_probs, self.words = self._decode(TorchForward(network), None)

    def check(self, file: Path, progress: Callable[[int, int], None] | None = None) -> Verdict:
        """Run a file on the same swipes, one at a time as a device does, and compare.

        Args:
            file: an .onnx or .pte file with its JSON.
            progress: called with (swipes done, swipes in all).
        """
        weights = load_weights(file)
        log_probs, words = self._decode(_open(file, weights, self.kind), progress)
        if log_probs.shape != self.log_probs.shape:
            raise WeightsError(
                f"{file} gives emissions {log_probs.shape[1:]}; the checkpoint's are {self.log_probs.shape[1:]}"
            )
        precision = str(weights.card.get("precision", "fp32"))
        apart = np.abs(log_probs - self.log_probs)[self.log_probs > LIKELY]
        return Verdict(
            file=file.name,
            kind=self.kind,
            precision=precision,
            megabytes=len(weights.data) / 1e6,
            swipes=len(self.gestures),
            emissions=float(np.percentile(apart, SHARE)),
            worst=float(apart.max()),
            agreement=100 * float(np.mean([one == other for one, other in zip(words, self.words, strict=True)])),
            bar=FULL if precision == "fp32" else REDUCED,
        )

    def _decode(
        self, forward: Forward, progress: Callable[[int, int], None] | None
    ) -> tuple[np.ndarray, list[str | None]]:
        """Emissions [B, T, L + 1] and the best word of each swipe, None where the beam found none."""
        keyboard = self.keyboard
        if keyboard.decoder is not None:
            keyboard = _with(keyboard, decoder=in_place_of(keyboard.decoder, forward))
        else:
            keyboard = _with(keyboard, encoder=in_place_of(keyboard.encoder, forward))
        parts, words = [], []
        for start in range(0, len(self.gestures), BATCH):
            gestures = self.gestures[start : start + BATCH]
            readings = keyboard.read(gestures)
            parts.append(readings.log_probs if readings.corrected is None else readings.corrected)
            best = keyboard.stages(gestures, 1, readings).candidates
            words += [candidates[0].word if candidates else None for candidates in best]
            if progress:
                progress(len(words), len(self.gestures))
        return np.concatenate(parts), words


def _with(keyboard: Keyboard, encoder: EncoderRuntime | None = None, decoder: DecoderRuntime | None = None) -> Keyboard:
    """The keyboard with other networks, and none but those."""
    return keyboard.replace(encoder=encoder or keyboard.encoder, decoder=decoder)


def _open(file: Path, weights: Weights, kind: Kind) -> Forward:
    """What runs a file on one swipe."""
    if file.suffix == ".pte":
        return Program(file)
    if file.suffix != ".onnx":
        raise WeightsError(f"cannot verify {file}: it must end in .onnx or .pte")
    session = (DecoderRuntime if kind == "decoder" else EncoderRuntime)(weights).session
    names = [entry.name for entry in session.get_inputs()]
    outputs = CORRECTED if kind == "decoder" else OUTPUTS
    return lambda *arrays: session.run(outputs, dict(zip(names, arrays, strict=True)))


def _decoder_runtime(decoder: Decoder, extra: dict[str, Any], frames: int) -> DecoderRuntime:
    """A decoder as the keyboard knows them: in onnxruntime, bound to the layout its checkpoint names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decoder.onnx"
        export_decoder(decoder, path, frames)
        write_card(path, {"layout": extra.get("layout")})
        return DecoderRuntime(load_weights(path))
