import numpy as np
import pytest
import torch

from glissando.errors import TrainingError
from glissando.train.sampling import Order, draws, held_out, word_weights


def test_an_epoch_deals_out_every_row_once_and_the_next_in_another_order():
    order = Order(12, 4, seed=3)
    first, second = order.epoch(0), order.epoch(1)
    assert first.shape == (3, 4)
    assert sorted(first.flatten().tolist()) == list(range(12))
    assert first.tolist() != second.tolist()
    assert torch.equal(Order(12, 4, seed=3).epoch(0), first)
    assert not torch.equal(Order(12, 4, seed=4).epoch(0), first)


def test_processes_share_each_step_without_overlap():
    alone = Order(50, 8, seed=1)
    parts = [Order(50, 8, seed=1, rank=rank, world=2) for rank in range(2)]
    assert torch.equal(torch.cat([part.epoch(2) for part in parts], dim=1), alone.epoch(2))


def test_impossible_orders_are_refused():
    with pytest.raises(TrainingError, match="does not divide among 3"):
        Order(50, 8, world=3)
    with pytest.raises(TrainingError, match="5 usable swipes, less than one batch of 8"):
        Order(5, 8)


def test_word_weights_balance_words():
    counts = np.array([1, 9, 9, 9, 9, 9, 9, 9, 9, 9])
    assert word_weights(counts, 1.0) is None
    even = Order(10, 10, weights=word_weights(counts, 0.0))
    rows = torch.cat([even.epoch(epoch).flatten() for epoch in range(2000)])
    assert (rows == 0).float().mean() == pytest.approx(0.5, abs=0.01)
    root = Order(10, 10, weights=word_weights(counts, 0.5))
    rows = torch.cat([root.epoch(epoch).flatten() for epoch in range(2000)])
    assert (rows == 0).float().mean() == pytest.approx(1 / (1 + 9**0.5), abs=0.01)
    assert torch.equal(root.epoch(5), root.epoch(5))


def test_people_are_set_aside_as_a_whole_and_in_the_share_asked_for():
    mask = held_out(np.repeat(np.arange(2000), 3), 0.1)
    assert mask.reshape(-1, 3).all(axis=1).sum() == mask.sum() / 3
    assert mask.mean() == pytest.approx(0.1, abs=0.02)


def test_who_is_set_aside_depends_on_the_session_and_the_seed_alone():
    few, many = np.arange(50), np.arange(500)
    np.testing.assert_array_equal(held_out(few, 0.3), held_out(many, 0.3)[:50])
    assert (held_out(many, 0.3, seed=1) != held_out(many, 0.3)).any()
    sessions = np.array([7, 3, 7, 11, 3])
    drawn = draws(sessions, seed=5)
    assert (drawn[0], drawn[1]) == (drawn[2], drawn[4])
    np.testing.assert_array_equal(held_out(sessions, 0.5, seed=5), drawn < 0.5)


def test_nobody_and_unknown_people():
    assert not held_out(np.array([-1, 3]), 0.0).any()
    with pytest.raises(TrainingError, match="rows of unknown sessions"):
        held_out(np.array([-1, 3]), 0.1)
