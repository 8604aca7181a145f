"""Model files, packaged or given. A JSON card beside each says what it is and holds its checksum."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from glissando.errors import WeightsError


@dataclass(frozen=True)
class Weights:
    """A model file, checked.

    Attributes:
        name: "encoder", or the file's path.
        data: the file's bytes.
        card: its JSON: config, provenance, metrics, sha256.
    """

    name: str
    data: bytes
    card: dict[str, Any]


def load_weights(weights: str | Path = "encoder") -> Weights:
    """Find a model: a packaged name such as "encoder", or a file (a Path, or ending in .onnx), its JSON beside it."""
    name = str(weights)
    if isinstance(weights, Path) or name.endswith(".onnx"):
        path = Path(weights)
        return _check(name, _read(path), _read(card_path(path)))
    folder = resources.files("glissando") / "assets" / "weights"
    if name not in packaged_weights():
        known = ", ".join(packaged_weights()) or "none"
        raise WeightsError(f"no weights {name!r}; packaged are {known}; a file must end in .onnx")
    return _check(name, (folder / f"{name}.onnx").read_bytes(), (folder / f"{name}.json").read_bytes())


def packaged_weights() -> tuple[str, ...]:
    """Names of the models that come with the package."""
    folder = resources.files("glissando") / "assets" / "weights"
    if not folder.is_dir():
        return ()
    files = {entry.name for entry in folder.iterdir()}
    names = {name.removesuffix(".onnx") for name in files if name.endswith(".onnx")}
    return tuple(sorted(name for name in names if f"{name}.json" in files))


def card_path(path: Path) -> Path:
    """The path of a model file's card: one.json beside one.onnx, but one.pte.json beside one.pte."""
    return path.with_suffix(".json") if path.suffix == ".onnx" else path.with_name(f"{path.name}.json")


def write_card(path: Path, card: dict[str, Any]) -> Path:
    """Write a model file's card with the file's checksum; returns the card's path."""
    card = {**card, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    target = card_path(path)
    target.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return target


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WeightsError(f"cannot read model file {path}: {error.strerror or error}") from None


def _check(name: str, data: bytes, card_data: bytes) -> Weights:
    """Compare a file with the checksum of its card."""
    try:
        card = json.loads(card_data)
    except (ValueError, RecursionError) as error:
        raise WeightsError(f"the JSON beside weights {name} cannot be read: {error}") from None
    if not isinstance(card, dict) or not isinstance(card.get("sha256"), str):
        raise WeightsError(f"the JSON beside weights {name} has no sha256")
    digest = hashlib.sha256(data).hexdigest()
    if digest != card["sha256"]:
        raise WeightsError(f"weights {name} are damaged: SHA-256 is {digest[:12]}..., not {card['sha256'][:12]}...")
    return Weights(name, data, card)
