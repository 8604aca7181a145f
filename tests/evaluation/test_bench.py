"""The bench: its rival reads what a hand can read, and its figures hang together. No test of time."""

import sys

import numpy as np
import pytest

import glissando
from glissando.evaluation.bench import STEPS, Timing, benchmark
from glissando.gesture import Gesture
from glissando.layout import load_layout
from glissando.synth import swipe

WORDS = {"abc": 1, "ab": 1, "a": 1, "b": 1, "c": 1, "cab": 1, "bb": 1}


@pytest.fixture
def keyboard(tiny_weights):
    layout = glissando.Layout.from_rows("three", ["abc"])
    return glissando.load(layout, lexicon=WORDS, weights=tiny_weights)


@pytest.fixture(params=[False, True], ids=["sentences", "one word"])
def rival(request, keyboard):
    pytest.importorskip("flashlight.lib.text.decoder")
    from glissando.evaluation.bench import FlashlightDecoder

    return FlashlightDecoder(keyboard, one_word=request.param)


def frames(text, sure=0.94):
    """Log-probabilities over a, b, c and blank that spell a text, "-" being blank. Shape: [len(text), 4]."""
    rest = (1 - sure) / 3
    return np.log(np.array([[sure if label == letter else rest for label in "abc-"] for letter in text]))


@pytest.mark.parametrize(
    ("text", "word"), [("aabbcc", "abc"), ("-a-b--", "ab"), ("cab", "cab"), ("b-b", "bb"), ("---c", "c"), ("bbb", "b")]
)
def test_flashlight_reads_clear_emissions(rival, text, word):
    assert word in rival.decode(frames(text))


def test_flashlight_returns_words_of_the_lexicon_only(rival):
    assert rival.decode(frames("acbacb")) <= set(WORDS)


def test_confined_to_one_word_the_beam_holds_no_chains(keyboard):
    """Sentences of one-letter words fill the results unless forbidden."""
    pytest.importorskip("flashlight.lib.text.decoder")
    from glissando.evaluation.bench import FlashlightDecoder

    emissions = frames("a-b-c", sure=0.4)
    free, confined = FlashlightDecoder(keyboard), FlashlightDecoder(keyboard, one_word=True)
    assert free.decode(emissions) <= confined.decode(emissions)
    assert confined.decode(emissions) == set(WORDS)


def test_confined_it_finds_what_our_search_finds(keyboard):
    """On a trie so small that neither beam prunes, both end with the same words."""
    pytest.importorskip("flashlight.lib.text.decoder")
    from glissando.beam import search
    from glissando.evaluation.bench import FlashlightDecoder

    rng = np.random.default_rng(0)
    for _ in range(5):
        emissions = np.log(rng.dirichlet(np.ones(4), 6)).astype(np.float32)
        nodes = search(emissions, keyboard.trie, **keyboard._search_options).nodes
        ours = {word for word in WORDS if keyboard.trie.find(word) in nodes}
        assert FlashlightDecoder(keyboard, one_word=True).decode(emissions) == ours


@pytest.mark.parametrize("count", [1, 30])
def test_the_benchmark_hangs_together(tiny_weights, count):
    layout = load_layout("qwerty")
    words = ["hello", "world", "water"] * 10
    keyboard = glissando.load(layout, lexicon=dict.fromkeys(words, 1), weights=tiny_weights, width=20)
    calls = []
    gestures = [swipe(word, layout) for word in words][:count]
    result = benchmark(keyboard, gestures, words[:count], lambda done, total: calls.append((done, total)))
    assert (result.swipes, result.spellings, result.beam) == (count, 3, 20)
    assert result.recall == 100  # a beam of 20 holds all three
    assert calls == [(done, count) for done in range(1, count + 1)]
    for name in STEPS:
        timing = getattr(result, name)
        assert isinstance(timing, Timing)
        assert 0 < timing.p50 <= timing.p95
    if result.flashlight is not None:
        assert result.speedup == pytest.approx(result.flashlight.p50 / result.search.p50)
        assert result.speedup_word == pytest.approx(result.flashlight_word.p50 / result.search.p50)
        assert 0 <= result.flashlight_recall <= result.flashlight_word_recall <= 100
    assert result.to_dict()["search"] == {"p50": result.search.p50, "p95": result.search.p95}


def test_without_flashlight_only_we_are_timed(keyboard, monkeypatch):
    monkeypatch.setitem(sys.modules, "flashlight.lib.text", None)
    result = benchmark(keyboard, [Gesture([0.1, 0.5], [0.5, 0.5], [0, 90])], ["ab"])
    assert result.flashlight is None
    assert result.speedup is None
    assert result.flashlight_recall is None


def test_a_word_that_the_lexicon_lacks_is_not_found(keyboard):
    assert benchmark(keyboard, [Gesture([0.1, 0.5], [0.5, 0.5], [0, 90])], ["ccc"]).recall == 0
