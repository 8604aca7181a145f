"""``glissando context``: which words follow which, counted in a text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.output import bar, print_json

app = typer.Typer(
    help="Count which words follow which, so that what was written before has a say.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@app.command()
def build(
    texts: Annotated[list[Path], Argument(metavar="TEXT...", help="Text, a sentence a line, plain or gzip.")],
    output: Annotated[Path, Option("--output", "-o", help="The file to write, such as en.context.")],
    language: Annotated[str, Option(help="Language code; French elisions are words of their own.")] = "",
    source: Annotated[str, Option(help="Where the text comes from, for the file's header.")] = "",
    licence: Annotated[str, Option(help="The text's licence, for the file's header.")] = "",
    size: Annotated[float, Option(min=0.01, max=1000, help="Megabytes at the most; what changes least goes.")] = 6.0,
    as_json: opt.Json = False,
) -> None:
    """Count words, pairs and triples of a text, and write a context file.

    The text is read twice, in bounded memory. The file holds counts, no text.

    **Examples**

        glissando context build sentences.txt.gz -o mine.context --language en
        glissando context build mail.txt chat.txt -o it.context --language it --source "my mail" --size 2
    """
    from glissando.context import read_context, write_context
    from glissando.errors import ContextError
    from glissando.ngrams import build_context

    if output.suffix != ".context":
        raise ContextError(f"a context file ends in .context, got {output}")
    named = [{"name": source or ", ".join(path.name for path in texts), "licence": licence or "not stated"}]
    with bar("counting") as progress:
        context = build_context(texts, {"language": language, "sources": named}, int(size * 1e6), progress)
    write_context(context, output)
    _print(output, read_context(output).header, as_json)


@app.command()
def show(
    file: Annotated[str, Argument(help="A packaged language such as en, or a .context file.")],
    after: Annotated[str | None, Option(help="A text: print the words that gain most after it.")] = None,
    as_json: opt.Json = False,
) -> None:
    """Print the header of a context file: language, sources and licences, counts; and what gains after a text.

    **Examples**

        glissando context show en
        glissando context show mine.context --after "on my" --json
    """
    import numpy as np

    from glissando.context import load_context
    from glissando.errors import ContextError

    context = load_context(file)
    if context is None:
        raise ContextError(f"{file} names no language; name one, or a .context file")
    header = dict(context.header)
    if after is not None:
        outlook = context.after(after)
        gains = outlook.gains(np.arange(len(context), dtype=np.int32))
        best = np.argsort(-gains, kind="stable")[:10].tolist()
        header["trust"] = round(outlook.trust, 3)
        header["after"] = {
            context.words[number]: round(float(gains[number]), 2) for number in best if gains[number] > 0
        }
    _print(Path(file), header, as_json)


def _print(file: Path, header: dict[str, Any], as_json: bool) -> None:
    """Print a header, as JSON or line by line."""
    if as_json:
        print_json({"file": str(file), **header})
        return
    counts = header["counts"]
    sizes = ", ".join(f"{counts[name]:,} {name}" for name in ("words", "pairs", "triples"))
    typer.echo(f"{file}: {header.get('language') or 'no language'}, {header.get('sentences', 0):,} sentences; {sizes}")
    for source in header.get("sources", []):
        typer.echo(f"  {source['name']} ({source['licence']})")
    for word, gain in header.get("after", {}).items():
        typer.echo(f"  {gain:5.2f}  {word}")
