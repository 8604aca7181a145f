"""End to end: train a toy, export it, decode with it; runs/smoke.sh does the same on QWERTY through the commands."""

import numpy as np
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


def share_right(keyboard: Keyboard, words: list[str], seed: int) -> float:
    """Share of ten swipes of each word whose best candidate is the word."""
    rng = np.random.default_rng(seed)
    t = np.arange(64) * 1000 / 60  # 64 samples at 60 Hz, which resampling leaves as they are
    swiped = [word for word in words for _ in range(10)]
    candidates = keyboard.decode_batch([Gesture(*toy.toy_path(word, rng), t) for word in swiped], k=1)
    return np.mean([best[0].word == word for word, best in zip(swiped, candidates, strict=True)])


def test_a_trained_toy_decodes_new_swipes_of_its_words_and_of_words_it_was_never_trained_on(trained, tmp_path):
    encoder, _ = load_encoder(trained / "encoder.safetensors")
    export_encoder(encoder, tmp_path / "toy.onnx")
    write_card(tmp_path / "toy.onnx", {"config": encoder.config.to_dict()})
    (tmp_path / "words.txt").write_text("\n".join([*toy.WORDS, *UNSEEN]), encoding="utf-8")
    runtime = EncoderRuntime(load_weights(tmp_path / "toy.onnx"))
    keyboard = Keyboard(toy.LAYOUT, load_lexicon(tmp_path / "words.txt"), runtime, Scoring())
    assert share_right(keyboard, toy.WORDS, seed=77) > 0.95
    assert share_right(keyboard, UNSEEN, seed=78) > 0.8
