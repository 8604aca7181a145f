"""Settings of networks and trainings: frozen dataclasses that check themselves, read from JSON and ``name=value``.

A field states its range once, as an interval: ``batch: int = setting(1024, "[1, inf)")``. Types come from the
annotations. A list in JSON becomes a tuple, a whole number becomes a float where the field is one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from types import UnionType
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

from glissando.errors import TrainingError

AnyConfig = TypeVar("AnyConfig")


def setting(default: Any, interval: str) -> Any:
    """Declare a dataclass field whose value, or each of its values, lies in an interval such as "[0, 1)"."""
    return field(default=default, metadata={"interval": interval})


@dataclass(frozen=True)
class Config:
    """Base of every config: checked when it is made, whether from JSON, from ``name=value`` or by hand.

    Attributes:
        removed: settings of earlier versions by name, with the value at which they did nothing. A file that has such
            a setting at that value is still read. In a section, names that are not listed may have any value.
    """

    removed: ClassVar[Mapping[str, Any]] = {}

    def __post_init__(self) -> None:
        types = get_type_hints(type(self))
        for entry in fields(self):
            value = _fit(types[entry.name], getattr(self, entry.name), entry.name)
            _check_interval(entry.metadata.get("interval"), value, entry.name)
            object.__setattr__(self, entry.name, value)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read ``to_dict``'s form; settings left out keep their defaults, unknown ones are refused."""
        return read_config(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """The config as JSON can hold it, nested as the dataclasses are."""
        return json.loads(json.dumps(asdict(self)))

    def changed(self, settings: Iterable[str]) -> Self:
        """A copy with ``name=value`` settings applied: "batch=2048", "model.frames=64"; values are JSON or words."""
        data = self.to_dict()
        for text in settings:
            name, equals, value = text.partition("=")
            if not equals:
                raise TrainingError(f"a setting is name=value, got {text!r}")
            *sections, last = name.strip().split(".")
            place = data
            for section in sections:
                if not isinstance(place.get(section), dict):
                    raise TrainingError(f"no section {section!r} in the setting {text!r}")
                place = place[section]
            place[last] = _value(value.strip())
        return read_config(type(self), data)


def read_config(cls: type[AnyConfig], data: Mapping[str, Any], section: str = "") -> AnyConfig:
    """Build a config dataclass, nested ones included, checking names, types and ranges of every setting."""
    if not isinstance(data, Mapping):
        raise TrainingError(f"{section or 'the config'} must be an object, got {data!r}")
    types, entries = get_type_hints(cls), {entry.name: entry for entry in fields(cls)}  # type: ignore[arg-type]
    removed = getattr(cls, "removed", {})
    values = {}
    for name, value in data.items():
        full = f"{section}{name}"
        if name in entries:
            values[name] = _fit(types[name], value, full)
            _check_interval(entries[name].metadata.get("interval"), values[name], full)
        elif name not in removed:
            raise TrainingError(f"no setting {full}; there are {', '.join(entries)}")
        else:
            _check_removed(removed[name], value, full)
    return cls(**values)


def _fit(kind: Any, value: Any, name: str) -> Any:
    """Bring a JSON value to a setting's type, or refuse it."""
    if is_dataclass(kind):
        return value if isinstance(value, kind) else read_config(kind, value, f"{name}.")  # type: ignore[arg-type]
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
    """Bring a JSON list to a tuple's types; a tuple of any length has at least one value."""
    if not isinstance(value, (list, tuple)) or not value:
        raise TrainingError(f"{name} must be a list, got {value!r}")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise TrainingError(f"{name} must have {len(kinds)} values, got {value!r}")
    return tuple(_fit(kind, entry, name) for kind, entry in zip(kinds, value, strict=True))


def _check_interval(interval: str | None, value: Any, name: str) -> None:
    """Refuse a number, or a tuple with a number, outside of an interval."""
    if interval is None or value is None:
        return
    low, high = map(float, interval[1:-1].split(","))
    for number in value if isinstance(value, tuple) else (value,):
        above = number > low or (interval[0] == "[" and number == low)
        below = number < high or (interval[-1] == "]" and number == high)
        if not (above and below):
            raise TrainingError(f"{name} must lie in {interval}, got {value}")


def _check_removed(neutral: Any, value: Any, name: str) -> None:
    """Refuse a setting that is gone, unless it did nothing."""
    if isinstance(neutral, Mapping):
        for part in neutral.keys() & (value.keys() if isinstance(value, Mapping) else ()):
            _check_removed(neutral[part], value[part], f"{name}.{part}")
    elif value != neutral:
        raise TrainingError(
            f"the setting {name} is gone, so it cannot be {value!r}; commit e0aec40 was the last with it"
        )


def _value(text: str) -> Any:
    """A setting's value: JSON, or else the text itself, so that words need no quotes."""
    try:
        return json.loads(text)
    except ValueError:
        return text
