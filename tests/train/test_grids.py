"""Random keyboards: what holds for every one of them, and that there are all kinds."""

import pytest

torch = pytest.importorskip("torch")

from glissando.train.grids import random_grids  # noqa: E402

TINY = 1e-5  # float32


def draw(count=300, letters=26, extra=0, seed=0):
    return random_grids(count, letters, torch.Generator().manual_seed(seed), extra)


def boxes(keys):
    """Left, top, right and bottom of every key. Shape: [..., 4] -> [..., 4]."""
    return torch.cat([keys[..., :2] - keys[..., 2:], keys[..., :2] + keys[..., 2:]], dim=-1)


@pytest.mark.parametrize(("letters", "extra"), [(26, 0), (26, 30), (31, 8), (7, 0)])
def test_every_key_lies_in_the_unit_square(letters, extra):
    keys, mask, _ = draw(letters=letters, extra=extra)
    assert keys.shape == (300, letters + extra, 4)
    real = boxes(keys)[mask]
    assert real.min() >= -TINY
    assert real.max() <= 1 + TINY
    assert (keys[mask][:, 2:] > 0).all()


@pytest.mark.parametrize(("letters", "extra"), [(26, 0), (26, 30), (7, 0)])
def test_no_two_keys_overlap(letters, extra):
    keys, mask, _ = draw(letters=letters, extra=extra)
    box = boxes(keys)
    low = torch.maximum(box[:, :, None, :2], box[:, None, :, :2])  # [B, K, K, 2]
    high = torch.minimum(box[:, :, None, 2:], box[:, None, :, 2:])
    shared = (high - low).clamp(min=0).prod(-1)  # area two keys have in common
    pairs = mask[:, :, None] & mask[:, None, :] & ~torch.eye(letters + extra, dtype=torch.bool)
    assert shared[pairs].max() < 1e-6


def test_every_letter_has_a_key_and_padding_is_zero():
    keys, mask, _ = draw(count=600, letters=26, extra=3)
    assert set(mask.sum(1).tolist()) == {26, 27, 28, 29}
    assert (keys[~mask] == 0).all()
    assert (mask.long().diff(dim=1) <= 0).all()  # keys in use come before padding, as everywhere else
    assert draw(letters=26)[1].all()


def test_letters_are_anywhere():
    """No letter keeps to a place: each is about as often left as right, and as often high as low."""
    keys, _, _ = draw(count=2000)
    share = (keys[..., :2] < keys[..., :2].mean(1, keepdim=True)).float().mean(0)  # [K, 2]
    assert share.min() > 0.4
    assert share.max() < 0.6


def test_the_generator_decides():
    first, again, other = draw(seed=1), draw(seed=1), draw(seed=2)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])
    generator = torch.Generator().manual_seed(1)
    keys = [random_grids(5, 26, generator)[0] for _ in range(2)]
    assert not torch.equal(*keys)
