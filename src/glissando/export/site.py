"""The whole keyboard as static files, which any web host serves."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from glissando.errors import KitError


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
