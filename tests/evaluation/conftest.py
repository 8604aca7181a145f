"""Keyboards and beams that the tests of evaluation share."""

import numpy as np
import pytest

from glissando.evaluation.beams import StoredBeams
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import Lexicon
from glissando.runtime import EncoderRuntime
from glissando.scoring import Scoring
from glissando.weights import load_weights

WORDS = ("ab", "abc", "bad", "cab", "dab", "fed", "bead", "deaf", "face", "fade")


@pytest.fixture(scope="session")
def keyboard():
    """The packaged encoder on six letters and ten words, the frequency growing from 20 in steps of 20."""
    lexicon = Lexicon("tiny", "", WORDS, np.arange(20, 20 + 20 * len(WORDS), 20).astype(np.uint8))
    encoder = EncoderRuntime(load_weights("encoder"))
    return Keyboard(Layout.from_rows("tiny", ["abc", "def"]), lexicon, encoder, Scoring(), 4)


@pytest.fixture(scope="session")
def beams_of():
    """Makes stored beams from (hypotheses, spelling meant); a hypothesis is (log_prob, length, byte, spelling)."""

    def make(swipes, words=("ab", "ba", "cab")):
        rows = [hypothesis for hypotheses, _ in swipes for hypothesis in hypotheses]
        offsets = np.cumsum([0] + [len(hypotheses) for hypotheses, _ in swipes])
        places = [
            next((start + i for i, one in enumerate(hypotheses) if one[3] == meant), -1)
            for start, (hypotheses, meant) in zip(offsets, swipes, strict=False)
        ]
        log_probs, lengths, bytes_, spellings = (np.array(values) for values in zip(*rows, strict=True))
        return StoredBeams(
            log_probs.astype(np.float32), lengths.astype(np.uint8), bytes_.astype(np.uint8),
            np.zeros((len(rows), 2), np.float32), offsets, np.array(places), spellings.astype(np.int32),
            np.array([meant for _, meant in swipes], np.int32), words,
        )  # fmt: skip

    return make
