"""What training does to one swipe: co-augmented samples, and the swipe carried to random keyboards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glissando.errors import MissingExtraError
from glissando.figures.examples import Example
from glissando.figures.style import COLOURS, INK, MUTED, RULE, figure, panels, set_fonts
from glissando.gesture import resample
from glissando.layout import Layout
from glissando.lexicon import typed_letters

COLUMNS = 4
PANEL = 2.1  # inches


@dataclass(frozen=True, eq=False)
class Sample:
    """A swipe as training sees it, all in the unit square.

    Attributes:
        title: what was done to it.
        path: [2, n].
        centres: [K, 2].
        layout: the keyboard before; its keys' letters.
        typed: the letters of the word.
    """

    title: str
    path: np.ndarray
    centres: np.ndarray
    layout: Layout
    typed: frozenset[str]


def samples(example: Example, count: int, seed: int = 0, rearranged: int = 0) -> list[Sample]:
    """The swipe itself, then ``count`` co-augmented samples of it and ``rearranged`` on random grids."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("augmentation needs torch: pip install 'glissando[train]'") from None
    from glissando.train.augment import AugmentConfig, augment, sample_parameters
    from glissando.train.grids import random_grids
    from glissando.train.rearrange import align, rearrange

    layout = example.layout
    typed = typed_letters(example.word, frozenset(layout.letters))
    generator = torch.Generator().manual_seed(seed)

    def sample(title: str, path: Any, keys: Any) -> Sample:
        return Sample(title, path.numpy(), keys[: len(layout.keys), :2].numpy(), layout, frozenset(typed))

    batch = _repeat(example, typed, max(count, 1))
    drawn = [sample(f"{example.word}, {layout.name}", batch.path[0], batch.keys[0])]
    parameters = sample_parameters(batch, AugmentConfig(), generator)
    moved = augment(batch, parameters)
    drawn += [sample(_caption(parameters, row), moved.path[row], moved.keys[row]) for row in range(count)]
    if rearranged:
        batch = _repeat(example, typed, rearranged)
        grids = random_grids(rearranged, len(layout.keys), generator)
        carried = rearrange(batch, align(batch.path, batch.keys, batch.targets, batch.lengths), grids)
        drawn += [sample("re-arranged", carried.path[row], carried.keys[row]) for row in range(rearranged)]
    return drawn


def draw_samples(shown: Sequence[Sample]) -> Any:
    """A panel for each sample: the unit square, the keys' letters, the path with a dot where it begins."""
    columns = min(len(shown), COLUMNS)
    drawn = figure(PANEL * columns, (PANEL + 0.25) * math.ceil(len(shown) / columns))
    for axes, sample in zip(panels(drawn, len(shown), columns), shown, strict=True):
        _draw_sample(axes, sample)
    return set_fonts(drawn, [shown[0].layout])


def _draw_sample(axes: Any, sample: Sample) -> None:
    """One sample's panel."""
    axes.set(xlim=(-0.03, 1.03), ylim=(1.03, -0.03), aspect="equal", xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_color(RULE)
    for (x, y), letter in zip(sample.centres, sample.layout.letters, strict=True):
        lit = letter in sample.typed
        axes.text(
            x, y, letter, ha="center", va="center", fontsize=8, color=INK if lit else MUTED,
            fontweight="bold" if lit else "normal", zorder=4, parse_math=False,
        )  # fmt: skip
    axes.plot(*sample.path, color=COLOURS[0], lw=1.8, solid_capstyle="round", zorder=3, alpha=0.85)
    axes.plot(*sample.path[:, :1], "o", color=COLOURS[0], ms=5, mec="white", mew=0.8, zorder=3.5)
    axes.set_title(sample.title, fontsize=8, color=INK, pad=3)


def _repeat(example: Example, typed: Sequence[str], count: int) -> Any:
    """The same swipe ``count`` times, as a batch of training."""
    import torch

    from glissando.train.batches import Batch, layout_tensors

    keys, mask, rows = (part.expand(count, *part.shape[1:]) for part in layout_tensors([example.layout]))
    path = torch.from_numpy(resample(example.gesture)).expand(count, -1, -1)
    targets = torch.tensor([[example.layout.keys_of[letter][0] for letter in typed]]).expand(count, -1)
    return Batch(path, keys, mask, targets, torch.full((count,), len(typed)), rows)


def _caption(parameters: Any, row: int) -> str:
    """What augmentation did to one sample, in words."""
    parts = [f"{math.degrees(float(parameters.angle[row])):.0f}°"]
    parts += [f"flip {axis}" for axis, sign in zip("xy", parameters.flip[row].tolist(), strict=True) if sign < 0]
    parts += ["reversed"] if bool(parameters.reverse[row]) else []
    return ", ".join(parts)
