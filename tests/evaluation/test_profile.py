"""The profile: turns taken in order, lexicons cut by hand, figures that hang together. No test of time."""

import numpy as np
import pytest

import glissando
from glissando.errors import GlissandoError
from glissando.evaluation.profile import TURN, cold_start, most_frequent, race, sweep, take_turns
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.synth import swipe

WORDS = {"hello": 9, "world": 5, "water": 2}


@pytest.fixture
def keyboard(tiny_weights):
    return glissando.load("qwerty", lexicon=WORDS, weights=tiny_weights, method="encoder", width=20)


@pytest.fixture
def gestures():
    layout = load_layout("qwerty")
    return [swipe(word, layout) for word in WORDS]


def test_calls_take_turns():
    order, reports = [], []
    calls = {name: (lambda run, name=name: order.append((name, run))) for name in "ab"}
    timings = take_turns(calls, warm_up=3, runs=TURN, progress=lambda done, total: reports.append((done, total)))
    first = [("a", run) for run in range(TURN)] + [("b", run) for run in range(TURN)]
    assert order[: 2 * TURN] == first
    assert order[2 * TURN :] == [(name, run) for name in "ab" for run in range(TURN, TURN + 3)]
    assert reports == [(TURN, TURN + 3), (TURN + 3, TURN + 3)]
    assert set(timings) == {"a", "b"}


def test_what_takes_longer_shows_and_the_warm_up_does_not():
    work = np.ones(300_000)
    calls = {
        "quick": lambda run: None,
        "slow": lambda run: work.sum(),
        "slow at first": lambda run: work.sum() if run < 5 else None,
    }
    timings = take_turns(calls, warm_up=5, runs=40)
    assert timings["slow"].p50 > 3 * timings["quick"].p50
    assert timings["slow at first"].p95 < timings["slow"].p50


def test_the_most_frequent_words_in_the_order_they_stood():
    lexicon = Lexicon("four", "en", ["rare", "common", "medium", "often"], np.array([1, 200, 90, 150], np.uint8))
    cut = most_frequent(lexicon, 2)
    assert list(cut.words) == ["common", "often"]
    assert cut.frequencies.tolist() == [200, 150]
    assert list(most_frequent(lexicon, 9).words) == list(lexicon.words)


def test_a_race_with_and_without_a_decoder(keyboard, tiny_weights, tiny_decoder, gestures):
    corrected = glissando.load("qwerty", lexicon=WORDS, weights=tiny_weights, decoder=tiny_decoder, method="decoder")
    found = race({"plain": keyboard, "with": corrected}, gestures, warm_up=2, runs=12)
    assert list(found) == ["plain", "with"]
    assert found["plain"].decoder is None
    assert found["plain"].corrected is None
    for one in (found["plain"].encoder, found["with"].decoder, found["with"].corrected, found["with"].corrected_decode):
        assert 0 < one.p50 <= one.p95


def test_a_sweep_has_every_width_and_the_whole_lexicon_last(keyboard, gestures):
    by_width, by_words = sweep(keyboard, gestures, widths=(5, 50), sizes=(1, 2, 1000), warm_up=1, runs=4)
    assert list(by_width) == [5, 50]
    assert list(by_words) == [1, 3]


def test_a_sweep_keeps_the_decoder(tiny_weights, tiny_decoder, gestures, monkeypatch):
    seen = set()
    decode = glissando.Keyboard.decode
    monkeypatch.setattr(glissando.Keyboard, "decode", lambda self, *a: (seen.add(self.method), decode(self, *a))[1])
    board = glissando.load("qwerty", lexicon=WORDS, weights=tiny_weights, decoder=tiny_decoder, method="decoder")
    sweep(board, gestures, widths=(5,), sizes=(1,), warm_up=1, runs=2)
    assert seen == {"decoder"}


def test_a_fresh_process_tells_its_time_and_memory(tiny_weights, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("hello 9\nworld 8\n")
    start = cold_start({"layout": "qwerty", "lexicon": str(words), "weights": str(tiny_weights), "method": "encoder"})
    assert start is not None
    assert 0 < start.seconds < 60
    assert 10 < start.megabytes < start.peak
    with pytest.raises(GlissandoError, match=r"could not decode: .*no layout 'nowhere'"):
        cold_start({"layout": "nowhere"})
