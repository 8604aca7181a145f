"""``glissando demo``: swipes drawn in the terminal with the words they decode to."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from glissando.gesture import Gesture
    from glissando.keyboard import Keyboard

# (layout, language, words); the five-row layout is one the encoder was never trained on.
SCENES = (
    ("qwerty", "en", ("keyboard", "don't")),
    ("clearflow", "en", ("stream", "weather")),
    ("jcuken", "ru", ("привет", "спасибо")),
)


def demo(
    words: Annotated[
        list[str] | None, typer.Argument(help="Words to swipe; by default some on three keyboards.")
    ] = None,
    layout: Annotated[str, typer.Option(help="Keyboard for your words: built-in or a .json file.")] = "qwerty",
    language: Annotated[str | None, typer.Option(help="Their language; by default the layout's.")] = None,
    seed: Annotated[int, typer.Option(help="Another finger.")] = 0,
) -> None:
    """Make swipes with a human's noise, draw them, and decode them.

    **Examples**

        glissando demo

        glissando demo hello world --layout dvorak
    """
    import numpy as np

    from glissando.keyboard import load
    from glissando.synth import swipe

    scenes = ((layout, language, tuple(words)),) if words else SCENES
    rng = np.random.default_rng(seed)
    for name, code, chosen in scenes:
        keyboard = load(name, code)
        for word in chosen:
            _show(keyboard, word, swipe(word, keyboard.layout, rng))


def _show(keyboard: Keyboard, word: str, gesture: Gesture) -> None:
    """One swipe with its candidates below."""
    from rich.console import Console
    from rich.markup import escape

    from glissando.drawing import text_swipe

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    console = Console(highlight=False)
    console.print(
        f"\n[bold]{escape(word)}[/bold] on {escape(keyboard.layout.name)}, {gesture.duration:.0f} ms of finger"
    )
    print(text_swipe(keyboard.layout, gesture, width=64, colour=colour))
    for place, candidate in enumerate(keyboard.decode(gesture, k=4), 1):
        style = "bold green" if place == 1 else "dim"
        share = "█" * round(24 * candidate.probability)
        console.print(
            f"  [{style}]{place}. {escape(candidate.word):<18}[/{style}] {candidate.probability:6.1%} {share}"
        )
