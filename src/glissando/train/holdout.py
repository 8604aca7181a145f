"""People set aside from training: whole sessions, chosen by number and seed alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from glissando.errors import TrainingError
from glissando.model.checkpoint import write_arrays
from glissando.train.order import mix_seed


def held_out(sessions: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    """Choose the rows of a share of the people.

    Every session draws a number of its own from the seed, so the choice does not change with the rows that are there.

    Args:
        sessions: [n] session numbers as a pack counts them.
        share: expected share of the sessions, 0 for nobody.
        seed: of the choice.

    Returns:
        [n] bool, True for rows that are set aside.
    """
    if share == 0:
        return np.zeros(len(sessions), dtype=bool)
    return draws(sessions, seed) < share


def draws(sessions: np.ndarray, seed: int) -> np.ndarray:
    """The number in [0, 1) that every row's person draws. Shape: [n] session numbers -> [n] float64.

    Raises:
        TrainingError: some rows are nobody's.
    """
    if (np.asarray(sessions) < 0).any():
        raise TrainingError("people cannot be told apart: the corpus has rows of unknown sessions")
    present, place = np.unique(sessions, return_inverse=True)
    drawn = np.array([mix_seed(seed, int(session)) for session in present], dtype=np.float64) / 2.0**63
    return drawn[place]


def save_held(path: Path, rows: np.ndarray) -> None:
    """Write the pack's rows [n] int64 that a run set aside, for others to evaluate on: ``rows`` of an .npz."""
    write_arrays(path, {"rows": rows.astype(np.int64)})
