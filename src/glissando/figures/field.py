"""The spatial likelihood field: where on the keyboard the encoder thinks a letter is meant, letter by letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glissando.ctc import align
from glissando.errors import WeightsError
from glissando.explain import field_logits
from glissando.figures.examples import Example
from glissando.figures.style import COLOURS, INK, draw_keys, draw_trail, figure, heading, panels, set_fonts
from glissando.gesture import resample_batch
from glissando.lexicon import typed_letters
from glissando.runtime import EncoderRuntime

WIDTH = 160  # samples across the letter area
DEPTH = 8.0  # nats below the field's peak that are drawn in shades; less likely places are white
PANEL = 2.2  # inches
TITLES = 0.5  # inches of a row that its titles take


@dataclass(frozen=True, eq=False)
class LetterField:
    """The field at one letter of a swipe.

    Attributes:
        letter: the letter.
        moment: the frame it is read at, as a share of the swipe, 0 to 1.
        emitted: the letter's share of the emissions there, lambda P(letter).
        chance: P(letter), the same among the keys alone.
        field: [rows, WIDTH] float64 logits over the letter area, its peak 0.
    """

    letter: str
    moment: float
    emitted: float
    chance: float
    field: np.ndarray


def letter_fields(example: Example, encoder: EncoderRuntime) -> list[LetterField]:
    """The field at each letter of a swipe's word.

    The report takes the frame with the largest lambda P(letter). So does this among the frames that forced alignment
    gives the letter, which tells the two letters of "see" apart.
    """
    if encoder.weights.card.get("config", {}).get("basis", "cosine") != "cosine":
        raise WeightsError(f"weights {encoder.weights.name} have no cosine basis; only that gives a smooth field")
    layout = example.layout
    letters = typed_letters(example.word, frozenset(layout.letters))
    emissions = encoder.run(resample_batch([example.gesture]), layout.centres)
    groups = list(layout.keys_of.values())
    probs = np.exp(emissions.log_probs[0].astype(np.float64))  # [T, K + 1]
    by_letter = np.stack([probs[:, group].sum(axis=1) for group in map(list, groups)] + [probs[:, -1]], axis=1)
    alphabet = tuple(layout.keys_of)
    labels = [alphabet.index(letter) for letter in letters]
    frames = align(np.log(by_letter), labels).frames
    return [
        LetterField(
            letter, (frame + 1) / len(probs), float(by_letter[frame, label]),
            float(by_letter[frame, label] / max(1 - by_letter[frame, -1], 1e-12)),
            field_logits(emissions.coefficients[0, frame], WIDTH, max(round(WIDTH * layout.aspect), 1)),
        )
        for letter, label, frame in zip(letters, labels, frames, strict=True)
    ]  # fmt: skip


def draw_fields(examples: Sequence[Example], encoder: EncoderRuntime) -> Any:
    """A row for each swipe, a column for each letter: the field, the trail up to there, and the probabilities."""
    fields = [letter_fields(example, encoder) for example in examples]
    columns = max(map(len, fields))
    heights = [PANEL * example.layout.aspect + TITLES for example in examples]
    drawn = figure(PANEL * columns, sum(heights))
    rows = drawn.subfigures(len(examples), 1, squeeze=False, height_ratios=heights)[:, 0]
    for row, example, letters in zip(rows, examples, fields, strict=True):
        heading(row, f"{example.word}, {example.layout.name}, {example.origin}")
        for axes, letter in zip(panels(row, len(letters), columns), letters, strict=True):
            _draw_letter(axes, example, letter)
    return set_fonts(drawn, [example.layout for example in examples])


def _draw_letter(axes: Any, example: Example, letter: LetterField) -> None:
    """One letter's panel."""
    layout = example.layout
    draw_keys(axes, layout, {letter.letter}, size=7.5, boxes=False)
    extent = (0, 1, layout.aspect, 0)
    axes.imshow(letter.field, cmap="Blues", vmin=-DEPTH, vmax=DEPTH / 2, extent=extent, interpolation="bilinear")
    (points,) = resample_batch([example.gesture])
    draw_trail(axes, layout, points[:, : round(letter.moment * points.shape[1])], COLOURS[1], width=1.8)
    title = f"{letter.letter}   λP {100 * letter.emitted:.0f} %   P {100 * letter.chance:.0f} %"
    axes.set_title(title, fontsize=8, color=INK, pad=3)
