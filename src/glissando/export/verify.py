"""Compare an exported file with its checkpoint: what the network gives, and the words that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from glissando.errors import WeightsError
from glissando.export.runners import Forward, MatcherProgram, Program, TorchForward, bound_decoder, in_place_of
from glissando.gesture import Gesture
from glissando.keyboard import BATCH, Keyboard
from glissando.literal import LITERALS
from glissando.model.checkpoint import (
    DECODER_FORMAT,
    MATCHER_FORMAT,
    load_decoder,
    load_encoder,
    load_matcher,
    read_format,
)
from glissando.runtime import CORRECTED, MATCHED, OUTPUTS, DecoderRuntime, EncoderRuntime, MatcherRuntime
from glissando.stages import Stages
from glissando.weights import Weights, load_weights

# Log-probability below which a letter is out of the question: no beam takes it. Trained networks go down to -400, where
# float32 itself has few decimals left.
LIKELY = -20.0
# Of the likely emissions, the share (percent) that must be within the bar. Not all of them: between two almost equally
# likely letters a trained network amplifies rounding, and there torch in float32 is 1e-3 from torch in float64.
SHARE = 99.9
ALWAYS = 2.0  # a probability that no word reaches: a matcher is asked about every swipe

# What opens an ONNX file of each kind, and what it gives.
KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "encoder": (EncoderRuntime, OUTPUTS),
    "decoder": (DecoderRuntime, CORRECTED),
    "matcher": (MatcherRuntime, MATCHED),
}


@dataclass(frozen=True)
class Bar:
    """How close to the checkpoint a file of some precision must be.

    Attributes:
        outputs: how far ``SHARE`` of its likely log-emissions, or of a matcher's scores, may be from torch's.
        agreement: percent of swipes whose best word must be the same.
    """

    outputs: float
    agreement: float


FULL, REDUCED = Bar(1e-4, 99.9), Bar(2e-2, 99.5)


@dataclass(frozen=True)
class Comparison:
    """One file compared with its checkpoint.

    Attributes:
        file: its name.
        kind: of ``KINDS``.
        precision, megabytes: of the file.
        swipes: how many were decoded.
        outputs: ``SHARE`` of its likely log-emissions, or of a matcher's scores, are this close to torch's.
        worst: the largest difference of all.
        agreement: percent of swipes whose best word is the same.
        bar: how close it must be.
    """

    file: str
    kind: str
    precision: str
    megabytes: float
    swipes: int
    outputs: float
    worst: float
    agreement: float
    bar: Bar

    @property
    def passed(self) -> bool:
        """Whether outputs and words are within the bar."""
        return self.outputs <= self.bar.outputs and self.agreement >= self.bar.agreement

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "passed": self.passed}


class Reference:
    """A checkpoint in torch: what it gives for some swipes, and the words that follow."""

    def __init__(self, checkpoint: Path, keyboard: Keyboard, gestures: Sequence[Gesture]) -> None:
        """Compute them.

        Args:
            checkpoint: an encoder's, a decoder's or a matcher's.
            keyboard: what decodes; its encoder feeds a decoder, in torch as in the file. It has a matcher of its own
                where the checkpoint is one.
            gestures: swipes on the keyboard's layout, at least one.
        """
        self.kind = {DECODER_FORMAT: "decoder", MATCHER_FORMAT: "matcher"}.get(read_format(checkpoint), "encoder")
        self.gestures = gestures
        network: nn.Module
        if self.kind == "decoder":
            network, extra = load_decoder(checkpoint)
            decoder = bound_decoder(network, extra.get("layout"), keyboard.encoder.frames)
            self.keyboard = keyboard.replace(decoder=decoder, matcher=None)
        elif self.kind == "matcher":
            network = load_matcher(checkpoint)[0]
            self.keyboard = keyboard.replace(decoder=None, scoring=replace(keyboard.scoring, doubt=ALWAYS))
        else:
            network = load_encoder(checkpoint)[0]
            self.keyboard = keyboard.replace(decoder=None, matcher=None)
        self.outputs, self.words = self._decode(TorchForward(network))
        self.compared = self._compared()
        if not self.compared.any():
            raise WeightsError(f"these {len(gestures)} swipes give a {self.kind} nothing to compare")

    def compare(self, file: Path, progress: Callable[[int, int], None] | None = None) -> Comparison:
        """Run a file on the same swipes, one at a time as a device does, and compare.

        Args:
            file: an .onnx or .pte file with its JSON.
            progress: called with (swipes done, swipes in all).
        """
        weights = load_weights(file)
        outputs, words = self._decode(_open(file, weights, self.kind), progress)
        if outputs.shape != self.outputs.shape:
            raise WeightsError(
                f"{file} gives {outputs.shape[1:]} numbers; the checkpoint gives {self.outputs.shape[1:]}"
            )
        precision = str(weights.card.get("precision", "fp32"))
        differences = np.abs(outputs - self.outputs)[self.compared]
        return Comparison(
            file=file.name,
            kind=self.kind,
            precision=precision,
            megabytes=len(weights.data) / 1e6,
            swipes=len(self.gestures),
            outputs=float(np.percentile(differences, SHARE)),
            worst=float(differences.max()),
            agreement=100 * float(np.mean([one == other for one, other in zip(words, self.words, strict=True)])),
            bar=FULL if precision == "fp32" else REDUCED,
        )

    def _decode(
        self, forward: Forward, progress: Callable[[int, int], None] | None = None
    ) -> tuple[np.ndarray, list[str | None]]:
        """What the network gives, as ``_outputs``, and the best word of each swipe, None where the beam has none."""
        runtime = in_place_of(getattr(self.keyboard, self.kind), forward)
        keyboard = self.keyboard.replace(**{self.kind: runtime})
        parts: list[np.ndarray] = []
        words: list[str | None] = []
        for start in range(0, len(self.gestures), BATCH):
            stages = keyboard.stages(self.gestures[start : start + BATCH], 1)
            parts.append(self._outputs(stages))
            words += [candidates[0].word if candidates else None for candidates in stages.candidates]
            if progress:
                progress(len(words), len(self.gestures))
        return np.concatenate(parts), words

    def _outputs(self, stages: Stages) -> np.ndarray:
        """Emissions [B, T, L + 1], or a matcher's scores [B, W], NaN where it was not asked."""
        if self.kind == "matcher":
            rows = np.full((len(stages.matches), self.keyboard.width + LITERALS), np.nan)
            for row, scores in zip(rows, stages.matches, strict=True):
                if scores is not None:
                    row[: len(scores)] = scores
            return rows
        corrected = stages.readings.corrected
        return stages.readings.log_probs if corrected is None else corrected

    def _compared(self) -> np.ndarray:
        """Which outputs count: likely emissions; a matcher's scores above the lowest, which stands for many."""
        if self.kind == "matcher":
            return self.outputs > np.fmin.reduce(self.outputs, axis=1, keepdims=True)
        return self.outputs > LIKELY


def _open(file: Path, weights: Weights, kind: str) -> Forward:
    """The function that runs a file on one swipe."""
    if file.suffix == ".pte":
        return (MatcherProgram if kind == "matcher" else Program)(file)
    if file.suffix != ".onnx":
        raise WeightsError(f"cannot verify {file}: it must end in .onnx or .pte")
    runtime, outputs = KINDS[kind]
    session = runtime(weights).session
    names = [entry.name for entry in session.get_inputs()]
    return lambda *arrays: session.run(outputs, dict(zip(names, arrays, strict=True)))
