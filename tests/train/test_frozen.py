import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from glissando.model.decoder import frame_features
from glissando.model.encoder import Encoder
from glissando.train.batches import Corpus
from glissando.train.frozen import Frames, exact_products

_SPEC = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
toy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(0)
    encoder = Encoder(toy.MODEL)
    torch.nn.init.normal_(encoder.heads.weight)
    return encoder.eval()


@pytest.fixture
def corpus(tmp_path) -> Corpus:
    return Corpus.open(toy.write_pack(tmp_path / "pack.npz", rows=30), 32)


def test_precomputed_features_are_the_encoders(encoder, corpus):
    rows = np.array([5, 3, 9])
    frames = Frames(encoder, corpus, rows)
    batch = next(corpus.walk(30, torch.device("cpu")))
    with torch.no_grad():
        expected = frame_features(encoder(batch.path, batch.keys[..., :2], batch.mask))[rows]
    torch.testing.assert_close(frames.features(torch.arange(3)), expected)
    torch.testing.assert_close(frames.features(torch.tensor([2, 0])), expected[[2, 0]])
    assert len(frames) == 3
    assert not frames.features(torch.arange(3)).requires_grad  # the encoder is frozen


def test_precision_is_put_back():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with exact_products():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)
