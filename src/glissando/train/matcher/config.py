"""The settings of a matcher's training."""

from __future__ import annotations

from dataclasses import dataclass, field

from glissando.errors import TrainingError
from glissando.model.config import MatcherConfig
from glissando.model.settings import Config, setting
from glissando.train.config import COUNT, SHARE, UNSIGNED, TrainingSchedule


@dataclass(frozen=True)
class BendConfig(Config):
    """How far a keyboard, with the path on it, is moved and bent; lengths in key widths.

    Attributes:
        turned: share of samples that are rotated, by any angle.
        flips: probability of a flip, left to right and top to bottom.
        scale: standard deviation of the logarithm of the scale, of both axes together.
        x_scale: the same of the x axis alone.
        y_scale: the same of the y axis alone; wide, since phones and keyboards differ most in the height of their keys.
        shear: standard deviation of both shear factors.
        shift: standard deviation of a translation.
        warp: standard deviation of the height of the waves that bend the plane.
        sway: standard deviations of a shift of the path off its keys, and of a slow wave along it.
        reversal: probability of reversing path and words in time.
    """

    turned: float = setting(0.5, "[0, 1]")
    flips: float = setting(0.3, "[0, 1]")
    scale: float = setting(0.1, UNSIGNED)
    x_scale: float = setting(0.12, UNSIGNED)
    y_scale: float = setting(0.35, UNSIGNED)
    shear: float = setting(0.08, UNSIGNED)
    shift: float = setting(0.5, UNSIGNED)
    warp: float = setting(0.35, UNSIGNED)
    sway: tuple[float, float] = setting((0.1, 0.06), UNSIGNED)
    reversal: float = setting(0.2, "[0, 1]")


@dataclass(frozen=True)
class MatcherTraining(TrainingSchedule):
    """How a matcher is trained; ``TrainingSchedule`` documents the settings that are not listed here.

    Attributes:
        model: the network; see MatcherConfig.
        bend: what moves and bends path and keys; see BendConfig.
        finalists: candidates of each swipe that are told apart, the best of the beam first.
        letters: longer finalists are left out.
        floor_rate: the learning rate at the end of the cosine.
        average: decay of the moving average of the weights, which is the network that is saved.
        held: the people set aside: those who draw a number in [low, high); (0, 0) sets nobody aside.
        held_seed: of that draw.
        compiled: compile the network on a GPU.
    """

    model: MatcherConfig = field(default_factory=MatcherConfig)
    bend: BendConfig = field(default_factory=BendConfig)
    batch: int = setting(384, COUNT)
    steps: int = setting(6000, UNSIGNED)
    learning_rate: float = setting(1.5e-3, "(0, inf)")
    warm_up: float = setting(0.04, SHARE)
    weight_decay: float = setting(0.02, UNSIGNED)
    finalists: int = setting(24, "[2, inf)")
    letters: int = setting(16, COUNT)
    floor_rate: float = setting(1e-6, UNSIGNED)
    average: float = setting(0.999, SHARE)
    held: tuple[float, float] = setting((0.0, 0.1), "[0, 1]")
    held_seed: int = 0
    compiled: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.held[0] > self.held[1]:
            raise TrainingError(f"held must be (low, high) with low <= high, got {self.held}")
