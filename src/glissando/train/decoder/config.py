"""The settings of the decoder's training and of what comes before it: the embedder and the mining of negatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from glissando.model.config import DecoderConfig, EmbedderConfig
from glissando.model.settings import Config, setting
from glissando.train.config import COUNT, POSITIVE, SHARE, UNSIGNED, TrainingSchedule


@dataclass(frozen=True)
class EmbedderTraining(TrainingSchedule):
    """How an embedder is trained; ``TrainingSchedule`` documents the settings that are not listed here.

    Attributes:
        model: the network; see EmbedderConfig.
        strangers: random words of the lexicon added to each step's negatives, so that words without swipes are
            placed too. The other negatives of a swipe are the words of the batch's other swipes.
        floor_rate: the learning rate at the end of the cosine.
        holdout, holdout_seed: share of the people set aside, and which.
    """

    model: EmbedderConfig = field(default_factory=EmbedderConfig)
    strangers: int = setting(2048, UNSIGNED)
    epochs: int = setting(20, COUNT)
    floor_rate: float = setting(1e-5, UNSIGNED)
    weight_decay: float = setting(1e-2, UNSIGNED)
    holdout: float = setting(0.1, SHARE)
    holdout_seed: int = 0


@dataclass(frozen=True)
class MiningConfig(Config):
    """How negatives are mined.

    Attributes:
        neighbours: words each swipe retrieves.
        pool: negatives kept of a word, the most often retrieved.
        least_frequency: lexicon words of a lower byte are no negatives.
        holdout, holdout_seed: share of the people set aside, and which.
    """

    neighbours: int = setting(128, COUNT)
    pool: int = setting(128, COUNT)
    least_frequency: int = 0
    holdout: float = setting(0.1, SHARE)
    holdout_seed: int = 0


@dataclass(frozen=True)
class DecoderTraining(TrainingSchedule):
    """How a decoder is trained. The defaults are the report's table, plus ours where it is silent.

    ``TrainingSchedule`` documents the settings that are not listed here.

    Attributes:
        model: the network; see DecoderConfig.
        learning_rate: of Lion, constant after the warm-up.
        warm_up: epochs, not a share, in which the rate rises from 0.
        beta1, beta2: of Lion.
        ema: decay of the moving average that is validated and exported.
        ctc_weight, ranking_weight, consistency_weight: of the three losses; 0 switches one off.
        noise: sigma of the two views' noise; inputs are standardised, so a feature's spread is one.
        mu, sigma: of NDCGLoss2++.
        negatives: words drawn from a word's pool for each step.
        gate: ranking starts once validation CTC is below this share of the encoder's own; ours.
        gate_epochs: ranking starts after this many epochs at the latest; ours.
        gamma, weight, bonus: of eq. 3 at the start: the exponent, which stays, lambda_f and beta.
        scorer_rate, scorer_floor, scorer_momentum: of the SGD that trains lambda_f and beta.
        ctc: "own" runs anywhere, "triton" is faster on a GPU, "auto" chooses by the device; all compute the same.
        holdout, holdout_seed: share of the people set aside from training, and which.
        precision: "fp32", or "auto": matrix products in TF32 on a GPU.
        val_negatives: number of negatives that validation ranks beside the truth.
    """

    model: DecoderConfig = field(default_factory=DecoderConfig)
    batch: int = setting(2048, COUNT)
    epochs: int = setting(100, COUNT)
    learning_rate: float = setting(3e-4, POSITIVE)
    warm_up: float = setting(3.0, UNSIGNED)
    beta1: float = setting(0.9, SHARE)
    beta2: float = setting(0.98, SHARE)
    weight_decay: float = setting(3e-3, UNSIGNED)
    ema: float = setting(0.999, SHARE)
    ctc_weight: float = setting(0.3, UNSIGNED)
    ranking_weight: float = setting(5.0, UNSIGNED)
    consistency_weight: float = setting(0.1, UNSIGNED)
    noise: float = setting(0.1, UNSIGNED)
    mu: float = 10.0
    sigma: float = setting(1.0, POSITIVE)
    negatives: int = setting(15, COUNT)
    gate: float = setting(0.99, UNSIGNED)
    gate_epochs: float = setting(10.0, UNSIGNED)
    gamma: float = 0.30
    weight: float = 0.025
    bonus: float = 1.80
    scorer_rate: float = 5e-3
    scorer_floor: float = 1e-3
    scorer_momentum: float = setting(0.9, SHARE)
    ctc: Literal["auto", "own", "triton"] = "auto"
    holdout: float = setting(0.1, SHARE)
    holdout_seed: int = 0
    precision: Literal["auto", "fp32"] = "auto"
    val_negatives: int = setting(64, COUNT)
    validate_every: int = setting(2, COUNT)
