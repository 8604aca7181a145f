"""The settings of an encoder's training run, from defaults, JSON and ``--set name=value``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from glissando.errors import TrainingError
from glissando.model.config import EncoderConfig
from glissando.train.augment import AugmentConfig
from glissando.train.generator import GeneratorConfig
from glissando.train.pace import PaceConfig

Config = TypeVar("Config")


@dataclass(frozen=True)
class TrainConfig:
    """How an encoder is trained. The defaults are the report's table, plus what it is silent on.

    Attributes:
        model: the network; see EncoderConfig.
        augment: the ranges of the co-augmentation; see AugmentConfig.
        pace: how much more fluent real swipes are made; see PaceConfig.
        generator: how synthetic swipes are made; see GeneratorConfig.
        batch: swipes per step, over all processes.
        epochs: passes over the corpus.
        steps: steps in all; 0 takes them from ``epochs``.
        max_seconds: end the schedule after so long, wherever it is; 0 has no limit.
        learning_rate: the highest, after the warm-up.
        floor_rate: the learning rate at the end of the cosine.
        warm_up: share of the schedule in which the learning rate rises from 0.
        beta1, beta2: of AdamW.
        weight_decay: of convolution and linear weights; biases, norms and the gate have none.
        clip: largest norm of the gradient.
        emission_weight: alpha of eq. 7.
        ctc: "own", "torch" or "triton" (GPU only); all compute the same.
        per_letter: divide a word's CTC by its length, as torch's mean does.
        ema: decay of the moving average of the weights that is validated and exported; 0 is none.
        word_power: a word seen n times is trained on like n^power; 1 takes the corpus as it is.
        part: the people trained on: every person draws a number from [0, 1), those in [low, high) are.
        part_seed: of these draws.
        rearranged: share of a batch that is real swipes carried to random grids.
        synthetic: share of a batch that is made by the generator.
        extra_keys: random grids have up to so many keys more than the corpus has letters.
        retime: whether a carried swipe's segments get the share of time their new lengths take.
        turn: whether what a carried swipe did beside its segments turns with them.
        synthetic_words: a word list (AOSP or a word per line) for synthetic swipes; "" takes the corpus's words.
        synthetic_grids: share of the synthetic swipes made on random grids, the rest on the corpus's layouts.
        teachers: encoder checkpoints, of as many frames, whose mean emissions the network also learns.
        distil: weight of the teachers' divergence against CTC's 1 - distil.
        seed: of everything random.
        precision: "bf16" (losses in float32), "fp32", or "auto": bf16 on a GPU.
        compile: a mode of torch.compile, "off", or "auto": "default" on a GPU.
        graph: replay a recorded step on a single GPU, which takes Python out of the way.
        resident: "yes" keeps the corpus on the device, "no" streams it, "auto" keeps it up to 8 GB.
        log_every: steps between lines of metrics.jsonl, and checks for NaN.
        validate_every: epochs between validations; the last is always validated.
        checkpoint_seconds: least time between checkpoints.
        snapshot_every: epochs between encoders kept aside, to choose from; 0 keeps only the last.
    """

    model: EncoderConfig = field(default_factory=EncoderConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    pace: PaceConfig = field(default_factory=PaceConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)
    batch: int = 1024
    epochs: int = 120
    steps: int = 0
    max_seconds: float = 0.0
    learning_rate: float = 1e-3
    floor_rate: float = 2e-5
    warm_up: float = 0.05
    beta1: float = 0.9
    beta2: float = 0.999
    weight_decay: float = 1e-4
    clip: float = 1.0
    emission_weight: float = 0.05
    ctc: Literal["own", "torch", "triton"] = "own"
    per_letter: bool = True
    ema: float = 0.0
    word_power: float = 1.0
    part: tuple[float, float] = (0.0, 1.0)
    part_seed: int = 1
    rearranged: float = 0.0
    synthetic: float = 0.0
    synthetic_words: str = ""
    synthetic_grids: float = 0.5
    extra_keys: int = 0
    retime: bool = True
    turn: bool = True
    teachers: tuple[str, ...] = ()
    distil: float = 0.5
    seed: int = 0
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    compile: Literal["auto", "off", "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"] = "auto"
    graph: bool = True
    resident: Literal["auto", "yes", "no"] = "auto"
    log_every: int = 50
    validate_every: int = 10
    checkpoint_seconds: float = 60.0
    snapshot_every: int = 0

    def __post_init__(self) -> None:
        for name in ("batch", "epochs", "log_every", "validate_every"):
            _check(self, name, getattr(self, name) >= 1, "at least 1")
        for name in (
            "steps",
            "max_seconds",
            "weight_decay",
            "emission_weight",
            "checkpoint_seconds",
            "snapshot_every",
            "extra_keys",
        ):
            _check(self, name, getattr(self, name) >= 0, "0 or more")
        for name in ("learning_rate", "clip", "word_power"):
            _check(self, name, getattr(self, name) > 0, "above 0")
        for name in ("ema", "warm_up", "beta1", "beta2"):
            _check(self, name, 0 <= getattr(self, name) < 1, "in [0, 1)")
        for name in ("rearranged", "synthetic", "synthetic_grids", "distil"):
            _check(self, name, 0 <= getattr(self, name) <= 1, "a share, in [0, 1]")
        _check(self, "part", 0 <= self.part[0] < self.part[1] <= 1, "(low, high) with 0 <= low < high <= 1")
        _check(self, "floor_rate", 0 <= self.floor_rate <= self.learning_rate, "in [0, learning_rate]")
        _check(self, "synthetic", self.synthetic + self.rearranged <= 1, "at most 1 together with rearranged")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TrainConfig:
        """Read ``to_dict``'s form; settings left out keep their defaults, unknown ones are refused."""
        return read_config(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON can hold it, nested as the dataclasses are."""
        return json.loads(json.dumps(asdict(self)))

    def changed(self, settings: Iterable[str]) -> TrainConfig:
        """A copy with ``name=value`` settings applied, "batch=2048" or "model.frames=64"; values are JSON or words."""
        return with_settings(self, settings)


def with_settings(config: Config, settings: Iterable[str]) -> Config:
    """A copy of a config dataclass with ``name=value`` settings applied; a dot leads into a section."""
    data = json.loads(json.dumps(asdict(config)))  # type: ignore[call-overload]
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise TrainingError(f"a setting is name=value, got {setting!r}")
        *sections, last = name.strip().split(".")
        place = data
        for section in sections:
            if not isinstance(place.get(section), dict):
                raise TrainingError(f"no section {section!r} in the setting {setting!r}")
            place = place[section]
        place[last] = _value(value.strip())
    return read_config(type(config), data)


def read_config(cls: type[Config], data: Mapping[str, Any], section: str = "") -> Config:
    """Build a config dataclass, nested ones included, checking names and types of every setting."""
    if not isinstance(data, Mapping):
        raise TrainingError(f"{section or 'the config'} must be an object, got {data!r}")
    types = get_type_hints(cls)
    known = [entry.name for entry in fields(cls)]  # type: ignore[arg-type]
    if unknown := sorted(set(data) - set(known)):
        raise TrainingError(f"no setting {section}{unknown[0]!s}; there are {', '.join(known)}")
    return cls(**{name: _fit(types[name], value, f"{section}{name}") for name, value in data.items()})


def _fit(kind: Any, value: Any, name: str) -> Any:
    """Bring a JSON value to a setting's type, or refuse it."""
    if is_dataclass(kind):
        return read_config(kind, value, f"{name}.")  # type: ignore[arg-type]
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise TrainingError(f"{name} must be one of {', '.join(get_args(kind))}; got {value!r}")
        return value
    if get_origin(kind) is UnionType:
        return None if value is None else _fit(get_args(kind)[0], value, name)
    if get_origin(kind) is tuple:
        return _fit_tuple(get_args(kind), value, name)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        raise TrainingError(f"{name} must be {kind.__name__}, got {value!r}")
    return value


def _fit_tuple(kinds: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    """Bring a JSON list to a tuple's types."""
    if not isinstance(value, (list, tuple)):
        raise TrainingError(f"{name} must be a list, got {value!r}")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise TrainingError(f"{name} must have {len(kinds)} values, got {value!r}")
    return tuple(_fit(kind, entry, name) for kind, entry in zip(kinds, value, strict=True))


def _value(text: str) -> Any:
    """A setting's value: JSON, or else the text itself, so that words need no quotes."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _check(config: TrainConfig, name: str, good: bool, need: str) -> None:
    """Refuse a setting out of its range."""
    if not good:
        raise TrainingError(f"{name} must be {need}, got {getattr(config, name)}")
