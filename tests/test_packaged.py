"""The weights that come with the package read swipes, with the defaults a user gets."""

import numpy as np
import pytest

import glissando
from glissando.evaluation.evaluate import EvaluationOptions, evaluate
from glissando.layout import load_layout
from glissando.synth import swipe
from glissando.weights import load_weights, packaged_weights

pytestmark = pytest.mark.skipif("encoder" not in packaged_weights(), reason="no weights are packaged")

ENGLISH = (
    "about because between children different everything friend government however important keyboard language "
    "morning never people question remember something together weather"
)
RUSSIAN = (
    "большой вместе время город деньги жизнь история книга который любовь может народ первый помощь работа "
    "сегодня спасибо товарищ человек язык"
)
WORDS = {"qwerty": ENGLISH.split(), "clearflow": ENGLISH.split(), "jcuken": RUSSIAN.split()}


def test_made_swipes_on_three_layouts():
    """Sixty swipes with a human's noise; the encoder was trained on qwerty alone."""
    rng = np.random.default_rng(0)
    hits = 0
    for name, words in WORDS.items():
        keyboard = glissando.load(name)
        layout = load_layout(name)
        for word, candidates in zip(
            words, keyboard.decode_batch([swipe(word, layout, rng) for word in words], k=1), strict=True
        ):
            hits += candidates[0].letters == word
    assert hits / sum(map(len, WORDS.values())) >= 0.8


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
