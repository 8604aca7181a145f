"""The bench: calls take turns, flashlight reads what a hand can read, figures hang together. No test of time."""

import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import glissando
from glissando.beam import search
from glissando.evaluation.bench import STEPS, TURN, FlashlightSearch, Timing, benchmark, take_turns
from glissando.gesture import Gesture
from glissando.layout import load_layout
from glissando.synth import swipe

WORDS = {"abc": 1, "ab": 1, "a": 1, "b": 1, "c": 1, "cab": 1, "bb": 1}


@pytest.fixture(scope="module")
def three():
    """A keyboard of three letters."""
    return glissando.load(glissando.Layout.from_rows("three", ["abc"]), lexicon=WORDS)


def test_calls_take_turns_and_the_warm_up_does_not_count(monkeypatch):
    order, reports, clock = [], [], [0.0]

    def call(name, run):
        order.append((name, run))
        clock[0] += 0.002 if name == "b" or run < 3 else 0.001

    monkeypatch.setattr(time, "thread_time", lambda: clock[0])
    calls = {name: (lambda run, name=name: call(name, run)) for name in "ab"}
    timings = take_turns(calls, warm_up=3, runs=TURN, progress=lambda done, total: reports.append((done, total)))
    assert order[: 2 * TURN] == [(name, run) for name in "ab" for run in range(TURN)]
    assert order[2 * TURN :] == [(name, run) for name in "ab" for run in range(TURN, TURN + 3)]
    assert reports == [(TURN, TURN + 3), (TURN + 3, TURN + 3)]
    assert timings == {"a": Timing(*[pytest.approx(1)] * 3), "b": Timing(*[pytest.approx(2)] * 3)}


def frames(text, sure=0.94):
    """Log-probabilities over a, b, c and blank that spell a text, "-" being blank. Shape: [len(text), 4]."""
    rest = (1 - sure) / 3
    return np.log(np.array([[sure if label == letter else rest for label in "abc-"] for letter in text]))


@pytest.mark.parametrize("one_word", [False, True])
def test_flashlight_reads_clear_emissions(three, one_word):
    pytest.importorskip("flashlight.lib.text.decoder")
    rival = FlashlightSearch(three, one_word)
    clear = {"aabbcc": "abc", "-a-b--": "ab", "cab": "cab", "b-b": "bb", "---c": "c", "bbb": "b"}
    for text, word in clear.items():
        assert word in rival.decode(frames(text))
    assert rival.decode(frames("acbacb")) <= set(WORDS)


def test_restricted_to_one_word_flashlight_ends_as_our_search_does(three):
    """Sentences of one-letter words fill the results unless forbidden; on this trie neither beam prunes."""
    pytest.importorskip("flashlight.lib.text.decoder")
    free, restricted = FlashlightSearch(three), FlashlightSearch(three, one_word=True)
    unclear = frames("a-b-c", sure=0.4)
    assert free.decode(unclear) <= restricted.decode(unclear) == set(WORDS)
    rng = np.random.default_rng(0)
    for _ in range(5):
        emissions = np.log(rng.dirichlet(np.ones(4), 6)).astype(np.float32)
        nodes = search(emissions, three.trie, three.pruning).nodes
        assert restricted.decode(emissions) == {word for word in WORDS if three.trie.find(word) in nodes}


def test_the_benchmark_hangs_together():
    layout, words = load_layout("qwerty"), ["hello", "world", "water"]
    board = glissando.load(layout, lexicon=dict.fromkeys(words, 1), width=20)
    result = benchmark(board, [swipe(word, layout) for word in words], words)
    assert (result.swipes, result.spellings, result.beam) == (3, 3, 20)
    assert result.recall == 100  # a beam of 20 holds all three
    for name in STEPS:
        assert 0 < getattr(result, name).p50 <= getattr(result, name).p95
    assert result.matching.p50 == pytest.approx(result.end_to_end.p50 / result.matching.without.p50)
    assert result.matching.mean == pytest.approx(result.end_to_end.mean / result.matching.without.mean)
    if result.flashlight is not None:
        assert result.speedup == pytest.approx(result.flashlight.p50 / result.search.p50)
        assert result.speedup_word == pytest.approx(result.flashlight_word.p50 / result.search.p50)
        assert 0 <= result.flashlight_recall <= result.flashlight_word_recall <= 100


@pytest.mark.parametrize(("doubt", "asked"), [(0.0, 0), (2.0, 100)])
def test_the_matcher_is_timed_where_it_is_asked(doubt, asked):
    layout, words = load_layout("qwerty"), ["hello", "help"]
    board = glissando.load(layout, lexicon=dict.fromkeys(words, 1))
    board = board.replace(scoring=replace(board.scoring, doubt=doubt))
    gestures = [swipe(word, layout) for word in words]
    matching = benchmark(board, gestures, words).matching
    assert matching.asked == asked
    assert (matching.forward is None) == (asked == 0)
    assert benchmark(board.replace(matcher=None), gestures, words).matching is None


def test_without_flashlight_only_we_are_timed(three, monkeypatch):
    monkeypatch.setitem(sys.modules, "flashlight.lib.text", None)
    result = benchmark(three, [Gesture([0.1, 0.5], [0.5, 0.5], [0, 90])], ["ccc"])
    assert result.flashlight is result.speedup is result.flashlight_recall is None
    assert result.recall == 0  # a word that the lexicon lacks
