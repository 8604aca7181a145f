"""Does a donated swipe follow its word? What the networks read says so; it is stored beside the swipe."""

from __future__ import annotations

from dataclasses import dataclass

from glissando.corpus.filters import key_distance
from glissando.ctc import needed_frames, word_costs
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.lexicon import typed_letters

# Nats per letter. Of people's swipes 1 in 66 costs more; of swipes of another word, and of scribbles, 99.9 % do
# (runs/flagging.py, docs/collection.md).
MAX_COST = 3.0
MAX_DISTANCE = 2.0  # key widths, as in `glissando corpus filter`; for words too long for the network


@dataclass(frozen=True)
class Check:
    """What was found out about a swipe and the word it was asked for.

    Attributes:
        read: the word read, None where there is none.
        sure: its probability.
        right: whether it is typed like the word asked for.
        cost: what the word asked for costs the encoder, nats per letter; None for words too long for it.
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
    readings = keyboard.read([gesture])
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
