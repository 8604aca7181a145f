"""``glissando corpus``: count, filter, split, pack, convert and fetch swipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glissando.cli import export_corpus, fetch

if TYPE_CHECKING:
    from glissando.corpus.filters import Validity
    from glissando.corpus.readers import Corpus
    from glissando.corpus.records import Swipe

app = typer.Typer(
    help="Swipes on disk: count, filter, split, pack, convert and fetch them.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.add_typer(fetch.app, name="fetch")
app.command()(export_corpus.export)

Sources = Annotated[
    list[Path], typer.Argument(help="Files (plain or gzip), zips or directories of swipes.", show_default=False)
]
Format = Annotated[str, typer.Option(help="auto, glissando, futo, how-we-swipe or yandex.")]
Grids = Annotated[Path | None, typer.Option(help="Yandex: the file of key grids.")]
Layouts = Annotated[Path | None, typer.Option(help="Directory of layout JSON files, asked before the built-in ones.")]
MaxDistance = Annotated[
    float | None, typer.Option(help="Leave out what strays further from its word's keys, in key widths.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def stats(
    sources: Sources,
    format: Format = "auto",
    grids: Grids = None,
    layouts: Layouts = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure key distances where the corpus brings none.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the report's dataset table, and more, for any corpus.

    Examples:

        glissando corpus stats swipes.jsonl.gz

        glissando corpus stats swipelogs.zip --measure --json
    """
    from glissando.corpus.filters import keep_valid
    from glissando.corpus.layouts import LayoutShelf
    from glissando.corpus.readers import open_corpus
    from glissando.corpus.stats import corpus_stats, stats_table

    corpus = open_corpus(sources, format, grids=grids)
    swipes: Iterable[Swipe] = _counted(corpus, "reading")
    if measure:
        swipes = keep_valid(swipes, corpus.dropped, shelf=LayoutShelf(layouts))
    found = corpus_stats(swipes, corpus.dropped)
    if as_json:
        _print_json(found.to_dict())
    else:
        from rich.console import Console

        Console().print(stats_table(found))


@app.command(name="filter")
def filter_(
    sources: Sources,
    output: Annotated[Path, typer.Option("--output", "-o", help="Our JSON lines; gzip if it ends in .gz.")],
    format: Format = "auto",
    grids: Grids = None,
    layouts: Layouts = None,
    max_key_distance: MaxDistance = 2.0,
    min_points: Annotated[int, typer.Option(help="Fewest points.")] = 5,
    min_duration: Annotated[float, typer.Option(help="Shortest, in ms.")] = 40.0,
    max_duration: Annotated[float, typer.Option(help="Longest, in ms.")] = 10_000.0,
    margin: Annotated[float, typer.Option(help="How far outside the letter area a point may lie.")] = 0.35,
    as_json: Json = False,
) -> None:
    """Keep the swipes one can believe, and say why the others went.

    The report's filters (too few points, out of bounds, implausible duration, a word that does not match) and the
    distance to the word's keys, which is measured where the corpus does not bring it.

    Examples:

        glissando corpus filter swipelogs.zip -o good.jsonl.gz

        glissando corpus filter raw.jsonl -o good.jsonl.gz --max-key-distance 1.5
    """
    from glissando.corpus.filters import Validity, keep_valid
    from glissando.corpus.layouts import LayoutShelf
    from glissando.corpus.readers import open_corpus
    from glissando.corpus.records import write_swipes

    validity = Validity(min_points=min_points, min_duration=min_duration, max_duration=max_duration, margin=margin)
    corpus = open_corpus(sources, format, grids=grids)
    kept = keep_valid(
        _counted(corpus, "filtering"),
        corpus.dropped,
        validity=validity,
        shelf=LayoutShelf(layouts),
        max_key_distance=max_key_distance,
    )
    count = write_swipes(output, _some(kept, corpus))
    _say(as_json, {"kept": count, "dropped": dict(corpus.dropped)}, f"{output}: {count:,} swipes")


@app.command()
def convert(
    sources: Sources,
    output: Annotated[Path, typer.Option("--output", "-o", help="Our JSON lines; gzip if it ends in .gz.")],
    format: Format = "auto",
    grids: Grids = None,
    as_json: Json = False,
) -> None:
    """Turn a corpus of any format into our JSON lines.

    Examples:

        glissando corpus convert swipe-1/train.jsonl -o train.jsonl.gz

        glissando corpus convert valid.jsonl --format yandex --grids grids.json -o jcuken.jsonl.gz
    """
    from glissando.corpus.readers import open_corpus
    from glissando.corpus.records import write_swipes

    corpus = open_corpus(sources, format, grids=grids)
    count = write_swipes(output, _some(_counted(corpus, "converting"), corpus))
    _say(as_json, {"kept": count, "dropped": dict(corpus.dropped)}, f"{output}: {count:,} swipes")


@app.command()
def split(
    sources: Sources,
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for NAME.jsonl.gz of every split.")],
    fractions: Annotated[str, typer.Option(help="Names and shares.")] = "train=0.9,val=0.05,test=0.05",
    seed: Annotated[int, typer.Option(help="Another seed, another split.")] = 0,
    format: Format = "auto",
    as_json: Json = False,
) -> None:
    """Split a corpus by session, so that no person is in two splits.

    Example:

        glissando corpus split swipes.jsonl.gz -o splits --fractions train=0.8,val=0.2
    """
    from contextlib import ExitStack

    from glissando.corpus.readers import open_corpus
    from glissando.corpus.records import swipe_writer
    from glissando.corpus.splits import parse_fractions, split_sessions
    from glissando.errors import CorpusError

    shares = parse_fractions(fractions)
    corpus = open_corpus(sources, format)
    counts = dict.fromkeys(shares, 0)
    with ExitStack() as files:
        writers = {name: files.enter_context(swipe_writer(output / f"{name}.jsonl.gz")) for name in shares}
        for name, swipe in split_sessions(_counted(corpus, "splitting"), shares, seed):
            writers[name](swipe)
            counts[name] += 1
        empty = [name for name, count in counts.items() if not count]
        if empty:
            raise CorpusError(
                f"nothing falls into {', '.join(empty)}: too few sessions for these shares; try another seed"
            )
    _say(as_json, counts, f"{output}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))


@app.command()
def pack(
    sources: Sources,
    output: Annotated[Path, typer.Option("--output", "-o", help="A new directory, or an .npz to carry about.")],
    format: Format = "auto",
    grids: Grids = None,
    layouts: Layouts = None,
    max_key_distance: MaxDistance = None,
    valid: Annotated[bool, typer.Option("--valid", help="Apply the report's validity filters too.")] = False,
    frames: Annotated[int, typer.Option(help="Emission steps of the model; longer words are left out.")] = 32,
    drop_unknown_layouts: Annotated[
        bool, typer.Option("--drop-unknown-layouts", help="Leave out swipes on unknown layouts.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a pack that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Pack a corpus for training: resampled paths and key indices as arrays that memory-map.

    Examples:

        glissando corpus pack train.jsonl.gz -o packs/train --max-key-distance 2

        glissando corpus pack swipe-1/train.jsonl -o train.npz --valid --max-key-distance 2
    """
    from dataclasses import asdict

    from glissando.corpus.filters import Validity
    from glissando.corpus.pack import PackOptions, pack_file
    from glissando.corpus.readers import open_corpus

    corpus = open_corpus(sources, format, grids=grids)
    swipes = _filtered(corpus, layouts, Validity() if valid else None, max_key_distance)
    options = PackOptions(
        frames=frames,
        drop_unknown_layouts=drop_unknown_layouts,
        overwrite=overwrite,
        source=", ".join(path.name for path in sources),
    )
    report = pack_file(swipes, output, layouts=layouts, options=options)
    corpus.dropped.update(report.dropped)
    _say(
        as_json,
        {**asdict(report), "dropped": dict(corpus.dropped)},
        f"{output}: {report.rows:,} swipes of {report.words:,} words on {', '.join(report.layouts)}",
    )


def _filtered(
    corpus: Corpus, layouts: Path | None, validity: Validity | None, max_key_distance: float | None
) -> Iterable[Swipe]:
    """The corpus through the filters that were asked for."""
    from glissando.corpus.filters import keep_valid
    from glissando.corpus.layouts import LayoutShelf

    swipes = _counted(corpus, "packing")
    if validity is None and max_key_distance is None:
        return swipes
    return keep_valid(
        swipes, corpus.dropped, validity=validity, shelf=LayoutShelf(layouts), max_key_distance=max_key_distance
    )


def _some(swipes: Iterable[Swipe], corpus: Corpus) -> Iterator[Swipe]:
    """The same swipes; none at all is an error, so that no empty file is written."""
    from glissando.errors import CorpusError

    empty = True
    for swipe in swipes:
        empty = False
        yield swipe
    if empty:
        reasons = ", ".join(f"{count:,} {why}" for why, count in corpus.dropped.items())
        raise CorpusError(f"no swipe is left to write ({reasons or 'the corpus is empty'})")


def _counted(swipes: Iterable[Swipe], what: str) -> Iterator[Swipe]:
    """The same swipes, with a count and a rate on the terminal's error stream."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield from swipes
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield from bar.track(swipes, description=what)


def _say(as_json: bool, figures: dict[str, Any], line: str) -> None:
    """Print what was done: one line and why rows went, or the figures as JSON."""
    if as_json:
        _print_json(figures)
        return
    typer.echo(line)
    for reason, count in sorted(figures.get("dropped", {}).items()):
        typer.echo(f"  left out: {count:,} {reason}")


def _print_json(figures: dict[str, Any]) -> None:
    """Print figures as JSON."""
    import json

    typer.echo(json.dumps(figures, ensure_ascii=False, indent=1))
