"""End to end: train a toy, export it, decode with it; runs/smoke.sh does the same on QWERTY through the commands."""

import numpy as np
import pytest
from train import toy

from glissando.export.onnx import export_encoder
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.lexicon import load_lexicon
from glissando.model.checkpoint import load_encoder
from glissando.runtime import EncoderRuntime
from glissando.scoring import Scoring
from glissando.weights import load_weights, write_card

UNSEEN = ["dab", "fed", "beef", "ad", "decade", "feed"]  # in the lexicon, never trained on


@pytest.fixture(scope="module")
def keyboard(trained, tmp_path_factory) -> Keyboard:
    folder = tmp_path_factory.mktemp("smoke")
    encoder, _ = load_encoder(trained / "encoder.safetensors")
    export_encoder(encoder, folder / "toy.onnx")
    write_card(folder / "toy.onnx", {"config": encoder.config.to_dict()})
    (folder / "words.txt").write_text("\n".join([*toy.WORDS, *UNSEEN]), encoding="utf-8")
    runtime = EncoderRuntime(load_weights(folder / "toy.onnx"))
    return Keyboard(toy.LAYOUT, load_lexicon(folder / "words.txt"), runtime, Scoring())


def swipes(words: list[str], each: int, seed: int) -> list[tuple[str, Gesture]]:
    """Gestures of 64 samples at 60 Hz, which resampling leaves as they are."""
    rng = np.random.default_rng(seed)
    t = np.arange(64) * 1000 / 60
    return [(word, Gesture(*toy.toy_path(word, rng), t)) for word in words for _ in range(each)]


def right(keyboard: Keyboard, pairs: list[tuple[str, Gesture]]) -> float:
    """Share of swipes whose best candidate is their word."""
    found = keyboard.decode_batch([gesture for _, gesture in pairs], k=1)
    return sum(best[0].word == word for (word, _), best in zip(pairs, found, strict=True)) / len(pairs)


def test_a_trained_toy_decodes_new_swipes_of_its_words(keyboard):
    assert right(keyboard, swipes(toy.WORDS, 10, seed=77)) > 0.95


def test_it_decodes_words_it_was_never_trained_on(keyboard):
    assert right(keyboard, swipes(UNSEEN, 10, seed=78)) > 0.8
