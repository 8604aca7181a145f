"""glissando: a finger's path across any keyboard, and the word it says.

>>> import glissando
>>> keyboard = glissando.load("qwerty", language="en")  # doctest: +SKIP
>>> keyboard.decode(points, k=5)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glissando.context import Context
    from glissando.draft import Draft
    from glissando.errors import GlissandoError
    from glissando.gesture import Gesture
    from glissando.habits import Habits
    from glissando.keyboard import Keyboard
    from glissando.layout import Layout
    from glissando.lexicon import Lexicon
    from glissando.loading import load
    from glissando.scoring import Candidate, Candidates, Scoring
    from glissando.shark2 import Shark2
    from glissando.vocabulary import Vocabulary

__version__ = "0.1.0"

__all__ = [
    "Candidate", "Candidates", "Context", "Draft", "Gesture", "GlissandoError", "Habits", "Keyboard", "Layout",
    "Lexicon", "Scoring", "Shark2", "Vocabulary", "__version__", "load",
]  # fmt: skip

# Names are fetched when first used: training imports this package on machines without numba or onnxruntime.
_HOMES = {
    "Candidate": "scoring",
    "Candidates": "scoring",
    "Context": "context",
    "Draft": "draft",
    "Gesture": "gesture",
    "GlissandoError": "errors",
    "Habits": "habits",
    "Keyboard": "keyboard",
    "Layout": "layout",
    "Lexicon": "lexicon",
    "Scoring": "scoring",
    "Shark2": "shark2",
    "Vocabulary": "vocabulary",
    "load": "loading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'glissando' has no attribute {name!r}")
    return getattr(import_module(f"glissando.{_HOMES[name]}"), name)
