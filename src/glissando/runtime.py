"""Run the exported encoder: a path and key centres in, emissions out. No words here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glissando.errors import WeightsError
from glissando.weights import Weights

# What the exported graph must look like (the report's deployment appendix), batch axis aside.
INPUTS = {"features": (2, 64), "layout_keys": (64, 2), "layout_mask": (64,)}
OUTPUTS = ("log_emissions", "coefficients", "gate")


@dataclass(frozen=True, eq=False)
class Emissions:
    """What the encoder says along a swipe.

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
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.weights = weights
        try:
            self.session = onnxruntime.InferenceSession(weights.data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises types of its own, private ones
            raise WeightsError(f"weights {weights.name} are not a model onnxruntime can run: {error}") from None
        _check_graph(weights.name, self.session)

    def run(self, paths: np.ndarray, keys: np.ndarray) -> Emissions:
        """Encode swipes made on one layout.

        Args:
            paths: [B, 2, 64] resampled paths.
            keys: [K, 2] key centres of the layout, K <= 64.

        Returns:
            Emissions with B, T and K as above.
        """
        batch, count = len(paths), len(keys)
        room = INPUTS["layout_mask"][0]
        padded = np.zeros((batch, room, 2), dtype=np.float32)
        padded[:, :count] = keys
        mask = np.zeros((batch, room), dtype=bool)
        mask[:, :count] = True
        feed = {"features": np.ascontiguousarray(paths, dtype=np.float32), "layout_keys": padded, "layout_mask": mask}
        log_probs, coefficients, gate = self.session.run(OUTPUTS, feed)
        real = np.concatenate([log_probs[..., :count], log_probs[..., -1:]], axis=-1)  # [B, T, K + 1]
        return Emissions(real, coefficients, gate)


def _check_graph(name: str, session: Any) -> None:
    """Refuse a model whose inputs or outputs are not the encoder's."""
    shapes = {entry.name: tuple(entry.shape[1:]) for entry in session.get_inputs()}
    if shapes != INPUTS:
        raise WeightsError(f"weights {name} take inputs {shapes}; the encoder takes {INPUTS}")
    outputs = {entry.name for entry in session.get_outputs()}
    if not outputs.issuperset(OUTPUTS):
        raise WeightsError(f"weights {name} give {sorted(outputs)}; the encoder gives {list(OUTPUTS)}")
