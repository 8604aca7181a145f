"""What a layout is like to swipe on: letter by letter, word by word, and how far the finger travels.

Words are confused as the keyboard itself confuses them: every word's exact swipe is decoded among the frequent words
with the packaged constants, and each candidate's probability is the chance of reading it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glissando.ctc import align, word_costs
from glissando.design.measures import Colinearity, Travel, measure_colinearity, measure_travel
from glissando.design.words import RunningText, check_typeable
from glissando.errors import LayoutError, LexiconError
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import Lexicon, load_lexicon, typed_letters
from glissando.runtime import EncoderRuntime
from glissando.scoring import Scoring, load_scoring
from glissando.synth import WIDTH_MM, swipe
from glissando.weights import load_weights

DEPTH = 20  # candidates of a swipe that count; the chances of those after them are negligible
CHUNK = 256  # swipes encoded at a time


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


Spelled = dict[str, tuple[Letter, ...]]  # the letters of some words


@dataclass(frozen=True)
class ConfusedPair:
    """Two words that can be mistaken for each other.

    Attributes:
        words: the two, the more frequent first.
        mistaken: the chance that the first word's swipe is read as the second, and the other way round.
        per_10000: how often one is read for the other in 10,000 words of running text.
    """

    words: tuple[str, str]
    mistaken: tuple[float, float]
    per_10000: float


@dataclass(frozen=True)
class Confusion:
    """How the encoder reads exact swipes.

    Attributes:
        cost: mean CTC cost of a word under its own swipe, in nats (the report's layout cost, without its duration).
        per_10000: words of 10,000 in running text that would be read as others.
        pairs: the pairs that add most to it.
    """

    cost: float
    per_10000: float
    pairs: tuple[ConfusedPair, ...]


@dataclass(frozen=True)
class LayoutReport:
    """One layout: the letters of each word asked for, and the measures over running text."""

    layout: Layout
    letters: Spelled
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
        coverage: their share of its running text, 0 to 1.
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
        options: the running text they are judged by.
        progress: called with (layouts done, layouts in all).
    """
    options = options or ReportOptions()
    _check(layouts, words)
    source = options.lexicon if options.lexicon is not None else options.language or layouts[0].language or "en"
    lexicon = load_lexicon(source)
    text = RunningText.choose(lexicon, layouts, options.count)
    encoder = _encoder(options.weights)
    scoring = load_scoring(options.scoring, options.language or lexicon.language)
    reports: list[LayoutReport] = []
    for layout in layouts:
        keyboard = Keyboard(layout, text.lexicon, encoder, scoring.closed())  # words of the text alone are confused
        gestures = [swipe(word, layout, width_mm=options.width_mm) for word in text.lexicon.words]
        reports.append(
            LayoutReport(
                layout,
                {word: letter_confidences(keyboard, word, options.width_mm) for word in words},
                measure_colinearity(layout, text, options.worst),
                measure_confusion(keyboard, text, gestures, options.worst),
                measure_travel(layout, text, options.width_mm),
            )
        )
        if progress:
            progress(len(reports), len(layouts))
    return Report(lexicon.name, len(text), text.coverage, tuple(reports))


def spell_on_layouts(layouts: Sequence[Layout], words: Sequence[str], weights: str | Path = "judge") -> list[Spelled]:
    """How sure the encoder is of each letter of the words, for every layout."""
    for layout in layouts:
        for word in words:
            check_typeable(word, layout)
    encoder, lexicon = _encoder(weights), Lexicon.from_counts(dict.fromkeys(words, 1.0))
    keyboards = [Keyboard(layout, lexicon, encoder, Scoring()) for layout in layouts]
    return [{word: letter_confidences(keyboard, word) for word in words} for keyboard in keyboards]


def letter_confidences(keyboard: Keyboard, word: str, width_mm: float = WIDTH_MM) -> tuple[Letter, ...]:
    """How sure the encoder is of each letter of a word's exact swipe, where forced alignment puts it."""
    letters, labels = _labels(keyboard.layout, word)
    log_probs = keyboard.read([swipe(word, keyboard.layout, width_mm=width_mm)]).log_probs[0]
    frames = list(align(log_probs, labels).frames)
    confidence = np.exp(log_probs[frames, labels]).tolist()
    return tuple(Letter(*one) for one in zip(letters, frames, confidence, strict=True))


def measure_confusion(keyboard: Keyboard, text: RunningText, gestures: list[Gesture], count: int = 10) -> Confusion:
    """Decode the swipe of every word and add up the chances of reading another; words that are taps are left out.

    Args:
        keyboard: its lexicon is the text's.
        text: W words.
        gestures: W swipes, one for each word.
        count: pairs to name.
    """
    words, shares = text.lexicon.words, text.shares
    place = {word: index for index, word in enumerate(words)}
    labels = [_labels(keyboard.layout, word)[1] for word in words]
    costs = np.empty(len(words))
    mistaken: dict[tuple[int, int], float] = {}
    for start in range(0, len(words), CHUNK):
        part = slice(start, start + CHUNK)
        stages = keyboard.stages(gestures[part], DEPTH)
        costs[part] = word_costs(stages.readings.log_probs, labels[part])
        for meant, candidates in enumerate(stages.candidates, start):
            if len(set(labels[meant])) > 1:
                chances = {(meant, place[one.word]): one.probability for one in candidates}
                mistaken |= {pair: chance for pair, chance in chances.items() if pair[1] != meant}
    total = 10_000 * sum(shares[meant] * chance for (meant, _), chance in mistaken.items())
    return Confusion(float(shares @ costs), float(total), confused_pairs(words, shares, mistaken, count))


def confused_pairs(
    words: Sequence[str], shares: np.ndarray, mistaken: dict[tuple[int, int], float], count: int
) -> tuple[ConfusedPair, ...]:
    """Join both directions of each pair, and keep the costliest.

    Args:
        words: W words.
        shares: [W] share of running text.
        mistaken: for a word meant and a word read, the chance of it.
        count: pairs to keep.
    """
    pairs = []
    for a, b in {(min(pair), max(pair)) for pair in mistaken}:
        there, back = mistaken.get((a, b), 0.0), mistaken.get((b, a), 0.0)
        per_10000 = float(10_000 * (shares[a] * there + shares[b] * back))
        pairs.append(ConfusedPair((words[a], words[b]), (there, back), per_10000))
    return tuple(sorted(pairs, key=lambda pair: (-pair.per_10000, pair.words))[:count])


def _encoder(weights: str | Path) -> EncoderRuntime:
    return EncoderRuntime(load_weights(weights), threads=os.cpu_count() or 1)


def _labels(layout: Layout, word: str) -> tuple[tuple[str, ...], list[int]]:
    """The letters that type a word, and their columns in the layout's emissions."""
    alphabet = tuple(layout.keys_of)
    letters = typed_letters(word, frozenset(alphabet))
    return letters, [alphabet.index(letter) for letter in letters]


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
