"""``glissando tune``."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glissando.cli.decode import (
    BeamOption,
    DecoderOption,
    JsonOption,
    LanguageOption,
    LayoutsOption,
    LexiconOption,
    MethodOption,
    WeightsOption,
)

if TYPE_CHECKING:
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.tuning_run import Tuning


def tune(
    corpora: Annotated[
        list[str] | None, typer.Argument(metavar="CORPUS", help="JSON lines, plain or gzip: FILE, or FILE=LEXICON.")
    ] = None,
    stage: Annotated[str, typer.Option(help="pruning (recall of the beam), scoring (ranking), or all.")] = "all",
    method: MethodOption = "encoder",
    lexicon: LexiconOption = None,
    language: LanguageOption = None,
    layouts: LayoutsOption = None,
    weights: WeightsOption = "encoder",
    decoder: DecoderOption = "decoder",
    beam: BeamOption = 100,
    add_targets: Annotated[bool, typer.Option("--add-targets", help="Put the words meant into the lexicon.")] = False,
    max_key_distance: Annotated[
        float | None, typer.Option(help="Leave out swipes that stray further from their word's keys, in key widths.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Read so many swipes of each file.")] = None,
    scoring: Annotated[
        str, typer.Option(help="Constants to begin with: auto, a packaged name, a JSON file, or report (equation 3).")
    ] = "auto",
    constants: Annotated[
        str, typer.Option(help="Scoring constants to tune, with commas; the others keep their values.")
    ] = "length_exponent,frequency_weight,length_bonus",
    trials_pruning: Annotated[int, typer.Option(min=1, help="Pruning trials, all workers together.")] = 50,
    trials_scoring: Annotated[int, typer.Option(min=1, help="Scoring trials, all workers together.")] = 3000,
    seed: Annotated[int, typer.Option(min=0, help="Repeats a tuning made by one worker.")] = 0,
    storage: Annotated[
        str | None,
        typer.Option(
            help="sqlite:///FILE, journal:///FILE or postgresql://...; by default a SQLite file beside --out."
        ),
    ] = None,
    label_free: Annotated[
        str | None,
        typer.Option(
            metavar="LAYOUT", help="No corpus: set the frequency weight of a word list on a layout by made-up swipes."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the constants.")] = Path("scoring.json"),
    plot: Annotated[Path | None, typer.Option(help="Draw history and response into this directory.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Fit the pruning and scoring constants to swipes whose words are known.

    Several corpora count the same, however large. Run the same command in several processes or on several machines
    with one --storage, and they share the work; run it again after an interruption, and it goes on.

    **Examples**

        glissando tune swipes.jsonl.gz --add-targets --max-key-distance 2 --out mine.json

        glissando tune en.jsonl.gz=en.combined.gz ru.jsonl.gz=ru.combined.gz --layouts layouts --add-targets

        glissando tune --label-free jcuken --language ru --out ru.json

        glissando tune swipes.jsonl.gz --method shark2 --add-targets --storage journal:////mnt/shared/study.log

        glissando evaluate others.jsonl.gz --scoring mine.json
    """
    from glissando.cli.decode import _method
    from glissando.cli.progress import bar
    from glissando.errors import GlissandoError
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.tuning_run import Corpus, TuningOptions, run_tuning

    _check_folder(out)
    options = TuningOptions(
        stage, tuple(name.strip() for name in constants.split(",")), trials_pruning, trials_scoring, seed,
        storage or f"sqlite:///{out.with_suffix('.study.db')}",
    )  # fmt: skip
    evaluation = EvaluationOptions(
        method=_method(method), language=language, lexicon=lexicon, layouts=layouts, scoring=_begin(scoring),
        weights=weights, decoder=decoder, add_targets=add_targets, max_key_distance=max_key_distance, beam=beam,
        limit=limit,
    )  # fmt: skip
    command = shlex.join(["glissando", *sys.argv[1:]])
    if bool(corpora) == bool(label_free):
        raise GlissandoError("tune needs corpora, or --label-free LAYOUT in their place")
    if label_free:
        _tune_label_free(label_free, evaluation, command, out, as_json)
        return
    try:
        tuning = run_tuning([Corpus.parse(corpus) for corpus in corpora or []], evaluation, options, bar, command)
    except KeyboardInterrupt:
        print("glissando: interrupted; the same command goes on where it stopped", file=sys.stderr)
        raise typer.Exit(130) from None
    out.write_text(json.dumps(tuning.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    drawn = _draw(tuning, plot) if plot else []
    if as_json:
        print(json.dumps(tuning.to_dict(), indent=2, ensure_ascii=False))
    else:
        _print(tuning, [out, *drawn])


def _tune_label_free(layout: str, evaluation: EvaluationOptions, command: str, out: Path, as_json: bool) -> None:
    """Set the frequency weight without a corpus, write the constants and say what changed."""
    from glissando.cli.progress import bar
    from glissando.corpus.layouts import LayoutShelf
    from glissando.evaluation.labelfree import tune_label_free
    from glissando.layout import load_layout

    found = LayoutShelf(evaluation.layouts).get(layout) or load_layout(layout)
    with bar("making up swipes"):
        result = tune_label_free(found, evaluation, command=command)
    text = json.dumps(result, indent=2, ensure_ascii=False)
    out.write_text(text + "\n", encoding="utf-8")
    if as_json:
        print(text)
        return
    before, after = result["provenance"]["began_with"]["frequency_weight"], result["scoring"]["frequency_weight"]
    print(f"frequency_weight {before:.5g} -> {after:.5g} ({after / before:.2f} times)\nwrote {out}")


def _begin(scoring: str) -> Any:
    """The constants to begin with."""
    from glissando.scoring import Scoring

    return Scoring() if scoring == "report" else scoring


def _check_folder(out: Path) -> None:
    from glissando.errors import GlissandoError

    if not out.parent.is_dir():
        raise GlissandoError(f"cannot write {out}: no directory {out.parent}")


def _draw(tuning: Tuning, folder: Path) -> list[Path]:
    """The pictures of every stage."""
    from glissando.cli.progress import bar
    from glissando.evaluation.figures import draw_history, draw_response, response

    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    for stage in tuning.stages:
        measure = "recall, %" if stage.name == "pruning" else "tt1mm5, %"
        with bar(f"{stage.name}: response") as progress:
            curves = response(stage.found, stage.objective, 11 if stage.name == "pruning" else 61, progress)
        drawn += draw_history(stage.found, measure, folder / f"{stage.name}_history")
        drawn += draw_response(stage.found, curves, measure, folder / f"{stage.name}_response")
    return drawn


def _print(tuning: Tuning, files: list[Path]) -> None:
    """The constants, what they reach, and what was done on the way."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for stage in tuning.stages:
        found = stage.found
        again = f", {found.resumed:,} of them made before" if found.resumed else ""
        console.print(f"{stage.name}: {len(found.history):,} trials{again}; best {found.value:.3f}")
        for note in found.widened:
            console.print(f"  {note}")
    for name, value in next(iter(tuning.constants.values())).items():
        console.print(f"  {name:17} {value:.5g}")
    for when in ("before", "after"):
        for corpus, row in tuning.metrics[when]["corpora"].items():
            figures = "  ".join(f"{name} {row[name]:.2f}" for name in ("top1", "top3", "tt1mm5", "recall"))
            console.print(f"{when:6} {corpus} ({row['n']:,} swipes): {figures}")
    for file in files:
        console.print(f"wrote {file}")
