"""``glissando bench``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from glissando.cli import options as opt
from glissando.cli.output import bar, print_json, print_table, without_picture_suffix

if TYPE_CHECKING:
    from glissando.evaluation.bench import Benchmark
    from glissando.evaluation.profile import Profile
    from glissando.gesture import Gesture
    from glissando.keyboard import Keyboard
    from glissando.layout import Layout
    from glissando.lexicon import Lexicon

LABELS = {
    "match": "match, in doubt",
    "in_context": "rank after a text",
    "end_to_end": "end to end",
    "without": "end to end without the matcher",
    "forward": "matcher, forward",
    "flashlight_word": "flashlight word",
}
STEP_LABELS = {
    "encoder": "encoder, forward",
    "decoder": "decoder, forward",
    "end_to_end": "end to end: resample, encoder, beam",
    "corrected": "end to end with the decoder",
    "decode": "decode: end to end, geometry, ranking",
    "corrected_decode": "decode with the decoder",
    "matcher": "matcher, forward",
    "matched_decode": "decode with the matcher, asked in doubt",
}


def bench(
    swipes: opt.Recorded = None,
    layout: opt.Layout = "qwerty",
    language: opt.Language = None,
    lexicon: opt.Lexicon = None,
    weights: opt.Weights = "encoder",
    matcher: opt.Matcher = "matcher",
    beam: opt.Beam = 100,
    count: Annotated[int, Option(min=1, help="Swipes to time.")] = 500,
    runtime: Annotated[list[str] | None, Option(help="onnxruntime, executorch, torch, torch.compile; all.")] = None,
    checkpoint: Annotated[Path | None, Option(help="The encoder's .safetensors, for the other runtimes.")] = None,
    plot: Annotated[Path | None, Option(help="Draw latency by beam width and by words to this .png and .svg.")] = None,
    as_json: opt.Json = False,
) -> None:
    """Time decoding on one thread: every step, every runtime, and our beam beside flashlight-text's.

    The first table has the steps of decoding. Below it stand what the text before a swipe costs and what the matcher
    costs: decoding with it and without it takes turns. The second table is the report's profile of a device, for this
    machine: the size of the networks, their forwards and whole swipes in each runtime, and the time and memory that a
    fresh process needs for its first word. What is compared runs in turns, so that ratios are fair on a busy machine.
    Runtimes that are not installed are left out. Without --checkpoint the others run untrained weights, which take the
    same time.

    **Examples**

        glissando bench
        glissando bench --runtime onnxruntime --plot latency.png
        glissando bench --swipes how_we_swipe_val.jsonl.gz --lexicon en_wordlist.combined.gz --json
    """
    from glissando.evaluation.bench import benchmark
    from glissando.layout import load_layout
    from glissando.loading import load

    board = load_layout(layout)
    gestures, words, listed = swipes_to_decode(board, swipes, count, language, lexicon)
    keyboard = load(board, language, lexicon=listed, weights=weights, matcher=matcher, width=beam)
    with bar("decoding") as progress:
        result = benchmark(keyboard, gestures, words, progress)
    again = {"language": language, "lexicon": lexicon and str(lexicon), "weights": weights, "matcher": matcher}
    profile = _profile(keyboard, gestures, runtime, checkpoint, {"layout": layout, "width": beam, **again})
    if plot:
        _draw(keyboard, gestures, plot)
    if as_json:
        print_json({**asdict(result), "profile": asdict(profile)})
    else:
        _print_steps(result)
        _print_profile(profile)


def _profile(
    keyboard: Keyboard,
    gestures: Sequence[Gesture],
    runtimes: list[str] | None,
    checkpoint: Path | None,
    again: dict[str, Any],
) -> Profile:
    """Time the runtimes that were asked for, and a fresh process."""
    from glissando.errors import GlissandoError
    from glissando.evaluation.bench import RUNS
    from glissando.evaluation.profile import Profile, cold_start, race

    known = ("onnxruntime", "executorch", "torch", "torch.compile")
    unknown = set(runtimes or ()) - set(known)
    if unknown:
        raise GlissandoError(f"no runtime {min(unknown)!r}; there are {', '.join(known)}")
    others = [name for name in known[1:] if name in (runtimes or known)]
    keyboards, skipped = {"onnxruntime": keyboard}, {}
    networks = {"encoder": keyboard.encoder} | ({"matcher": keyboard.matcher} if keyboard.matcher else {})
    parameters = {name: network.weights.card.get("parameters", 0) for name, network in networks.items()}
    megabytes = {f"{name}.onnx": len(network.weights.data) / 1e6 for name, network in networks.items()}
    if others:
        try:
            from glissando.cli.runtimes import line_up
        except ImportError as error:
            skipped = dict.fromkeys(others, f"{error.name} is not installed")
        else:
            lined = line_up(keyboard, others, checkpoint)
            keyboards, skipped = lined.keyboards, lined.skipped
            parameters, megabytes = lined.parameters, lined.megabytes
    with bar("runtimes") as progress:
        latency = race(keyboards, gestures, runs=min(RUNS, len(gestures)), progress=progress)
    return Profile(latency, skipped, parameters, megabytes, cold_start(again))


def _draw(keyboard: Keyboard, gestures: Sequence[Gesture], plot: Path) -> None:
    """Draw the time of a swipe by beam width and by the number of words."""
    from glissando.evaluation.bench import RUNS
    from glissando.evaluation.profile import sweep
    from glissando.figures.latency import draw_latency
    from glissando.figures.style import save

    by_width, by_words = sweep(keyboard, gestures, runs=min(RUNS, len(gestures)))
    save(draw_latency(by_width, by_words), without_picture_suffix(plot))


def swipes_to_decode(
    layout: Layout, source: str | None, count: int | None, language: str | None = None, lexicon: Path | None = None
) -> tuple[list[Gesture], list[str], Lexicon]:
    """Recorded swipes of a source or else synthetic ones, their words, and a lexicon that has these words."""
    from glissando.lexicon import load_lexicon

    gestures, words = _recorded(source, layout, count) if source else _synthetic(layout, language, count or 200)
    return gestures, words, load_lexicon(lexicon or language or layout.language or "en").with_words(words)


def _recorded(source: str, layout: Layout, count: int | None) -> tuple[list[Gesture], list[str]]:
    """The first swipes of a corpus that were made on the layout."""
    from glissando.corpus.records import read_swipes
    from glissando.corpus.sources import find_files, shown
    from glissando.errors import CorpusError

    swipes = (swipe for file in find_files(source) for swipe in read_swipes(file))
    chosen = list(islice((swipe for swipe in swipes if swipe.layout == layout.name), count))
    if not chosen:
        raise CorpusError(f"{shown(source)} has no swipe on layout {layout.name}; --layout names another")
    return [swipe.gesture for swipe in chosen], [swipe.word for swipe in chosen]


def _synthetic(layout: Layout, language: str | None, count: int) -> tuple[list[Gesture], list[str]]:
    """Synthetic swipes for frequent words."""
    import numpy as np

    from glissando.errors import LexiconError
    from glissando.lexicon import load_lexicon, typed_letters
    from glissando.synth import swipe

    letters = frozenset(layout.letters)
    lexicon = load_lexicon(language or layout.language or "en")
    frequent = [word for word in lexicon.words if typed_letters(word, letters)]
    if not frequent:
        raise LexiconError(f"no word of lexicon {lexicon.name} can be typed on layout {layout.name}")
    rng = np.random.default_rng(0)
    words = [frequent[i] for i in rng.integers(0, min(len(frequent), 5000), count)]
    return [swipe(word, layout, rng) for word in words], words


def _print_steps(result: Benchmark) -> None:
    """Print milliseconds per step, and the comparison with flashlight-text."""
    from glissando.evaluation.bench import STEPS

    matching = result.matching
    timings = {name: getattr(result, name) for name in (*STEPS, "flashlight", "flashlight_word")}
    if matching:
        timings |= {"without": matching.without, "forward": matching.forward}
    print_table(
        f"{result.swipes:,} swipes, beam {result.beam}, {result.spellings:,} spellings, one thread",
        ("step", "p50 ms", "p95 ms", "mean ms"),
        [
            (LABELS.get(name, name), f"{one.p50:.3f}", f"{one.p95:.3f}", f"{one.mean:.3f}")
            for name, one in timings.items()
            if one
        ],
    )
    print(f"the text before adds {result.in_context.mean - result.rank.mean:.3f} ms to a swipe")
    if matching:
        print(
            f"the matcher is asked about {matching.asked:.0f} % of the swipes; "
            f"with it decoding takes {matching.p50:.2f} times as long at p50, {matching.mean:.2f} times in the mean"
        )
    rivals = (
        ("LexiconDecoder", result.speedup, result.flashlight_recall),
        ("restricted to one word", result.speedup_word, result.flashlight_word_recall),
    )
    for name, speedup, recall in rivals:
        if speedup is not None and recall is not None:
            print(
                f"our search is {speedup:.1f} times as fast as flashlight-text's {name}; "
                f"recall {result.recall:.1f} % against {recall:.1f} %"
            )


def _print_profile(profile: Profile) -> None:
    """Print the report's table of a device."""
    rows = []
    for step, label in STEP_LABELS.items():
        cells = []
        for latency in profile.latency.values():
            timing = getattr(latency, step)
            share = f" ({timing.p50 / latency.encoder.p50:.2f} x)" if timing and step != "encoder" else ""
            cells.append(f"{timing.p50:.3f}{share}" if timing else "-")
        if set(cells) != {"-"}:
            rows.append((label, *cells))
    print_table("one thread, p50 in ms, in turns", ("", *profile.latency), rows)
    print("x: of the bare encoder in the same runtime")
    for name, count in profile.parameters.items():
        files = [f"{file} {size:.2f} MB" for file, size in profile.megabytes.items() if file.startswith(name)]
        print(f"{name}: {count:,} parameters, {', '.join(files)}")
    for name, why in profile.skipped.items():
        print(f"{name} was not timed: {why}")
    if profile.cold_start:
        start = profile.cold_start
        print(
            f"a fresh process: {start.seconds:.2f} s from import to first word, "
            f"{start.megabytes:.0f} MB above the interpreter at its peak"
        )
