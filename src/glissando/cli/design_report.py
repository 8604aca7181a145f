"""``glissando design report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from glissando.design.report import LayoutReport, Report

LAYOUTS = ("qwerty", "clearflow", "kasroz")
WORDS = ("stream", "steam")


def report(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="LAYOUT...", help="Built-in layouts or .json files.")
    ] = None,
    word: Annotated[
        list[str] | None, typer.Option("--word", help="A word to look at letter by letter; may be given again.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Language of the word list; by default the layout's.")] = None,
    lexicon: Annotated[Path | None, typer.Option(help="A word list instead: AOSP .combined or words; .gz too.")] = None,
    weights: Annotated[
        str, typer.Option(help="The judge: a packaged encoder, or an .onnx file with its .json beside it.")
    ] = ("judge"),
    count: Annotated[int, typer.Option("--words", min=1, help="Frequent words to judge by.")] = 2000,
    worst: Annotated[int, typer.Option(min=1, help="Colinear trigrams and confusable pairs to name.")] = 8,
    width_mm: Annotated[float, typer.Option(min=1, help="Width of the letter area in mm.")] = 63.0,
    out: Annotated[Path | None, typer.Option(help="Folder for pictures: paths, confidence and layouts.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what layouts are like to swipe on, side by side, by exact swipes of frequent words.

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
        _print(result)
    if out is not None:
        pictures = save(draw_paths(layouts, words), out / "paths") + save(draw_layouts(layouts), out / "layouts")
        for file in pictures + save(draw_confidence(result), out / "confidence"):
            typer.echo(f"saved {file}", err=True)


def _print(result: Report) -> None:
    """The letters, the measures, and the worst of each layout."""
    from rich.console import Console

    from glissando.design.colinear import COLINEAR
    from glissando.design.travel import LIFT_MS

    console = Console()
    for word in result.layouts[0].letters:
        console.print(_letters_table(result, word))
    console.print(_measures_table(result))
    console.print(_worst_table(result))
    console.print(
        f"Colinear: the middle key lies within {COLINEAR} key widths of the line between its neighbours. "
        f"Speed: Cao and Zhai's line term and {LIFT_MS:.0f} ms between words, on a letter area "
        f"{result.layouts[0].travel.width_mm:g} mm wide. Swipes are exact and made up: no person drew them.",
        style="dim",
    )


def _letters_table(result: Report, word: str) -> Table:
    """Confidence in each letter of a word, a row per layout."""
    from rich.table import Table

    table = Table(title=f"{word}: confidence in each letter, %", title_justify="left", min_width=len(word) + 36)
    table.add_column("layout")
    for number in range(max(len(one.letters[word]) for one in result.layouts)):
        letters = {one.letters[word][number].letter for one in result.layouts if number < len(one.letters[word])}
        table.add_column("/".join(sorted(letters)), justify="right")
    for one in result.layouts:
        table.add_row(one.layout.name, *(f"{100 * letter.confidence:.0f}" for letter in one.letters[word]))
    return table


def _measures_table(result: Report) -> Table:
    """What is counted over running text, a column per layout."""
    from rich.table import Table

    title = f"{result.count:,} words of {result.lexicon}, {100 * result.coverage:.0f} % of its running text"
    table = Table(title=title, title_justify="left", min_width=len(title))
    table.add_column("measure")
    for one in result.layouts:
        table.add_column(one.layout.name, justify="right")
    rows = {
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
    for name, cell in rows.items():
        table.add_row(name, *(cell(one) for one in result.layouts))
    return table


def _worst_table(result: Report) -> Table:
    """The pairs and trigrams that cost most, a column per layout."""
    from rich.table import Table

    table = Table(
        title="words read for each other (of 10,000), and colinear trigrams (‰ of running ones)",
        title_justify="left", min_width=84,
    )  # fmt: skip
    for one in result.layouts:
        table.add_column(one.layout.name)
    table.add_row(*("\n".join(_pairs(one)) for one in result.layouts), end_section=True)
    table.add_row(*("\n".join(_trigrams(one)) for one in result.layouts))
    return table


def _pairs(one: LayoutReport) -> list[str]:
    """A line for each confusable pair."""
    return [f"{'/'.join(pair.words)} {pair.per_10000:.1f}" for pair in one.confusion.pairs]


def _trigrams(one: LayoutReport) -> list[str]:
    """A line for each colinear trigram."""
    return [f"{trigram.letters} {1000 * trigram.share:.1f}" for trigram in one.colinear.worst]
