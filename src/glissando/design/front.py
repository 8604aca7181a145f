"""What a search leaves to choose from: the layouts that no other beats in both clarity and travel."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glissando.design.archive import Price
from glissando.design.report import Letter, letter_confidences
from glissando.design.words import check_typeable
from glissando.errors import DesignError, LayoutError
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import Lexicon
from glissando.runtime import EncoderRuntime
from glissando.scoring import Scoring
from glissando.weights import load_weights


@dataclass(frozen=True)
class Choice(Price):
    """A layout of the front, and what it costs, as the search judged it."""

    layout: Layout


@dataclass(frozen=True)
class Front:
    """The front of a search, the quickest layout first.

    Attributes:
        choices: its layouts.
        dial: nats a second of swiping was worth to the search.
        best: the cost of the layout it found.
        peers: those of known layouts it was compared with.
    """

    choices: tuple[Choice, ...]
    dial: float
    best: Price
    peers: dict[str, Price]

    @classmethod
    def read(cls, folder: Path) -> Front:
        """Read front.json and search.json of a search's directory."""
        try:
            points = json.loads((folder / "front.json").read_bytes())
            account = json.loads((folder / "search.json").read_bytes())
            choices = [Choice(*_costs(point), Layout.from_dict(point["layout"], "front")) for point in points]
            peers = {str(name): Price(*_costs(peer)) for name, peer in account["peers"].items()}
            dial, best = float(account["config"]["dial"]), Price(*_costs(account))
            if not choices:
                raise ValueError("front.json is empty")
        except (OSError, ValueError, LookupError, TypeError, AttributeError, LayoutError) as error:
            raise DesignError(f"{folder} holds no front of a search: {error}") from None
        return cls(tuple(sorted(choices, key=lambda one: one.travel)), dial, best, peers)

    def letters(self, words: Sequence[str], weights: str | Path = "judge") -> list[dict[str, tuple[Letter, ...]]]:
        """How sure the encoder is of each letter of the words, for every layout: ``report.letter_confidences``."""
        for one in self.choices:
            for word in words:
                check_typeable(word, one.layout)
        encoder = EncoderRuntime(load_weights(weights), threads=os.cpu_count() or 1)
        lexicon = Lexicon.from_counts(dict.fromkeys(words, 1.0))
        keyboards = [Keyboard(one.layout, lexicon, encoder, Scoring()) for one in self.choices]
        return [{word: letter_confidences(keyboard, word) for word in words} for keyboard in keyboards]


def _costs(entry: Mapping[str, Any]) -> tuple[float, float]:
    """Clarity and travel of an entry of either file."""
    clarity, travel = float(entry["clarity"]), float(entry["travel"])
    if not (math.isfinite(clarity) and math.isfinite(travel)):
        raise ValueError(f"costs must be finite, got {clarity} and {travel}")
    return clarity, travel
