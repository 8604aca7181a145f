"""What the commands with --cluster share."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from glissando.cluster.connection import Cluster
    from glissando.cluster.progress import Progress, Show
    from glissando.cluster.stream import Run

LINE_SECONDS = 10.0  # between lines of progress where there is no terminal


@contextmanager
def joined(address: str, workers: int | None) -> Iterator[Cluster]:
    """Join a cluster, and say where its dashboard is; an interruption leaves finished blocks as they are.

    What Ray prints of dead workers goes to standard error: standard output is for results, printed afterwards.
    """
    from glissando.cluster.connection import connect

    with redirect_stdout(sys.stderr), connect(address, workers) as cluster:
        if cluster.dashboard:
            typer.echo(f"Ray's dashboard: http://{cluster.dashboard}", err=True)
        try:
            yield cluster
        except KeyboardInterrupt:
            typer.echo("glissando: interrupted; the same command goes on with what is missing", err=True)
            raise typer.Exit(130) from None


@contextmanager
def cluster_run(address: str, workers: int | None, sources: Iterable[str | Path], rows: int) -> Iterator[Run]:
    """Join a cluster to work on the files of some sources, with the progress on standard error."""
    from glissando.cluster.stream import Run
    from glissando.corpus.sources import all_files

    files = all_files(sources)
    with joined(address, workers) as cluster, _shown() as show:
        yield Run(cluster, files, rows, show)


@contextmanager
def _shown() -> Iterator[Show]:
    """Show the progress: a line that changes on a terminal, else a line now and then."""
    last = 0.0

    def line(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            typer.echo(str(progress), err=True)

    if not sys.stderr.isatty():
        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda progress: bar.update(task, completed=progress.share, description=str(progress))
