"""Finalists of toy swipes: every word of the toy corpus is a finalist of every swipe."""

import json

import numpy as np
from train import toy

from glissando.runtime import LONGEST
from glissando.train.matcher.finalists import NO_KEY, FinalistFile, pack_paths


def toy_finalists(rows: int = 120, seed: int = 0) -> FinalistFile:
    """A file of finalists for clean swipes on six keys; the right word stands at a random place."""
    generator = np.random.default_rng(seed)
    words = generator.integers(0, len(toy.WORDS), rows)
    order = np.argsort(generator.random((rows, len(toy.WORDS))), axis=1)
    spelled = np.full((len(toy.WORDS), LONGEST), NO_KEY, dtype=np.uint8)
    for row, word in zip(spelled, toy.WORDS, strict=True):
        row[: len(word)] = list(toy.typed(word))
    return FinalistFile(
        paths=pack_paths(np.stack([toy.toy_path(toy.WORDS[word], generator) for word in words])),
        keys=spelled[order],
        scores=np.zeros(order.shape, dtype=np.float16),
        frequencies=np.full(order.shape, 100, dtype=np.uint8),
        places=(order == words[:, None]).argmax(axis=1).astype(np.int16),
        sessions=(np.arange(rows) % toy.PEOPLE).astype(np.int32),
        aspects=np.full(rows, 0.5, dtype=np.float32),
        layouts=np.zeros(rows, dtype=np.uint8),
        meta=json.loads(json.dumps({"format": "glissando-finalists", "version": 1, "layouts": [toy.LAYOUT.to_dict()]})),
    )
