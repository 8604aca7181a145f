"""``glissando decode`` and ``glissando evaluate``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.cluster import cluster_run
from glissando.cli.output import bar, print_json, print_table

if TYPE_CHECKING:
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.metrics import Metrics
    from glissando.evaluation.result import Evaluation
    from glissando.evaluation.rows import Decoded, RowOptions

STANDARD_INPUT = "standard input"


def decode(
    source: Annotated[
        str,
        Argument(
            help="Swipes with x, y and t, as JSON lines or Parquet: a file, directory, glob or s3://; - reads JSON "
            "lines from standard input."
        ),
    ],
    layout: Annotated[str | None, Option(help="Layout of lines that name none: a name or a .json file.")] = None,
    language: opt.Languages = None,
    lexicon: opt.Lexicon = None,
    vocabulary: opt.Vocabulary = None,
    layouts: opt.Layouts = None,
    method: opt.Method = "auto",
    scoring: opt.Scoring = "auto",
    weights: opt.Weights = "encoder",
    decoder: opt.Decoder = "decoder",
    matcher: opt.Matcher = "matcher",
    beam: opt.Beam = 100,
    k: Annotated[int, Option("-k", min=1, max=1000, help="Candidates per swipe.")] = 5,
    sentence: Annotated[
        bool, Option("--sentence", help="The swipes follow each other in one text; each sees what was decoded before.")
    ] = False,
    prefix: Annotated[str, Option(help="Letters that every word begins with, unless its line says otherwise.")] = "",
    suffix: Annotated[str, Option(help="Letters that every word ends with, unless its line says otherwise.")] = "",
    abstain: Annotated[
        float, Option(min=0, max=1, metavar="P", help="Leave a line empty if its first word is less likely than P.")
    ] = 0.0,
    cluster: opt.Cluster = None,
    workers: opt.Workers = None,
    block: opt.BlockRows = 1024,
    output: Annotated[
        str | None, Option("--output", "-o", help="With --cluster: a folder or s3:// address for the results.")
    ] = None,
    format: Annotated[str, Option(help="Of the results of --cluster: jsonl or parquet.")] = "jsonl",
    as_json: opt.Json = False,
) -> None:
    """Decode swipes to words, one line per swipe: its candidates, best first.

    Each line of the input is an object such as

        {"x": [0.15, 0.16, 0.45], "y": [0.2, 0.2, 0.2], "t": [0, 16, 300], "layout": "qwerty", "context": "on my"}

    with x and y in fractions of the letter area and t in milliseconds. The context is the text before the swipe, ""
    the beginning of a text; without it the swipe stands alone. With --sentence the first line begins a text, and so
    does every line with a context of its own. "prefix" and "suffix" are letters that were tapped.

    A word can be one that no list has, read letter by letter. With --json a line is an object: candidates, each with
    its probability, its language and whether it is "literal"; and "none", how likely none of the words found is meant
    (null for shark2, which does not know). An empty line of --abstain has no candidates and adds nothing to the text.

    With --language de,en and --lexicon, the list takes the place of its own language's.

    With --cluster, the results go to --output: one file for each block of rows, each row with the file and row that it
    answers, and with an "error" if it cannot be decoded. The same command a second time does what is missing.

    **Examples**

        glissando decode swipes.jsonl
        glissando decode sentence.jsonl --sentence -k 1
        glissando decode swipes.jsonl --language de,en --vocabulary own.json --abstain 0.8
        glissando decode swipes.jsonl --prefix un --suffix ed
        glissando decode 'logs/*.parquet' -k 1
        glissando decode - --layout jcuken --language ru -k 3 --json < swipes.jsonl
        glissando decode 's3://logs/2026-*/*.parquet' --cluster auto -o s3://results/2026 --format parquet
    """
    from glissando.errors import GlissandoError
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.rows import RowOptions

    options = EvaluationOptions(
        method=known_method(method), language=language, lexicon=lexicon, layouts=layouts, scoring=scoring,
        weights=weights, decoder=decoder, matcher=matcher, beam=beam, vocabulary=vocabulary,
    )  # fmt: skip
    wishes = RowOptions(layout, k, sentence, prefix, suffix, abstain)
    if cluster or output:
        if not cluster or not output or source == "-":
            raise GlissandoError("--cluster decodes files, not standard input, and writes to --output: give both")
        from glissando.cluster.decode import decode_files
        from glissando.cluster.parts import Parts
        from glissando.corpus.sources import shown

        with cluster_run(cluster, workers, [source], block) as run:
            summary = decode_files(run, Parts(output, format), options, wishes)
        print_json(asdict(summary)) if as_json else print(f"{shown(output)}: {summary}")
        return
    for found in _decode_rows(source, options, wishes):
        if as_json:
            print(json.dumps(found.to_dict(), ensure_ascii=False), flush=True)
        else:
            print("\t".join(candidate.word for candidate in found.candidates), flush=True)


def evaluate(
    files: opt.Labelled,
    method: opt.Method = "encoder",
    language: opt.Languages = None,
    lexicon: opt.Lexicon = None,
    vocabulary: opt.Vocabulary = None,
    layouts: opt.Layouts = None,
    scoring: opt.Scoring = "auto",
    weights: opt.Weights = "encoder",
    decoder: opt.Decoder = "decoder",
    matcher: opt.Matcher = "matcher",
    add_targets: opt.AddTargets = False,
    max_key_distance: opt.MaxDistance = None,
    beam: opt.Beam = 100,
    limit: opt.Limit = None,
    context: Annotated[
        str,
        Option(help="What stands before a swipe: none, prompt (its prompt's words) or decoded (words decoded before)."),
    ] = "none",
    revise: Annotated[bool, Option("--revise", help="Count the answer after the next word has been seen.")] = False,
    prompts: Annotated[
        list[str] | None, Option(help="Other files of the study, to see which prompts several people were given.")
    ] = None,
    learn: Annotated[
        bool, Option("--learn", help="Make each word an own word of its person after it was judged.")
    ] = False,
    adapt: Annotated[
        bool, Option("--adapt", help="Fit the ranking constants to each person, to the words judged so far.")
    ] = False,
    letters: Annotated[int, Option(min=0, max=48, help="Give the first N letters of each word, as if tapped.")] = 0,
    reliability: Annotated[Path | None, Option(help="Draw accuracy over probability (.png, .svg, .pdf).")] = None,
    cluster: opt.Cluster = None,
    workers: opt.Workers = None,
    block: opt.BlockRows = 1024,
    parts: opt.Parts = None,
    as_json: opt.Json = False,
) -> None:
    """Decode swipes whose words are known and print the accuracy, by layout. Shares are in percent.

    Words that the lexicon lacks must be read letter by letter, unless --add-targets adds them; then every word is in
    the list, and nothing is read without it. Words that the list has (before any is added) and words that it lacks
    have a row each, "known" and "unknown". Where swipes have prompts, those that several people were given are
    sentences, and the others random words; both have a row of their own.

    With --learn and --adapt the swipes are decoded in the order of the files, each before it is learned. A person is a
    session; swipes without one count as those of one person.

    With several languages, a swipe is decoded in the languages of the words decoded for the same person before it,
    also where --context is none; with --context, in those of its prompt. A --lexicon takes the place of the list of its
    own language, or of the first language if it states none.

    With --cluster the figures are the same, except for the time of one swipe, which is not measured.

    **Examples**

        glissando evaluate swipes.jsonl.gz --add-targets --max-key-distance 2
        glissando evaluate swipes.jsonl.gz --method auto --learn --adapt
        glissando evaluate swipes.jsonl.gz --method auto --language en,de --letters 2
        glissando evaluate val.jsonl.gz --method auto --context decoded --revise --prompts train.jsonl.gz
        glissando evaluate 's3://bucket/swipes/*.parquet?region=eu-west-1' --limit 1000
        glissando evaluate swipes.jsonl.gz --method shark2 --lexicon en_wordlist.combined.gz --json
        glissando evaluate 's3://swipes/*.parquet' --method auto --cluster auto --parts s3://results/first
    """
    from glissando.errors import GlissandoError
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.evaluation.evaluate import evaluate as run
    from glissando.figures.tuning import check_picture, draw_reliability

    if reliability:
        check_picture(reliability)
    options = EvaluationOptions(
        method=known_method(method), language=language, lexicon=lexicon, layouts=layouts, scoring=scoring,
        weights=weights, decoder=decoder, matcher=matcher, add_targets=add_targets, max_key_distance=max_key_distance,
        beam=beam, limit=limit, context=context, revise=revise, prompts=tuple(prompts or ()),  # type: ignore[arg-type]
        vocabulary=vocabulary, learn=learn, adapt=adapt, letters=letters,
    )  # fmt: skip
    if parts and not cluster:
        raise GlissandoError("--parts keeps what the blocks of a --cluster gave: give both")
    if cluster:
        from glissando.cluster.evaluate import evaluate_files

        with cluster_run(cluster, workers, files, block) as pass_:
            result = evaluate_files(pass_, options, parts)
    else:
        with bar("decoding") as progress:
            result = run(files, options, progress)
    if reliability:
        draw_reliability(result.reliability, reliability)
    if as_json:
        print_json(result.to_dict())
    else:
        _print_table(result, options)


def known_method(name: str) -> Any:
    """A known method, or an error that lists them."""
    from glissando.errors import GlissandoError
    from glissando.evaluation.evaluate import METHODS

    if name not in METHODS:
        raise GlissandoError(f"no method {name!r}; there are {', '.join(METHODS)}")
    return name


def _decode_rows(source: str, options: EvaluationOptions, wishes: RowOptions) -> Iterator[Decoded]:
    """What every row of a source may mean; an error names file and line."""
    from glissando.corpus.lines import make_rows, parse_lines, raw_lines, read_rows, with_numbers
    from glissando.corpus.sources import find_files
    from glissando.evaluation.rows import RowDecoder

    decoder = RowDecoder(options, wishes)
    if source == "-":
        lines = with_numbers(raw_lines(sys.stdin.buffer, STANDARD_INPUT))
        return make_rows(parse_lines(lines, STANDARD_INPUT), STANDARD_INPUT, decoder.decode)
    return chain.from_iterable(read_rows(file, decoder.decode) for file in find_files(source))


def _print_table(result: Evaluation, options: EvaluationOptions) -> None:
    """Print the metrics, a row per layout and one for all."""
    rows = list(result.by_layout.items())
    if len(rows) > 1:
        rows.append(("all", result.overall))
    rows += result.parts.items()
    print_table(
        f"{options.method}, beam {options.beam}" if options.method != "shark2" else options.method,
        ("layout", "n", "top-1", "±", "top-3", "top-10", "greedy", "recall", "ece", "oov", "ms"),
        [(name, *_cells(metrics)) for name, metrics in rows],
        tight=True,
    )
    lengths = result.overall.by_length
    print("top-1 by length: " + "  ".join(f"{n}: {row['top1']:.1f}" for n, row in lengths.items()))


def _cells(metrics: Metrics) -> list[str]:
    """The metrics for a table of 80 columns; those with one digit are less exact anyway."""
    two = (metrics.top1, metrics.half_width, metrics.top3, metrics.top10)
    one = (metrics.greedy, metrics.recall, metrics.calibration_error, metrics.oov)
    cells = [_number(value, 2) for value in two] + [_number(value, 1) for value in one]
    return [f"{metrics.n:,}", *cells, _number(metrics.ms_p50, 2)]


def _number(value: float | None, digits: int) -> str:
    """A number for a table, a dash for None."""
    return "-" if value is None else f"{value:.{digits}f}"
