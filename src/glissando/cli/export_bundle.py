"""``glissando export bundle``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from glissando.cli.decode import BeamOption, LanguageOption, LexiconOption, ScoringOption, WeightsOption


def bundle(
    directory: Annotated[Path, typer.Argument(help="Where to; new, empty or an older bundle.", show_default=False)],
    layout: Annotated[str, typer.Option(help="A built-in layout or a .json file.")] = "qwerty",
    language: LanguageOption = None,
    lexicon: LexiconOption = None,
    scoring: ScoringOption = "auto",
    weights: WeightsOption = "encoder",
    method: Annotated[
        str | None, typer.Option(help="encoder, or decoder to correct it; by default a decoder where one fits.")
    ] = None,
    beam: BeamOption = 100,
    swipes: Annotated[int, typer.Option(min=50, help="Golden vectors, synthetic swipes.")] = 240,
    browser: Annotated[bool, typer.Option("--browser", help="Add the page that decodes in the browser.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write into a directory that holds other things.")] = False,
) -> None:
    """Write all that a keyboard in another language needs into one directory.

    The encoder, the layout, the words as a binary trie, every constant, and golden vectors that tell a port it is
    right. docs/deployment.md specifies each file.

    Examples:

        glissando export bundle --layout qwerty --language en english

        glissando export bundle --layout mine.json --lexicon words.txt mine

        glissando export bundle --layout qwerty --language en english --browser
    """
    from glissando.export.bundle import write_bundle
    from glissando.keyboard import load

    keyboard = load(
        layout, language, lexicon=lexicon, scoring=scoring, weights=weights, method=cast(Any, method), width=beam
    )
    manifest = write_bundle(keyboard, directory, swipes=swipes, browser=browser, force=force)
    for name, facts in manifest["files"].items():
        typer.echo(f"{facts['bytes']:>12,}  {directory / name}")
    typer.echo(f"{manifest['lexicon']['words']:,} words, {manifest['golden']['swipes']} golden swipes")
    if browser:
        typer.echo(f"then: cd {directory} && npm install && python -m http.server")
