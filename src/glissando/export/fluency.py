"""The table of a language's character n-gram as a file of a bundle, which a port reads literals with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from glissando.errors import BundleError
from glissando.keyboard import Keyboard
from glissando.literal import Fluency

FLUENCY = "fluency.bin"


def has_literals(keyboard: Keyboard) -> bool:
    """Whether a keyboard reads swipes letter by letter, so that its bundle needs the table."""
    return bool(keyboard.scoring.fluency_weight)


def fluency_bytes(fluency: Fluency) -> bytes:
    """The file: one byte for every gram, the last letter running fastest. Size: (A + 1) ** order."""
    return fluency.costs.astype(np.uint8).tobytes()


def read_fluency(data: bytes, letters: tuple[str, ...], facts: Mapping[str, Any]) -> Fluency:
    """Read what ``fluency_bytes`` gave.

    Args:
        data: the file's bytes.
        letters: the A letters of the trie.
        facts: the manifest's entry of the file, with the order.
    """
    order, signs = facts.get("order"), len(letters) + 1
    if not isinstance(order, int) or not 0 < order < 16 or len(data) != signs**order:
        raise BundleError(
            f"{FLUENCY} has {len(data):,} bytes, which is no table of grams of {order!r} over {signs} signs"
        )
    return Fluency(letters, order, np.frombuffer(data, np.uint8))


def with_fluency(keyboard: Keyboard, fluency: Fluency) -> Keyboard:
    """Give a keyboard a table instead of the one that it would count from its lexicon.

    A table that is counted again adds up its words in another order, and a byte may be rounded to its neighbour.
    """
    keyboard.dictionary.__dict__["fluency"] = fluency  # where the cached property keeps it
    return keyboard


def variant(keyboard: Keyboard, **changes: Any) -> Keyboard:
    """A variant of a keyboard that shares its table, where it has one."""
    changed = keyboard.replace(**changes)
    return with_fluency(changed, keyboard.dictionary.fluency) if has_literals(keyboard) else changed
