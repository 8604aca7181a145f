"""Layouts by the names that swipes carry: a directory of JSON files first, then those built in."""

from __future__ import annotations

from pathlib import Path

from glissando.errors import CorpusError, LayoutError
from glissando.layout import Layout, builtin_layouts, load_layout


class LayoutShelf:
    """Finds layouts by name and remembers them.

    A name is only a name: one that would lead out of the directory is unknown, so a corpus cannot make us
    read other files.
    """

    def __init__(self, directory: str | Path | None = None) -> None:
        self.directory = Path(directory) if directory is not None else None
        if self.directory is not None and not self.directory.is_dir():
            raise LayoutError(f"no directory of layouts {self.directory}")
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
        files = self.directory.glob("*.json") if self.directory is not None else ()
        return sorted({file.stem for file in files} | set(builtin_layouts()))

    def _load(self, name: str) -> Layout | None:
        """Read a layout from the directory or from the package."""
        if self.directory is not None and Path(name).name == name and "\0" not in name:
            file = self.directory / f"{name}.json"
            if file.is_file():
                return Layout.from_json(file)
        return load_layout(name) if name in builtin_layouts() else None
