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


def test_people_are_set_aside_as_a_whole_by_their_session_and_the_seed_alone():
    people = np.arange(2000)
    chosen = held_out(people, 0.1)
    assert chosen.mean() == pytest.approx(0.1, abs=0.02)
    np.testing.assert_array_equal(held_out(np.repeat(people, 3), 0.1), np.repeat(chosen, 3))
    np.testing.assert_array_equal(held_out(people[:50], 0.1), chosen[:50])
    assert (held_out(people, 0.1, seed=1) != chosen).any()
    np.testing.assert_array_equal(held_out(people, 0.5, seed=5), draws(people, seed=5) < 0.5)
    assert not held_out(np.array([-1, 3]), 0.0).any()
    with pytest.raises(TrainingError, match="rows of unknown sessions"):
        held_out(np.array([-1, 3]), 0.1)
