"""``glissando corpus fetch``: public corpora, for people with internet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Download public corpora: futo, how-we-swipe.", no_args_is_help=True)


@app.command()
def futo(
    directory: Annotated[Path, typer.Argument(help="Where to put them.", show_default=False)],
    runs: Annotated[str, typer.Option(help="Which runs.")] = "swipe-1,swipe-2,swipe-3,swipe-4,swipe-5",
    revision: Annotated[str, typer.Option(help="Branch, tag or commit of the dataset.")] = "main",
    endpoint: Annotated[str | None, typer.Option(help="A mirror of huggingface.co.")] = None,
) -> None:
    """Download swipe.futo.org (a million swipes, MIT) from Hugging Face; call again to go on.

    Example:

        glissando corpus fetch futo data/futo --runs swipe-1
    """
    from glissando.corpus.fetch import fetch_futo

    names = tuple(name.strip() for name in runs.split(",") if name.strip())
    with _byte_bars() as progress:
        files = fetch_futo(directory, runs=names, revision=revision, endpoint=endpoint, progress=progress)
    typer.echo(f"{directory}: {len(files)} files, checksums right")


@app.command(name="how-we-swipe")
def how_we_swipe(
    directory: Annotated[Path, typer.Argument(help="Where to put it.", show_default=False)],
    pattern: Annotated[str, typer.Option(help="Which files of the project.")] = "*swipelogs*.zip",
    api: Annotated[str, typer.Option(help="Address of OSF's API.")] = "https://api.osf.io/v2",
) -> None:
    """Download How We Swipe's logs (70 MB) from OSF project sj67f; call again to go on.

    Example:

        glissando corpus fetch how-we-swipe data/how-we-swipe
    """
    from glissando.corpus.fetch import fetch_how_we_swipe

    with _byte_bars() as progress:
        files = fetch_how_we_swipe(directory, pattern=pattern, api=api, progress=progress)
    typer.echo(f"{directory}: {', '.join(file.name for file in files)}, checksums right")


@contextmanager
def _byte_bars() -> Iterator[Any]:
    """Give a function that shows how far each download is, on the terminal's error stream."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        yield show
