"""Compare an exported file with its checkpoint: the emissions, and the words they decode to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from glissando.errors import WeightsError
from glissando.export.runners import Forward, Program, TorchForward, bound_decoder, in_place_of
from glissando.gesture import Gesture
from glissando.keyboard import BATCH, Keyboard
from glissando.model.checkpoint import DECODER_FORMAT, load_decoder, load_encoder, read_format
from glissando.runtime import CORRECTED, OUTPUTS, DecoderRuntime, EncoderRuntime
from glissando.weights import Weights, load_weights

# Log-probability below which a letter is out of the question: no beam takes it. Trained networks go down to -400, where
# float32 itself has few decimals left.
LIKELY = -20.0
# Of the likely emissions, the share (percent) that must be within the bar. Not all of them: between two almost equally
# likely letters a trained network amplifies rounding, and there torch in float32 is 1e-3 from torch in float64.
SHARE = 99.9


@dataclass(frozen=True)
class Bar:
    """How close to the checkpoint a file of some precision must be.

    Attributes:
        emissions: how far ``SHARE`` of its likely log-emissions may be from torch's.
        agreement: percent of swipes whose best word must be the same.
    """

    emissions: float
    agreement: float


FULL, REDUCED = Bar(1e-4, 99.9), Bar(2e-2, 99.5)


@dataclass(frozen=True)
class Comparison:
    """One file compared with its checkpoint.

    Attributes:
        file: its name.
        kind: "encoder" or "decoder".
        precision, megabytes: of the file.
        swipes: how many were decoded.
        emissions: ``SHARE`` of its likely log-emissions are this close to torch's.
        worst: the largest difference of all.
        agreement: percent of swipes whose best word is the same.
        bar: how close it must be.
    """

    file: str
    kind: str
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
        self.kind = "decoder" if read_format(checkpoint) == DECODER_FORMAT else "encoder"
        self.gestures = gestures
        network: nn.Module
        if self.kind == "decoder":
            network, extra = load_decoder(checkpoint)
            decoder = bound_decoder(network, extra.get("layout"), keyboard.encoder.frames)
        else:
            network, decoder = load_encoder(checkpoint)[0], None
        self.keyboard = keyboard.replace(decoder=decoder)
        self.log_probs, self.words = self._decode(TorchForward(network))

    def compare(self, file: Path, progress: Callable[[int, int], None] | None = None) -> Comparison:
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
        differences = np.abs(log_probs - self.log_probs)[self.log_probs > LIKELY]
        return Comparison(
            file=file.name,
            kind=self.kind,
            precision=precision,
            megabytes=len(weights.data) / 1e6,
            swipes=len(self.gestures),
            emissions=float(np.percentile(differences, SHARE)),
            worst=float(differences.max()),
            agreement=100 * float(np.mean([one == other for one, other in zip(words, self.words, strict=True)])),
            bar=FULL if precision == "fp32" else REDUCED,
        )

    def _decode(
        self, forward: Forward, progress: Callable[[int, int], None] | None = None
    ) -> tuple[np.ndarray, list[str | None]]:
        """Emissions [B, T, L + 1] and the best word of each swipe, None where the beam has none."""
        runtime = in_place_of(getattr(self.keyboard, self.kind), forward)
        keyboard = self.keyboard.replace(**{self.kind: runtime})
        parts: list[np.ndarray] = []
        words: list[str | None] = []
        for start in range(0, len(self.gestures), BATCH):
            stages = keyboard.stages(self.gestures[start : start + BATCH], 1)
            corrected = stages.readings.corrected
            parts.append(stages.readings.log_probs if corrected is None else corrected)
            words += [candidates[0].word if candidates else None for candidates in stages.candidates]
            if progress:
                progress(len(words), len(self.gestures))
        return np.concatenate(parts), words


def _open(file: Path, weights: Weights, kind: str) -> Forward:
    """The function that runs a file on one swipe."""
    if file.suffix == ".pte":
        return Program(file)
    if file.suffix != ".onnx":
        raise WeightsError(f"cannot verify {file}: it must end in .onnx or .pte")
    session = (DecoderRuntime if kind == "decoder" else EncoderRuntime)(weights).session
    names = [entry.name for entry in session.get_inputs()]
    outputs = CORRECTED if kind == "decoder" else OUTPUTS
    return lambda *arrays: session.run(outputs, dict(zip(names, arrays, strict=True)))
