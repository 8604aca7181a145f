"""The whole keyboard as static files, which any web host serves."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path

from glissando.errors import KitError

OTHERS = ("collect", "docs", "operator", "outbox")  # how the names of files begin that only other pages need
PLACE = 'PAGE = {"version": "", "files": []}'  # where the service worker has its list of files


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


def page_files() -> dict[str, Path]:
    """The files of the keyboard page but its service worker, by their addresses relative to it; "" is the page itself."""
    static, js = static_directory(), js_directory()
    files = {"": static / "index.html", "manifest.webmanifest": static / "manifest.webmanifest"}
    files |= {
        f"static/{file.name}": file
        for file in sorted(static.iterdir())
        if not file.name.startswith(OTHERS) and file not in files.values() and file.name != "sw.js"
    }
    return files | {f"js/{file.relative_to(js).as_posix()}": file for file in sorted(js.rglob("*.js"))}


def service_worker() -> bytes:
    """The page's service worker, with the list of files that it keeps and a version that changes whenever one does."""
    files = page_files()
    digest = hashlib.sha256()
    for address, file in files.items():
        digest.update(f"{address} {hashlib.sha256(file.read_bytes()).hexdigest()} ".encode())
    before, found, after = (static_directory() / "sw.js").read_text(encoding="utf-8").partition(PLACE)
    if not found:
        raise KitError("sw.js has no place for its list of files")
    listed = {"version": digest.hexdigest()[:16], "files": [address or "./" for address in files]}
    return f"{before}PAGE = {json.dumps(listed)}{after}".encode()
