"""What an encoder is made of; the defaults are the report's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from glissando.errors import TrainingError

BASES = ("cosine", "grid")
BLANKS = ("gate", "joint")


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
        if not (isinstance(self.dropout, (int, float)) and 0 <= self.dropout < 1):
            raise TrainingError(f"dropout must lie in [0, 1), got {self.dropout!r}")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EncoderConfig:
        """Read what ``to_dict`` wrote; fields left out keep their defaults, unknown ones are refused."""
        if not isinstance(data, Mapping):
            raise TrainingError(f"an encoder's config is an object, got {data!r}")
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(data) - set(known))
        if unknown:
            raise TrainingError(f"an encoder's config has no field {unknown[0]!r}; it has {', '.join(known)}")
        return cls(**data)

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON can hold it."""
        return {**asdict(self), "dilations": list(self.dilations)}


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
