"""The whole keyboard as static files, which any web host serves: the page, the JavaScript package and a kit."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata, resources
from itertools import islice
from pathlib import Path
from typing import Any

from glissando.context import packaged_contexts
from glissando.errors import KitError, LexiconError
from glissando.export.kit import FORMAT, INDEX, Kit
from glissando.export.wasm import PACKAGE
from glissando.files import read_object, replacing_directory
from glissando.languages import TYPED
from glissando.layout import Layout
from glissando.lexicon import JOINTS, Lexicon, Typing, available_languages

OTHERS = ("collect", "docs", "operator", "outbox")  # how the names of files begin that only other pages need
PLACE = 'PAGE = {"version": "", "files": []}'  # where the service worker has its list of files
LICENCES = "LICENSES.txt"
PACKED = (".gz", ".png")  # what no host compresses again
LOOKED_AT = 1000  # words that say whether a layout can type a language
ALL_TYPED = 0.99  # share of their letters that "all" needs: Macedonian has 0.976 on Ukrainian keys, others 0.999
CODE = re.compile(r"[a-z]{2,8}(-[A-Za-z0-9]{1,8})*")  # of a language; part of the names of files
MAX_TITLE = 60  # characters
MAX_INDEX = 2**24  # bytes of an index that is read
OURS = {"index.html", "sw.js", "manifest.webmanifest", "static", "js", "kit", LICENCES}  # what a folder of ours holds


@dataclass(frozen=True)
class Site:
    """What was written.

    Attributes:
        sizes: bytes of every file, by its path.
        wire: bytes that a visitor downloads for it, where a host compresses text.
        languages: for each language the files of its own.
    """

    sizes: Mapping[str, int]
    wire: Mapping[str, int]
    languages: Mapping[str, tuple[str, ...]]

    def part(self, name: str) -> int:
        """Bytes on the wire of a part: page, networks, runtime, or a language."""
        if name in self.languages:
            return sum(self.wire[file] for file in self.languages[name])
        return sum(size for file, size in self.wire.items() if self._part_of(file) == name)

    def download(self, language: str) -> int:
        """Bytes that a visitor downloads once to write in a language."""
        return sum(map(self.part, ("page", "networks", "runtime", language)))

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: sizes, and what a visitor downloads, in bytes."""
        parts = {name: self.part(name) for name in ("page", "networks", "runtime", *self.languages)}
        downloads = {code: self.download(code) for code in self.languages}
        return {
            "files": dict(self.sizes),
            "compressed": sum(self.wire.values()),
            "parts": parts,
            "downloads": downloads,
        }

    def _part_of(self, file: str) -> str:
        if any(file in files for files in self.languages.values()) or file == LICENCES:
            return ""
        if file.endswith(".onnx.gz"):
            return "networks"
        return "runtime" if file.startswith("kit/ort") else "page"


def write_site(
    kit: Kit,
    directory: str | Path,
    *,
    title: str = "",
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Site:
    """Write the keyboard as static files, whole or not at all.

    Args:
        kit: what the page decodes with; it needs a runtime, since there is no server to ask.
        directory: where to; new, empty or an older keyboard, which is replaced.
        title: the name of the keyboard where it is installed, instead of glissando.
        force: keep other things in the directory, instead of refusing it.
        progress: called with the number of files written and their number in all.
    """
    if kit.runtime is None or kit.server:
        raise KitError("a keyboard without a server needs a runtime of its own")
    target = Path(directory)
    kept = _check_target(target, force)
    page = page_contents(title)
    files: dict[str, Callable[[], bytes]] = {
        **{address or "index.html": partial(bytes, data) for address, data in page.items()},
        "sw.js": partial(service_worker, page),
        LICENCES: partial(licences, kit),
        **{f"kit/{name}": partial(kit.file, name) for name in kit.names},
    }
    sizes, wire = {}, {}
    with replacing_directory(target) as folder:
        for number, (name, make) in enumerate(files.items(), 1):
            data = make()
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            sizes[name] = len(data)
            wire[name] = len(data) if name.endswith(PACKED) else len(gzip.compress(data, 6))
            if progress is not None:
                progress(number, len(files))
        for entry in kept:
            _copy(entry, folder / entry.name)
    named = kit.index()["languages"].items()
    own = {code: tuple(f"kit/{name}" for name in parts.values() if name) for code, parts in named}
    return Site(sizes, wire, own)


def static_directory() -> Path:
    """Where the pages and their modules are."""
    return Path(str(resources.files("glissando") / "web" / "static"))


def js_directory() -> Path:
    """Where the JavaScript package's modules are: in an installed package, or in the repository that it is run from."""
    package = Path(str(resources.files("glissando")))
    for folder in (package / "web" / "js", package.parents[1] / "js" / "src"):
        if (folder / "index.js").is_file():
            return folder
    raise KitError(
        "the JavaScript package is missing: it should be in glissando/web/js, or in js/src of the repository"
    )


def page_contents(title: str = "") -> dict[str, bytes]:
    """The files of the keyboard page but its service worker, by their addresses relative to it; "" is the page."""
    static, js = static_directory(), js_directory()
    files = {"": static / "index.html", "manifest.webmanifest": static / "manifest.webmanifest"}
    files |= {
        f"static/{file.name}": file
        for file in sorted(static.iterdir())
        if not file.name.startswith(OTHERS) and file not in files.values() and file.name != "sw.js"
    }
    files |= {f"js/{file.relative_to(js).as_posix()}": file for file in sorted(js.rglob("*.js"))}
    contents = {address: file.read_bytes() for address, file in files.items()}
    return _entitled(contents, title) if title else contents


def service_worker(page: Mapping[str, bytes]) -> bytes:
    """The page's service worker, with the list of files that it keeps and a version that changes whenever one does."""
    digest = hashlib.sha256()
    for address, data in page.items():
        digest.update(f"{address} {hashlib.sha256(data).hexdigest()} ".encode())
    before, found, after = (static_directory() / "sw.js").read_text(encoding="utf-8").partition(PLACE)
    if not found:
        raise KitError("sw.js has no place for its list of files")
    listed = {"version": digest.hexdigest()[:16], "files": [address or "./" for address in page]}
    return f"{before}PAGE = {json.dumps(listed)}{after}".encode()


def choose_languages(asked: str | None, layouts: Iterable[Layout], lexicons: Mapping[str, Lexicon]) -> tuple[str, ...]:
    """The languages of a keyboard.

    Args:
        asked: codes ("en,de"), "all" for those that a layout can type, or None for those with a packaged context and
            Russian.
        layouts: the keyboard's.
        lexicons: word lists of one's own by language; their languages are part of it.
    """
    boards, known = list(layouts), available_languages()
    chosen = [*packaged_contexts(), "ru"] if asked is None else known if asked == "all" else asked.split(",")
    codes = tuple(dict.fromkeys([*lexicons, *(code.strip() for code in chosen)]))
    for code in codes:
        if code not in lexicons and code not in known:
            raise LexiconError(f"no language {code!r}; there are {', '.join(known)}")
        if not CODE.fullmatch(code):
            raise LexiconError(f"a language is a code such as en or sr-Latn, got {code[:40]!r}")
    needed = ALL_TYPED if asked == "all" else TYPED
    shares = {code: typed_share(lexicons.get(code) or Lexicon.from_language(code), boards) for code in codes}
    able = [code for code in codes if shares[code] >= (TYPED if code in lexicons else needed)]
    if unable := [code for code in codes if code not in able and (asked != "all" or code in lexicons)]:
        raise LexiconError(f"no layout of this keyboard can type {unable[0]!r}; --layouts adds layouts")
    return tuple(able)


def typed_share(lexicon: Lexicon, layouts: Iterable[Layout]) -> float:
    """The share of the letters of a language's most frequent words that the best of some layouts can type."""
    letters = Counter(char for word in islice(lexicon.words, LOOKED_AT) for char in word if char not in JOINTS)
    typings = (Typing(frozenset(layout.letters)) for layout in layouts)
    typed = (sum(count for char, count in letters.items() if typing[ord(char)]) for typing in typings)
    return max(typed, default=0) / max(letters.total(), 1)


def licences(kit: Kit) -> bytes:
    """Who made what a keyboard consists of, and the licences that want to go along."""
    folder = resources.files("glissando") / "assets" / "contexts"
    codes = [code for code in kit.languages if code in packaged_contexts()]
    cards = [json.loads((folder / f"{code}.json").read_text("utf-8")) for code in codes]
    sources = {source["name"]: source for card in cards for source in card["sources"]}
    followers = [
        f"Which words follow which: {name}, {one['licence']}. {one['url']}\n{one['attribution']}\n"
        for name, one in sources.items()
    ]
    full = [entry for entry in folder.iterdir() if entry.name.startswith("LICENSE-")]
    needed = [entry for entry in full if any(entry.name.removeprefix("LICENSE-") in name for name in sources)]
    lines = [
        "glissando: the page, its modules and the networks.\n",
        _own_licence(),
        f"{PACKAGE}, which runs the networks: MIT licence, Copyright (c) Microsoft Corporation. https://onnxruntime.ai\n",
        "The words of languages and their frequencies come from wordfreq, whose data are under CC BY-SA 4.0.\n"
        "https://github.com/rspeer/wordfreq\n",
        *followers,
        *(entry.read_text("utf-8") for entry in needed),
    ]
    return "\n".join(lines).encode()


def _own_licence() -> str:
    """The text of our licence, which comes with an installed package."""
    try:
        return metadata.distribution("glissando").read_text("licenses/LICENSE") or "MIT licence\n"
    except metadata.PackageNotFoundError:  # run from its sources
        return "MIT licence\n"


def _entitled(page: dict[str, bytes], title: str) -> dict[str, bytes]:
    """The page and its manifest under another name."""
    if len(title) > MAX_TITLE or not title.isprintable() or not title.strip():
        raise KitError(f"a title is one line of 1 to {MAX_TITLE} characters, got {title[:MAX_TITLE]!r}")
    manifest = json.loads(page["manifest.webmanifest"]) | {"name": title, "short_name": title}
    shown = html.escape(title)
    text = page[""].decode()
    text = re.sub(r"<title>[^<]*</title>", lambda _: f"<title>{shown}</title>", text)
    text = re.sub(r'(name="apple-mobile-web-app-title" content=)"[^"]*"', lambda found: f'{found[1]}"{shown}"', text)
    named = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    return page | {"": text.encode(), "manifest.webmanifest": named.encode()}


def _check_target(target: Path, force: bool) -> list[Path]:
    """What else is in a directory and stays there; an error where it may not be replaced."""
    if not target.exists():
        return []
    if not target.is_dir():
        raise KitError(f"cannot write a keyboard to {target}: it is a file")
    others = sorted(entry for entry in target.iterdir() if entry.name not in OURS)
    if force:
        return others
    if others:
        raise KitError(f"{target} holds other things, such as {others[0].name}; --force writes beside them")
    if any(target.iterdir()) and not _is_keyboard(target):
        raise KitError(f"{target} is not empty and no keyboard; --force writes into it nevertheless")
    return []


def _is_keyboard(folder: Path) -> bool:
    """Whether a folder was written by ``write_site``."""
    try:
        index = read_object(folder / "kit" / INDEX, "kit", KitError, MAX_INDEX)
    except KitError:
        return False
    return index.get("format") == FORMAT and index.get("server") is False


def _copy(source: Path, target: Path) -> None:
    """Copy a file, a link or a folder. It is not moved: if anything fails later, nothing has changed."""
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
