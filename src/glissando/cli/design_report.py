"""``glissando design report`` and ``glissando design front``: what layouts are like, and which ones a search offers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from glissando.design.archive import Front
    from glissando.design.report import LayoutReport, Report, Spelled

LAYOUTS = ("qwerty", "clearflow", "kasroz")
WORDS = ("stream", "steam")

WeightsOption = Annotated[
    str, typer.Option(help="The judge: a packaged encoder, or an .onnx file with its .json beside it.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

MEASURES: dict[str, Callable[[LayoutReport], str]] = {
    "CTC cost, nats a word": lambda one: f"{one.confusion.cost:.2f}",
    "read as another, of 10,000 words": lambda one: f"{one.confusion.per_10000:.0f}",
    "colinear trigrams, different": lambda one: f"{one.colinear.colinear} of {one.colinear.distinct}",
    "colinear trigrams, % of running": lambda one: f"{100 * one.colinear.trigram_share:.1f}",
    "words with one, % of running": lambda one: f"{100 * one.colinear.word_share:.1f}",
    "travel a letter, key widths": lambda one: f"{one.travel.key_widths:.2f}",
    "travel a letter, mm": lambda one: f"{one.travel.mm:.1f}",
    "key width, mm": lambda one: f"{one.travel.key_mm:.1f}",
    "a word's swipe, ms": lambda one: f"{one.travel.word_ms:.0f}",
    "words per minute, predicted": lambda one: f"{one.travel.words_per_minute:.0f}",
}


def report(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="LAYOUT...", help="Built-in layouts or .json files.")
    ] = None,
    word: Annotated[
        list[str] | None, typer.Option("--word", help="A word to look at letter by letter; may be given again.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Language of the word list; by default the layout's.")] = None,
    lexicon: Annotated[Path | None, typer.Option(help="A word list instead: AOSP .combined or words; .gz too.")] = None,
    weights: WeightsOption = "judge",
    count: Annotated[int, typer.Option("--words", min=1, help="Frequent words to judge by.")] = 2000,
    worst: Annotated[int, typer.Option(min=1, help="Colinear trigrams and confusable pairs to name.")] = 8,
    width_mm: Annotated[float, typer.Option(min=1, help="Width of the letter area in mm.")] = 63.0,
    out: Annotated[Path | None, typer.Option(help="Folder for pictures: paths, confidence and layouts.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare what layouts are like to swipe on, by exact swipes of frequent words.

    Per letter: the encoder's probability where CTC forced alignment of the word puts the letter. Over running text:
    letters on the straight line between their neighbours, words read for each other, travel and speed. Without names
    it takes the report's three layouts and its two words.

    **Examples**

        glissando design report

        glissando design report qwerty mine.json --word stream --word steam --out pictures/

        glissando design report jcuken --word привет --json
    """
    from glissando.cli.progress import bar
    from glissando.design.report import ReportOptions
    from glissando.design.report import report as run
    from glissando.figures.layouts import draw_confidence, draw_layouts, draw_paths
    from glissando.figures.style import save
    from glissando.layout import load_layout

    layouts, words = [load_layout(name) for name in names or LAYOUTS], tuple(word or WORDS)
    options = ReportOptions(language, lexicon, weights, "auto", count, worst, width_mm)
    with bar("reading layouts") as progress:
        result = run(layouts, words, options, progress)
    if as_json:
        print(json.dumps(result.to_dict(), indent=2, ensure_ascii=False))
    else:
        _print_report(result)
    if out is not None:
        pictures = save(draw_paths(layouts, words), out / "paths") + save(draw_layouts(layouts), out / "layouts")
        for file in pictures + save(draw_confidence(result), out / "confidence"):
            typer.echo(f"saved {file}", err=True)


def front(
    folder: Annotated[Path, typer.Argument(help="The --out of a search.")],
    word: Annotated[
        list[str] | None, typer.Option("--word", help="A word whose letters to show; may be given again.")
    ] = None,
    travel: Annotated[float | None, typer.Option(min=0, help="The dial to rank by; by default the search's.")] = None,
    take: Annotated[int | None, typer.Option(min=1, help="Save the layout of this number.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where --take saves it; layout-NUMBER.json.")] = None,
    weights: WeightsOption = "judge",
    as_json: JsonOption = False,
) -> None:
    """Draw and list the front between clarity and travel that a search has found, and take a layout from it.

    The search returns the layout of least cost at its dial; others of the front cost little more and may suit you
    better. With --word it shows how sure the encoder is of each letter of a word that matters to you.

    **Examples**

        glissando design front design

        glissando design front design --word stream --word steam

        glissando design front design --take 22 --out mine.json
    """
    from glissando.design.archive import Front, write_json
    from glissando.design.report import spell_on_layouts
    from glissando.errors import DesignError

    choice = Front.read(folder)
    layouts = [one.layout for one in choice.layouts]
    if take is not None:
        if take > len(layouts):
            raise DesignError(f"the front of {folder} has {len(layouts)} layouts, no number {take}")
        path = out or Path(f"layout-{take}.json")
        write_json(path, layouts[take - 1].to_dict())
        typer.echo(f"saved {path}", err=True)
        return
    words = tuple(dict.fromkeys(word or ()))
    spelled: list[Spelled] = spell_on_layouts(layouts, words, weights) if words else [{} for _ in layouts]
    rows = _front_rows(choice, choice.dial if travel is None else travel, spelled)
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _print_front(rows, words)
    draw(folder)


def draw(folder: Path) -> None:
    """Draw a search's front beside it, where there is matplotlib."""
    from glissando.errors import MissingExtraError
    from glissando.figures.front import draw_front

    try:
        for file in draw_front(folder):
            typer.echo(f"wrote {file}", err=True)
    except MissingExtraError as error:
        typer.echo(f"no picture of the front: {error}", err=True)


def _front_rows(choice: Front, dial: float, spelled: list[Spelled]) -> list[dict[str, Any]]:
    """The layouts in their JSON form, the cheapest first; their numbers count from the quickest."""
    from glissando.design.archive import letter_rows

    rows = [
        {
            "number": number, "layout": one.layout.name, "cost": one.total(dial),
            "clarity": one.clarity, "travel": one.travel, "rows": letter_rows(one.layout),
            "words": {word: [letter.confidence for letter in letters] for word, letters in words.items()},
        }
        for number, (one, words) in enumerate(zip(choice.layouts, spelled, strict=True), start=1)
    ]  # fmt: skip
    return sorted(rows, key=lambda row: row["cost"])


def _print_front(rows: list[dict[str, Any]], words: tuple[str, ...]) -> None:
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


def _print_report(result: Report) -> None:
    """The letters, the measures, and the worst of each layout."""
    from rich.console import Console

    from glissando.design.measures import COLINEAR, LIFT_MS

    console = Console()
    for word in result.layouts[0].letters:
        console.print(_letters_table(result, word))
    title = f"{result.count:,} words of {result.lexicon}, {100 * result.coverage:.0f} % of its running text"
    measures = _table(title, len(title))
    measures.add_column("measure")
    for one in result.layouts:
        measures.add_column(one.layout.name, justify="right")
    for name, cell in MEASURES.items():
        measures.add_row(name, *map(cell, result.layouts))
    console.print(measures)
    worst = _table("words read for each other (of 10,000), and colinear trigrams (‰ of running ones)", 84)
    for one in result.layouts:
        worst.add_column(one.layout.name)
    pairs = ([f"{'/'.join(pair.words)} {pair.per_10000:.1f}" for pair in one.confusion.pairs] for one in result.layouts)
    worst.add_row(*map("\n".join, pairs), end_section=True)
    lines = ([f"{each.letters} {1000 * each.share:.1f}" for each in one.colinear.worst] for one in result.layouts)
    worst.add_row(*map("\n".join, lines))
    console.print(worst)
    console.print(
        f"Colinear: the middle key lies within {COLINEAR} key widths of the line between its neighbours. "
        f"Speed: Cao and Zhai's line term and {LIFT_MS:.0f} ms between words, on a letter area "
        f"{result.layouts[0].travel.width_mm:g} mm wide. Swipes are exact and made up: no person drew them.",
        style="dim",
    )


def _letters_table(result: Report, word: str) -> Table:
    """Confidence in each letter of a word, a row per layout."""
    table = _table(f"{word}: confidence in each letter, %", len(word) + 36)
    table.add_column("layout")
    for number in range(max(len(one.letters[word]) for one in result.layouts)):
        letters = {one.letters[word][number].letter for one in result.layouts if number < len(one.letters[word])}
        table.add_column("/".join(sorted(letters)), justify="right")
    for one in result.layouts:
        table.add_row(one.layout.name, *(f"{100 * letter.confidence:.0f}" for letter in one.letters[word]))
    return table


def _table(title: str, width: int) -> Table:
    from rich.table import Table

    return Table(title=title, title_justify="left", min_width=width)
