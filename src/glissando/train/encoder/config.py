"""The settings of an encoder's training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from glissando.errors import TrainingError
from glissando.model.config import EncoderConfig
from glissando.model.settings import setting
from glissando.train.augment import AugmentConfig
from glissando.train.config import POSITIVE, SHARE, UNSIGNED, TrainingSchedule


@dataclass(frozen=True)
class EncoderTraining(TrainingSchedule):
    """How an encoder is trained. The defaults are the report's table, plus ours where it is silent.

    ``TrainingSchedule`` documents the settings that are not listed here.

    Attributes:
        model: the network; see EncoderConfig.
        augment: the ranges of the co-augmentation; see AugmentConfig.
        floor_rate: the learning rate at the end of the cosine.
        beta1, beta2: of AdamW.
        emission_weight: alpha of eq. 7.
        ctc: "own" runs anywhere, "triton" is faster on a GPU, "auto" chooses by the device; all compute the same.
        per_letter: divide a word's CTC by its length, as torch's mean does.
        ema: decay of the moving average of the weights that is validated and exported; 0 has no average.
        word_power: a word seen n times is trained on like n^power; 1 takes the corpus as it is.
        part: the people trained on: each has a random number in [0, 1), and those in [low, high) are taken.
        part_seed: of these numbers.
        rearranged: share of a batch that is real swipes carried to random grids.
        extra_keys: random grids have up to this many keys more than the corpus has letters.
        retime: whether a carried swipe's segments get the share of time that their new lengths take.
        turn: whether the finger's deviations from a carried segment turn with it.
        precision: "bf16" (losses in float32), "fp32", or "auto": bf16 on a GPU.
        compile: a mode of torch.compile, "off", or "auto": "default" on a GPU.
        graph: replay a recorded step on a single GPU, without Python between its kernels.
        resident: "yes" keeps the corpus on the device, "no" streams it, "auto" keeps it up to 8 GB.
    """

    removed: ClassVar[Mapping[str, Any]] = {
        "pace": {"evened": 0, "coarse": 0, "overshoot": 0},
        "synthetic": 0,
        "synthetic_words": {},
        "synthetic_grids": {},
        "generator": {},
        "teachers": [],
        "distil": {},
    }

    model: EncoderConfig = field(default_factory=EncoderConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    floor_rate: float = setting(2e-5, UNSIGNED)
    beta1: float = setting(0.9, SHARE)
    beta2: float = setting(0.999, SHARE)
    emission_weight: float = setting(0.05, UNSIGNED)
    ctc: Literal["auto", "own", "triton"] = "own"
    per_letter: bool = True
    ema: float = setting(0.0, SHARE)
    word_power: float = setting(1.0, POSITIVE)
    part: tuple[float, float] = setting((0.0, 1.0), "[0, 1]")
    part_seed: int = 1
    rearranged: float = setting(0.0, "[0, 1]")
    extra_keys: int = setting(0, UNSIGNED)
    retime: bool = True
    turn: bool = True
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    compile: Literal["auto", "off", "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"] = "auto"
    graph: bool = True
    resident: Literal["auto", "yes", "no"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.part[0] >= self.part[1]:
            raise TrainingError(f"part must be (low, high) with low < high, got {self.part}")
        if self.floor_rate > self.learning_rate:
            raise TrainingError(f"floor_rate must be at most learning_rate {self.learning_rate}, got {self.floor_rate}")


def fine_tuning(model: EncoderConfig) -> EncoderTraining:
    """The settings to go on with a trained encoder on some hundreds or thousands of donated swipes (docs/community.md).

    Few, small steps, and as many swipes carried to random grids as at first, so that other layouts do not lose.
    """
    return EncoderTraining(
        model=model, augment=AugmentConfig(upright=0.7, sway=(0.1, 0.06)), batch=256, epochs=60, learning_rate=1e-4,
        floor_rate=2e-6, rearranged=0.4, extra_keys=14, word_power=0.7, ema=0.99, log_every=20,
    )  # fmt: skip
