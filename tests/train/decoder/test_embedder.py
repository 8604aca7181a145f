import math

import pytest
import torch
from train import toy

from glissando.model.checkpoint import load_embedder
from glissando.model.config import EmbedderConfig
from glissando.train.decoder.config import EmbedderTraining
from glissando.train.decoder.embedder import contrast, train_embedder


def test_a_swipe_finds_its_word(kit):
    assert toy.lines_of(kit.embedder.parent)[-1]["val_recall_1"] > 0.8
    embedder, extra = load_embedder(kit.embedder)
    assert embedder.config == EmbedderConfig(keys=6, width=16, dimensions=8)
    assert extra["layout"]["name"] == "toy"


def test_a_resumed_run_equals_an_uninterrupted_one(kit, tmp_path):
    model = EmbedderConfig(keys=6, width=8, dimensions=4)
    config = EmbedderTraining(model=model, batch=32, strangers=4, steps=8)
    train_embedder(config, toy.job(kit.pack, tmp_path / "whole"), kit.lexicon)
    train_embedder(config, toy.job(kit.pack, tmp_path / "parts", until=5), kit.lexicon)
    train_embedder(config, toy.job(kit.pack, tmp_path / "parts", resume=True), kit.lexicon)
    toy.assert_same_checkpoint(tmp_path / "whole", tmp_path / "parts")


def test_the_same_word_of_another_swipe_is_no_negative():
    swipes = torch.nn.functional.normalize(torch.randn(3, 4), dim=1)
    own, words = torch.tensor([7, 7, 8]), torch.tensor([7, 7, 8, 7])
    texts = torch.cat([swipes, swipes[:1]])
    loss, _ = contrast(swipes, texts, own, words, torch.tensor(1.0))
    near = swipes @ texts.T * math.e
    # The texts that each swipe is compared with, and the swipes that each text is, itself first.
    forth = [near[0, [0, 2]], near[1, [1, 2]], near[2, [2, 0, 1, 3]]]
    back = [near[[0, 2], 0], near[[1, 2], 1], near[[2, 0, 1], 2]]
    expected = sum(-row.log_softmax(0)[0] for row in (*forth, *back)) / 6
    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)
