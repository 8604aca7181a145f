"""``glissando design report`` and ``glissando design front``: what layouts are like, and which ones a search offers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.output import bar, print_json, print_table, report_saved

if TYPE_CHECKING:
    from glissando.design.archive import Front
    from glissando.design.report import LayoutReport, Report, Spelled

LAYOUTS = ("qwerty", "clearflow", "kasroz")
WORDS = ("stream", "steam")

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
    names: Annotated[list[str] | None, Argument(metavar="LAYOUT...", help="Built-in layouts or .json files.")] = None,
    word: opt.Word = None,
    language: opt.Language = None,
    lexicon: opt.Lexicon = None,
    weights: opt.Weights = "judge",
    count: Annotated[int, Option("--words", min=1, help="Frequent words to judge by.")] = 2000,
    worst: Annotated[int, Option(min=1, help="Colinear trigrams and confusable pairs to name.")] = 8,
    width_mm: Annotated[float, Option(min=1, help="Width of the letter area in mm.")] = 63.0,
    out: Annotated[Path | None, Option(help="Folder for pictures: paths, confidence and layouts.")] = None,
    as_json: opt.Json = False,
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
        print_json(result.to_dict())
    else:
        _print_report(result)
    if out is not None:
        pictures = save(draw_paths(layouts, words), out / "paths") + save(draw_layouts(layouts), out / "layouts")
        report_saved(pictures + save(draw_confidence(result), out / "confidence"))


def front(
    folder: Annotated[Path, Argument(help="The --out of a search.")],
    word: opt.Word = None,
    travel: Annotated[float | None, Option(min=0, help="The dial to rank by; by default the search's.")] = None,
    take: Annotated[int | None, Option(min=1, help="Save the layout of this number.")] = None,
    out: Annotated[Path | None, Option("--out", "-o", help="Where --take saves it; layout-NUMBER.json.")] = None,
    weights: opt.Weights = "judge",
    as_json: opt.Json = False,
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
        report_saved([path])
        return
    words = tuple(dict.fromkeys(word or ()))
    spelled: list[Spelled] = spell_on_layouts(layouts, words, weights) if words else [{} for _ in layouts]
    rows = _front_rows(choice, choice.dial if travel is None else travel, spelled)
    if as_json:
        print_json(rows)
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
    """Print a line per layout."""
    cells = []
    for row in rows:
        spelled = (" ".join(f"{100 * one:.0f}" for one in row["words"][word]) for word in words)
        costs = f"{row['cost']:.3f}", f"{row['clarity']:.3f}", f"{1000 * row['travel']:.0f}"
        cells.append((str(row["number"]), *costs, *spelled, " ".join(row["rows"])))
    title = "the front, by cost; words: confidence in each letter, %" if words else "the front, by cost"
    print_table(title, ("no.", "cost", "nats", "ms", *words, "keys"), cells)


def _print_report(result: Report) -> None:
    """Print the letters, the measures, and the worst of each layout."""
    from glissando.design.measures import COLINEAR, LIFT_MS

    names = [one.layout.name for one in result.layouts]
    for word in result.layouts[0].letters:
        _print_letters(result, word)
    title = f"{result.count:,} words of {result.lexicon}, {100 * result.coverage:.0f} % of its running text"
    rows = [(name, *map(cell, result.layouts)) for name, cell in MEASURES.items()]
    print_table(title, ("measure", *names), rows)
    pairs = ([f"{'/'.join(pair.words)} {pair.per_10000:.1f}" for pair in one.confusion.pairs] for one in result.layouts)
    print_table("words read for each other, of 10,000", names, zip_longest(*pairs, fillvalue=""))
    lines = ([f"{each.letters} {1000 * each.share:.1f}" for each in one.colinear.worst] for one in result.layouts)
    print_table("colinear trigrams, ‰ of running ones", names, zip_longest(*lines, fillvalue=""))
    print(
        f"Colinear: the middle key lies within {COLINEAR} key widths of the line between its neighbours.\n"
        f"Speed: Cao and Zhai's line term and {LIFT_MS:.0f} ms between words, on a letter area "
        f"{result.layouts[0].travel.width_mm:g} mm wide.\nSwipes are exact and made up: no person drew them."
    )


def _print_letters(result: Report, word: str) -> None:
    """Print the confidence in each letter of a word, a row per layout; layouts may spell it differently."""
    spellings = {one.layout.name: one.letters[word] for one in result.layouts}
    columns = [
        "/".join(sorted({letter.letter for letter in place if letter}))
        for place in zip_longest(*spellings.values())
    ]  # fmt: skip
    rows = [(name, *(f"{100 * one.confidence:.0f}" for one in letters)) for name, letters in spellings.items()]
    print_table(f"{word}: confidence in each letter, %", ("layout", *columns), rows)
