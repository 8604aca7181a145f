from dataclasses import replace

import numpy as np
import pytest

from glissando.errors import CorpusError
from glissando.evaluation.matched import MatchedSet, as_scoring, match_corpus, search_shark2
from glissando.evaluation.metrics import Outcome, summarise
from glissando.evaluation.stored import tt1mm5
from glissando.evaluation.study import Plan
from glissando.evaluation.tune import SHARK2_SPACE
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.shark2 import Shark2, Shark2Constants
from glissando.synth import swipe

WORDS = ("to", "too", "ti", "tie", "the", "tge", "for", "foe", "fir", "got", "hot", "hit", "git", "rot", "rit")


@pytest.fixture(scope="module")
def lexicon():
    # Half of them below SHARK2's floor, where "to" and "too" tie but for their bytes.
    return Lexicon("tiny", "", WORDS, np.linspace(10, 120, len(WORDS)).astype(np.uint8))


@pytest.fixture(scope="module")
def matched(lexicon):
    decoder = Shark2(load_layout("qwerty"), lexicon)
    rng = np.random.default_rng(1)
    words = [WORDS[i % len(WORDS)] for i in range(120)]
    gestures = [swipe(word, decoder.layout, rng) for word in words]
    return MatchedSet.of(decoder, gestures, words)


@pytest.mark.parametrize(("location", "frequency"), [(11.7, 0.0545), (2.0, 0.2), (30.0, 0.0)])
def test_stored_matches_count_as_decoding_again_does(matched, location, frequency):
    constants = replace(Shark2Constants(), location_weight=location, frequency_weight=frequency)
    again = Shark2(matched.decoder.layout, matched.decoder.lexicon, constants)
    outcomes = [
        Outcome(target, tuple(dict.fromkeys(found.letters for found in again.decode(gesture, k=100))))
        for gesture, target in zip(matched.gestures, matched.targets, strict=True)
    ]
    plain = summarise(outcomes)
    quick = tt1mm5(match_corpus("mine", [matched]), as_scoring(constants))
    for name in ("top1", "top3", "tt1mm5"):
        assert quick[name] == pytest.approx(getattr(plain, name)), name


def test_the_search_is_at_least_as_good_as_its_start(matched):
    beams = [match_corpus("mine", [matched])]
    bad = replace(Shark2Constants(), location_weight=0.5, frequency_weight=0.24)
    found = search_shark2(beams, bad, Plan(SHARK2_SPACE, 60, batch=20))
    assert found.history[0].constants == {"location_weight": 0.5, "frequency_weight": 0.24}
    assert found.value > found.history[0].value


def test_few_swipes_and_unknown_words_are_refused(matched):
    with pytest.raises(CorpusError, match="at least 100 usable swipes, got 99"):
        match_corpus("mine", [MatchedSet(matched.decoder, matched.gestures[:99], matched.targets[:99])])
    with pytest.raises(CorpusError, match="not in lexicon tiny"):
        MatchedSet.of(matched.decoder, matched.gestures[:1], ["tiger"])


def test_progress_counts_swipes(matched):
    seen = []
    match_corpus("mine", [matched, matched], lambda done, total: seen.append((done, total)))
    assert seen == [(120, 240), (240, 240)]
