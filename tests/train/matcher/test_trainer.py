import numpy as np
import pytest
import torch
from train import toy
from train.matcher.finalist_files import toy_finalists

from glissando.errors import TrainingError
from glissando.model.checkpoint import load_matcher
from glissando.model.config import MatcherConfig
from glissando.train.matcher.config import MatcherTraining
from glissando.train.matcher.trainer import Shelf, scales, spelled, train_matcher

SMALL = MatcherConfig(width=16, heads=2, waves=3, path_blocks=1, word_blocks=1, dilations=(1,))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finalists")
    toy_finalists(400).save(folder / "train.npz")
    toy_finalists(60, seed=9).save(folder / "val.npz")
    return folder


def test_it_learns_to_tell_words_apart(files, tmp_path):
    config = MatcherTraining(model=SMALL, batch=32, steps=150, finalists=10, average=0.9, learning_rate=5e-3)
    last = train_matcher(config, toy.job(files / "train.npz", tmp_path / "run", val=files / "val.npz"))
    assert last["val_alone"] > 0.8  # a tenth by chance
    assert last["held_top1"] > 0.8
    matcher, extra = load_matcher(tmp_path / "run/matcher.safetensors")
    assert matcher.config == SMALL
    assert len(extra["prior"]) == 2
    assert extra["training"]["config"]["finalists"] == 10


def test_a_resumed_run_equals_an_uninterrupted_one(files, tmp_path):
    config = MatcherTraining(model=SMALL, batch=32, steps=6, finalists=10)
    train_matcher(config, toy.job(files / "train.npz", tmp_path / "whole"))
    train_matcher(config, toy.job(files / "train.npz", tmp_path / "parts", until=4))
    train_matcher(config, toy.job(files / "train.npz", tmp_path / "parts", resume=True))
    toy.assert_same_checkpoint(tmp_path / "whole", tmp_path / "parts")
    other = MatcherTraining(model=SMALL, batch=32, steps=6, finalists=9)
    with pytest.raises(TrainingError, match=r"is of another run: its config\.finalists is 10, not 9"):
        train_matcher(other, toy.job(files / "train.npz", tmp_path / "parts", resume=True))


def test_people_set_aside_are_not_trained_on(files):
    file = toy_finalists(400)
    nobody = MatcherTraining(held=(0.0, 0.0))
    shelf = Shelf(file, np.arange(400), nobody, torch.device("cpu"))
    assert len(shelf) == 400
    with pytest.raises(TrainingError, match=r"held must be \(low, high\)"):
        MatcherTraining(held=(0.5, 0.1))


def test_key_widths_by_the_swipes_own_aspect():
    file = toy_finalists(3)
    width = file.layout_list[0].key_size[0]
    np.testing.assert_allclose(scales(file), [[1 / width, 0.5 / width]] * 3, rtol=1e-6)
    batch = Shelf(file, np.arange(3), MatcherTraining(), torch.device("cpu")).take(torch.tensor([2]))
    centres, mask = spelled(batch.layout, batch.keys, batch.lengths)
    place = int(batch.place[0])
    meant = centres[0, place][mask[0, place]]
    # A clean swipe begins on the first key of its word and ends on the last.
    assert (batch.path[0, 0] - meant[0]).norm() < 0.3
    assert (batch.path[0, -1] - meant[-1]).norm() < 0.3


def test_longer_finalists_are_left_out():
    file = toy_finalists(50)
    shelf = Shelf(file, np.arange(50), MatcherTraining(letters=3), torch.device("cpu"))
    lengths, place = shelf.arrays["lengths"], shelf.arrays["place"]
    assert lengths.max() == 3
    assert (lengths == 0).any()
    kept = place >= 0
    assert (lengths[kept, place[kept]] > 0).all()
    words = [toy.WORDS[i] for i in np.random.default_rng(0).integers(0, len(toy.WORDS), 50)]
    assert kept.tolist() == [len(word) <= 3 for word in words]
