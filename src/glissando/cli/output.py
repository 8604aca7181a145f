"""What commands print in common: progress, JSON, tables, the files they wrote, and the extra that is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to call with (done, total), or None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Turn a failed import into an error that names the extra to install."""
    from glissando.errors import MissingExtraError

    try:
        yield
    except ImportError as error:
        raise MissingExtraError(f"{what} needs {error.name}: pip install 'glissando[{extra}]'") from None


def print_json(data: Any) -> None:
    """Print data as JSON."""
    import json

    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], tight: bool = False) -> None:
    """Print a table, its first column aligned left and the others right; ``tight`` leaves one space between them."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=0 if tight else (0, 1), pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=tight)
    for row in rows:
        table.add_row(*row)
    if title:
        Console(highlight=False).print(title, style="italic", soft_wrap=True)
    Console().print(table)


def report_saved(files: Iterable[Path]) -> None:
    """Name the files that were saved, on standard error."""
    for file in files:
        typer.echo(f"saved {file}", err=True)


def without_picture_suffix(path: Path) -> Path:
    """The path of a picture without the .png or .svg that a user may have typed; both are saved."""
    return path.with_suffix("") if path.suffix in (".png", ".svg") else path
