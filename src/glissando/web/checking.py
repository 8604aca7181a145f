"""Does a donated swipe follow its word? What the networks read says so; it is stored beside the swipe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glissando.corpus.filters import key_distance
from glissando.ctc import needed_frames, word_costs
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import typed_letters

# Nats per letter. Of people's swipes 1 in 66 costs more; of swipes of another word, and of scribbles, 99.9 % do
# (runs/flagging.py, docs/collection.md).
MAX_COST = 3.0
MAX_DISTANCE = 2.0  # key widths, as in `glissando corpus filter`; for words too long for the network
MAX_TAP = 1.5  # key widths that a finger may leave the key of a one-letter word: the next key, hardly the one after it


@dataclass(frozen=True)
class Check:
    """What was found out about a swipe and the word it was asked for.

    Attributes:
        read: the word read, None where there is none.
        sure: its probability; None for a tapped letter, which is not read by the networks.
        right: whether it is typed like the word asked for.
        cost: what the word asked for costs the encoder, nats per letter; None for one letter and for too many.
        key_distance: greatest distance to the word's keys, key widths.
        flagged: whether the swipe does not follow its word.
    """

    read: str | None
    sure: float | None
    right: bool
    cost: float | None
    key_distance: float | None
    flagged: bool


def check_swipe(keyboard: Keyboard, gesture: Gesture, word: str, aspect: float | None = None) -> Check:
    """Check a swipe against the word it was asked for, without the words before it.

    Args:
        keyboard: layout, language and networks.
        gesture: the swipe.
        word: the word, which the layout can type.
        aspect: height over width of the letter area where the swipe was made; by default the layout's own.
    """
    letters = typed_letters(word, frozenset(keyboard.layout.letters))
    if len(letters) == 1:
        return _check_tap(gesture, letters[0], keyboard.layout, aspect)
    readings = keyboard.read_one(gesture)
    spellings = keyboard.find(gesture, readings)
    best = next(iter(keyboard.choose(keyboard.score(spellings, keyboard.match(gesture, spellings, aspect)), 1)), None)
    labels = [keyboard.trie.letters.index(letter) for letter in letters]
    cost = None
    if needed_frames(labels) <= readings.log_probs.shape[1]:
        cost = round(float(word_costs(readings.log_probs, [labels])[0]) / len(labels), 3)
    far = key_distance(word, gesture, keyboard.layout, aspect)
    return Check(
        read=best.word if best else None,
        sure=round(best.probability, 4) if best else None,
        right=best is not None and best.letters == "".join(letters),
        cost=cost,
        key_distance=round(far.max, 3) if far else None,
        flagged=cost > MAX_COST if cost is not None else far is None or far.max > MAX_DISTANCE,
    )


def _check_tap(gesture: Gesture, letter: str, layout: Layout, aspect: float | None) -> Check:
    """Check a one-letter word, which is a tap: the encoder has learned swipes only, and reads two letters in it."""
    height = layout.aspect if aspect is None else aspect
    centres = np.array([(key.cx, key.cy * height) for key in layout.keys])  # [K, 2]
    points = np.stack([gesture.x, gesture.y * height], axis=-1)  # [n, 2]
    far = np.linalg.norm(points[:, None] - centres, axis=-1) / layout.key_size[0]  # [n, K] key widths
    read = layout.keys[int(far.mean(axis=0).argmin())].letter
    away = float(far[:, list(layout.keys_of[letter])].min(axis=1).max())
    return Check(read, None, read == letter, None, round(away, 3), away > MAX_TAP)
