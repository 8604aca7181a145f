"""What a layout is like to swipe on: letter by letter, word by word, and how far the finger travels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glissando.ctc import align
from glissando.design.colinear import Colinearity, colinear_trigrams
from glissando.design.confusion import Confusion, confusions
from glissando.design.travel import Travel, travel
from glissando.design.words import RunningText, check_typeable
from glissando.errors import LayoutError, LexiconError
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import Lexicon, load_lexicon, typed_letters
from glissando.runtime import EncoderRuntime
from glissando.scoring import Scoring, load_scoring
from glissando.synth import WIDTH_MM, swipe
from glissando.weights import load_weights


@dataclass(frozen=True)
class ReportOptions:
    """What layouts are judged by.

    Attributes:
        language: of the word list; by default the first layout's.
        lexicon: a word list instead.
        weights: a packaged encoder or an ``.onnx`` file.
        scoring: constants for the confusable words: "auto", a packaged name, a file, or constants.
        count: frequent words that trigrams, pairs and travel are taken from.
        worst: colinear trigrams and confusable pairs to name.
        width_mm: width of the letter area.
    """

    language: str | None = None
    lexicon: str | Path | Lexicon | None = None
    weights: str | Path = "judge"
    scoring: str | Path | Scoring = "auto"
    count: int = 2000
    worst: int = 10
    width_mm: float = WIDTH_MM


@dataclass(frozen=True)
class Letter:
    """A letter of a word: the frame that forced alignment gives it, and the encoder's probability for it there."""

    letter: str
    frame: int
    confidence: float


@dataclass(frozen=True)
class LayoutReport:
    """One layout: the letters of each word asked for, and the measures over running text."""

    layout: Layout
    letters: dict[str, tuple[Letter, ...]]
    colinear: Colinearity
    confusion: Confusion
    travel: Travel

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "layout": self.layout.name}


@dataclass(frozen=True)
class Report:
    """Some layouts, judged by the same words.

    Attributes:
        lexicon: name of the word list.
        count: frequent words taken from it.
        coverage: how much of its running text they are, 0 to 1.
        layouts: one report each.
    """

    lexicon: str
    count: int
    coverage: float
    layouts: tuple[LayoutReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        head = {"lexicon": self.lexicon, "words": self.count, "coverage": self.coverage}
        return {**head, "layouts": [one.to_dict() for one in self.layouts]}


def report(
    layouts: Sequence[Layout],
    words: Sequence[str],
    options: ReportOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Judge layouts by exact swipes.

    Args:
        layouts: any number, with names of their own.
        words: words to look at letter by letter.
        options: what running text they are judged by.
        progress: called with (layouts done, layouts in all).
    """
    options = options or ReportOptions()
    _check(layouts, words)
    source = options.lexicon if options.lexicon is not None else options.language or layouts[0].language or "en"
    lexicon = load_lexicon(source)
    text = RunningText.of(lexicon, layouts, options.count)
    encoder = EncoderRuntime(load_weights(options.weights), threads=os.cpu_count() or 1)
    scoring = load_scoring(options.scoring, options.language or lexicon.language)
    reports: list[LayoutReport] = []
    for layout in layouts:
        keyboard = Keyboard(layout, text.lexicon, encoder, scoring)
        gestures = [swipe(word, layout, width_mm=options.width_mm) for word in text.lexicon.words]
        reports.append(
            LayoutReport(
                layout,
                {word: letter_confidences(keyboard, word, options.width_mm) for word in words},
                colinear_trigrams(layout, text, options.worst),
                confusions(keyboard, text, gestures, options.worst),
                travel(layout, text, options.width_mm),
            )
        )
        if progress:
            progress(len(reports), len(layouts))
    return Report(lexicon.name, len(text), text.coverage, tuple(reports))


def letter_confidences(keyboard: Keyboard, word: str, width_mm: float = WIDTH_MM) -> tuple[Letter, ...]:
    """How sure the encoder is of each letter of a word's exact swipe, where forced alignment puts it."""
    alphabet = tuple(keyboard.layout.keys_of)
    letters = typed_letters(word, frozenset(alphabet))
    labels = [alphabet.index(letter) for letter in letters]
    log_probs = keyboard.read([swipe(word, keyboard.layout, width_mm=width_mm)]).log_probs[0]
    frames = list(align(log_probs, labels).frames)
    confidence = np.exp(log_probs[frames, labels]).tolist()
    return tuple(Letter(*one) for one in zip(letters, frames, confidence, strict=True))


def _check(layouts: Sequence[Layout], words: Sequence[str]) -> None:
    """Refuse what cannot be reported on before any work is done."""
    if not layouts:
        raise LayoutError("a report needs at least one layout")
    name, count = Counter(layout.name for layout in layouts).most_common(1)[0]
    if count > 1:
        raise LayoutError(f"{count} of the layouts are called {name!r}; give each a name of its own")
    if not words:
        raise LexiconError("a report needs at least one word to look at letter by letter")
    for layout in layouts:
        for word in words:
            check_typeable(word, layout)
