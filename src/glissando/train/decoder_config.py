"""The settings of the decoder's training and of what comes before it: the embedder and the mining of negatives."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from glissando.errors import TrainingError
from glissando.model.config import DecoderConfig, EmbedderConfig
from glissando.train.config import with_settings


@dataclass(frozen=True)
class EmbedderTraining:
    """How an embedder is trained.

    Attributes:
        model: the network; see EmbedderConfig.
        batch: swipes per step; the words of the others are a swipe's negatives.
        strangers: words of the lexicon drawn for each step besides, so that words nobody swiped have a place too.
        epochs: passes over the corpus.
        steps: steps in all; 0 takes them from ``epochs``.
        max_seconds: end the schedule after so long; 0 has no limit.
        learning_rate, floor_rate, warm_up: of AdamW, over the run.
        weight_decay: of AdamW.
        clip: largest norm of the gradient.
        holdout, holdout_seed: share of the people set aside, and which.
        seed: of everything random.
        log_every, validate_every, checkpoint_seconds, snapshot_every: see ``glissando.train.run.Pace``.
    """

    model: EmbedderConfig = field(default_factory=EmbedderConfig)
    batch: int = 1024
    strangers: int = 2048
    epochs: int = 20
    steps: int = 0
    max_seconds: float = 0.0
    learning_rate: float = 1e-3
    floor_rate: float = 1e-5
    warm_up: float = 0.05
    weight_decay: float = 1e-2
    clip: float = 1.0
    holdout: float = 0.1
    holdout_seed: int = 0
    seed: int = 0
    log_every: int = 50
    validate_every: int = 10
    checkpoint_seconds: float = 60.0
    snapshot_every: int = 0

    def __post_init__(self) -> None:
        check_schedule(self)
        _check(self, "strangers", self.strangers >= 0, "0 or more")

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON can hold it."""
        return json.loads(json.dumps(asdict(self)))

    def changed(self, settings: Iterable[str]) -> EmbedderTraining:
        """A copy with ``name=value`` settings applied."""
        return with_settings(self, settings)


@dataclass(frozen=True)
class MiningConfig:
    """How negatives are mined.

    Attributes:
        neighbours: words each swipe retrieves.
        pool: negatives kept of a word, the most often retrieved.
        least_frequency: lexicon words of a lower byte are no negatives.
        holdout, holdout_seed: share of the people set aside, and which.
    """

    neighbours: int = 128
    pool: int = 128
    least_frequency: int = 0
    holdout: float = 0.1
    holdout_seed: int = 0

    def __post_init__(self) -> None:
        for name in ("neighbours", "pool"):
            _check(self, name, getattr(self, name) >= 1, "at least 1")
        _check(self, "holdout", 0 <= self.holdout < 1, "in [0, 1)")

    def changed(self, settings: Iterable[str]) -> MiningConfig:
        """A copy with ``name=value`` settings applied."""
        return with_settings(self, settings)


@dataclass(frozen=True)
class DecoderTraining:
    """How a decoder is trained. The defaults are the report's table; what it is silent on is said to be ours.

    Attributes:
        model: the network; see DecoderConfig.
        batch: swipes per step, over all processes.
        epochs: passes over the corpus.
        steps: steps in all; 0 takes them from ``epochs``.
        max_seconds: end the schedule after so long; 0 has no limit.
        learning_rate: of Lion, constant after the warm-up.
        warm_up: epochs in which the rate rises from 0.
        beta1, beta2, weight_decay: of Lion.
        clip: largest norm of the gradient.
        ema: decay of the moving average that is validated and exported.
        ctc_weight, ranking_weight, consistency_weight: of the three losses; 0 switches one off.
        noise: sigma of the two views; on standardised inputs, where a feature's spread is one.
        mu, sigma: of NDCGLoss2++.
        negatives: words drawn from a word's pool for each step.
        gate: ranking starts once validation CTC is below this share of the encoder's own; ours.
        gate_epochs: ranking starts after so many epochs, whatever validation says; ours.
        gamma, weight, bonus: of eq. 3 at the start: the exponent, frozen, lambda_f and beta.
        scorer_rate, scorer_floor, scorer_momentum: of the SGD that trains lambda_f and beta.
        ctc: "own" or "triton" (GPU only) or "auto"; all compute the same.
        holdout, holdout_seed: share of the people set aside from training, and which.
        seed: of everything random.
        precision: "fp32", or "auto": matrix products in TF32 on a GPU.
        val_negatives: of each word's pool, so many stand against the truth in validation.
        log_every, validate_every, checkpoint_seconds, snapshot_every: see ``glissando.train.run.Pace``.
    """

    model: DecoderConfig = field(default_factory=DecoderConfig)
    batch: int = 2048
    epochs: int = 100
    steps: int = 0
    max_seconds: float = 0.0
    learning_rate: float = 3e-4
    warm_up: float = 3.0
    beta1: float = 0.9
    beta2: float = 0.98
    weight_decay: float = 3e-3
    clip: float = 1.0
    ema: float = 0.999
    ctc_weight: float = 0.3
    ranking_weight: float = 5.0
    consistency_weight: float = 0.1
    noise: float = 0.1
    mu: float = 10.0
    sigma: float = 1.0
    negatives: int = 15
    gate: float = 0.99
    gate_epochs: float = 10.0
    gamma: float = 0.30
    weight: float = 0.025
    bonus: float = 1.80
    scorer_rate: float = 5e-3
    scorer_floor: float = 1e-3
    scorer_momentum: float = 0.9
    ctc: Literal["auto", "own", "triton"] = "auto"
    holdout: float = 0.1
    holdout_seed: int = 0
    seed: int = 0
    precision: Literal["auto", "fp32"] = "auto"
    val_negatives: int = 64
    log_every: int = 50
    validate_every: int = 2
    checkpoint_seconds: float = 60.0
    snapshot_every: int = 0

    def __post_init__(self) -> None:
        check_schedule(self)
        for name in ("beta1", "beta2", "ema", "scorer_momentum"):
            _check(self, name, 0 <= getattr(self, name) < 1, "in [0, 1)")
        for name in ("ctc_weight", "ranking_weight", "consistency_weight", "noise", "gate", "gate_epochs"):
            _check(self, name, getattr(self, name) >= 0, "0 or more")
        for name in ("negatives", "val_negatives"):
            _check(self, name, getattr(self, name) >= 1, "at least 1")
        _check(self, "sigma", self.sigma > 0, "above 0")

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON can hold it."""
        return json.loads(json.dumps(asdict(self)))

    def changed(self, settings: Iterable[str]) -> DecoderTraining:
        """A copy with ``name=value`` settings applied."""
        return with_settings(self, settings)


def check_schedule(config: EmbedderTraining | DecoderTraining) -> None:
    """Refuse a schedule that cannot be run."""
    for name in ("batch", "epochs", "log_every", "validate_every"):
        _check(config, name, getattr(config, name) >= 1, "at least 1")
    for name in ("steps", "max_seconds", "weight_decay", "checkpoint_seconds", "snapshot_every", "warm_up"):
        _check(config, name, getattr(config, name) >= 0, "0 or more")
    for name in ("learning_rate", "clip"):
        _check(config, name, getattr(config, name) > 0, "above 0")
    _check(config, "holdout", 0 <= config.holdout < 1, "in [0, 1)")


def _check(config: Any, name: str, good: bool, need: str) -> None:
    """Refuse a setting out of its range."""
    if not good:
        raise TrainingError(f"{name} must be {need}, got {getattr(config, name)}")
