"""The files of the browser port: the example's own, and the drawing that the web keyboard shares with it."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from glissando.errors import BundleError

# Of the web's static files, what the page draws its keyboard with.
DRAWING = ("base.css", "demo.css", "icon.svg", "pad.js", "page.js", "text.js", "theme.js")
EXAMPLE = ("index.html", "demo.js", "check.html", "check.js", "check.mjs", "page.css", "package.json")
PORT = (
    "beam.js",
    "bundle.js",
    "geometry.js",
    "golden.js",
    "keyboard.js",
    "resample.js",
    "rescore.js",
    "scoring.js",
    "trie.js",
)


def page_files() -> dict[str, bytes]:
    """Path within a bundle, and bytes, of every file that the page needs beside the bundle's own."""
    static = resources.files("glissando") / "web" / "static"
    example = _example()
    files = {name: (example / name).read_bytes() for name in EXAMPLE}
    files |= {f"port/{name}": (example / "port" / name).read_bytes() for name in PORT}
    return files | {f"web/{name}": (static / name).read_bytes() for name in DRAWING}


def _example() -> Traversable:
    """Where the example is: in the installed package, or in the repository of an editable install."""
    packaged = resources.files("glissando") / "export" / "browser"
    repository = Path(__file__).resolve().parents[3] / "examples" / "browser"
    for folder in (packaged, repository):
        if (folder / "package.json").is_file():
            return folder
    raise BundleError("the browser port is not installed; it is examples/browser of the repository")
