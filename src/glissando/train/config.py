"""The settings that every training shares."""

from __future__ import annotations

from dataclasses import dataclass

from glissando.model.settings import Config, setting

COUNT = "[1, inf)"
UNSIGNED = "[0, inf)"
POSITIVE = "(0, inf)"
SHARE = "[0, 1)"


@dataclass(frozen=True)
class TrainingSchedule(Config):
    """How long a network is trained, how fast, and what is written down on the way.

    Attributes:
        batch: swipes per step, over all processes.
        epochs: passes over the corpus.
        steps: length of the schedule in steps; 0 takes it from ``epochs``.
        max_seconds: end the schedule after this time; 0 has no limit.
        learning_rate: the highest, after the warm-up.
        warm_up: share of the schedule in which the learning rate rises from 0.
        weight_decay: of matrices and filters; biases, norms and gains have none.
        clip: largest norm of the gradient.
        seed: of everything random.
        log_every: steps between lines of metrics.jsonl, and checks for NaN.
        validate_every: epochs between validations; the last step is always validated.
        checkpoint_seconds: least time between checkpoints.
        snapshot_every: epochs between copies of the network that are kept, to choose from; 0 keeps only the last.
    """

    batch: int = setting(1024, COUNT)
    epochs: int = setting(120, COUNT)
    steps: int = setting(0, UNSIGNED)
    max_seconds: float = setting(0.0, UNSIGNED)
    learning_rate: float = setting(1e-3, POSITIVE)
    warm_up: float = setting(0.05, SHARE)
    weight_decay: float = setting(1e-4, UNSIGNED)
    clip: float = setting(1.0, POSITIVE)
    seed: int = 0
    log_every: int = setting(50, COUNT)
    validate_every: int = setting(10, COUNT)
    checkpoint_seconds: float = setting(60.0, UNSIGNED)
    snapshot_every: int = setting(0, UNSIGNED)
