"""``glissando design``: search for keyboards, and judge them."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.cluster import joined
from glissando.cli.design_report import draw, front, report
from glissando.cli.output import needs_extra, print_json

if TYPE_CHECKING:
    from glissando.design.config import SearchConfig
    from glissando.design.run import DesignResult
    from glissando.design.search import Progress
    from glissando.layout import Layout

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")
app.command()(front)
app.command()(report)

LINE_SECONDS = 5.0  # between lines of progress where there is no terminal

WordsLanguageOption = Annotated[str, Option(help="Language of the word list, and of the layout.")]
CountOption = Annotated[int | None, Option("--words", min=1, help="Most frequent words to judge by; 2,000.")]
CoverageOption = Annotated[
    float | None, Option(min=0.01, max=1, help="Share of running text to judge by, instead of --words.")
]
LettersOption = Annotated[str | None, Option(help="The letters that get keys; by default the language's.")]
JudgeOption = Annotated[str, Option(help="The judge: a packaged encoder, an .onnx or a .safetensors file.")]
TravelOption = Annotated[
    float | None, Option(min=0, help="The dial: nats of clarity a second of swiping is worth; 16.")
]


@app.callback()
def design(
    context: typer.Context,
    grid: Annotated[
        str | None, Option(help="Keys: row lengths such as 4-6-6-6-4, or a layout whose keys are taken.")
    ] = None,
    stagger: Annotated[float | None, Option(help="How much further right each row starts, in key widths.")] = None,
    language: WordsLanguageOption = "en",
    lexicon: opt.Lexicon = None,
    count: CountOption = None,
    coverage: CoverageOption = None,
    letters: LettersOption = None,
    start: Annotated[str | None, Option(help="A layout to begin from.")] = None,
    pin: Annotated[str, Option(help='Letters that stay: "aeiou" as in --start, or "a=2.3 e=2.4", row.column.')] = "",
    max_swaps: Annotated[int | None, Option(min=1, help="The most swaps it may be away from --start.")] = None,
    travel: TravelOption = None,
    minutes: Annotated[float | None, Option(help="How long to search; 20.")] = None,
    seed: Annotated[int | None, Option(min=0, help="Of everything random.")] = None,
    weights: JudgeOption = "judge",
    out: Annotated[Path, Option(help="Directory for the results.")] = Path("design"),
    name: Annotated[str, Option(help="What to call the layout.")] = "designed",
    resume: Annotated[bool, Option("--resume", help="Continue from the checkpoint in --out.")] = False,
    device: opt.Device = None,
    cluster: opt.Cluster = None,
    processes: Annotated[
        int | None,
        Option(min=1, help="With --cluster: processes that search, each on one processor; by default one for each."),
    ] = None,
    settings: opt.Settings = None,
) -> None:
    """Search for a keyboard on which words are easy to tell apart, with the encoder as the judge.

    The directory --out gets layout.json, which every other command takes as a layout, its picture, the front
    between clarity and travel, and search.json, the account of the search. Ctrl-C ends the search early and keeps
    the best layout so far. Several GPUs: `torchrun --nproc-per-node 4 -m glissando design`, with these options.

    With --cluster the processors of a Ray cluster search. Every process has climbers of its own, so the result depends
    on --processes, but not on where they run. Where there are fewer processors, they take turns; --minutes are those of
    every process. All nodes must share --out, where each process keeps its checkpoint.

    **Examples**

        glissando design --grid 4-6-6-6-4 --language en --minutes 20
        glissando design --start qwerty --max-swaps 6 --pin aeiou --words 300 --minutes 10 --out better_qwerty
        glissando design --grid 8-8-8-7 --language ru --words 500 --travel 6 --out russian
        glissando design --grid 4-6-6-6-4 --resume
        glissando design --grid 4-6-6-6-4 --cluster auto --processes 64 --minutes 60 --out /mnt/shared/found
    """
    if context.invoked_subcommand is not None:
        return
    if grid is None and start is None and not resume:
        typer.echo(context.get_help())
        raise typer.Exit(2)
    with needs_extra("designing keyboards", "train"):
        from glissando.design.config import DesignRequest
        from glissando.design.run import design as run
    from glissando.errors import DesignError

    if processes and not cluster:
        raise DesignError("--processes are those of a --cluster; without one, torchrun starts several")
    config = _config(settings, dial=travel, minutes=minutes, seed=seed)
    request = DesignRequest(
        out=out, grid=grid, stagger=stagger, language=language, lexicon=lexicon, count=count, coverage=coverage,
        letters=letters, start=start, pin=pin, max_swaps=max_swaps, weights=weights, name=name, resume=resume,
        device=device,
    )  # fmt: skip
    if cluster:
        from glissando.cluster.design import design_on_cluster

        with joined(cluster, None) as where, _live(config.dial) as show:
            result: DesignResult | None = design_on_cluster(where, request, config, show, processes)
    else:
        with _live(config.dial) as show:
            result = run(request, config, show)
    if result is None:  # another process of torchrun's prints
        return
    print(_drawn(result.layout))
    print("\n".join(result.summary(config)))
    for part in ("layout.json", "layout.svg", "search.json"):
        typer.echo(f"wrote {out / part}", err=True)
    draw(out)


@app.command()
def cost(
    names: opt.LayoutNames,
    language: WordsLanguageOption = "en",
    lexicon: opt.Lexicon = None,
    count: CountOption = None,
    coverage: CoverageOption = None,
    letters: LettersOption = None,
    travel: TravelOption = None,
    weights: JudgeOption = "judge",
    device: opt.Device = None,
    settings: opt.Settings = None,
    as_json: opt.Json = False,
) -> None:
    """Judge layouts as the search does: clarity in nats and travel in seconds, per word of running text.

    **Examples**

        glissando design cost kasroz clearflow qwerty
        glissando design cost kasroz clearflow qwerty --words 300 --set view=upright --travel 0
        glissando design cost jcuken russian/layout.json --language ru --words 500
    """
    with needs_extra("designing keyboards", "train"):
        from glissando.design.config import DesignRequest
        from glissando.design.run import judge_layouts
    from glissando.layout import load_layout

    config = _config(settings, dial=travel)
    request = DesignRequest(Path(), language=language, lexicon=lexicon, count=count, coverage=coverage, letters=letters)
    words = request.read_words()
    prices = judge_layouts([load_layout(one) for one in names], words, weights, config, device)
    if as_json:
        rows = {
            one: {"cost": price.total(config.dial), "clarity": price.clarity, "travel": price.travel}
            for one, price in zip(names, prices, strict=True)
        }
        head = {"words": len(words), "coverage": words.coverage, "dial": config.dial}
        print_json({**head, "layouts": rows})
        return
    print(f"{len(words):,} words of {words.source}, {words.coverage:.0%} of its running text; {config.view}")
    width = max(len(one) for one in names)
    for one, price in zip(names, prices, strict=True):
        print(f"  {one:{width}}  {price.describe(config.dial)} per word")


@app.command()
def words(
    out: Annotated[Path, Argument(help="The .npz to write.")],
    language: WordsLanguageOption = "en",
    lexicon: opt.Lexicon = None,
    count: CountOption = None,
    coverage: CoverageOption = None,
    letters: LettersOption = None,
) -> None:
    """Write the words of a search, for a machine that has torch but no word lists.

    **Examples**

        glissando design words english.npz --coverage 0.85
        glissando design words russian.npz --language ru --words 3000
    """
    from glissando.design.config import DesignRequest

    request = DesignRequest(Path(), language=language, lexicon=lexicon, count=count, coverage=coverage, letters=letters)
    chosen = request.read_words()
    chosen.save(out)
    print(f"{out}: {len(chosen):,} words of {chosen.source}, {chosen.coverage:.1%} of its running text")


def _config(settings: list[str] | None, **named: Any) -> SearchConfig:
    """Settings by --set and by options of their own, which override --set."""
    with needs_extra("designing keyboards", "train"):
        from glissando.design.config import SearchConfig

    given = [f"{name}={json.dumps(value)}" for name, value in named.items() if value is not None]
    return SearchConfig().changed([*(settings or []), *given])


def _drawn(layout: Layout) -> str:
    from glissando.drawing import text_layout

    return text_layout(layout, min(shutil.get_terminal_size().columns, 72))


@contextmanager
def _live(dial: float) -> Iterator[Callable[[Progress, Layout], None]]:
    """Show a bar with the rate, and below it the best layout whenever it improves; without a terminal, lines."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    from glissando.design.run import describe_progress

    last = 0.0

    def line(progress: Progress, layout: Layout) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            typer.echo(describe_progress(progress, layout, dial), err=True)

    if not sys.stderr.isatty():
        yield line
        return
    bar = Bar(BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    task = bar.add_task("reading the first layouts", total=1.0)
    with Live(bar, console=Console(stderr=True), transient=True, refresh_per_second=4) as live:

        def show(progress: Progress, layout: Layout) -> None:
            tally = progress.tally
            rate = tally.layouts / max(tally.seconds, 1e-9)
            state = f"{tally.layouts:,} layouts, {rate:,.0f}/s; best {progress.best.describe(dial)}"
            bar.update(task, completed=progress.share, description=state)
            if progress.improved:
                live.update(Group(bar, Text(_drawn(layout))))

        yield show
