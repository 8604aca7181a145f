"""A bundle: one directory with all that a program in another language needs to decode on one keyboard.

The encoder, the layout, the constants, the words as a binary trie, and golden vectors that tell a port it is
right. docs/deployment.md specifies every file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import glissando
from glissando import beam, geometry, gesture
from glissando.errors import BundleError
from glissando.export.binary import read_trie, write_trie
from glissando.export.golden import TOLERANCES, golden_lines, golden_swipes
from glissando.export.pages import page_files
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.runtime import DecoderRuntime, EncoderRuntime, match_keys
from glissando.scoring import Scoring
from glissando.weights import Weights

FORMAT = "glissando-bundle"
VERSION = 2  # the search looks ahead: a port of version 1 would prune otherwise
MANIFEST = "manifest.json"
SWIPES = 240  # golden ones


@dataclass(frozen=True, eq=False)
class Bundle:
    """A bundle that was read and found whole.

    Attributes:
        directory: where it is.
        manifest: what manifest.json says.
        keyboard: decodes as the keyboard did that it was made of.
    """

    directory: Path
    manifest: dict[str, Any]
    keyboard: Keyboard

    def golden(self) -> Iterator[dict[str, Any]]:
        """The golden vectors, one by one."""
        with (self.directory / self.manifest["golden"]["file"]).open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def write_bundle(
    keyboard: Keyboard, directory: str | Path, *, swipes: int = SWIPES, browser: bool = False, force: bool = False
) -> dict[str, Any]:
    """Write a bundle, whole or not at all where there was none; returns its manifest.

    An older bundle's files are replaced one by one, the manifest last, so a reader in between meets checksums that
    do not match. Files that are not the bundle's stay.

    Args:
        keyboard: what to write.
        directory: where to; it may be new, empty or a bundle.
        swipes: how many golden vectors.
        browser: add the page that decodes in the browser.
        force: write into a directory with other things in it, too.
    """
    target = Path(directory)
    old = _check_target(target, force)
    files = _contents(keyboard, swipes)
    pages = page_files() if browser else {}
    manifest = _manifest(keyboard, files, sorted(pages))
    everything = {**files, **pages, MANIFEST: _json(manifest)}
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for name, data in everything.items():
            (staging / name).parent.mkdir(exist_ok=True)
            (staging / name).write_bytes(data)
        _move_in(staging, target, list(everything), old)
    except OSError as error:
        raise BundleError(f"cannot write bundle {target}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return manifest


def read_bundle(directory: str | Path) -> Bundle:
    """Read a bundle, comparing every file with the manifest; the keyboard comes with the bundle's own trie."""
    folder = Path(directory)
    manifest = _read_manifest(folder)
    files = {name: _read_file(folder, name, facts) for name, facts in manifest["files"].items()}
    try:
        layout = Layout.from_dict(json.loads(files["layout.json"]))
        constants = json.loads(files["constants.json"])
        models = {name: _model(folder, files, names) for name, names in manifest["models"].items()}
        encoder = EncoderRuntime(models["encoder"])
        decoder = DecoderRuntime(models["decoder"]) if "decoder" in models else None
        trie, lexicon = read_trie(files["trie.bin"], str(folder / "trie.bin"), manifest["language"])
        width = constants["search"]["width"]
        known = _constants(Scoring.from_dict(constants), width)
    except KeyError as error:
        raise BundleError(f"bundle {folder} lacks {error}") from None
    except ValueError as error:
        raise BundleError(f"bundle {folder} is damaged: {error}") from None
    other = [name for name in known if known[name] != constants.get(name)]
    if other:
        raise BundleError(f"bundle {folder} was made with other constants ({other[0]}) than this version decodes with")
    # The bundle's own trie, not one built again: its order decides between equal scores.
    keyboard = Keyboard(layout, lexicon, encoder, Scoring.from_dict(constants), width, decoder, trie)
    return Bundle(folder, manifest, keyboard)


def _contents(keyboard: Keyboard, swipes: int) -> dict[str, bytes]:
    """Every file that the manifest vouches for."""
    lines = golden_lines(keyboard, golden_swipes(keyboard, swipes))
    models = _networks(keyboard)
    return {
        **{f"{name}.onnx": runtime.weights.data for name, runtime in models.items()},
        **{f"{name}.json": _json(runtime.weights.card) for name, runtime in models.items()},
        "layout.json": _json(keyboard.layout.to_dict()),
        "constants.json": _json(_constants(keyboard.scoring, keyboard.width)),
        "trie.bin": write_trie(keyboard.trie, keyboard.lexicon),
        "golden.jsonl": "".join(f"{line}\n" for line in lines).encode(),
    }


def _networks(keyboard: Keyboard) -> dict[str, EncoderRuntime | DecoderRuntime]:
    """The networks of a keyboard by their names."""
    decoder = {} if keyboard.decoder is None else {"decoder": keyboard.decoder}
    return {"encoder": keyboard.encoder, **decoder}


def _model(folder: Path, files: Mapping[str, bytes], names: Mapping[str, str]) -> Weights:
    """A network's file with its card."""
    return Weights(str(folder / names["file"]), files[names["file"]], json.loads(files[names["card"]]))


def _constants(scoring: Scoring, width: int) -> dict[str, Any]:
    """Every number of the decode path that is not in the graph, so that a port need not write any down."""
    return {
        "path": {"points": gesture.PATH_POINTS, "rate_hz": round(1000 / gesture.FRAME_MS)},
        "search": {"width": width, "sure_blank": beam.SURE_BLANK},
        "scoring": scoring.to_dict(),
        "geometry": {
            "points": geometry.POINTS,
            "row_height": geometry.ROW_HEIGHT,
            "touch_bias": geometry.TOUCH_BIAS,
            **geometry.WALK._asdict(),
            "max_speed": float(geometry.MAX_SPEED),
        },
    }


def _manifest(keyboard: Keyboard, files: Mapping[str, bytes], pages: list[str]) -> dict[str, Any]:
    """What manifest.json says. Nothing in it depends on when or where it was written."""
    facts = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    models: dict[str, Any] = {name: {"file": f"{name}.onnx", "card": f"{name}.json"} for name in _networks(keyboard)}
    if keyboard.decoder is not None:
        places = match_keys(keyboard.layout, keyboard.decoder.layout).tolist()
        models["decoder"]["columns"] = [*places, len(places)]  # for each column of the decoder, that of the emissions
    return {
        "format": FORMAT,
        "version": VERSION,
        "glissando": glissando.__version__,
        "layout": keyboard.layout.name,
        "language": keyboard.lexicon.language or keyboard.layout.language,
        "lexicon": {"name": Path(keyboard.lexicon.name).name, "words": len(keyboard.trie.words)},
        "models": models,
        "golden": {"file": "golden.jsonl", "swipes": files["golden.jsonl"].count(b"\n"), "tolerances": TOLERANCES},
        "files": facts,
        "page": pages,
    }


def _check_target(target: Path, force: bool) -> list[str]:
    """The files of the bundle that is there; an error where something else is."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return []
    if not target.is_dir():
        raise BundleError(f"cannot write a bundle to {target}: it is a file")
    try:
        manifest = _read_manifest(target)
    except BundleError:
        if force:
            return []
        raise BundleError(f"{target} is not empty and no bundle; --force writes into it nevertheless") from None
    return [*manifest["files"], *manifest.get("page", [])]


def _move_in(staging: Path, target: Path, names: list[str], old: list[str]) -> None:
    """Put the finished files where they belong, and take those away that only the older bundle had."""
    staging.chmod(0o777 & ~_umask())
    if not target.exists() or not any(target.iterdir()):
        os.replace(staging, target)
        return
    for name in names:  # the manifest is the last of them
        (target / name).parent.mkdir(exist_ok=True)
        os.replace(staging / name, target / name)
    for name in set(old) - set(names):
        if not Path(name).is_absolute() and ".." not in Path(name).parts:
            (target / name).unlink(missing_ok=True)


def _umask() -> int:
    """The process's own: temporary directories are made for their owner alone."""
    mask = os.umask(0o22)
    os.umask(mask)
    return mask


def _read_manifest(folder: Path) -> dict[str, Any]:
    """manifest.json, if it is one that this version reads."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except OSError as error:
        raise BundleError(f"{folder} is no bundle: {MANIFEST}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{folder / MANIFEST} is not JSON: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BundleError(f"{folder} is no bundle: its {MANIFEST} does not say so")
    if manifest.get("version") != VERSION:
        raise BundleError(f"bundle {folder} has version {manifest.get('version')!r}; this program reads {VERSION}")
    if not isinstance(manifest.get("files"), dict):
        raise BundleError(f"bundle {folder}: its {MANIFEST} lists no files")
    return manifest


def _read_file(folder: Path, name: str, facts: Mapping[str, Any]) -> bytes:
    """A file of the bundle, compared with what the manifest says of it."""
    try:
        data = (folder / name).read_bytes()
        size, digest = facts["bytes"], facts["sha256"]
    except OSError as error:
        raise BundleError(f"bundle {folder}: {name}: {error.strerror or error}") from None
    except (KeyError, TypeError):
        raise BundleError(f"bundle {folder}: the {MANIFEST} has no size and checksum of {name}") from None
    if len(data) != size:
        raise BundleError(f"bundle {folder} is damaged: {name} has {len(data):,} bytes, not {size:,}")
    if hashlib.sha256(data).hexdigest() != digest:
        raise BundleError(f"bundle {folder} is damaged: {name} does not match its checksum")
    return data


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
