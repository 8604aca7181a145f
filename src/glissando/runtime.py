"""Run the exported networks: a path and key centres in, emissions or scores out. It knows no words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from glissando.errors import LayoutError, WeightsError
from glissando.layout import Layout
from glissando.weights import Weights

# What the exported graphs must look like (the report's deployment appendix), batch axis aside.
INPUTS = {"features": (2, 64), "layout_keys": (64, 2), "layout_mask": (64,)}
OUTPUTS = ("log_emissions", "coefficients", "gate")
CORRECTED = ("log_probs",)
MATCHER_INPUTS = ("path", "keys", "mask")
MATCHED = ("scores",)
LONGEST = 20  # letters of a finalist that a matcher compares; it was trained on words of up to 16

# How far a key may lie from where the decoder knows it, as a fraction of the letter area along either side.
SAME_KEY = 0.1


@dataclass(frozen=True, eq=False)
class Emissions:
    """What the networks say along a swipe.

    Attributes:
        log_probs: [B, T, K + 1] float32 log-probabilities of each key, and of blank in the last column.
        coefficients: [B, T, N] float32, the cosine coefficients of the likelihood field.
        gate: [B, T] float32 logits: whether a letter is meant.
    """

    log_probs: np.ndarray
    coefficients: np.ndarray
    gate: np.ndarray


class EncoderRuntime:
    """The encoder in onnxruntime, one thread unless told otherwise; any layout."""

    def __init__(self, weights: Weights, *, threads: int = 1) -> None:
        self.weights = weights
        self.session = _session(weights, threads)
        _check_graph(weights.name, "encoder", self.session, INPUTS, OUTPUTS)

    @property
    def frames(self) -> int:
        """T, the frames it emits."""
        return int(self.session.get_outputs()[0].shape[1])

    def run(self, paths: np.ndarray, keys: np.ndarray) -> Emissions:
        """Encode swipes made on one layout.

        Args:
            paths: [B, 2, 64] resampled paths.
            keys: [K, 2] key centres of the layout, K <= 64.

        Returns:
            Emissions with B, T and K as above.
        """
        padded, mask, columns = _padded(len(paths), np.asarray(keys, dtype=np.float32).tobytes())
        feed = {"features": np.ascontiguousarray(paths, dtype=np.float32), "layout_keys": padded, "layout_mask": mask}
        log_probs, coefficients, gate = self.session.run(OUTPUTS, feed)
        return Emissions(log_probs.take(columns, axis=-1), coefficients, gate)


class DecoderRuntime:
    """The decoder in onnxruntime. It corrects the emissions of one encoder on one layout.

    Attributes:
        layout: the layout it belongs to; log-probabilities go through it in the order of this layout's keys.
        encoder: SHA-256 of the encoder it was trained over, None where its JSON does not say.
        frames: T, the frames it takes.
    """

    def __init__(self, weights: Weights, *, threads: int = 1) -> None:
        self.weights = weights
        self.layout = _bound_layout(weights)
        self.encoder: str | None = weights.card.get("encoder")
        self.session = _session(weights, threads)
        shapes = {entry.name: entry.shape for entry in self.session.get_inputs()}
        self.frames = int(shapes.get("gate", (0, 0))[1])
        coefficients = (shapes.get("coefficients") or (0, 0, 0))[2]
        takes = ((self.frames, len(self.layout.keys) + 1), (self.frames, coefficients), (self.frames,))
        _check_graph(weights.name, "decoder", self.session, dict(zip(OUTPUTS, takes, strict=True)), CORRECTED)

    def run(self, emissions: Emissions, columns: np.ndarray | None = None) -> Emissions:
        """Correct emissions; field and gate stay the encoder's.

        Args:
            emissions: the encoder's, [B, T, K + 1].
            columns: [K + 1] for each class of the decoder, its column in the emissions; None for the same order.

        Returns:
            Emissions in the column order of the input.
        """
        # Methods of the arrays, not numpy's functions of the same names: they take a third of the time.
        ordered = emissions.log_probs if columns is None else emissions.log_probs.take(columns, axis=-1)
        feed = {"log_emissions": ordered, "coefficients": emissions.coefficients, "gate": emissions.gate}
        (corrected,) = self.session.run(CORRECTED, feed)
        if columns is not None:
            corrected = corrected.take(columns.argsort(), axis=-1)
        return Emissions(corrected, emissions.coefficients, emissions.gate)


class MatcherRuntime:
    """The matcher in onnxruntime: how well a swipe matches the keys of each finalist; any layout."""

    def __init__(self, weights: Weights, *, threads: int = 1) -> None:
        self.weights = weights
        self.session = _session(weights, threads)
        names = tuple(entry.name for entry in self.session.get_inputs())
        found = tuple(entry.name for entry in self.session.get_outputs())
        if (names, found) != (MATCHER_INPUTS, MATCHED):
            raise WeightsError(
                f"weights {weights.name} take {', '.join(names)} and give {', '.join(found)}; "
                f"a matcher takes {', '.join(MATCHER_INPUTS)} and gives {', '.join(MATCHED)}"
            )

    def run(self, path: np.ndarray, keys: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Compare the finalists of swipes.

        Args:
            path: [B, 64, 2] resampled paths, in key widths around the middle of the letter area.
            keys: [B, N, L, 2] key centres of each finalist's letters, in the same units, L <= LONGEST.
            mask: [B, N, L] bool, True for real letters, which come first.

        Returns:
            [B, N] float32 scores, higher is better, comparable within a swipe.
        """
        arrays = (path.astype(np.float32, copy=False), keys.astype(np.float32, copy=False), mask)
        (scores,) = self.session.run(MATCHED, dict(zip(MATCHER_INPUTS, arrays, strict=True)))
        return scores  # type: ignore[no-any-return]


def match_keys(layout: Layout, known: Layout) -> np.ndarray:
    """The keys of a layout in the order of the layout that a decoder knows, if the two are the same keyboard.

    They are the same if they have the same letters, one key each, at most ``SAME_KEY`` apart in x and in y. Coordinates
    are fractions of the letter area, so its size and shape do not matter.

    Args:
        layout: the layout with K keys.
        known: the decoder's.

    Returns:
        [K] for every key of ``known`` the index of that key on ``layout``; empty where they are not the same.
    """
    if len(layout.keys) != len(known.keys) or set(layout.letters) != set(known.letters):
        return np.empty(0, dtype=np.int64)
    # One key for each letter, or the gap below would compare only a letter's first key.
    if len(set(known.letters)) != len(known.letters):
        return np.empty(0, dtype=np.int64)
    places = np.array([layout.keys_of[letter][0] for letter in known.letters])
    gaps = np.abs(layout.centres[places] - known.centres)
    return places if gaps.max() <= SAME_KEY + 1e-6 else np.empty(0, dtype=np.int64)


def misfit(decoder: DecoderRuntime, layout: Layout, encoder: EncoderRuntime) -> str:
    """Why a decoder cannot correct an encoder's emissions on a layout; empty if it can."""
    if not len(match_keys(layout, decoder.layout)):
        return f"the decoder was trained for layout {decoder.layout.name!r}"
    if decoder.encoder not in (None, encoder.weights.card.get("sha256")):
        return f"the decoder was trained over encoder {decoder.encoder[:12]}..., not over {encoder.weights.name}"
    if decoder.frames != encoder.frames:
        return f"the decoder takes {decoder.frames} frames, the encoder gives {encoder.frames}"
    return ""


@lru_cache(maxsize=8)
def _padded(batch: int, centres: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A layout as the graph takes it, and the columns of its output that are real: the keys' and blank's.

    Shape: [K, 2] float32 as bytes -> keys [B, 64, 2], mask [B, 64], columns [K + 1].
    """
    keys = np.frombuffer(centres, dtype=np.float32).reshape(-1, 2)
    room = INPUTS["layout_mask"][0]
    padded, mask = np.zeros((batch, room, 2), dtype=np.float32), np.zeros((batch, room), dtype=bool)
    padded[:, : len(keys)], mask[:, : len(keys)] = keys, True
    return padded, mask, np.append(np.arange(len(keys)), room)


def _session(weights: Weights, threads: int) -> Any:
    """An onnxruntime session on a number of threads."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(weights.data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises private types
        raise WeightsError(f"weights {weights.name} are not a model onnxruntime can run: {error}") from None


def _bound_layout(weights: Weights) -> Layout:
    """The layout that a decoder's JSON names."""
    if "layout" not in weights.card:
        raise WeightsError(f"weights {weights.name} are not a decoder: the JSON beside them names no layout")
    try:
        return Layout.from_dict(weights.card["layout"])
    except LayoutError as error:
        raise WeightsError(f"the JSON beside weights {weights.name} has no usable layout: {error}") from None


def _check_graph(name: str, kind: str, session: Any, inputs: dict[str, tuple[int, ...]], outputs: Any) -> None:
    """Refuse a model whose inputs or outputs are not those of its kind."""
    shapes = {entry.name: tuple(entry.shape[1:]) for entry in session.get_inputs()}
    if shapes != inputs:
        raise WeightsError(f"weights {name} take inputs {shapes}; the {kind} takes {inputs}")
    found = {entry.name for entry in session.get_outputs()}
    if not found.issuperset(outputs):
        raise WeightsError(f"weights {name} give {sorted(found)}; the {kind} gives {list(outputs)}")
