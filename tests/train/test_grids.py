"""Random keyboards: what holds for every one of them, and that there are all kinds."""

import pytest
import torch

from glissando.train.grids import random_grids


def draw(count=300, letters=26, extra=0, seed=0):
    return random_grids(count, letters, torch.Generator().manual_seed(seed), extra)


@pytest.mark.parametrize(("letters", "extra"), [(26, 0), (26, 30), (31, 8), (7, 0)])
def test_keys_lie_in_the_unit_square_and_no_two_overlap(letters, extra):
    keys, mask, _ = draw(letters=letters, extra=extra)
    assert keys.shape == (300, letters + extra, 4)
    assert (keys[mask][:, 2:] > 0).all()
    low, high = keys[..., :2] - keys[..., 2:], keys[..., :2] + keys[..., 2:]
    assert low[mask].min() >= -1e-5
    assert high[mask].max() <= 1 + 1e-5
    shared = torch.minimum(high[:, :, None], high[:, None]) - torch.maximum(low[:, :, None], low[:, None])
    pairs = mask[:, :, None] & mask[:, None, :] & ~torch.eye(letters + extra, dtype=torch.bool)
    assert shared.clamp(min=0).prod(-1)[pairs].max() < 1e-6  # the area that two keys have in common


def test_every_letter_has_a_key_and_padding_is_zero():
    keys, mask, _ = draw(count=600, letters=26, extra=3)
    assert set(mask.sum(1).tolist()) == {26, 27, 28, 29}
    assert (keys[~mask] == 0).all()
    assert (mask.long().diff(dim=1) <= 0).all()  # keys in use come before padding, as everywhere else


def test_each_letter_is_about_as_often_left_as_right_and_high_as_low():
    keys, _, _ = draw(count=2000)
    share = (keys[..., :2] < keys[..., :2].mean(1, keepdim=True)).float().mean(0)  # [K, 2]
    assert share.min() > 0.4
    assert share.max() < 0.6


def test_the_generator_decides():
    first, again, other = draw(seed=1), draw(seed=1), draw(seed=2)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])
