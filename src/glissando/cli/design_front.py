"""``glissando design front``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from glissando.design.front import Front
    from glissando.design.report import Letter
    from glissando.layout import Layout


def front(
    folder: Annotated[Path, typer.Argument(help="The --out of a search.")],
    word: Annotated[
        list[str] | None, typer.Option("--word", help="A word whose letters should show; may be given again.")
    ] = None,
    travel: Annotated[float | None, typer.Option(min=0, help="The dial to rank by; by default the search's.")] = None,
    take: Annotated[int | None, typer.Option(min=1, help="Save the layout of this number.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where --take saves it; layout-NUMBER.json.")] = None,
    weights: Annotated[
        str, typer.Option(help="What reads the words: a packaged encoder, or an .onnx file with its .json beside it.")
    ] = "judge",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw and list the front between clarity and travel that a search has found, and take a layout from it.

    The search returns the layout of least cost at its dial; others of the front cost little more and may suit you
    better. With --word it shows how sure the encoder is of each letter of a word that matters to you.

    **Examples**

        glissando design front design

        glissando design front design --word stream --word steam

        glissando design front design --take 22 --out mine.json
    """
    from glissando.design.front import Front
    from glissando.errors import DesignError

    found = Front.read(folder)
    if take is not None:
        if take > len(found.choices):
            raise DesignError(f"the front of {folder} has {len(found.choices)} layouts, no number {take}")
        _save(found.choices[take - 1].layout, out or Path(f"layout-{take}.json"))
        return
    words = tuple(dict.fromkeys(word or ()))
    letters: list[dict[str, tuple[Letter, ...]]] = (
        found.letters(words, weights) if words else [{} for _ in found.choices]
    )
    rows = _rows(found, found.dial if travel is None else travel, letters)
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _print(rows, words)
    draw(folder)


def _save(layout: Layout, path: Path) -> None:
    """Write a layout's file."""
    from glissando.errors import DesignError

    try:
        path.write_text(json.dumps(layout.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise DesignError(f"cannot write {path}: {error.strerror or error}") from None
    typer.echo(f"saved {path}", err=True)


def _rows(found: Front, dial: float, letters: list[dict[str, tuple[Letter, ...]]]) -> list[dict[str, Any]]:
    """The layouts as JSON has them, the cheapest first; their numbers count from the quickest."""
    rows = [
        {
            "number": number, "layout": one.layout.name, "cost": one.total(dial),
            "clarity": one.clarity, "travel": one.travel,
            "rows": ["".join(one.layout.letters[key] for key in row) for row in one.layout.rows],
            "words": {word: [letter.confidence for letter in spelled] for word, spelled in spellings.items()},
        }
        for number, (one, spellings) in enumerate(zip(found.choices, letters, strict=True), start=1)
    ]  # fmt: skip
    return sorted(rows, key=lambda row: row["cost"])


def _print(rows: list[dict[str, Any]], words: tuple[str, ...]) -> None:
    """A line per layout."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="the front, by cost; words: confidence in each letter, %" if words else "the front, by cost")
    for name in ("no.", "cost", "nats", "ms", *words):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("keys")
    for row in rows:
        spelled = (" ".join(f"{100 * one:.0f}" for one in row["words"][word]) for word in words)
        costs = f"{row['cost']:.3f}", f"{row['clarity']:.3f}", f"{1000 * row['travel']:.0f}"
        table.add_row(str(row["number"]), *costs, *spelled, " ".join(row["rows"]))
    Console().print(table)


def draw(folder: Path) -> None:
    """Draw a search's front beside it, where there is matplotlib."""
    from glissando.errors import MissingExtraError
    from glissando.figures.front import draw_front

    try:
        for file in draw_front(folder):
            typer.echo(f"wrote {file}", err=True)
    except MissingExtraError as error:
        typer.echo(f"no picture of the front: {error}", err=True)
