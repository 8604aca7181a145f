"""``glissando demo``: swipes drawn in the terminal with the words they decode to."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from glissando.cli import options as opt

if TYPE_CHECKING:
    from glissando.gesture import Gesture
    from glissando.keyboard import Keyboard

# (layout, language, words); the encoder was trained on QWERTY alone.
SCENES = (
    ("qwerty", "en", ("keyboard", "don't")),
    ("clearflow", "en", ("stream", "weather")),
    ("jcuken", "ru", ("привет", "спасибо")),
)


def demo(
    words: Annotated[list[str] | None, Argument(help="Words to swipe; by default some on three keyboards.")] = None,
    layout: opt.Layout = "qwerty",
    language: opt.Language = None,
    seed: Annotated[int, Option(help="Seed of the finger's noise.")] = 0,
) -> None:
    """Make swipes as clumsy as a person's, draw them, and decode them.

    **Examples**

        glissando demo
        glissando demo hello world --layout dvorak
    """
    import numpy as np

    import glissando
    from glissando.synth import swipe

    scenes = ((layout, language, tuple(words)),) if words else SCENES
    rng = np.random.default_rng(seed)
    for name, code, chosen in scenes:
        keyboard = glissando.load(name, code)
        for word in chosen:
            _show(keyboard, word, swipe(word, keyboard.layout, rng))


def _show(keyboard: Keyboard, word: str, gesture: Gesture) -> None:
    """Print one swipe with its candidates below."""
    from rich.console import Console
    from rich.markup import escape

    from glissando.drawing import text_swipe

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    console = Console(highlight=False)
    title = f"[bold]{escape(word)}[/bold] on {escape(keyboard.layout.name)}"
    console.print(f"\n{title}, swiped in {gesture.duration / 1000:.1f} s from ● to ○")
    print(text_swipe(keyboard.layout, gesture, width=64, colour=colour))
    for place, candidate in enumerate(keyboard.decode(gesture, k=4), 1):
        style = "bold green" if candidate.word == word else "bold" if place == 1 else "dim"
        share = "█" * round(24 * candidate.probability)
        line = f"{place}. {escape(candidate.word):<18}[/{style}] {candidate.probability:6.1%} {share}"
        console.print(f"  [{style}]{line.rstrip()}")
