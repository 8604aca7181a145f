"""``glissando layouts``: list them, draw them, save pictures of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.output import print_json, print_table, report_saved

if TYPE_CHECKING:
    from glissando.layout import Layout

MAX_COLUMNS = 100  # a wider keyboard is not easier to read


def layouts(
    names: Annotated[list[str] | None, Argument(help="Built-in layouts or .json files; none lists all.")] = None,
    svg: Annotated[Path | None, Option(help="Save an SVG here; a folder for several layouts.")] = None,
    png: Annotated[Path | None, Option(help="Save a PNG here; a folder for several layouts.")] = None,
    as_json: opt.Json = False,
) -> None:
    """List the built-in layouts, or draw some.

    --svg and --png name the file for the picture of one layout. With several layouts, with no name (then all built-in
    layouts are drawn) or with an existing folder, they name a folder for NAME.svg or NAME.png of each layout.
    --json prints one layout as a layout file, which you can edit, and several as a list.

    **Examples**

        glissando layouts
        glissando layouts jcuken mine.json
        glissando layouts dvorak --svg dvorak.svg
        glissando layouts --png pictures/
        glissando layouts qwerty --json > mine.json
    """
    from glissando.drawing import save_png, save_svg, text_layout
    from glissando.layout import builtin_layouts, load_layout

    chosen = {name: load_layout(name) for name in names or builtin_layouts()}
    for target, save, suffix in ((svg, save_svg, ".svg"), (png, save_png, ".png")):
        if target is not None:
            _save(target, chosen, save, suffix)
    if as_json:
        dicts = [layout.to_dict() for layout in chosen.values()]
        print_json(dicts[0] if len(dicts) == 1 else dicts)
    elif svg is None and png is None:
        if names:
            columns = min(shutil.get_terminal_size().columns, MAX_COLUMNS)
            print("\n\n".join(f"{_caption(layout)}\n{text_layout(layout, columns)}" for layout in chosen.values()))
        else:
            facts = [
                (layout.name, layout.language, str(len(layout.keys)), str(len(layout.rows)))
                for layout in chosen.values()
            ]
            print_table("", ("name", "language", "keys", "rows"), facts)


def _caption(layout: Layout) -> str:
    """One line about a layout."""
    parts = [layout.name, layout.language, f"{len(layout.keys)} keys", f"{len(layout.rows)} rows"]
    return ", ".join(part for part in parts if part)


def _save(target: Path, layouts: dict[str, Layout], save: Callable[[Path, Layout], None], suffix: str) -> None:
    """Save a picture of one layout, or a folder of pictures with the names given on the command line."""
    from glissando.errors import GlissandoError

    files = [target]
    if len(layouts) > 1 or target.is_dir():
        files = [target / f"{Path(name).stem}{suffix}" for name in layouts]
        if len(set(files)) < len(files):
            raise GlissandoError(f"two of the layouts would be saved as one file in {target}; rename one")
    for file, layout in zip(files, layouts.values(), strict=True):
        save(file, layout)
        report_saved([file])
