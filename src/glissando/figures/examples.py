"""Swipes to draw: a recorded one where a corpus has the word, else one made up with human noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glissando.corpus.records import Swipe, read_swipes
from glissando.corpus.sources import all_files
from glissando.design.words import check_typeable
from glissando.errors import GlissandoError
from glissando.evaluation.evaluate import with_aspect
from glissando.gesture import Gesture
from glissando.layout import ALIASES, Layout, load_layout
from glissando.synth import swipe

MAX_KEY_DISTANCE = 2.0  # key widths: a swipe that strays further does not follow its word


@dataclass(frozen=True)
class Example:
    """A swipe to draw: its word, its layout, and its origin ("recorded", "made up")."""

    word: str
    layout: Layout
    gesture: Gesture
    origin: str


def find_examples(wanted: Sequence[str], sources: Sequence[str | Path] = (), seed: int = 0) -> list[Example]:
    """Examples for words on layouts, each written LAYOUT:WORD.

    A corpus gives the first swipe of the word on the layout that follows its keys.

    Args:
        wanted: such as "qwerty:with"; the layout may be a file.
        sources: corpora in our format to look in, as ``find_files`` takes them.
        seed: for made-up swipes.
    """
    pairs = [_split(text) for text in wanted]
    sought = {(layout.name, word) for layout, word in pairs}
    recorded: dict[tuple[str, str], Swipe] = {}
    for file in all_files(sources):
        for one in read_swipes(file):
            key = ALIASES.get(one.layout, one.layout), one.word
            if key in sought and key not in recorded and (one.key_distance or 0.0) <= MAX_KEY_DISTANCE:
                recorded[key] = one
    rng = np.random.default_rng(seed)
    return [_example(layout, word, recorded.get((layout.name, word)), rng) for layout, word in pairs]


def _example(layout: Layout, word: str, recorded: Swipe | None, rng: np.random.Generator) -> Example:
    """The recorded swipe, or one made up."""
    if recorded is None:
        return Example(word, layout, swipe(word, layout, rng), "made up")
    return Example(word, with_aspect(layout, [recorded]), recorded.gesture, "recorded")


def _split(text: str) -> tuple[Layout, str]:
    """A layout and a word it can type."""
    name, colon, word = text.rpartition(":")
    if not (name and colon and word):
        raise GlissandoError(f"an example is written LAYOUT:WORD, such as qwerty:with; got {text!r}")
    layout = load_layout(name)
    check_typeable(word, layout)
    return layout, word
