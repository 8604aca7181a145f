"""The spatial likelihood field: where on the keyboard the encoder thinks a letter is meant, letter by letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glissando.ctc import align
from glissando.errors import WeightsError
from glissando.explain import field_logits
from glissando.figures.examples import Example
from glissando.figures.style import COLOURS, INK, draw_keys, draw_trail, figure, save
from glissando.gesture import resample_batch
from glissando.lexicon import typed_letters
from glissando.runtime import EncoderRuntime

WIDTH = 160  # samples across the letter area
DEPTH = 8.0  # nats below the field's peak that are told apart; what is less likely is white
PANEL = 2.2  # inches
TITLES = 0.5  # inches of a row that its titles take


@dataclass(frozen=True, eq=False)
class Sight:
    """What the encoder sees of one letter.

    Attributes:
        letter: the letter.
        moment: where along the swipe it is seen, 0 to 1.
        emitted: the letter's share of the emissions there, lambda P(letter).
        chance: P(letter), the same among the keys alone.
        field: [rows, WIDTH] float64 logits over the letter area, its peak 0.
    """

    letter: str
    moment: float
    emitted: float
    chance: float
    field: np.ndarray


def look(example: Example, encoder: EncoderRuntime) -> list[Sight]:
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
        Sight(
            letter, (frame + 1) / len(probs), float(by_letter[frame, label]),
            float(by_letter[frame, label] / max(1 - by_letter[frame, -1], 1e-12)),
            field_logits(emissions.coefficients[0, frame], WIDTH, max(round(WIDTH * layout.aspect), 1)),
        )
        for letter, label, frame in zip(letters, labels, frames, strict=True)
    ]  # fmt: skip


def draw_fields(examples: Sequence[Example], encoder: EncoderRuntime, path: Path) -> list[Path]:
    """A row for each swipe, a column for each letter: the field, the trail up to there, and the probabilities."""
    sights = [look(example, encoder) for example in examples]
    columns = max(map(len, sights))
    heights = [PANEL * example.layout.aspect + TITLES for example in examples]
    made = figure(PANEL * columns, sum(heights))
    rows = made.subfigures(len(examples), 1, squeeze=False, height_ratios=heights)[:, 0]
    for row, example, seen in zip(rows, examples, sights, strict=True):
        title = f"{example.word}, {example.layout.name}, {example.origin}"
        row.suptitle(title, x=0.012, ha="left", fontsize=10, color=INK, fontweight="bold")
        panels = row.subplots(1, columns, squeeze=False)[0]
        for axes, sight in zip(panels, seen, strict=False):
            _draw_sight(axes, example, sight)
        for axes in panels[len(seen) :]:
            axes.axis("off")
    return save(made, path, [example.layout for example in examples])


def _draw_sight(axes: Any, example: Example, sight: Sight) -> None:
    """One letter's panel."""
    layout = example.layout
    draw_keys(axes, layout, {sight.letter}, size=7.5, boxes=False)
    extent = (0, 1, layout.aspect, 0)
    axes.imshow(sight.field, cmap="Blues", vmin=-DEPTH, vmax=DEPTH / 2, extent=extent, interpolation="bilinear")
    (points,) = resample_batch([example.gesture])
    draw_trail(axes, layout, points[:, : round(sight.moment * points.shape[1])], COLOURS[1], width=1.8, start=4)
    title = f"{sight.letter}   λP {100 * sight.emitted:.0f} %   P {100 * sight.chance:.0f} %"
    axes.set_title(title, fontsize=8, color=INK, pad=3)
