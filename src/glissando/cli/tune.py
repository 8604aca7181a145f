"""``glissando tune``."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    from glissando.evaluation.tune import Tuning


def tune(
    corpora: Annotated[
        list[str] | None, typer.Argument(metavar="CORPUS", help="JSON lines, plain or gzip: FILE, or FILE=LEXICON.")
    ] = None,
    stage: Annotated[str, typer.Option(help="pruning (recall of the beam), scoring (ranking), or all.")] = "all",
    protocol: Annotated[
        str | None,
        typer.Option(
            help="How to tune the scoring: fit (cross-entropy, calibrated; the default) or report (tt1mm5 with Optuna; "
            "always used for shark2)."
        ),
    ] = None,
    method: MethodOption = "encoder",
    lexicon: LexiconOption = None,
    language: LanguageOption = None,
    layouts: LayoutsOption = None,
    weights: WeightsOption = "encoder",
    decoder: DecoderOption = "decoder",
    beam: BeamOption = 100,
    add_targets: Annotated[bool, typer.Option("--add-targets", help="Add the words meant to the lexicon.")] = False,
    max_key_distance: Annotated[
        float | None, typer.Option(help="Leave out swipes further than this from their word's keys, in key widths.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The most swipes to read of each file.")] = None,
    scoring: Annotated[
        str, typer.Option(help="Constants to begin with: auto, a packaged name, a JSON file, or report (equation 3).")
    ] = "auto",
    constants: Annotated[
        str | None,
        typer.Option(
            help="Scoring constants to tune, with commas; the others keep their values. By default all, or those of "
            "equation 3 with --protocol report."
        ),
    ] = None,
    trials_pruning: Annotated[int, typer.Option(min=1, help="Pruning trials, by all workers together.")] = 50,
    trials_scoring: Annotated[
        int | None,
        typer.Option(min=1, help="Scoring trials of --protocol report, by all workers together; by default 3000."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Repeats a tuning that one worker makes.")] = 0,
    storage: Annotated[
        str | None,
        typer.Option(
            help="Where Optuna keeps the trials: journal:///FILE, sqlite:///FILE or postgresql://...; by default a "
            "journal beside --out."
        ),
    ] = None,
    label_free: Annotated[
        str | None,
        typer.Option(
            metavar="LAYOUT", help="No corpus: set a word list's frequency weight on a layout with synthetic swipes."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the constants.")] = Path("scoring.json"),
    plot: Annotated[Path | None, typer.Option(help="Draw history and response into this directory.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Tune the pruning and scoring constants to swipes whose words are known.

    Corpora count the same, however large. Run the same command in several processes or on several machines with one
    --storage, and they share the trials. Run it again after an interruption, and it resumes.

    **Examples**

        glissando tune swipes.jsonl.gz --add-targets --max-key-distance 2 --out mine.json

        glissando tune en.jsonl.gz=en.combined.gz ru.jsonl.gz=ru.combined.gz --layouts layouts --add-targets

        glissando tune swipes.jsonl.gz --add-targets --protocol report --scoring report

        glissando tune --label-free jcuken --language ru --out ru.json

        glissando tune swipes.jsonl.gz --method shark2 --add-targets --storage journal:////mnt/shared/study.log

        glissando evaluate others.jsonl.gz --scoring mine.json
    """
    from glissando.cli.decode import known_method
    from glissando.cli.progress import bar
    from glissando.errors import GlissandoError
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.tune import SCORING_TRIALS, TuningFile, TuningOptions
    from glissando.evaluation.tune import tune as run
    from glissando.scoring import Scoring

    if not out.parent.is_dir():
        raise GlissandoError(f"cannot write {out}: no directory {out.parent}")
    default = "report" if method == "shark2" else "fit"
    if method == "shark2" and protocol == "fit":
        raise GlissandoError("SHARK2 is tuned with --protocol report")
    if trials_scoring and (protocol or default) == "fit":
        raise GlissandoError("--trials-scoring needs --protocol report; --protocol fit makes no scoring trials")
    options = TuningOptions(
        protocol=protocol or default, stage=stage,
        constants=tuple(name.strip() for name in constants.split(",")) if constants else None,
        trials_pruning=trials_pruning, trials_scoring=trials_scoring or SCORING_TRIALS, seed=seed,
        storage=storage or f"journal:///{out.with_suffix('.study.log')}",
    )  # fmt: skip
    evaluation = EvaluationOptions(
        method=known_method(method), language=language, lexicon=lexicon, layouts=layouts,
        scoring=Scoring() if scoring == "report" else scoring, weights=weights, decoder=decoder,
        add_targets=add_targets, max_key_distance=max_key_distance, beam=beam, limit=limit,
    )  # fmt: skip
    command = shlex.join(["glissando", *sys.argv[1:]])
    if bool(corpora) == bool(label_free):
        raise GlissandoError("tune needs corpora, or --label-free LAYOUT in their place")
    if label_free:
        _tune_label_free(label_free, evaluation, command, out, as_json)
        return
    try:
        tuning = run([TuningFile.parse(corpus) for corpus in corpora or []], evaluation, options, bar, command)
    except KeyboardInterrupt:
        print("glissando: interrupted; the same command resumes", file=sys.stderr)
        raise typer.Exit(130) from None
    out.write_text(json.dumps(tuning.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    pictures = _draw(tuning, plot) if plot else []
    if as_json:
        print(json.dumps(tuning.to_dict(), indent=2, ensure_ascii=False))
    else:
        _print(tuning, [out, *pictures])


def _tune_label_free(layout: str, evaluation: EvaluationOptions, command: str, out: Path, as_json: bool) -> None:
    """Set the frequency weight without a corpus, write the constants and print the change."""
    from glissando.cli.progress import bar
    from glissando.corpus.layouts import LayoutShelf
    from glissando.evaluation.labelfree import tune_label_free
    from glissando.layout import load_layout

    keys = LayoutShelf(evaluation.layouts).get(layout) or load_layout(layout)
    with bar("fitting to synthetic swipes"):
        result = tune_label_free(keys, evaluation, command=command)
    text = json.dumps(result, indent=2, ensure_ascii=False)
    out.write_text(text + "\n", encoding="utf-8")
    if as_json:
        print(text)
        return
    before, after = result["provenance"]["began_with"]["frequency_weight"], result["scoring"]["frequency_weight"]
    print(f"frequency_weight {before:.5g} -> {after:.5g} ({after / before:.2f} times)\nwrote {out}")


def _draw(tuning: Tuning, folder: Path) -> list[Path]:
    """The pictures of every search."""
    from glissando.cli.progress import bar
    from glissando.figures.tuning import draw_history, draw_response

    pictures: list[Path] = []
    for stage, search in tuning.searches.items():
        measure, points = ("recall, %", 11) if stage == "pruning" else ("tt1mm5, %", 61)
        pictures += draw_history(search, measure, folder / f"{stage}_history")
        with bar(f"{stage}: response") as progress:
            pictures += draw_response(search, measure, folder / f"{stage}_response", points, progress)
    return pictures


def _print(tuning: Tuning, files: list[Path]) -> None:
    """The trials, the constants, and the accuracy before and after."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for stage, search in tuning.searches.items():
        resumed = f", {search.resumed:,} of them made before" if search.resumed else ""
        console.print(f"{stage}: {len(search.history):,} trials{resumed}; best {search.value:.3f}")
        for note in search.widened:
            console.print(f"  {note}")
    for name, value in next(iter(tuning.constants.values())).items():
        console.print(f"  {name:17} {value:.5g}")
    for when in ("before", "after"):
        for corpus, row in tuning.metrics[when]["corpora"].items():
            columns = ("top1", "top3", "tt1mm5", "recall", "cross_entropy")
            figures = "  ".join(f"{name.replace('_', ' ')} {row[name]:.2f}" for name in columns)
            console.print(f"{when:6} {corpus} ({row['n']:,} swipes): {figures}")
    for file in files:
        console.print(f"wrote {file}")
