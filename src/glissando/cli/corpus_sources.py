"""``glissando corpus fetch`` and ``glissando corpus export``: swipes from public corpora and from donors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.output import needs_extra

fetch = typer.Typer(help="Download public corpora: futo, how-we-swipe.", no_args_is_help=True)


def export(
    store: Annotated[str, Option(help="Database of donated swipes: SQLite or PostgreSQL.", envvar="GLISSANDO_STORE")],
    output: Annotated[
        Path, opt.output("JSON lines (.gz for gzip), .parquet, an .npz pack for training, or a new folder.")
    ],
    language: Annotated[str | None, Option(help="Only this language.")] = None,
    layout: Annotated[str | None, Option(help="Only this layout.")] = None,
    session: Annotated[str | None, Option(help="Only this donor, by the session's hash.")] = None,
    since: Annotated[datetime | None, Option(help="First day, in UTC.", formats=["%Y-%m-%d"])] = None,
    until: Annotated[datetime | None, Option(help="Last day.", formats=["%Y-%m-%d"])] = None,
    flagged: Annotated[
        bool | None,
        Option("--flagged/--unflagged", help="Only swipes that do not follow their word; or only those that do."),
    ] = None,
    max_key_distance: Annotated[float | None, Option(help="Farthest from the word's keys, in key widths.")] = None,
    skipped: Annotated[bool, Option("--skipped", help="Also write skipped words, without points.")] = False,
    layouts: Annotated[Path | None, Option(help="The server's directory of layouts.")] = None,
) -> None:
    """Write donated swipes: as JSON lines, as a pack, or as a folder of Parquet with a dataset card.

    The JSON lines are in the schema of swipe.futo.org, which every other corpus command reads.

    **Examples**

        glissando corpus export --store sqlite:///glissando-swipes.db -o donated.jsonl.gz
        glissando corpus export --store sqlite:///glissando-swipes.db -o good.jsonl.gz --unflagged
        glissando corpus export --store postgresql://user@localhost/swipes -o donated.npz
        glissando corpus export --store sqlite:///glissando-swipes.db -o dataset --language cy --since 2026-11-01
    """
    with needs_extra("the store", "web"):
        from glissando.web.database import StoreError
        from glissando.web.export import write_export
        from glissando.web.selection import Selection
        from glissando.web.store import Store
    file = store.removeprefix("sqlite:///")
    if file != store and not Path(file).is_file():
        raise StoreError(f"no store {file}; sqlite:////absolute/path has four slashes")  # opening would create one
    first, last = since and since.date(), until and until.date()
    selection = Selection(language, layout, session, first, last, flagged, max_key_distance)
    opened = Store(store)
    try:
        count = write_export(opened, output, selection, skipped=skipped, layouts=layouts)
    finally:
        opened.close()
    typer.echo(f"{output}: {count:,} {'swipe' if count == 1 else 'swipes'}")


@fetch.command()
def futo(
    directory: Annotated[Path, Argument(help="Target directory.", show_default=False)],
    runs: Annotated[str, Option(help="Which runs.")] = "swipe-1,swipe-2,swipe-3,swipe-4,swipe-5",
    revision: Annotated[str, Option(help="Branch, tag or commit of the dataset.")] = "main",
    endpoint: Annotated[str | None, Option(help="A mirror of huggingface.co.")] = None,
) -> None:
    """Download swipe.futo.org (a million swipes, MIT) from Hugging Face; run again to resume.

    **Examples**

        glissando corpus fetch futo data/futo --runs swipe-1
    """
    from glissando.corpus.fetch import fetch_futo

    names = tuple(name.strip() for name in runs.split(",") if name.strip())
    with _byte_bars() as progress:
        files = fetch_futo(directory, runs=names, revision=revision, endpoint=endpoint, progress=progress)
    typer.echo(f"{directory}: {len(files)} files, checksums right")


@fetch.command(name="how-we-swipe")
def how_we_swipe(
    directory: Annotated[Path, Argument(help="Target directory.", show_default=False)],
    pattern: Annotated[str, Option(help="Which files of the project.")] = "*swipelogs*.zip",
    api: Annotated[str, Option(help="Address of OSF's API.")] = "https://api.osf.io/v2",
) -> None:
    """Download How We Swipe's logs (70 MB) from OSF project sj67f; run again to resume.

    **Examples**

        glissando corpus fetch how-we-swipe data/how-we-swipe
    """
    from glissando.corpus.fetch import fetch_how_we_swipe

    with _byte_bars() as progress:
        files = fetch_how_we_swipe(directory, pattern=pattern, api=api, progress=progress)
    typer.echo(f"{directory}: {', '.join(file.name for file in files)}, checksums right")


@contextmanager
def _byte_bars() -> Iterator[Any]:
    """Give a function that shows the progress of each download on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def show(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        yield show
