"""What a search leaves to choose from: the layouts that no other beats in both clarity and travel."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
class Choice:
    """A layout of the front: nats and seconds per word of running text, as the search judged it."""

    layout: Layout
    clarity: float
    travel: float

    def cost(self, dial: float) -> float:
        """Clarity and travel in one number."""
        return self.clarity + dial * self.travel


@dataclass(frozen=True)
class Front:
    """The front of a search, the quickest layout first.

    Attributes:
        choices: its layouts.
        dial: nats a second of swiping was worth to the search.
        account: search.json.
    """

    choices: tuple[Choice, ...]
    dial: float
    account: dict[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Front:
        """Read front.json and search.json of a search's directory."""
        try:
            points = json.loads((folder / "front.json").read_bytes())
            account = json.loads((folder / "search.json").read_bytes())
            choices = [
                Choice(Layout.from_dict(point["layout"], "front"), float(point["clarity"]), float(point["travel"]))
                for point in points
            ]
            dial = float(account["config"]["dial"])
        except (OSError, ValueError, KeyError, TypeError, LayoutError) as error:
            raise DesignError(f"{folder} holds no front of a search: {error}") from None
        if not choices:
            raise DesignError(f"{folder} holds no front of a search: front.json is empty")
        return cls(tuple(sorted(choices, key=lambda one: one.travel)), dial, account)

    def letters(self, words: Sequence[str], weights: str | Path = "judge") -> list[dict[str, tuple[Letter, ...]]]:
        """How sure the encoder is of each letter of the words, for every layout: ``report.letter_confidences``."""
        for word in words:
            check_typeable(word, self.choices[0].layout)  # they all have the same letters
        encoder = EncoderRuntime(load_weights(weights), threads=os.cpu_count() or 1)
        lexicon = Lexicon.from_counts(dict.fromkeys(words, 1.0))
        keyboards = [Keyboard(one.layout, lexicon, encoder, Scoring()) for one in self.choices]
        return [{word: letter_confidences(keyboard, word) for word in words} for keyboard in keyboards]
