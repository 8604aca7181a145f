"""``glissando bench``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from glissando.evaluation.bench import Benchmark
    from glissando.gesture import Gesture
    from glissando.layout import Layout


def bench(
    swipes: Annotated[
        Path | None, typer.Option(help="JSON lines to decode, all on one layout; by default swipes are made up.")
    ] = None,
    layout: Annotated[
        str, typer.Option(help="Layout of made-up swipes, or a file for the corpus's layout.")
    ] = "qwerty",
    language: Annotated[str | None, typer.Option(help="Language of the word list; by default the layout's.")] = None,
    lexicon: Annotated[Path | None, typer.Option(help="A word list instead of the language's.")] = None,
    weights: Annotated[str, typer.Option(help="A packaged encoder, or an .onnx file.")] = "encoder",
    beam: Annotated[int, typer.Option(min=1, max=10_000, help="Hypotheses the beam keeps.")] = 100,
    count: Annotated[int, typer.Option(min=1, help="Swipes to time.")] = 500,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time every step of decoding on one thread, and our beam beside flashlight-text's on the same emissions.

    **Examples**

        glissando bench

        glissando bench --swipes how_we_swipe_val.jsonl.gz --lexicon en_wordlist.combined.gz --json
    """
    from glissando.cli.progress import bar
    from glissando.evaluation.bench import benchmark
    from glissando.keyboard import load
    from glissando.layout import load_layout
    from glissando.lexicon import load_lexicon

    found = load_layout(layout)
    gestures, words = recorded(swipes, found, count) if swipes else made_up(found, language, count)
    listed = load_lexicon(lexicon or language or found.language or "en").with_words(words)
    keyboard = load(found, language, lexicon=listed, weights=weights, width=beam)
    with bar("decoding") as progress:
        result = benchmark(keyboard, gestures, words, progress)
    if as_json:
        print(json.dumps(result.to_dict(), indent=2))
    else:
        _print_table(result)


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
        ("confined to one word", result.speedup_word, result.flashlight_word_recall),
    )
    for name, speedup, recall in rivals:
        if speedup is not None and recall is not None:
            console.print(
                f"our search is {speedup:.1f} times as fast as flashlight-text's {name}; "
                f"recall {result.recall:.1f} % against {recall:.1f} %"
            )
