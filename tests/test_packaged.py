"""The weights that come with the package read swipes, with the defaults a user gets."""

import numpy as np
import pytest
import wordfreq

import glissando
from glissando.evaluation.evaluate import EvaluationOptions, evaluate
from glissando.synth import swipe
from glissando.weights import load_weights, packaged_weights

pytestmark = pytest.mark.skipif("encoder" not in packaged_weights(), reason="no weights are packaged")


@pytest.mark.parametrize(("name", "language"), [("qwerty", "en"), ("clearflow", "en"), ("jcuken", "ru")])
def test_common_words_are_read(name, language):
    """Swipes with a human's noise; the encoder was trained on qwerty alone."""
    keyboard, rng = glissando.load(name, language), np.random.default_rng(0)
    letters = set(keyboard.layout.letters)
    words = [word for word in wordfreq.top_n_list(language, 600) if len(word) > 2 and set(word) <= letters][:100]
    candidates = keyboard.decode_batch([swipe(word, keyboard.layout, rng) for word in words], k=1)
    assert len(words) == 100
    assert np.mean([best.letters == word for word, (best,) in zip(words, candidates, strict=True)]) >= 0.9


@pytest.mark.data
def test_real_swipes(data):
    options = EvaluationOptions(
        lexicon=data / "wordlists" / "en_wordlist.combined.gz", add_targets=True, max_key_distance=2.0, limit=500
    )
    result = evaluate([data / "swipes" / "how_we_swipe_val.jsonl.gz"], options).overall
    assert result.n == 500
    assert result.top1 > 87
    assert result.recall > 95


def test_the_card_says_where_they_come_from():
    card = load_weights("encoder").card
    assert {"config", "provenance", "metrics", "sha256"} <= set(card)
