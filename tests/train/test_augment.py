import math

import pytest
import torch

from glissando.errors import TrainingError
from glissando.layout import Layout
from glissando.train.augment import (
    AugmentConfig,
    augment,
    content_box,
    flip,
    reverse,
    rotate,
    sample_parameters,
    scale_x,
    scale_y,
    shear,
    sway,
    translate,
)
from glissando.train.batches import Batch, layout_tensors

QWERTY = Layout.from_rows("qwerty", ["qwertyuiop", "asdfghjkl", "zxcvbnm"])


def make_batch(count: int, padded: int = 4, rows: int = 3) -> Batch:
    """Swipes whose points sit exactly on key centres, on a QWERTY with some padded keys."""
    keys, mask, _ = layout_tensors([QWERTY])
    keys = torch.nn.functional.pad(keys, (0, 0, 0, padded)).repeat(count, 1, 1)
    mask = torch.nn.functional.pad(mask, (0, padded)).repeat(count, 1)
    generator = torch.Generator().manual_seed(5)
    visited = torch.randint(26, (count, 64), generator=generator)
    path = keys[..., :2].gather(1, visited[..., None].expand(-1, -1, 2)).transpose(1, 2)
    targets = torch.randint(26, (count, 7), generator=generator)
    lengths = torch.randint(1, 8, (count,), generator=generator)
    targets = targets * (torch.arange(7) < lengths[:, None])
    return Batch(path, keys, mask, targets, lengths, torch.full((count,), rows))


def visited_keys(batch: Batch) -> torch.Tensor:
    """The key nearest to every path point, and how far it is. Shape: [B, 64], [B, 64]."""
    distance = torch.cdist(batch.path.transpose(1, 2).double(), batch.keys[:, :26, :2].double())
    return distance.min(dim=2)


def test_path_and_keys_move_alike():
    batch = make_batch(500)
    before = visited_keys(batch).indices
    config = AugmentConfig(reversal=0.0)
    moved = augment(batch, sample_parameters(batch, config, torch.Generator().manual_seed(0)))
    assert not torch.allclose(moved.path, batch.path)
    nearest = visited_keys(moved)
    assert nearest.values.max() < 1e-5
    assert torch.equal(nearest.indices, before)


def test_off_is_the_identity_to_the_last_bit():
    batch = make_batch(50)
    edge = torch.rand(50, 2, 64, generator=torch.Generator().manual_seed(1))
    edge[:, :, 0], edge[:, :, 1] = 0.0, 1.0
    batch = batch._replace(path=edge)
    moved = augment(batch, sample_parameters(batch, AugmentConfig.off(), torch.Generator().manual_seed(0)))
    for before, after in zip(batch, moved, strict=True):
        assert torch.equal(before, after)


@pytest.mark.parametrize("rows", [3, 5])
def test_everything_stays_in_the_unit_square_and_padding_stays_zero(rows):
    batch = make_batch(2000, rows=rows)
    wild = torch.rand(2000, 2, 64, generator=torch.Generator().manual_seed(2))  # paths out of the keys' box
    wild[:, :, :2] = torch.tensor([0.0, 1.0])
    batch = batch._replace(path=wild)
    moved = augment(batch, sample_parameters(batch, AugmentConfig(), torch.Generator().manual_seed(3)))
    assert moved.path.min() >= 0
    assert moved.path.max() <= 1
    centres = moved.keys[:, :26, :2]
    assert centres.min() >= 0
    assert centres.max() <= 1
    assert (moved.keys[:, 26:] == 0).all()
    assert (moved.keys[:, :26, 2:] > 0).all()


def test_same_seed_same_parameters_and_every_stage_within_its_range():
    batch = make_batch(4000)
    config = AugmentConfig()
    one = sample_parameters(batch, config, torch.Generator().manual_seed(7))
    two = sample_parameters(batch, config, torch.Generator().manual_seed(7))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    assert (sample_parameters(make_batch(9, rows=4), config, torch.Generator()).y_scale == 1).all()
    assert 0.75 <= one.y_scale.min() < 0.76
    assert 0.99 < one.y_scale.max() <= 1
    assert 0.85 <= one.x_scale.min() < 0.86
    assert one.shear.abs().max() <= 0.05
    assert (one.flip == -1).float().mean() == pytest.approx(0.5, abs=0.03)
    assert one.reverse.float().mean() == pytest.approx(0.1, abs=0.02)
    assert 0 < one.angle.min() < one.angle.max() < 2 * math.pi  # without an upright share every sample turns


def test_upright_keyboards_keep_left_left_and_top_on_top():
    batch = make_batch(1000)
    everything_turns = AugmentConfig(flip_x=1.0, flip_y=1.0, rotation=(90.0, 270.0), upright=1.0)
    for config in (everything_turns, AugmentConfig(upright=1.0)):
        moved = augment(batch, sample_parameters(batch, config, torch.Generator().manual_seed(3)))
        q, p, z = (moved.keys[:, QWERTY.letters.index(letter), :2] for letter in "qpz")
        assert (q[:, 0] < p[:, 0]).all()
        assert (q[:, 1] < z[:, 1]).all()
        # No more than shear: 5 % of the row's width, where a turn by three degrees would lift it as much.
        assert ((q - p)[:, 1].abs() <= 0.05 * (p - q)[:, 0] + 1e-6).all()


def one_key(x: float, y: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A path of two points and a keyboard of one key at the first of them."""
    path = torch.tensor([[[x, 0.5], [y, 0.5]]])
    keys = torch.tensor([[[x, y, 0.1, 0.2], [0, 0, 0, 0]]])
    return path, keys, torch.tensor([[True, False]])


@pytest.mark.parametrize(
    ("stage", "parameter", "key"),
    [
        (scale_y, [0.5], [0.2, 0.3, 0.1, 0.1]),
        (scale_x, [0.5], [0.35, 0.1, 0.05, 0.2]),
        (flip, [[-1.0, 1.0]], [0.8, 0.1, 0.1, 0.2]),
        (shear, [[0.05, -0.05]], [0.18, 0.116, 0.11, 0.2055]),  # y is skewed by the skewed x
        # The key lies (-0.15, -0.2) from the centroid (0.35, 0.3); a quarter turn takes that to (0.2, -0.15).
        (rotate, [math.pi / 2], [0.55, 0.15, 0.2, 0.1]),
    ],
)
def test_stages_by_hand(stage, parameter, key):
    path, keys = stage(*one_key(0.2, 0.1), torch.tensor(parameter))
    assert keys[0, 0].tolist() == pytest.approx(key, abs=1e-6)
    assert path[0, :, 0].tolist() == pytest.approx(key[:2], abs=1e-6)
    assert (keys[0, 1] == 0).all()


def test_rotation_that_fits_nowhere_is_rejected_for_that_sample_alone():
    path = torch.tensor([[[0.0, 1.0], [0.0, 1.0]], [[0.4, 0.6], [0.4, 0.6]]])
    keys, mask = torch.full((2, 1, 4), 0.5), torch.ones(2, 1, dtype=torch.bool)
    turned, _ = rotate(path, keys, mask, torch.full((2,), math.pi / 4))
    assert torch.equal(turned[0], path[0])  # the diagonal of the square, turned upright, is 1.41 high
    assert turned[1, 0].tolist() == pytest.approx([0.5, 0.5])


def test_translation_reaches_every_valid_origin_and_no_other():
    batch = make_batch(4)
    small = 0.4 * batch.keys
    places = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [-1.0, -1.0]])
    path, keys = translate(0.4 * batch.path, small, batch.mask, places)
    low, high = content_box(path, keys, batch.mask)
    assert low[0].tolist() == pytest.approx([0, 0], abs=1e-6)
    assert high[1].tolist() == pytest.approx([1, 1], abs=1e-6)
    assert ((low + high) / 2)[2].tolist() == pytest.approx([0.5, 0.5], abs=1e-6)
    assert torch.equal(keys[3], small[3])


def test_reversal_turns_path_and_word_around_by_hand():
    path = torch.arange(8.0).view(1, 2, 4).repeat(2, 1, 1)
    targets = torch.tensor([[3, 1, 2, 0, 0], [3, 1, 2, 0, 0]])
    turned, words = reverse(path, targets, torch.tensor([3, 3]), torch.tensor([True, False]))
    assert turned[0, 0].tolist() == [3, 2, 1, 0]
    assert words.tolist() == [[2, 1, 3, 0, 0], [3, 1, 2, 0, 0]]
    assert torch.equal(turned[1], path[1])


@pytest.mark.parametrize(
    "setting",
    [
        {"y_scale": (1.0, 0.5)}, {"x_scale": (0.0, 1.0)}, {"flip_x": 1.5}, {"shear": (0.0, math.nan)},
        {"sway": (-0.1, 0.0)}, {"rotation": (90.0, 0.0)},
    ],
)  # fmt: skip
def test_impossible_ranges_are_refused(setting):
    with pytest.raises(TrainingError, match=next(iter(setting))):
        AugmentConfig(**setting)


def test_a_sway_moves_the_path_off_its_keys_by_key_sizes():
    batch = make_batch(5000)
    off = {"x_scale": (1.0, 1.0), "y_scale": (1.0, 1.0), "shear": (0.0, 0.0), "upright": 1.0, "translate": False}
    keys = 2 * batch.keys[0, 0, 2:]  # width and height
    shifts = sample_parameters(batch, AugmentConfig(**off, sway=(0.2, 0.0)), torch.Generator().manual_seed(0)).sway
    moved = sway(batch.path, batch.keys, batch.mask, shifts) - batch.path
    assert torch.allclose(moved, moved[..., :1].expand_as(moved), atol=1e-6)  # all points alike
    assert torch.allclose(moved[..., 0].std(0), 0.2 * keys, rtol=0.03)
    waves = sample_parameters(batch, AugmentConfig(**off, sway=(0.0, 0.1)), torch.Generator().manual_seed(0)).sway
    moved = sway(batch.path, batch.keys, batch.mask, waves) - batch.path
    assert torch.allclose(moved.square().mean((0, 2)).sqrt(), 0.1 * keys, rtol=0.05)
    steps = moved.diff(dim=2).abs().amax()
    assert steps < 0.25 * moved.abs().amax()  # slow: no point is thrown away from the one before it
