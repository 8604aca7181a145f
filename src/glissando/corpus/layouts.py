"""Layouts by the names that swipes carry: a directory of JSON files first, then the built-in layouts."""

from __future__ import annotations

from pathlib import Path

from glissando.errors import CorpusError, LayoutError
from glissando.layout import ALIASES, Layout, builtin_layouts, load_layout


class LayoutShelf:
    """Finds layouts by name and keeps them.

    A name is looked up among the directory's files and never opened as a path: a corpus must not choose what we read.
    """

    def __init__(self, directory: str | Path | None = None) -> None:
        if directory is not None and not Path(directory).is_dir():
            raise LayoutError(f"no directory of layouts {directory}")
        files = Path(directory).glob("*.json") if directory is not None else ()
        self._files = {file.stem: file for file in files}
        self._layouts: dict[str, Layout | None] = {}

    def get(self, name: str) -> Layout | None:
        """The layout of that name, or None."""
        if name not in self._layouts:
            if name in self._files:
                self._layouts[name] = Layout.from_json(self._files[name])
            else:
                self._layouts[name] = load_layout(name) if ALIASES.get(name, name) in builtin_layouts() else None
        return self._layouts[name]

    def __getitem__(self, name: str) -> Layout:
        layout = self.get(name)
        if layout is None:
            raise CorpusError(self.unknown(name))
        return layout

    def unknown(self, name: str) -> str:
        """What to say of a name that no layout has."""
        known = ", ".join(sorted({*self._files, *builtin_layouts()}))
        return f"no layout {name!r}; there are {known}; --layouts adds more"
