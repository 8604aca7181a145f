"""A bundle: one directory with everything that a program in another language needs to decode on one keyboard.

The networks, the layout, the constants, the words as a binary trie, which words and which letters follow which, and
golden vectors that show whether a port is correct. docs/deployment.md specifies every file.

A person's own words and habits stay at home: they are not part of a bundle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import glissando
from glissando import context, vocabulary
from glissando.context import Context, context_bytes, read_context
from glissando.errors import BundleError
from glissando.export.awkward import Golden, single_context
from glissando.export.binary import read_trie, write_trie
from glissando.export.constants import decode_constants
from glissando.export.fluency import FLUENCY, fluency_bytes, has_literals, read_fluency
from glissando.export.golden import TOLERANCES, golden_lines, golden_swipes
from glissando.files import replacing, replacing_directory
from glissando.habits import Habits
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.runtime import DecoderRuntime, EncoderRuntime, MatcherRuntime, match_keys
from glissando.scoring import Scoring
from glissando.weights import Weights

FORMAT = "glissando-bundle"
VERSION = 4  # words that are in no list: a port of version 3 would not find them, and its probabilities are too high
MANIFEST = "manifest.json"
SWIPES = 240  # golden vectors
CONTEXT = "language.context"
RUNTIMES = {"encoder": EncoderRuntime, "decoder": DecoderRuntime, "matcher": MatcherRuntime}


@dataclass(frozen=True, eq=False)
class Bundle:
    """A bundle whose files all match the manifest.

    Attributes:
        directory: where it is.
        manifest: the content of manifest.json.
        keyboard: decodes exactly as the keyboard that was exported.
    """

    directory: Path
    manifest: dict[str, Any]
    keyboard: Keyboard

    def golden(self) -> Iterator[dict[str, Any]]:
        """The golden vectors, one by one."""
        with (self.directory / self.manifest["golden"]["file"]).open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def write_bundle(
    keyboard: Keyboard,
    directory: str | Path,
    *,
    swipes: int | Iterable[Golden] = SWIPES,
    force: bool = False,
) -> dict[str, Any]:
    """Write a bundle and return its manifest.

    A new bundle appears whole or not at all. The files of an older one are replaced one by one, the manifest last, so
    a reader in between meets checksums that do not match. Files that are not the bundle's stay.

    Args:
        keyboard: what to write.
        directory: where to; it may be new, empty or a bundle.
        swipes: the swipes of the golden vectors, or how many to make.
        force: also write into a directory with other things in it.
    """
    target = Path(directory)
    old = _check_target(target, force)
    keyboard = keyboard.replace(vocabulary=vocabulary.Vocabulary(), habits=Habits())
    files = _contents(keyboard, golden_swipes(keyboard, swipes) if isinstance(swipes, int) else swipes)
    manifest = _manifest(keyboard, files)
    everything = {MANIFEST: _json(manifest), **files}
    if old is None:
        with replacing_directory(target) as folder:
            for name, data in everything.items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(data)
        return manifest
    with ExitStack() as stack:  # writes every file before it moves the first; the manifest, entered first, moves last
        for name, data in everything.items():
            stack.enter_context(replacing(target / name)).write_bytes(data)
    for name in old - set(everything):
        if not Path(name).is_absolute() and ".." not in Path(name).parts:
            (target / name).unlink(missing_ok=True)
    return manifest


def read_bundle(directory: str | Path) -> Bundle:
    """Read a bundle and compare every file with the manifest."""
    folder = Path(directory)
    manifest = _read_manifest(folder)
    files = {name: _read_file(folder, name, facts) for name, facts in manifest["files"].items()}
    try:
        layout = Layout.from_dict(json.loads(files["layout.json"]))
        constants = json.loads(files["constants.json"])
        models = {
            kind: Weights(str(folder / names["file"]), files[names["file"]], json.loads(files[names["card"]]))
            for kind, names in manifest["models"].items()
        }
        networks: dict[str, Any] = {kind: RUNTIMES[kind](weights) for kind, weights in models.items()}
        # The bundle's own trie, not one built again: its order decides between equal scores.
        trie, lexicon = read_trie(files["trie.bin"], str(folder / "trie.bin"), manifest["language"])
        scoring, width = Scoring.from_dict(constants), constants["search"]["width"]
        before = read_context(folder / CONTEXT, manifest["context"]["name"]) if CONTEXT in files else None
        encoder = networks.pop("encoder")
        keyboard = Keyboard(layout, lexicon, encoder, scoring, width, trie=trie, context=before, **networks)
        if has_literals(keyboard):
            # Not counted again: words in another order may round a byte to its neighbour.
            keyboard = keyboard.replace(fluency=read_fluency(files[FLUENCY], trie.letters, manifest["fluency"]))
    except KeyError as error:
        raise BundleError(f"bundle {folder} lacks {error}") from None
    except ValueError as error:
        raise BundleError(f"bundle {folder} is damaged: {error}") from None
    for name, known in _constants(keyboard).items():
        if known != constants.get(name):
            raise BundleError(f"bundle {folder} was made with other constants ({name}) than this version decodes with")
    return Bundle(folder, manifest, keyboard)


def _contents(keyboard: Keyboard, swipes: Iterable[Golden]) -> dict[str, bytes]:
    """Every file that the manifest lists with its checksum."""
    lines = golden_lines(keyboard, list(swipes))
    models, before = _networks(keyboard), single_context(keyboard)
    return {
        **{f"{name}.onnx": runtime.weights.data for name, runtime in models.items()},
        **{f"{name}.json": _json(runtime.weights.card) for name, runtime in models.items()},
        "layout.json": _json(keyboard.layout.to_dict()),
        "constants.json": _json(_constants(keyboard)),
        "trie.bin": write_trie(keyboard.trie, keyboard.lexicon),
        **({} if before is None else {CONTEXT: context_bytes(before), **_licences(before)}),
        **({FLUENCY: fluency_bytes(keyboard.dictionary.fluency)} if has_literals(keyboard) else {}),
        "golden.jsonl": "".join(f"{line}\n" for line in lines).encode(),
    }


def _networks(keyboard: Keyboard) -> dict[str, Any]:
    """The networks of a keyboard by their names."""
    return {name: network for name in RUNTIMES if (network := getattr(keyboard, name)) is not None}


def _licences(before: Context) -> dict[str, bytes]:
    """The licences that want to go along with a context made of what they cover, by the names of their files."""
    sources = str(before.header.get("sources"))
    folder = resources.files("glissando") / "assets" / "contexts"
    licences = [entry for entry in folder.iterdir() if entry.name.startswith("LICENSE-")]
    return {entry.name: entry.read_bytes() for entry in licences if entry.name.removeprefix("LICENSE-") in sources}


def _constants(keyboard: Keyboard) -> dict[str, Any]:
    """Every number of the decode path that is not in a graph or a table, so that a port need not repeat any."""
    before = single_context(keyboard)
    language = "" if before is None else before.language
    shared = decode_constants(keyboard.width)
    return {
        "path": shared["path"],
        "search": shared["search"],
        "scoring": keyboard.scoring.to_dict(),
        **shared,
        "context": {**shared["context"], "elisions": list(context.ELISIONS.get(language, ()))},
    }


def _manifest(keyboard: Keyboard, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The content of manifest.json. Nothing in it depends on when or where it was written."""
    facts = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()}
    models: dict[str, Any] = {name: {"file": f"{name}.onnx", "card": f"{name}.json"} for name in _networks(keyboard)}
    if keyboard.decoder is not None:
        places = match_keys(keyboard.layout, keyboard.decoder.layout).tolist()
        models["decoder"]["columns"] = [*places, len(places)]  # for each column of the decoder, that of the emissions
    before, told = single_context(keyboard), dict[str, Any]()
    if before is not None:
        name, language = Path(before.name).name, before.language
        told["context"] = {"file": CONTEXT, "name": name, "language": language, "words": len(before)}
    if has_literals(keyboard):
        told["fluency"] = {"file": FLUENCY, "order": keyboard.dictionary.fluency.order}
    return {
        "format": FORMAT,
        "version": VERSION,
        "glissando": glissando.__version__,
        "layout": keyboard.layout.name,
        "language": keyboard.lexicon.language or keyboard.layout.language,
        "lexicon": {"name": Path(keyboard.lexicon.name).name, "words": len(keyboard.trie.words)},
        "models": models,
        **told,
        "golden": {"file": "golden.jsonl", "swipes": files["golden.jsonl"].count(b"\n"), "tolerances": TOLERANCES},
        "files": facts,
    }


def _check_target(target: Path, force: bool) -> set[str] | None:
    """The files of the bundle that is there, or None where nothing is; an error where something else is."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return None
    if not target.is_dir():
        raise BundleError(f"cannot write a bundle to {target}: it is a file")
    try:
        manifest = _read_manifest(target)
    except BundleError:
        if force:
            return set()
        raise BundleError(f"{target} is not empty and no bundle; --force writes into it nevertheless") from None
    return set(manifest["files"])


def _read_manifest(folder: Path) -> dict[str, Any]:
    """manifest.json, if this version reads it."""
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
    """A file of the bundle, compared with its size and checksum in the manifest."""
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
