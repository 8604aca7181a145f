"""The command line: one command per job, one module per group of commands.

Imports live inside the command bodies, so ``--help`` never loads torch, numba or a model.
"""

from __future__ import annotations

import sys

import typer

from glissando.cli import (
    bench,
    context,
    corpus,
    decode,
    demo,
    design,
    export,
    figure,
    layouts,
    serve,
    train,
    tune,
    vocabulary,
)
from glissando.errors import GlissandoError

app = typer.Typer(
    help="Read a finger's path across a keyboard and say the word.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(demo.demo)
app.command()(decode.decode)
app.command()(decode.evaluate)
app.command()(layouts.layouts)
app.command()(bench.bench)
app.command()(tune.tune)
app.command()(serve.serve)
app.add_typer(corpus.app, name="corpus")
app.add_typer(context.app, name="context")
app.add_typer(vocabulary.app, name="vocabulary")
app.add_typer(train.app, name="train")
app.add_typer(design.app, name="design")
app.add_typer(export.app, name="export")
app.add_typer(figure.app, name="figure")


def main() -> None:
    """Run the command line; a GlissandoError becomes one line and exit code 1."""
    try:
        app()
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        sys.exit(1)
