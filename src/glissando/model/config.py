"""What encoders, decoders and embedders are made of; the defaults are the report's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from glissando.errors import TrainingError

BASES = ("cosine", "grid")
BLANKS = ("gate", "joint")

Config = TypeVar("Config")


@dataclass(frozen=True)
class EncoderConfig:
    """The shape of an encoder. 634,849 trainable parameters by default, whatever ``frames`` is.

    Attributes:
        points: points of the resampled path, T_in.
        frames: emission steps T: half of ``points`` (the report's adapter, stride 2) or all of them (stride 1).
        width: channels of the trunk.
        expansion: the 1x1 convolution inside a block widens the trunk by this much; the gated linear unit halves it.
        kernel: taps of the stem and of the depthwise convolutions.
        dilations: one block for each.
        hidden: channels after the adapter, H.
        basis: "cosine" (eq. 1) or "grid" (bilinear between N x N values), how coefficients become a field.
        resolution: N; the head emits N * N coefficients.
        blank: "gate" (eq. 6) or "joint" (one softmax over keys and blank).
        dropout: share of a block's output that is dropped before the residual sum.
    """

    points: int = 64
    frames: int = 32
    width: int = 128
    expansion: int = 4
    kernel: int = 7
    dilations: tuple[int, ...] = (1, 2, 3, 5, 8)
    hidden: int = 256
    basis: str = "cosine"
    resolution: int = 8
    blank: str = "gate"
    dropout: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "dilations", _whole_numbers("dilations", self.dilations))
        for name in ("points", "frames", "width", "expansion", "kernel", "hidden", "resolution"):
            _whole_numbers(name, (getattr(self, name),))
        if self.points % 2 or self.frames not in (self.points // 2, self.points):
            raise TrainingError(
                f"frames must be half of an even number of points, or all of them; got {self.frames} of {self.points}"
            )
        if self.width % 4 or self.kernel % 2 == 0 or self.width * self.expansion % 2:
            raise TrainingError(
                f"width must be a multiple of 4 and kernel odd; got width {self.width}, kernel {self.kernel}"
            )
        _choice("basis", self.basis, BASES)
        _choice("blank", self.blank, BLANKS)
        _share("dropout", self.dropout)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EncoderConfig:
        """Read what ``to_dict`` wrote; fields left out keep their defaults, unknown ones are refused."""
        return _read(cls, data, "an encoder")

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON can hold it."""
        return {**asdict(self), "dilations": list(self.dilations)}


@dataclass(frozen=True)
class DecoderConfig:
    """The shape of a decoder. 304,667 trainable parameters by default; of the frames it does not matter how many.

    Attributes:
        keys: K, the letters of the layout it is bound to; it reads and writes K + 1 log-emissions.
        coefficients: N * N of the encoder it corrects.
        hidden: channels between the blocks, H_d.
        bottleneck: channels that the memory sees, P_d.
        context: frames the memory looks back, and ahead.
        blocks: how many, N_L.
        dropout: share of a block's output that is dropped before the residual sum.
        floor: log-emissions below this look the same to the network: a key that is out of the question.
        skip_floor: the same for the log-emissions that are corrected; None leaves them as they are, so that the
            untrained decoder is the identity. With a floor, no letter is beyond rescue.
    """

    keys: int = 26
    coefficients: int = 64
    hidden: int = 256
    bottleneck: int = 64
    context: int = 7
    blocks: int = 8
    dropout: float = 0.05
    floor: float = -15.0
    skip_floor: float | None = None

    def __post_init__(self) -> None:
        for name in ("keys", "coefficients", "hidden", "bottleneck", "context", "blocks"):
            _whole_numbers(name, (getattr(self, name),))
        _share("dropout", self.dropout)
        if not self.floor < 0 or not (self.skip_floor is None or self.skip_floor < 0):
            raise TrainingError(f"floors must be below 0, got {self.floor!r} and {self.skip_floor!r}")

    @property
    def inputs(self) -> int:
        """Width of a frame of features: log-emissions, coefficients, gate."""
        return self.keys + 1 + self.coefficients + 1

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DecoderConfig:
        """Read what ``to_dict`` wrote; fields left out keep their defaults, unknown ones are refused."""
        return _read(cls, data, "a decoder")

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON can hold it."""
        return asdict(self)


@dataclass(frozen=True)
class EmbedderConfig:
    """The shape of an embedder: two towers, one for swipes and one for words, that meet in one space.

    Attributes:
        points: points of a path.
        keys: letters of the layout it is bound to.
        width: channels of a tower.
        blocks: convolutions of a tower, each halving the points.
        dimensions: of the embedding.
        reach: key widths at which a key's nearness has fallen to 0.6.
        dropout: share of a tower's pooled channels that is dropped.
    """

    points: int = 64
    keys: int = 26
    width: int = 128
    blocks: int = 3
    dimensions: int = 128
    reach: float = 0.8
    dropout: float = 0.1

    def __post_init__(self) -> None:
        for name in ("points", "keys", "width", "blocks", "dimensions"):
            _whole_numbers(name, (getattr(self, name),))
        _share("dropout", self.dropout)
        if self.points % 2**self.blocks:
            raise TrainingError(f"{self.blocks} blocks cannot halve {self.points} points evenly")
        if not self.reach > 0:
            raise TrainingError(f"reach must be above 0, got {self.reach!r}")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EmbedderConfig:
        """Read what ``to_dict`` wrote; fields left out keep their defaults, unknown ones are refused."""
        return _read(cls, data, "an embedder")

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON can hold it."""
        return asdict(self)


def _read(cls: type[Config], data: Mapping[str, Any], what: str) -> Config:
    """Build a config, refusing what it has no field for."""
    if not isinstance(data, Mapping):
        raise TrainingError(f"{what}'s config is an object, got {data!r}")
    known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    unknown = sorted(set(data) - set(known))
    if unknown:
        raise TrainingError(f"{what}'s config has no field {unknown[0]!r}; it has {', '.join(known)}")
    return cls(**data)


def _share(name: str, value: Any) -> None:
    """Refuse what is no share below 1."""
    if not (isinstance(value, (int, float)) and 0 <= value < 1):
        raise TrainingError(f"{name} must lie in [0, 1), got {value!r}")


def _whole_numbers(name: str, values: Any) -> tuple[int, ...]:
    """Check positive whole numbers, at least one of them."""
    if not isinstance(values, (list, tuple)) or not values:
        raise TrainingError(f"{name} must be a list of positive whole numbers, got {values!r}")
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise TrainingError(f"{name} must be positive and whole, got {value!r}")
    return tuple(values)


def _choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise TrainingError(f"no {name} {value!r}; there are {', '.join(choices)}")
