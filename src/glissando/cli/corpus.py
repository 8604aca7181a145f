"""``glissando corpus``: count, filter, split, pack and convert swipes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from glissando.cli import corpus_sources
from glissando.cli import options as opt
from glissando.cli.cluster import cluster_run
from glissando.cli.output import print_json

if TYPE_CHECKING:
    from glissando.corpus.records import Swipe

app = typer.Typer(
    help="Count, filter, split, pack, convert, fetch and export swipes.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.add_typer(corpus_sources.fetch, name="fetch")
app.command()(corpus_sources.export)

Sources = Annotated[
    list[str],
    Argument(
        help="JSON lines (plain or gzip), Parquet or logs: files, zips, directories, globs, or addresses such as "
        "s3://bucket/swipes.",
        show_default=False,
    ),
]
Format = Annotated[str, Option(help="auto, glissando, futo, how-we-swipe or yandex.")]
Grids = Annotated[Path | None, Option(help="Yandex: the file of key grids.")]
Swipes = Annotated[
    Path, opt.output("Our format: Parquet if it ends in .parquet, else JSON lines; gzip if it ends in .gz.")
]


@app.command()
def stats(
    sources: Sources,
    format: Format = "auto",
    grids: Grids = None,
    layouts: opt.Layouts = None,
    measure: Annotated[bool, Option("--measure", help="Measure key distances that the corpus lacks.")] = False,
    cluster: opt.Cluster = None,
    workers: opt.Workers = None,
    block: opt.BlockRows = 1024,
    as_json: opt.Json = False,
) -> None:
    """Print the report's dataset table, and more, for any corpus.

    **Examples**

        glissando corpus stats swipes.jsonl.gz
        glissando corpus stats swipelogs.zip --measure --json
        glissando corpus stats 's3://bucket/swipes/?region=eu-west-1'
        glissando corpus stats 'logs/*.parquet' --measure --cluster local
    """
    from rich.console import Console

    from glissando.corpus.filters import with_distances
    from glissando.corpus.layouts import LayoutShelf
    from glissando.corpus.stats import corpus_stats, stats_table

    if cluster:
        from glissando.cluster.corpus import Reading, count_files
        from glissando.corpus.readers import corpus_files

        files = corpus_files(sources, format)
        reading = Reading(tuple(name for _, name in files), grids, layouts, measure)
        with cluster_run(cluster, workers, [file for file, _ in files], block) as run:
            figures = count_files(run, reading)
    else:
        dropped: Counter[str] = Counter()
        swipes = _read(sources, dropped, format, grids)
        figures = corpus_stats(with_distances(swipes, LayoutShelf(layouts)) if measure else swipes, dropped)
    if as_json:
        print_json(asdict(figures))
    else:
        Console().print(stats_table(figures))


@app.command(name="filter")
def filter_(
    sources: Sources,
    output: Swipes,
    format: Format = "auto",
    grids: Grids = None,
    layouts: opt.Layouts = None,
    max_key_distance: opt.MaxDistance = 2.0,
    min_points: Annotated[int, Option(help="Fewest points.")] = 5,
    min_duration: Annotated[float, Option(help="Shortest, in ms.")] = 40.0,
    max_duration: Annotated[float, Option(help="Longest, in ms.")] = 10_000.0,
    margin: Annotated[float, Option(help="How far outside the letter area a point may lie.")] = 0.35,
    as_json: opt.Json = False,
) -> None:
    """Keep plausible swipes, and print why the others were left out.

    Applies the report's filters (too few points, out of bounds, implausible duration, a word that does not match) and
    the distance to the word's keys, which is measured where the corpus does not give it.

    **Examples**

        glissando corpus filter swipelogs.zip -o good.jsonl.gz
        glissando corpus filter raw.jsonl -o good.jsonl.gz --max-key-distance 1.5
    """
    from glissando.corpus.filters import Validity, keep_valid
    from glissando.corpus.layouts import LayoutShelf

    validity = Validity(min_points=min_points, min_duration=min_duration, max_duration=max_duration, margin=margin)
    dropped: Counter[str] = Counter()
    swipes = _read(sources, dropped, format, grids)
    kept = keep_valid(swipes, dropped, LayoutShelf(layouts), validity=validity, max_key_distance=max_key_distance)
    _write(output, kept, dropped, as_json)


@app.command()
def convert(
    sources: Sources, output: Swipes, format: Format = "auto", grids: Grids = None, as_json: opt.Json = False
) -> None:
    """Turn a corpus of any format into ours, as JSON lines or Parquet.

    **Examples**

        glissando corpus convert swipe-1/train.jsonl -o train.jsonl.gz
        glissando corpus convert 'logs/*.jsonl.gz' -o all.parquet
        glissando corpus convert valid.jsonl --format yandex --grids grids.json -o jcuken.jsonl.gz
    """
    dropped: Counter[str] = Counter()
    _write(output, _read(sources, dropped, format, grids), dropped, as_json)


@app.command()
def split(
    sources: Sources,
    output: Annotated[Path, opt.output("Directory for a file of every split.")],
    fractions: Annotated[str, Option(help="Names and shares.")] = "train=0.9,val=0.05,test=0.05",
    seed: Annotated[int, Option(help="Seed of the split.")] = 0,
    parquet: Annotated[bool, Option("--parquet", help="Write NAME.parquet, not NAME.jsonl.gz.")] = False,
    format: Format = "auto",
    as_json: opt.Json = False,
) -> None:
    """Split a corpus by session, so that no person is in two splits.

    **Examples**

        glissando corpus split swipes.jsonl.gz -o splits --fractions train=0.8,val=0.2
        glissando corpus split swipes.parquet -o splits --parquet
    """
    from contextlib import ExitStack

    from glissando.corpus.records import swipe_writer
    from glissando.corpus.splits import parse_fractions, split_sessions
    from glissando.errors import CorpusError

    shares = parse_fractions(fractions)
    counts = dict.fromkeys(shares, 0)
    with ExitStack() as files:
        ending = "parquet" if parquet else "jsonl.gz"
        writers = {name: files.enter_context(swipe_writer(output / f"{name}.{ending}")) for name in shares}
        for name, swipe in split_sessions(_read(sources, Counter(), format), shares, seed):
            writers[name](swipe)
            counts[name] += 1
        empty = ", ".join(name for name, count in counts.items() if not count)
        if empty:
            raise CorpusError(f"nothing falls into {empty}: too few sessions for these shares; try another seed")
    _report(as_json, counts, f"{output}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))


@app.command()
def pack(
    sources: Sources,
    output: Annotated[Path, opt.output("A new directory, or an .npz file.")],
    format: Format = "auto",
    grids: Grids = None,
    layouts: opt.Layouts = None,
    max_key_distance: opt.MaxDistance = None,
    valid: Annotated[bool, Option("--valid", help="Apply the report's validity filters too.")] = False,
    frames: Annotated[int, Option(help="Emission steps of the model; longer words are left out.")] = 32,
    drop_unknown_layouts: Annotated[
        bool, Option("--drop-unknown-layouts", help="Leave out swipes on unknown layouts.")
    ] = False,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing pack.")] = False,
    cluster: opt.Cluster = None,
    workers: opt.Workers = None,
    block: opt.BlockRows = 1024,
    as_json: opt.Json = False,
) -> None:
    """Pack a corpus for training: resampled paths and key indices as arrays that memory-map.

    **Examples**

        glissando corpus pack train.jsonl.gz -o packs/train --max-key-distance 2
        glissando corpus pack swipe-1/train.jsonl -o train.npz --valid --max-key-distance 2
        glissando corpus pack 'logs/*.parquet' -o packs/logs --valid --cluster auto
    """
    from glissando.corpus.filters import Validity, keep_valid
    from glissando.corpus.layouts import LayoutShelf
    from glissando.corpus.pack import PackOptions
    from glissando.corpus.pack import pack as write_pack
    from glissando.corpus.sources import source_name

    options = PackOptions(frames, drop_unknown_layouts, overwrite, ", ".join(map(source_name, sources)))
    limits: dict[str, Any] = {"validity": Validity() if valid else None, "max_key_distance": max_key_distance}
    if cluster:
        from glissando.cluster.corpus import Reading, pack_files
        from glissando.corpus.readers import corpus_files

        files = corpus_files(sources, format)
        reading = Reading(tuple(name for _, name in files), grids, layouts, **limits)
        with cluster_run(cluster, workers, [file for file, _ in files], block) as run:
            report = pack_files(run, reading, output, options)
    else:
        dropped: Counter[str] = Counter()
        kept = keep_valid(_read(sources, dropped, format, grids), dropped, LayoutShelf(layouts), **limits)
        report = write_pack(kept, output, layouts=layouts, options=options, dropped=dropped)
    line = f"{output}: {report.rows:,} swipes of {report.words:,} words on {', '.join(report.layouts)}"
    _report(as_json, asdict(report), line)


def _read(sources: list[str], dropped: Counter[str], format: str, grids: Path | None = None) -> Iterable[Swipe]:
    """The swipes of a corpus, with their rate on a terminal's error stream."""
    from rich.console import Console
    from rich.progress import track

    from glissando.corpus.readers import read_corpus

    console = Console(stderr=True)
    swipes = read_corpus(sources, dropped, format, grids=grids)
    return track(swipes, "reading", console=console, transient=True) if console.is_terminal else swipes


def _write(output: Path, swipes: Iterable[Swipe], dropped: Counter[str], as_json: bool) -> None:
    """Write swipes in our format and print how many; none at all is an error and writes no file."""
    from glissando.corpus.records import swipe_writer
    from glissando.errors import CorpusError

    count = 0
    with swipe_writer(output) as write:
        for count, swipe in enumerate(swipes, start=1):  # noqa: B007  # the count is printed
            write(swipe)
        if not count:
            reasons = ", ".join(f"{number:,} {reason}" for reason, number in dropped.items())
            raise CorpusError(f"no swipe is left to write ({reasons or 'the corpus is empty'})")
    _report(as_json, {"kept": count, "dropped": dict(dropped)}, f"{output}: {count:,} swipes")


def _report(as_json: bool, figures: dict[str, Any], line: str) -> None:
    """Print the figures as JSON, or one line and the reasons why rows were left out."""
    if as_json:
        print_json(figures)
        return
    typer.echo(line)
    for reason, count in sorted(figures.get("dropped", {}).items()):
        typer.echo(f"  left out: {count:,} {reason}")
