"""The profile: lexicons cut by hand, figures that hang together. No test of time."""

import numpy as np
import pytest

import glissando
from glissando.errors import GlissandoError
from glissando.evaluation.profile import cold_start, most_frequent, race, sweep
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.synth import swipe

WORDS = {"hello": 9, "world": 5, "water": 2}
GESTURES = [swipe(word, load_layout("qwerty")) for word in WORDS]


@pytest.fixture(scope="module")
def corrected():
    return glissando.load("qwerty", lexicon=WORDS, method="decoder")


def test_the_most_frequent_words_in_the_order_they_stood():
    lexicon = Lexicon("four", "en", ["rare", "common", "medium", "often"], np.array([1, 200, 90, 150], np.uint8))
    cut = most_frequent(lexicon, 2)
    assert list(cut.words) == ["common", "often"]
    assert cut.frequencies.tolist() == [200, 150]
    assert list(most_frequent(lexicon, 9).words) == list(lexicon.words)


def test_a_race_with_and_without_a_decoder(corrected):
    boards = {"plain": corrected.replace(decoder=None), "with": corrected}
    latency = race(boards, GESTURES, warm_up=2, runs=12)
    assert list(latency) == ["plain", "with"]
    assert latency["plain"].decoder is latency["plain"].corrected is None
    for name in ("encoder", "decoder", "corrected", "corrected_decode"):
        assert 0 < getattr(latency["with"], name).p50 <= getattr(latency["with"], name).p95


def test_a_race_with_and_without_a_matcher(corrected):
    board = glissando.load("qwerty", lexicon=WORDS)
    latency = race({"alone": board, "both": board.replace(decoder=corrected.decoder)}, GESTURES, warm_up=2, runs=12)
    assert latency["alone"].decoder is latency["alone"].corrected_decode is None
    for name in ("matcher", "matched_decode"):
        assert all(getattr(one, name).p50 > 0 for one in latency.values())
    assert latency["both"].corrected_decode.p50 > 0


def test_a_sweep_has_every_width_the_whole_lexicon_last_and_the_same_networks(corrected, monkeypatch):
    methods, decode = set(), glissando.Keyboard.decode
    monkeypatch.setattr(glissando.Keyboard, "decode", lambda self, *a: (methods.add(self.method), decode(self, *a))[1])
    by_width, by_words = sweep(corrected, GESTURES, widths=(5, 50), sizes=(1, 2, 1000), warm_up=1, runs=4)
    assert list(by_width) == [5, 50]
    assert list(by_words) == [1, 3]
    assert methods == {"decoder"}


def test_a_fresh_process_tells_its_time_and_memory(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("hello 9\nworld 8\n")
    start = cold_start({"layout": "qwerty", "lexicon": str(words), "method": "encoder"})
    assert start is not None
    assert start.seconds > 0
    assert 10 < start.megabytes < start.peak
    with pytest.raises(GlissandoError, match=r"could not decode: .*no layout 'nowhere'"):
        cold_start({"layout": "nowhere"})
