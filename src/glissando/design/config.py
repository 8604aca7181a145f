"""The settings of a search for layouts, from defaults and ``--set name=value``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from glissando.errors import DesignError, TrainingError
from glissando.model.settings import read_config


@dataclass(frozen=True)
class SearchConfig:
    """How layouts are searched for.

    Attributes:
        dial: nats of clarity that a second of swiping is worth; 0 looks at clarity alone. 16 weighs both alike: random
            layouts of five rows differ as much in clarity as in sixteen times their seconds (runs/design_dial.py).
        spread: share of the climbers that climb by other dials, from a quarter of it to four times it: they are for
            the front between clarity and travel.
        climbers: layouts that are improved side by side, in each process.
        swaps: how many swaps each climber looks at before it steps; 0 looks at all on a GPU and at 64 on a CPU.
        combos: of each climber's best swaps without a letter in common, so many are also tried together.
        kick: random swaps, at least and at most, that take a climber off a summit.
        patience: summits no better than its best after which a climber starts anew.
        minutes: how long to search.
        rounds: end after so many steps of all climbers; 0 has no limit. With it a run repeats exactly.
        seed: of everything random.
        precision: "bf16", "fp32", or "auto": bf16 on a GPU. The layouts that are kept are judged again in fp32.
        view: "upright" shows the judge every keyboard as people hold it, "turned" on its side, x and y exchanged: for
            judges that know QWERTY by heart, as the packaged "encoder" does and "judge" does not.
        batch: words the encoder reads at once; 0 takes what suits the device.
        memo_bits: 2^bits costs of words are remembered, 16 bytes each; 0 takes 22 on a CPU and 28 on a GPU.
        keep: best layouts to keep.
        checkpoint_seconds: least time between checkpoints.
    """

    dial: float = 16.0
    spread: float = 0.25
    climbers: int = 4
    swaps: int = 0
    combos: int = 6
    kick: tuple[int, int] = (2, 5)
    patience: int = 8
    minutes: float = 20.0
    rounds: int = 0
    seed: int = 0
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    view: Literal["upright", "turned"] = "upright"
    batch: int = 0
    memo_bits: int = 0
    keep: int = 16
    checkpoint_seconds: float = 30.0

    def __post_init__(self) -> None:
        for name in ("climbers", "combos", "patience", "keep"):
            _check(self, name, getattr(self, name) >= 1, "at least 1")
        for name in ("dial", "swaps", "batch", "rounds", "seed", "checkpoint_seconds"):
            _check(self, name, getattr(self, name) >= 0, "0 or more")
        _check(self, "minutes", self.minutes > 0, "above 0")
        _check(self, "spread", 0 <= self.spread <= 1, "a share, in [0, 1]")
        _check(self, "kick", 1 <= self.kick[0] <= self.kick[1], "two numbers from 1, the smaller first")
        _check(self, "memo_bits", self.memo_bits == 0 or 8 <= self.memo_bits <= 32, "0, or 8 to 32")

    def changed(self, settings: Iterable[str]) -> SearchConfig:
        """A copy with ``name=value`` settings applied; values are JSON or words."""
        data: dict[str, Any] = asdict(self)
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals:
                raise DesignError(f"a setting is name=value, got {setting!r}")
            try:
                data[name.strip()] = json.loads(value)
            except ValueError:
                data[name.strip()] = value.strip()
        try:
            return read_config(SearchConfig, data)
        except TrainingError as error:
            raise DesignError(str(error)) from None


def _check(config: SearchConfig, name: str, good: bool, need: str) -> None:
    """Refuse a setting out of its range."""
    if not good:
        raise DesignError(f"{name} must be {need}, got {getattr(config, name)}")
