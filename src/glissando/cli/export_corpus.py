"""``glissando corpus export``: what donors gave, as a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    store: Annotated[
        str, typer.Option(help="Where donated swipes are: SQLite or PostgreSQL.", envvar="GLISSANDO_STORE")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="JSON lines, gzip if it ends in .gz; or an .npz to train on.")
    ],
    skipped: Annotated[bool, typer.Option("--skipped", help="Skipped words too, without points.")] = False,
    layouts: Annotated[Path | None, typer.Option(help="For .npz: the directory of layouts the server has.")] = None,
) -> None:
    """Write donated swipes in the schema of swipe.futo.org, which every other corpus command reads, or as a pack.

    Examples:

        glissando corpus export --store sqlite:///glissando-swipes.db -o donated.jsonl.gz

        glissando corpus export --store postgresql://user@localhost/swipes -o donated.npz
    """
    from glissando.errors import MissingExtraError

    try:
        from glissando.web.export import export_corpus, export_pack
        from glissando.web.store import Store, StoreError
    except ImportError as error:
        raise MissingExtraError(f"the store needs {error.name}: pip install 'glissando[web]'") from None
    file = store.removeprefix("sqlite:///")
    if file != store and not Path(file).is_file():
        raise StoreError(f"no store {file}; sqlite:////absolute/path has four slashes")  # opening would make one
    opened = Store(store)
    if output.suffix == ".npz":
        count = export_pack(opened, output, layouts=layouts).rows
    else:
        count = export_corpus(opened, output, skipped=skipped)
    opened.close()
    typer.echo(f"{output}: {count:,} {'swipe' if count == 1 else 'swipes'}")
