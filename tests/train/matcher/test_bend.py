import torch

from glissando.train.matcher.bend import bend, draw_bend, reverse_words
from glissando.train.matcher.config import BendConfig

OFF = BendConfig(0, 0, 0, 0, 0, 0, 0, 0, (0.0, 0.0), 0)


def drawn(config, size=50, seed=0):
    return draw_bend(size, 64, config, torch.Generator().manual_seed(seed))


def test_switched_off_it_is_the_identity():
    by, points = drawn(OFF), torch.randn(50, 9, 2)
    torch.testing.assert_close(bend(points, by), points)
    assert not by.sway.any()
    assert not by.reverse.any()


def test_a_point_moves_alike_whether_of_the_path_or_of_the_keys():
    by, points = drawn(BendConfig()), torch.randn(50, 9, 2)
    moved = bend(points, by)
    torch.testing.assert_close(bend(points[:, 4:5], by), moved[:, 4:5])
    assert (moved - points).abs().mean() > 0.3
    assert torch.isfinite(moved).all()


def test_the_seed_decides():
    first, again, other = drawn(BendConfig(), seed=1), drawn(BendConfig(), seed=1), drawn(BendConfig(), seed=2)
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first.matrix, other.matrix)


def test_a_rotation_keeps_lengths_and_a_flip_turns_the_plane_over():
    turned = drawn(BendConfig(1, 0, 0, 0, 0, 0, 0, 0, (0.0, 0.0), 0)).matrix
    torch.testing.assert_close(turned @ turned.transpose(1, 2), torch.eye(2).expand(50, 2, 2), atol=1e-5, rtol=0)
    flipped = drawn(BendConfig(0, 1, 0, 0, 0, 0, 0, 0, (0.0, 0.0), 0)).matrix
    torch.testing.assert_close(flipped, -torch.eye(2).expand(50, 2, 2))


def test_words_are_spelled_backwards_where_told():
    keys = torch.tensor([[[1, 2, 3, 0], [4, 5, 0, 0]]] * 2)
    lengths = torch.tensor([[3, 2]] * 2)
    found = reverse_words(keys, lengths, torch.tensor([True, False]))
    assert found.tolist() == [[[3, 2, 1, 0], [5, 4, 0, 0]], keys[1].tolist()]
