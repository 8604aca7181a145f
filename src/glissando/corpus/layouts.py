"""Layouts by the names that swipes carry: a directory of JSON files first, then those built in."""

from __future__ import annotations

from pathlib import Path

from glissando.errors import CorpusError, LayoutError
from glissando.layout import ALIASES, Layout, builtin_layouts, load_layout


class LayoutShelf:
    """Finds layouts by name and remembers them.

    A name is looked up among the directory's files, never made a path, so a corpus cannot make us read others.
    """

    def __init__(self, directory: str | Path | None = None) -> None:
        if directory is not None and not Path(directory).is_dir():
            raise LayoutError(f"no directory of layouts {directory}")
        files = Path(directory).glob("*.json") if directory is not None else ()
        self._files = {file.stem: file for file in files}
        self._found: dict[str, Layout | None] = {}

    def get(self, name: str) -> Layout | None:
        """The layout of that name, or None."""
        if name not in self._found:
            self._found[name] = self._load(name)
        return self._found[name]

    def __getitem__(self, name: str) -> Layout:
        layout = self.get(name)
        if layout is None:
            raise CorpusError(f"no layout {name!r}; there are {', '.join(self.names()) or 'none'}; --layouts adds more")
        return layout

    def names(self) -> list[str]:
        """Every name there is a layout for."""
        return sorted({*self._files, *builtin_layouts()})

    def _load(self, name: str) -> Layout | None:
        """Read a layout from the directory or from the package."""
        if name in self._files:
            return Layout.from_json(self._files[name])
        return load_layout(name) if ALIASES.get(name, name) in builtin_layouts() else None
