"""``glissando figure``: pictures of what the encoder sees, of augmentation, of training and of mistakes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from glissando.figures.mistakes import Findings

FIELDS = ("qwerty:with", "jcuken:меня", "clearflow:fire")

OutOption = Annotated[Path, typer.Option(help="The picture; .png and .svg are added.")]
SwipesOption = Annotated[
    list[Path] | None, typer.Option("--swipes", help="Corpus to take recorded swipes from; may be given again.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of made-up swipes and of random augmentation.")]
WeightsOption = Annotated[str, typer.Option(help="A packaged encoder, or an .onnx file with its .json beside it.")]

app = typer.Typer(help="Draw pictures, each as PNG and SVG.", no_args_is_help=True, rich_markup_mode="markdown")


@app.callback()
def _group() -> None:
    """Draw pictures, each as PNG and SVG."""


@app.command()
def field(
    examples: Annotated[list[str] | None, typer.Argument(metavar="LAYOUT:WORD...", help="Swipes to look into.")] = None,
    swipes: SwipesOption = None,
    weights: WeightsOption = "encoder",
    seed: SeedOption = 0,
    out: OutOption = Path("field"),
) -> None:
    """The likelihood field at each letter of a swipe: where on the keyboard the encoder thinks a letter is meant.

    Above each panel are the letter, its share of the emissions (λP) and its probability among the keys (P), at the
    frame that forced alignment gives it. The line is the swipe up to there. Words that no corpus has are made up.

    **Examples**

        glissando figure field

        glissando figure field qwerty:with jcuken:надо --swipes en.jsonl.gz --swipes ru.jsonl.gz --out pictures/field
    """
    from glissando.figures.examples import find_examples
    from glissando.figures.field import draw_fields
    from glissando.runtime import EncoderRuntime
    from glissando.weights import load_weights

    shown = find_examples(examples or FIELDS, swipes or (), seed)
    _save(draw_fields(shown, EncoderRuntime(load_weights(weights))), out)


@app.command()
def augment(
    example: Annotated[str, typer.Argument(metavar="LAYOUT:WORD", help="The swipe.")] = "qwerty:hello",
    swipes: SwipesOption = None,
    count: Annotated[int, typer.Option(min=0, max=200, help="Co-augmented samples.")] = 7,
    rearranged: Annotated[int, typer.Option(min=0, max=200, help="Samples carried to random keyboards.")] = 4,
    seed: SeedOption = 0,
    out: OutOption = Path("augment"),
) -> None:
    """What training does to one swipe: it is scaled, sheared, flipped, turned, moved and reversed along with its keys.

    Needs torch, the extra glissando[train].

    **Examples**

        glissando figure augment

        glissando figure augment dvorak:hello --count 11 --rearranged 0 --seed 3
    """
    from glissando.figures.augmented import draw_samples, samples
    from glissando.figures.examples import find_examples

    (shown,) = find_examples([example], swipes or (), seed)
    _save(draw_samples(samples(shown, count, seed, rearranged)), out)


@app.command()
def training(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, or their metrics.jsonl.")],
    out: OutOption = Path("training"),
) -> None:
    """Curves of training runs: a panel for each measure of their metrics.jsonl, a line for each run.

    **Examples**

        glissando figure training runs/one

        glissando figure training runs/one runs/two --out pictures/training
    """
    from glissando.figures.training import draw_training, read_metrics

    names = [run.name if run.is_dir() else run.parent.name or run.stem for run in runs]
    labels = [name if names.count(name) == 1 else str(run) for name, run in zip(names, runs, strict=True)]
    files = draw_training({label: read_metrics(run) for label, run in zip(labels, runs, strict=True)}, _base(out))
    _report(files)


@app.command()
def errors(
    files: Annotated[list[Path], typer.Argument(help="JSON lines with word, x, y, t and layout, plain or gzip.")],
    language: Annotated[str | None, typer.Option(help="Language of the word list; by default the layout's.")] = None,
    lexicon: Annotated[Path | None, typer.Option(help="A word list instead: AOSP .combined or words; .gz too.")] = None,
    layouts: Annotated[Path | None, typer.Option(help="Directory of layouts, searched before the built-in ones.")] = (
        None
    ),
    weights: WeightsOption = "encoder",
    add_targets: Annotated[bool, typer.Option("--add-targets", help="Put the words meant into the lexicon.")] = False,
    max_key_distance: Annotated[
        float | None, typer.Option(help="Leave out swipes that stray further from their word's keys, in key widths.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Read at most this many swipes of each file.")] = None,
    count: Annotated[int, typer.Option(min=1, max=200, help="Mistakes to draw.")] = 40,
    out: OutOption = Path("errors"),
    as_json: Annotated[bool, typer.Option("--json", help="Print every mistake as JSON.")] = False,
) -> None:
    """The most confident mistakes on swipes whose words are known, sorted into causes, with what the network saw.

    A mistake has the first cause that fits, by rules: the swipe follows another word than its label; the words differ
    in doubled letters alone; in letters on the straight line between their neighbours; in letters on neighbouring
    keys; the word meant is much rarer; other. "Outvoted" are those where the network alone preferred the word meant.

    **Examples**

        glissando figure errors val.jsonl.gz --lexicon en_wordlist.combined.gz --add-targets --max-key-distance 2

        glissando figure errors swipes.jsonl.gz --count 20 --json > mistakes.json
    """
    from glissando.cli.progress import bar
    from glissando.errors import CorpusError
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.figures.mistakes import draw_gallery, find_mistakes

    options = EvaluationOptions(
        language=language, lexicon=lexicon, layouts=layouts, weights=weights, add_targets=add_targets,
        max_key_distance=max_key_distance, limit=limit,
    )  # fmt: skip
    with bar("decoding") as progress:
        findings = find_mistakes(files, options, progress)
    if not findings.mistakes:
        raise CorpusError(f"all {findings.swipes:,} swipes were read right: there is nothing to draw")
    _save(draw_gallery(findings.mistakes[:count]), out)
    if as_json:
        print(json.dumps([mistake.to_dict() for mistake in findings.mistakes], indent=2, ensure_ascii=False))
    else:
        _print_causes(findings, count)


def _print_causes(findings: Findings, count: int) -> None:
    """How many mistakes have each cause."""
    from rich.console import Console
    from rich.table import Table

    from glissando.figures.mistakes import count_causes

    shown, every = count_causes(findings.mistakes[:count]), count_causes(findings.mistakes)
    outvoted = count_causes([mistake for mistake in findings.mistakes if mistake.evidence < 0])
    title = f"{len(findings.mistakes):,} mistakes in {findings.swipes:,} swipes"
    table = Table("cause", title=title, title_justify="left", min_width=len(title))
    for column in (f"of the {sum(shown.values())} drawn", "of all", "outvoted"):
        table.add_column(column, justify="right")
    for cause in every:
        table.add_row(cause, *(str(counts[cause]) for counts in (shown, every, outvoted)))
    Console().print(table)


def _base(out: Path) -> Path:
    """Where a picture goes, without the suffix that a user may have typed."""
    return out.with_suffix("") if out.suffix in (".png", ".svg") else out


def _save(drawn: Any, out: Path) -> None:
    """Save a figure and say where."""
    from glissando.figures.style import save

    _report(save(drawn, _base(out)))


def _report(files: Sequence[Path]) -> None:
    for file in files:
        typer.echo(f"saved {file}", err=True)
