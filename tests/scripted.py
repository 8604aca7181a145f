"""A keyboard over an encoder that gives the same emissions for every swipe."""

from dataclasses import replace

import numpy as np

from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.layout import Key, Layout
from glissando.lexicon import Lexicon
from glissando.runtime import Emissions
from glissando.scoring import Scoring

FRAMES = [[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.1, 0.2]]  # a, b, c and blank: it reads "ab"
SWIPE = Gesture([0.1, 0.5, 0.9], [0.5, 0.5, 0.5], [0, 100, 200])
SCORING = Scoring(length_exponent=0.0, frequency_weight=0.0, length_bonus=0.0, pruning_exponent=0.0, pruning_bonus=0.0)


class ScriptedEncoder:
    weights = type("Weights", (), {"card": {"config": {"basis": "cosine"}}})

    def __init__(self, probabilities):
        self.log_probs = np.log(np.array(probabilities, dtype=np.float32))[None]

    def run(self, paths, keys):
        log_probs = np.repeat(self.log_probs, len(paths), axis=0)
        shape = log_probs.shape[:2]
        return Emissions(log_probs, np.zeros((*shape, 64)), np.zeros(shape))


def scripted_keyboard(words, probabilities=FRAMES, letters="abc", scoring=SCORING, width=100):
    """A row of keys and words with their bytes. Shape of the probabilities: [T, L + 1]."""
    keys = [Key(letter, (i + 0.5) / len(letters), 0.5, 0.1, 0.5) for i, letter in enumerate(letters)]
    lexicon = Lexicon("test", "", tuple(words), np.array(list(words.values()), dtype=np.uint8))
    return Keyboard(Layout("test", tuple(keys)), lexicon, ScriptedEncoder(probabilities), scoring, width)


class ScriptedMatcher:
    """A matcher that likes finalists whose first key lies to the right, and remembers what it was shown."""

    def __init__(self, likes=1.0):
        self.likes, self.shown = likes, []

    def run(self, path, keys, mask):
        self.shown.append((path, keys, mask))
        return self.likes * keys[:, :, 0, 0]


def doubting(words, doubt=1.0, **options):
    """A scripted keyboard that asks a matcher below a probability."""
    matched = replace(SCORING, matcher_weight=1.0, temperature=2.0)
    board = scripted_keyboard(words, scoring=replace(SCORING, doubt=doubt, matched=matched), **options)
    return board.replace(matcher=ScriptedMatcher())
