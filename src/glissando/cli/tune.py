"""``glissando tune``."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.cluster import joined
from glissando.cli.decode import known_method
from glissando.cli.output import bar

if TYPE_CHECKING:
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.study import StudyResult
    from glissando.evaluation.tune import Tuning, TuningOptions, Workplace


def tune(
    corpora: Annotated[list[str] | None, Argument(metavar="CORPUS", help="Corpora: SOURCE, or SOURCE=LEXICON.")] = None,
    stage: Annotated[str, Option(help="pruning (recall of the beam), scoring (ranking), or all.")] = "all",
    protocol: Annotated[
        str | None, Option(help="For the scoring: fit (cross-entropy; default) or report (tt1mm5; for shark2).")
    ] = None,
    method: opt.Method = "encoder",
    lexicon: opt.Lexicon = None,
    language: opt.Language = None,
    layouts: opt.Layouts = None,
    weights: opt.Weights = "encoder",
    decoder: opt.Decoder = "decoder",
    matcher: opt.Matcher = "matcher",
    beam: opt.Beam = 100,
    add_targets: opt.AddTargets = False,
    max_key_distance: opt.MaxDistance = None,
    limit: opt.Limit = None,
    scoring: Annotated[
        str, Option(help="Constants to begin with: auto, a packaged name, a JSON file, or report (equation 3).")
    ] = "auto",
    constants: Annotated[str | None, Option(help="Scoring constants to tune, with commas; by default all.")] = None,
    trials_pruning: Annotated[int, Option(min=1, help="Pruning trials, by all workers together.")] = 50,
    trials_scoring: Annotated[int | None, Option(min=1, help="Scoring trials of --protocol report; 3000.")] = None,
    seed: Annotated[int, Option(min=0, help="Repeats a tuning that one worker makes.")] = 0,
    storage: Annotated[
        str | None, Option(help="URL for Optuna's trials: journal, sqlite or postgresql; a journal by --out.")
    ] = None,
    label_free: Annotated[
        str | None, Option(metavar="LAYOUT", help="No corpus: set the frequency weight with synthetic swipes.")
    ] = None,
    out: Annotated[Path, Option(help="Where to write the constants.")] = Path("scoring.json"),
    plot: Annotated[Path | None, Option(help="Draw history and response into this directory.")] = None,
    cluster: opt.Cluster = None,
    workers: opt.Workers = None,
    as_json: opt.Json = False,
) -> None:
    """Tune the pruning and scoring constants to swipes whose words are known.

    Corpora count the same, however large. Run the same command in several processes or on several machines with one
    --storage (journal:///FILE, sqlite:///FILE or postgresql://...), and they share the trials. Run it again after an
    interruption, and it resumes. Constants that --constants does not name keep their values; without it, all are tuned,
    or those of equation 3 with --protocol report.

    With --cluster the workers of a Ray cluster divide the swipes among them; the constants are the same, to the digit,
    whatever the number of workers.

    **Examples**

        glissando tune swipes.jsonl.gz --add-targets --max-key-distance 2 --out mine.json
        glissando tune en.jsonl.gz=en.combined.gz ru.jsonl.gz=ru.combined.gz --layouts layouts --add-targets
        glissando tune swipes.jsonl.gz --add-targets --protocol report --scoring report
        glissando tune --label-free jcuken --language ru --out ru.json
        glissando tune swipes.jsonl.gz --method shark2 --add-targets --storage journal:////mnt/shared/study.log
        glissando tune swipes.jsonl.gz --add-targets --cluster 10.0.0.5:6379 --workers 64 --out mine.json
        glissando evaluate others.jsonl.gz --scoring mine.json
    """
    from glissando.errors import GlissandoError
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.tune import SCORING_TRIALS, TuningOptions
    from glissando.scoring import Scoring

    if not out.parent.is_dir():
        raise GlissandoError(f"cannot write {out}: no directory {out.parent}")
    if method == "shark2" and protocol == "fit":
        raise GlissandoError("SHARK2 is tuned with --protocol report")
    protocol = protocol or ("report" if method == "shark2" else "fit")
    if trials_scoring and protocol == "fit":
        raise GlissandoError("--trials-scoring needs --protocol report; --protocol fit makes no scoring trials")
    options = TuningOptions(
        protocol=protocol, stage=stage,
        constants=tuple(name.strip() for name in constants.split(",")) if constants else None,
        trials_pruning=trials_pruning, trials_scoring=trials_scoring or SCORING_TRIALS, seed=seed,
        storage=storage or f"journal:///{out.with_suffix('.study.log')}", command=_command(),
    )  # fmt: skip
    evaluation = EvaluationOptions(
        method=known_method(method), language=language, lexicon=lexicon, layouts=layouts,
        scoring=Scoring() if scoring == "report" else scoring, weights=weights, decoder=decoder, matcher=matcher,
        add_targets=add_targets, max_key_distance=max_key_distance, beam=beam, limit=limit,
    )  # fmt: skip
    if bool(corpora) == bool(label_free):
        raise GlissandoError("tune needs corpora, or --label-free LAYOUT in their place")
    if label_free and cluster:
        raise GlissandoError("--label-free needs no --cluster: it has no corpus to divide")
    pictures: list[Path] = []
    if label_free:
        result, lines = _tune_label_free(label_free, evaluation)
        text = _write(result, out)
    else:
        with _workplace(cluster, workers, evaluation) as workplace:
            tuning = _tune_corpora(corpora or [], evaluation, options, workplace)
            lines, text = list(_summary(tuning)), _write(tuning.to_dict(), out)
            pictures = _draw(tuning.searches, plot) if plot else []
    print(text if as_json else "\n".join([*lines, *(f"wrote {file}" for file in (out, *pictures))]))


@contextmanager
def _workplace(cluster: str | None, workers: int | None, evaluation: EvaluationOptions) -> Iterator[Workplace | None]:
    """Where swipes are searched: the workers of a cluster, or None for this machine."""
    from glissando.errors import GlissandoError

    if cluster is None:
        if workers is not None:
            raise GlissandoError("--workers are processes of a cluster; name it by --cluster")
        yield None
        return
    from glissando.cluster.tune import ClusterWorkplace

    with joined(cluster, workers) as where:
        yield ClusterWorkplace(where, evaluation)


def _write(result: dict[str, Any], out: Path) -> str:
    """Write the constants; returns their JSON."""
    text = json.dumps(result, indent=2, ensure_ascii=False)
    out.write_text(text + "\n", encoding="utf-8")
    return text


def _command() -> str:
    """The command line, for the provenance of the constants; addresses are without their credentials."""
    from glissando.corpus.sources import shown

    return shlex.join(["glissando", *map(shown, sys.argv[1:])])


def _tune_label_free(layout: str, evaluation: EvaluationOptions) -> tuple[dict[str, Any], list[str]]:
    """Set the frequency weight without a corpus; returns the constants and a line about the change."""
    from glissando.corpus.layouts import LayoutShelf
    from glissando.evaluation.labelfree import tune_label_free
    from glissando.layout import load_layout

    keys = LayoutShelf(evaluation.layouts).get(layout) or load_layout(layout)
    with bar("fitting to synthetic swipes"):
        result = tune_label_free(keys, evaluation, command=_command())
    before, after = result["provenance"]["began_with"]["frequency_weight"], result["scoring"]["frequency_weight"]
    return result, [f"frequency_weight {before:.5g} -> {after:.5g} ({after / before:.2f} times)"]


def _tune_corpora(
    corpora: list[str], evaluation: EvaluationOptions, options: TuningOptions, workplace: Workplace | None
) -> Tuning:
    """Tune to corpora; an interruption says how to go on."""
    from glissando.evaluation.tune import TuningFile, tune

    try:
        return tune([TuningFile.parse(corpus) for corpus in corpora], evaluation, options, bar, workplace)
    except KeyboardInterrupt:
        print("glissando: interrupted; the same command resumes", file=sys.stderr)
        raise typer.Exit(130) from None


def _draw(searches: dict[str, StudyResult], folder: Path) -> list[Path]:
    """Draw the history and the response of every search."""
    from glissando.figures.tuning import draw_history, draw_response

    pictures: list[Path] = []
    for stage, search in searches.items():
        measure, points = ("recall, %", 11) if stage == "pruning" else ("tt1mm5, %", 61)
        pictures += draw_history(search, measure, folder / f"{stage}_history")
        with bar(f"{stage}: response") as progress:
            pictures += draw_response(search, measure, folder / f"{stage}_response", points, progress)
    return pictures


def _summary(tuning: Tuning) -> Iterator[str]:
    """The trials, the constants, and the accuracy before and after, line by line."""
    for stage, search in tuning.searches.items():
        resumed = f", {search.resumed:,} of them made before" if search.resumed else ""
        yield f"{stage}: {len(search.history):,} trials{resumed}; best {search.value:.3f}"
        yield from (f"  {note}" for note in search.widened)
    numbers = next(iter(tuning.constants.values()))
    for title, part in (("", numbers), ("in doubt, with the matcher:", numbers.get("matched") or {})):
        yield from ([f"  {title}"] if title and part else [])
        yield from (f"  {name:17} {value:.5g}" for name, value in part.items() if name != "matched")
    for when in ("before", "after"):
        for corpus, row in tuning.metrics[when]["corpora"].items():
            columns = ("top1", "top3", "tt1mm5", "recall", "cross_entropy")
            figures = "  ".join(f"{name.replace('_', ' ')} {row[name]:.2f}" for name in columns)
            yield f"{when:6} {corpus} ({row['n']:,} swipes): {figures}"
