import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from glissando.model.decoder import frame_features
from glissando.model.encoder import Encoder
from glissando.train.batches import Corpus
from glissando.train.frozen import Frames, exact_products, freeze
from glissando.train.jitter import JitterConfig
from glissando.train.strangers import Readers

_SPEC = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
toy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)


@pytest.fixture
def encoder() -> Encoder:
    torch.manual_seed(0)
    encoder = Encoder(toy.MODEL)
    torch.nn.init.normal_(encoder.heads.weight)
    return encoder


@pytest.fixture
def corpus(tmp_path) -> Corpus:
    return Corpus.open(toy.write_pack(tmp_path / "pack.npz", rows=30), 32)


def test_precomputed_features_are_the_encoders(encoder, corpus):
    rows = np.array([5, 3, 9])
    frames = Frames(freeze(encoder), corpus, rows)
    batch = next(corpus.walk(30, torch.device("cpu")))
    with torch.no_grad():
        expected = frame_features(encoder(batch.path, batch.keys[..., :2], batch.mask))[rows]
    torch.testing.assert_close(frames.features(torch.arange(3)), expected)
    assert not frames.alive
    assert len(frames) == 3
    torch.testing.assert_close(frames.targets, batch.targets[rows])


def test_moved_paths_are_encoded_anew_and_dropout_is_alive(encoder, corpus):
    rows, index = np.arange(30), torch.arange(4)
    still = Frames(freeze(encoder), corpus, rows).features(index)
    moved = Frames(encoder, corpus, rows, JitterConfig(shift=0.2))
    draws = [moved.features(index, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    torch.testing.assert_close(draws[0], draws[1], rtol=0, atol=0)
    assert not torch.allclose(draws[0], draws[2])
    torch.testing.assert_close(moved.features(index), still)  # without a generator nothing moves
    dropped = Frames(freeze(encoder, 0.5), corpus, rows)
    assert dropped.alive
    assert not torch.allclose(dropped.features(index), still)
    assert not any(norm.training for norm in encoder.modules() if isinstance(norm, torch.nn.BatchNorm1d))


@pytest.mark.parametrize("moves", [None, JitterConfig(shift=0.1)], ids=["precomputed", "alive"])
def test_every_row_is_read_by_its_reader(moves, encoder, corpus):
    torch.manual_seed(1)
    others = [Encoder(toy.MODEL) for _ in range(2)]
    for other in others:
        torch.nn.init.normal_(other.heads.weight)
    rows = np.arange(10, 30)
    of = torch.arange(20) % 3
    readers = Readers(tuple(freeze(other) for other in others), of)
    frames = Frames(freeze(encoder), corpus, rows, moves, readers)
    (deal,) = readers.deal(torch.tensor([[7, 2, 0, 9, 4]]), torch.Generator(), torch.device("cpu"))
    assert deal.counts == (2, 2, 1)
    found = frames.features(deal.rows, counts=deal.counts)  # no generator: nothing moves
    for row, features in zip(deal.rows.tolist(), found, strict=True):
        alone = Frames(freeze([encoder, *others][of[row]]), corpus, rows)
        torch.testing.assert_close(features, alone.features(torch.tensor([row]))[0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(
        frames.features(deal.rows), Frames(encoder, corpus, rows).features(deal.rows), rtol=1e-4, atol=1e-4
    )


def test_precision_is_put_back():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with exact_products():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)
