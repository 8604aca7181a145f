"""``glissando decode`` and ``glissando evaluate``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from glissando.corpus.layouts import LayoutShelf
    from glissando.evaluation.evaluate import Evaluation, EvaluationOptions
    from glissando.gesture import Gesture
    from glissando.keyboard import Keyboard
    from glissando.shark2 import Shark2

MethodOption = Annotated[
    str,
    typer.Option(
        help="encoder (any layout), decoder (with the correction learned for one layout), auto (decoder where it fits, "
        "else encoder) or shark2 (template matching)."
    ),
]
LanguageOption = Annotated[str | None, typer.Option(help="Language of the word list; by default the layout's.")]
LexiconOption = Annotated[Path | None, typer.Option(help="A word list instead: AOSP .combined or words; .gz too.")]
LayoutsOption = Annotated[Path | None, typer.Option(help="Directory of layouts, searched before the built-in ones.")]
ScoringOption = Annotated[str, typer.Option(help="auto (by language), a packaged name, or a JSON file.")]
WeightsOption = Annotated[str, typer.Option(help="A packaged encoder, or an .onnx file with its .json beside it.")]
DecoderOption = Annotated[str, typer.Option(help="A packaged decoder, or an .onnx file with its .json beside it.")]
BeamOption = Annotated[int, typer.Option(min=1, max=10_000, help="Hypotheses the beam keeps.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def decode(
    file: Annotated[str, typer.Argument(help="JSON lines with x, y and t, plain or gzip; - reads standard input.")],
    layout: Annotated[str | None, typer.Option(help="Layout of lines that name none: a name or a .json file.")] = None,
    language: LanguageOption = None,
    lexicon: LexiconOption = None,
    layouts: LayoutsOption = None,
    method: MethodOption = "auto",
    scoring: ScoringOption = "auto",
    weights: WeightsOption = "encoder",
    decoder: DecoderOption = "decoder",
    beam: BeamOption = 100,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="Candidates per swipe.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Decode swipes to words, one line per swipe: its candidates, best first.

    Each line of the input is an object such as

        {"x": [0.15, 0.16, 0.45], "y": [0.2, 0.2, 0.2], "t": [0, 16, 300], "layout": "qwerty"}

    with x and y in fractions of the letter area and t in milliseconds.

    **Examples**

        glissando decode swipes.jsonl

        glissando decode - --layout jcuken --language ru -k 3 --json < swipes.jsonl
    """
    from glissando.evaluation.evaluate import EvaluationOptions

    options = EvaluationOptions(
        method=known_method(method), language=language, lexicon=lexicon, layouts=layouts, scoring=scoring,
        weights=weights, decoder=decoder, beam=beam,
    )  # fmt: skip
    for candidates in _decode_lines(file, layout, options, k):
        if as_json:
            print(json.dumps([vars(candidate) for candidate in candidates], ensure_ascii=False), flush=True)
        else:
            print("\t".join(candidate.word for candidate in candidates), flush=True)


def evaluate(
    files: Annotated[list[Path], typer.Argument(help="JSON lines with word, x, y, t and layout, plain or gzip.")],
    method: MethodOption = "encoder",
    language: LanguageOption = None,
    lexicon: LexiconOption = None,
    layouts: LayoutsOption = None,
    scoring: ScoringOption = "auto",
    weights: WeightsOption = "encoder",
    decoder: DecoderOption = "decoder",
    add_targets: Annotated[bool, typer.Option("--add-targets", help="Add the words meant to the lexicon.")] = False,
    max_key_distance: Annotated[
        float | None, typer.Option(help="Leave out swipes further than this from their word's keys, in key widths.")
    ] = None,
    beam: BeamOption = 100,
    limit: Annotated[int | None, typer.Option(min=1, help="The most swipes to read of each file.")] = None,
    reliability: Annotated[
        Path | None,
        typer.Option(help="Draw how often the best candidate is right over its probability (.png, .svg, .pdf)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Decode swipes whose words are known and print the accuracy, by layout. Shares are in percent.

    Words that the lexicon lacks count as misses unless --add-targets adds them.

    **Examples**

        glissando evaluate swipes.jsonl.gz --add-targets --max-key-distance 2

        glissando evaluate swipes.jsonl.gz --method shark2 --lexicon en_wordlist.combined.gz --json
    """
    from glissando.cli.progress import bar
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.evaluate import evaluate as run
    from glissando.evaluation.metrics import outcome_reliability
    from glissando.figures.tuning import check_picture, draw_reliability

    if reliability:
        check_picture(reliability)
    options = EvaluationOptions(
        method=known_method(method), language=language, lexicon=lexicon, layouts=layouts, scoring=scoring,
        weights=weights, decoder=decoder, add_targets=add_targets, max_key_distance=max_key_distance,
        beam=beam, limit=limit,
    )  # fmt: skip
    with bar("decoding") as progress:
        result = run(files, options, progress)
    if reliability:
        draw_reliability({name: outcome_reliability(part) for name, part in result.outcomes.items()}, reliability)
    if as_json:
        print(json.dumps(result.to_dict(), indent=2, ensure_ascii=False))
    else:
        _print_table(result, options)


def known_method(name: str) -> Any:
    """A known method, or an error that lists them."""
    from glissando.errors import GlissandoError
    from glissando.evaluation.evaluate import METHODS

    if name not in METHODS:
        raise GlissandoError(f"no method {name!r}; there are {', '.join(METHODS)}")
    return name


def _decode_lines(file: str, layout: str | None, options: EvaluationOptions, k: int) -> Iterator[list[Any]]:
    """Candidates for every line of a file, with one keyboard for each layout that occurs."""
    from glissando.corpus.layouts import LayoutShelf
    from glissando.evaluation.evaluate import keyboard_for
    from glissando.layout import load_layout

    shelf = LayoutShelf(options.layouts)
    default = shelf.get(layout or "qwerty") or load_layout(layout or "qwerty")
    keyboards: dict[str, Keyboard | Shark2] = {}
    for gesture, name in _read_gestures(file, shelf):
        if name not in keyboards:
            keyboards[name], _ = keyboard_for(shelf[name] if name else default, [], options)
        yield keyboards[name].decode(gesture, k)


def _read_gestures(file: str, shelf: LayoutShelf) -> Iterator[tuple[Gesture, str]]:
    """(gesture, layout's name or "" for the default) of every line; an error names file and line."""
    from glissando.corpus.lines import LineError, parse_object, read_lines
    from glissando.corpus.records import gesture_from_columns, text_field
    from glissando.errors import CorpusError

    named = "standard input" if file == "-" else file
    for number, line in _read_standard_input() if file == "-" else read_lines(file):
        try:
            data = parse_object(line)
            columns = [data.get(name) for name in ("x", "y", "t")]
            if not all(isinstance(column, list) for column in columns):
                raise LineError("a swipe needs lists x, y and t")
            name = text_field(data, "layout") or ""
            if name:
                _ = shelf[name]
            gesture = gesture_from_columns(*columns)  # type: ignore[arg-type]
        except CorpusError as error:
            raise CorpusError(f"{named}:{number}: {error}") from None
        yield gesture, name


def _read_standard_input() -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) for every line that is not blank, as soon as it is there, in bounded memory."""
    from glissando.corpus.lines import MAX_LINE_BYTES
    from glissando.errors import CorpusError

    for number, line in enumerate(iter(lambda: sys.stdin.buffer.readline(MAX_LINE_BYTES + 1), b""), 1):
        if len(line) > MAX_LINE_BYTES:
            raise CorpusError(f"standard input:{number}: longer than {MAX_LINE_BYTES:,} bytes; a line holds one swipe")
        if not line.isspace():
            yield number, line


def _print_table(result: Evaluation, options: EvaluationOptions) -> None:
    """The figures as a table, a row per layout and one for all."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    title = f"{options.method}, beam {options.beam}" if options.method != "shark2" else options.method
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=0, pad_edge=False)
    for column in ("layout", "n", "top-1", "±", "top-3", "top-10", "greedy", "recall", "ece", "oov", "ms"):
        table.add_column(column, justify="left" if column == "layout" else "right", no_wrap=True)
    rows = list(result.by_layout.items())
    for name, metrics in [*rows, ("all", result.overall)] if len(rows) > 1 else rows:
        shares = (metrics.top1, metrics.half_width, metrics.top3, metrics.top10, metrics.greedy, metrics.recall)
        further = (metrics.calibration_error, metrics.oov)  # a digit less, so that 80 columns hold all
        cells = [_figure(value, 2) for value in shares[:4]] + [_figure(value, 1) for value in (*shares[4:], *further)]
        table.add_row(name, f"{metrics.n:,}", *cells, _figure(metrics.ms_p50, 2))
    Console().print(table)
    lengths = result.overall.by_length
    Console().print("top-1 by length: " + "  ".join(f"{n}: {row['top1']:.1f}" for n, row in lengths.items()))


def _figure(value: float | None, digits: int) -> str:
    """A number for a table, a dash for None."""
    return "-" if value is None else f"{value:.{digits}f}"
