import math

import pytest
import torch
from train import toy

from glissando.model.checkpoint import load_embedder
from glissando.model.config import EmbedderConfig
from glissando.train.decoder.config import EmbedderTraining
from glissando.train.decoder.embedder import contrast, train_embedder

MODEL = EmbedderConfig(keys=6, width=16, dimensions=8)


def settings(**changes) -> EmbedderTraining:
    return EmbedderTraining(**{"model": MODEL, "batch": 32, "strangers": 4, "holdout": 0.0, "log_every": 5, **changes})


def test_a_swipe_finds_its_word(kit, tmp_path):
    job = toy.job(kit.pack, tmp_path / "run", val=kit.val)
    last = train_embedder(settings(steps=60, learning_rate=5e-3), job, kit.lexicon)
    assert last["val_recall_1"] > 0.8
    embedder, extra = load_embedder(tmp_path / "run/embedder.safetensors")
    assert embedder.config == MODEL
    assert extra["layout"]["name"] == "toy"


def test_a_resumed_run_equals_an_uninterrupted_one(kit, tmp_path):
    config = settings(steps=12)
    train_embedder(config, toy.job(kit.pack, tmp_path / "whole"), kit.lexicon)
    train_embedder(config, toy.job(kit.pack, tmp_path / "parts", until=7), kit.lexicon)
    train_embedder(config, toy.job(kit.pack, tmp_path / "parts", resume=True), kit.lexicon)
    toy.assert_same_checkpoint(tmp_path / "whole", tmp_path / "parts")


def test_contrast_by_hand():
    swipes = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    loss, right = contrast(swipes, swipes, torch.tensor([0, 1]), torch.tensor([0, 1]), torch.tensor(0.0))
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-1)))
    assert right.item() == 1


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
