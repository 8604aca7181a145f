import pytest
import torch

from glissando.errors import TrainingError
from glissando.train.jitter import JitterConfig, jitter

KEY = torch.tensor([0.1, 0.3])
PATH = torch.full((4000, 2, 64), 0.5)


def move(path=PATH, **settings):
    return jitter(path, KEY, JitterConfig(**settings), torch.Generator().manual_seed(0))


def test_nothing_moves_unless_told():
    assert not JitterConfig().moves
    assert not JitterConfig(shift=0.1, share=0.0).moves
    path = torch.rand(5, 2, 64)
    torch.testing.assert_close(move(path), path)


def test_a_shift_moves_the_whole_path_by_key_sizes():
    offset = move(shift=0.2) - PATH
    torch.testing.assert_close(offset[..., :1].expand_as(offset), offset)
    torch.testing.assert_close(offset[..., 0].std(dim=0), 0.2 * KEY, rtol=0.05, atol=0)


def test_elastic_movement_has_its_deviation_and_is_smooth():
    offset = (move(elastic=0.3) - PATH) / KEY[:, None]
    assert offset.std() == pytest.approx(0.3, rel=0.05)
    steps = offset.diff(dim=-1)
    assert steps.std() < 0.05 * 0.3 * 3  # neighbours move together


def test_scale_and_shear_leave_the_centre():
    assert (move(scale=0.1, shear=0.1) - PATH).abs().max() < 1e-6
    corner = torch.full((4000, 2, 1), 0.75)
    assert (move(corner, scale=0.1) - corner).std() == pytest.approx(0.025, rel=0.05)
    assert (move(corner, shear=0.1) - corner).std() == pytest.approx(0.025, rel=0.05)


def test_a_share_moves_and_all_stay_inside():
    moved = move(shift=1.0, share=0.25)
    assert (moved != PATH).any(dim=2).any(dim=1).float().mean() == pytest.approx(0.25, abs=0.03)
    assert moved.min() >= 0
    assert moved.max() <= 1
    with pytest.raises(TrainingError, match=r"jitter\.shift must lie in \[0, 1\], got 3"):
        JitterConfig(shift=3)
