"""``glissando bench``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from glissando.evaluation.bench import Benchmark
    from glissando.evaluation.profile import Profile
    from glissando.gesture import Gesture
    from glissando.keyboard import Keyboard
    from glissando.layout import Layout


def bench(
    swipes: Annotated[
        Path | None, typer.Option(help="JSON lines to decode, all on one layout; by default synthetic swipes.")
    ] = None,
    layout: Annotated[str, typer.Option(help="Layout of the swipes: a name or a file.")] = "qwerty",
    language: Annotated[str | None, typer.Option(help="Language of the word list; by default the layout's.")] = None,
    lexicon: Annotated[Path | None, typer.Option(help="A word list instead of the language's.")] = None,
    weights: Annotated[str, typer.Option(help="A packaged encoder, or an .onnx file.")] = "encoder",
    beam: Annotated[int, typer.Option(min=1, max=10_000, help="Hypotheses the beam keeps.")] = 100,
    count: Annotated[int, typer.Option(min=1, help="Swipes to time.")] = 500,
    runtime: Annotated[
        list[str] | None,
        typer.Option(help="onnxruntime, executorch, torch, torch.compile; by default those that are installed."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="The encoder's .safetensors; without it other runtimes get untrained weights.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw latency by beam width and by words to this .png and .svg.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time decoding on one thread: every step, every runtime, and our beam beside flashlight-text's.

    The first table has the steps of decoding. The second is the report's profile of a device, for this machine: the
    size of the networks, their forwards and whole swipes in each runtime, and the time and memory that a fresh process
    needs for its first word. What is compared runs in turns, so that ratios are fair on a busy machine.

    **Examples**

        glissando bench

        glissando bench --runtime onnxruntime --plot latency.png

        glissando bench --swipes how_we_swipe_val.jsonl.gz --lexicon en_wordlist.combined.gz --json
    """
    from glissando.cli.progress import bar
    from glissando.evaluation.bench import benchmark
    from glissando.keyboard import load
    from glissando.layout import load_layout
    from glissando.lexicon import load_lexicon

    keys = load_layout(layout)
    gestures, words = recorded(swipes, keys, count) if swipes else made_up(keys, language, count)
    listed = load_lexicon(lexicon or language or keys.language or "en").with_words(words)
    keyboard = load(keys, language, lexicon=listed, weights=weights, width=beam)
    with bar("decoding") as progress:
        result = benchmark(keyboard, gestures, words, progress)
    again = {"language": language, "lexicon": lexicon and str(lexicon), "weights": weights, "width": beam}
    profile = _profile(keyboard, gestures, runtime, checkpoint, {"layout": layout, **again})
    if plot:
        _draw(keyboard, gestures, plot)
    if as_json:
        print(json.dumps({**asdict(result), "profile": asdict(profile)}, indent=2))
    else:
        _print_table(result)
        _print_profile(profile)


def _profile(
    keyboard: Keyboard,
    gestures: Sequence[Gesture],
    runtimes: list[str] | None,
    checkpoint: Path | None,
    again: dict[str, Any],
) -> Profile:
    """Time the runtimes that were asked for, and a fresh process."""
    from glissando.cli.progress import bar
    from glissando.errors import GlissandoError
    from glissando.evaluation.bench import RUNS
    from glissando.evaluation.profile import Profile, cold_start, race

    known = ("onnxruntime", "executorch", "torch", "torch.compile")
    unknown = set(runtimes or ()) - set(known)
    if unknown:
        raise GlissandoError(f"no runtime {min(unknown)!r}; there are {', '.join(known)}")
    others = [name for name in known[1:] if name in (runtimes or known)]
    keyboards, skipped = {"onnxruntime": keyboard}, {}
    parameters = {"encoder": keyboard.encoder.weights.card.get("parameters", 0)}
    megabytes = {"encoder.onnx": len(keyboard.encoder.weights.data) / 1e6}
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
    save(draw_latency(by_width, by_words), plot.with_suffix("") if plot.suffix in (".png", ".svg") else plot)


def recorded(file: Path, layout: Layout, count: int | None) -> tuple[list[Gesture], list[str]]:
    """The first swipes of a corpus that were made on the layout."""
    from glissando.corpus.records import read_swipes
    from glissando.errors import CorpusError

    chosen = []
    for swipe in read_swipes(file):
        if swipe.layout == layout.name:
            chosen.append(swipe)
        if len(chosen) == count:
            break
    if not chosen:
        raise CorpusError(f"{file} has no swipe on layout {layout.name}; --layout names another")
    return [swipe.gesture for swipe in chosen], [swipe.word for swipe in chosen]


def made_up(layout: Layout, language: str | None, count: int) -> tuple[list[Gesture], list[str]]:
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


def _print_table(result: Benchmark) -> None:
    """Milliseconds per step, and the comparison."""
    from rich.console import Console
    from rich.table import Table

    from glissando.evaluation.bench import STEPS

    title = f"{result.swipes:,} swipes, beam {result.beam}, {result.spellings:,} spellings, one thread"
    table = Table(title=title, title_justify="left", min_width=len(title))
    table.add_column("step")
    for column in ("p50 ms", "p95 ms"):
        table.add_column(column, justify="right")
    for name in (*STEPS, "flashlight", "flashlight_word"):
        timing = getattr(result, name)
        if timing:
            table.add_row(name.replace("_", " "), f"{timing.p50:.3f}", f"{timing.p95:.3f}")
    console = Console()
    console.print(table)
    rivals = (
        ("LexiconDecoder", result.speedup, result.flashlight_recall),
        ("restricted to one word", result.speedup_word, result.flashlight_word_recall),
    )
    for name, speedup, recall in rivals:
        if speedup is not None and recall is not None:
            console.print(
                f"our search is {speedup:.1f} times as fast as flashlight-text's {name}; "
                f"recall {result.recall:.1f} % against {recall:.1f} %"
            )


def _print_profile(profile: Profile) -> None:
    """The report's table of a device."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="one thread, p50 in ms, in turns", title_justify="left")
    table.add_column("")
    for name in profile.latency:
        table.add_column(name, justify="right")
    rows = {
        "encoder": "encoder, forward",
        "decoder": "decoder, forward",
        "end_to_end": "end to end: resample, encoder, beam",
        "corrected": "end to end with the decoder",
        "decode": "decode: end to end, geometry, ranking",
        "corrected_decode": "decode with the decoder",
    }
    for step, label in rows.items():
        cells = []
        for latency in profile.latency.values():
            timing = getattr(latency, step)
            share = f" ({timing.p50 / latency.encoder.p50:.2f} x)" if timing and step != "encoder" else ""
            cells.append(f"{timing.p50:.3f}{share}" if timing else "-")
        if any(cell != "-" for cell in cells):
            table.add_row(label, *cells)
    console = Console()
    console.print(table)
    console.print("x: of the bare encoder in the same runtime")
    for name, count in profile.parameters.items():
        files = [f"{file} {size:.2f} MB" for file, size in profile.megabytes.items() if file.startswith(name)]
        console.print(f"{name}: {count:,} parameters, {', '.join(files)}")
    for name, why in profile.skipped.items():
        console.print(f"{name} was not timed: {why}")
    if profile.cold_start:
        start = profile.cold_start
        console.print(
            f"a fresh process: {start.seconds:.2f} s from import to first word, "
            f"{start.megabytes:.0f} MB above the interpreter at its peak"
        )
