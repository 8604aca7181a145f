"""``glissando figure``: pictures of what the encoder sees, of augmentation, training, mistakes and abstaining."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.output import bar, print_json, print_table, report_saved, without_picture_suffix

if TYPE_CHECKING:
    from glissando.figures.mistakes import Findings

FIELDS = ("qwerty:with", "jcuken:меня", "clearflow:fire")

OutOption = Annotated[Path, Option(help="The picture; .png and .svg are added.")]
SwipesOption = Annotated[
    list[str] | None, Option("--swipes", help="Corpus to take recorded swipes from; may be given again.")
]
SeedOption = Annotated[int, Option(help="Seed of made-up swipes and of random augmentation.")]

app = typer.Typer(help="Draw pictures, each as PNG and SVG.", no_args_is_help=True, rich_markup_mode="markdown")


@app.command()
def field(
    examples: Annotated[list[str] | None, Argument(metavar="LAYOUT:WORD...", help="Swipes to look into.")] = None,
    swipes: SwipesOption = None,
    weights: opt.Weights = "encoder",
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
    example: Annotated[str, Argument(metavar="LAYOUT:WORD", help="The swipe.")] = "qwerty:hello",
    swipes: SwipesOption = None,
    count: Annotated[int, Option(min=0, max=200, help="Co-augmented samples.")] = 7,
    rearranged: Annotated[int, Option(min=0, max=200, help="Samples carried to random keyboards.")] = 4,
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
    runs: Annotated[list[Path], Argument(help="Folders of runs, or their metrics.jsonl.")],
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
    metrics: dict[str, Sequence[dict[str, Any]]] = {
        label: read_metrics(run) for label, run in zip(labels, runs, strict=True)
    }
    report_saved(draw_training(metrics, without_picture_suffix(out)))


@app.command()
def errors(
    files: opt.Labelled,
    language: opt.Language = None,
    lexicon: opt.Lexicon = None,
    layouts: opt.Layouts = None,
    weights: opt.Weights = "encoder",
    add_targets: opt.AddTargets = False,
    max_key_distance: opt.MaxDistance = None,
    limit: opt.Limit = None,
    count: Annotated[int, Option(min=1, max=200, help="Mistakes to draw.")] = 40,
    out: OutOption = Path("errors"),
    as_json: opt.Json = False,
) -> None:
    """The most confident mistakes on swipes whose words are known, sorted into causes, with what the network saw.

    A mistake has the first cause that fits, by rules: the swipe follows another word than its label; the words differ
    in doubled letters alone; in letters on the straight line between their neighbours; in letters on neighbouring
    keys; the word meant is much rarer; other. "Outvoted" are those where the network alone preferred the word meant.

    **Examples**

        glissando figure errors val.jsonl.gz --lexicon en_wordlist.combined.gz --add-targets --max-key-distance 2
        glissando figure errors swipes.jsonl.gz --count 20 --json > mistakes.json
    """
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
        print_json([mistake.to_dict() for mistake in findings.mistakes])
    else:
        _print_causes(findings, count)


@app.command()
def coverage(
    files: opt.Labelled,
    method: Annotated[
        list[str] | None, Option("--method", help="As in evaluate; may be repeated, a curve each. By default auto.")
    ] = None,
    language: opt.Languages = None,
    lexicon: opt.Lexicon = None,
    layouts: opt.Layouts = None,
    add_targets: opt.AddTargets = False,
    max_key_distance: opt.MaxDistance = None,
    limit: opt.Limit = None,
    out: OutOption = Path("coverage"),
    as_json: opt.Json = False,
) -> None:
    """What abstaining is worth: how many first candidates are right, over the share of swipes that are answered.

    A keyboard abstains where its first candidate is less likely than a threshold. Each file and method has a curve, as
    the threshold moves. The dotted line is the mean probability of the answers: where probabilities are true, both
    lines are one. The table says how many swipes are answered with 95, 98 and 99 % of the answers right, and the
    threshold, which is the P of `glissando decode --abstain P`.

    **Examples**

        glissando figure coverage val.jsonl.gz --lexicon en_wordlist.combined.gz --max-key-distance 2
        glissando figure coverage val.jsonl.gz --method auto --method shark2 --json
    """
    from glissando.cli.decode import known_method
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.figures.coverage import draw_coverage, measure_coverage

    options = EvaluationOptions(
        language=language, lexicon=lexicon, layouts=layouts, add_targets=add_targets,
        max_key_distance=max_key_distance, limit=limit,
    )  # fmt: skip
    methods = [known_method(name) for name in method or ["auto"]]
    with bar("decoding") as progress:
        curves = measure_coverage(files, methods, options, progress)
    _save(draw_coverage(curves), out)
    if as_json:
        print_json({label: curve.to_dict() for label, curve in curves.items()})
    else:
        _print_coverage({label: curve.to_dict() for label, curve in curves.items()})


def _print_coverage(curves: dict[str, dict[str, Any]]) -> None:
    """Print how many swipes are answered at some accuracies."""
    accuracies = list(next(iter(curves.values()))["at"])
    print_table(
        "answers right in percent if all swipes are answered; else swipes answered in percent, and the threshold",
        ("", "n", "all", *(f"{accuracy} % right" for accuracy in accuracies)),
        [
            (label, f"{one['n']:,}", f"{one['accuracy']:.1f}", *(_reached(one["at"][name]) for name in accuracies))
            for label, one in curves.items()
        ],
    )


def _reached(found: dict[str, float] | None) -> str:
    """A share answered and its threshold, or a dash where the accuracy is never reached."""
    return "-" if found is None else f"{found['answered']:.1f}, {found['threshold']:.2f}"


def _print_causes(findings: Findings, count: int) -> None:
    """Print how many mistakes have each cause."""
    from glissando.figures.mistakes import count_causes

    shown, every = count_causes(findings.mistakes[:count]), count_causes(findings.mistakes)
    outvoted = count_causes([mistake for mistake in findings.mistakes if mistake.evidence < 0])
    print_table(
        f"{len(findings.mistakes):,} mistakes in {findings.swipes:,} swipes",
        ("cause", f"of the {sum(shown.values())} drawn", "of all", "outvoted"),
        [(cause, *(str(counts[cause]) for counts in (shown, every, outvoted))) for cause in every],
    )


def _save(drawn: Any, out: Path) -> None:
    """Save a figure and say where."""
    from glissando.figures.style import save

    report_saved(save(drawn, without_picture_suffix(out)))
