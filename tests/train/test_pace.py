import pytest
import torch

from glissando.train.batches import Batch
from glissando.train.pace import PaceConfig, coarsen, even_out, pace, run_on, sample_pace

SIZE = torch.tensor([[0.1, 0.3]])


def walk(count=4, seed=0):
    """Smooth random paths."""
    steps = torch.randn(count, 2, 64, generator=torch.Generator().manual_seed(seed)) * 0.02
    return (0.5 + steps.cumsum(2)).clamp(0, 1)


def batch_of(path):
    count = len(path)
    targets, rows = torch.tensor([[0, 1]]).expand(count, 2), torch.ones(count, dtype=torch.long)
    keys = torch.tensor([[0.2, 0.5, 0.05, 0.15], [0.8, 0.5, 0.05, 0.15], [0.0, 0.0, 0.0, 0.0]]).expand(count, 3, 4)
    mask = torch.tensor([True, True, False]).expand(count, 3)
    lengths = torch.full((count,), 2)
    return Batch(path, keys, mask, targets, lengths, rows)


def speeds(path, size=SIZE):
    return (path.diff(dim=2) / size[..., None]).norm(dim=1)


def test_off_is_the_identity():
    batch = batch_of(walk())
    drawn = sample_pace(batch, PaceConfig(), torch.Generator().manual_seed(1))
    assert torch.equal(pace(batch, drawn).path, batch.path)


def test_a_line_with_a_stop_in_it_loses_the_stop():
    x = torch.cat([torch.linspace(0.1, 0.5, 22), torch.full((20,), 0.5), torch.linspace(0.5, 0.9, 22)])
    path = torch.stack([x, torch.full_like(x, 0.5)])[None]
    even = even_out(path, SIZE, torch.ones(1))
    assert speeds(path).min() == 0
    assert torch.allclose(speeds(even), speeds(even).mean(), rtol=1e-2)
    assert torch.allclose(even[..., [0, -1]], path[..., [0, -1]], atol=1e-6)
    half = even_out(path, SIZE, torch.full((1,), 0.5))
    assert speeds(path).std() > speeds(half).std() > speeds(even).std()


def test_evening_out_stays_on_the_path():
    path = walk(8)
    moved = even_out(path, SIZE.expand(8, 2), torch.rand(8, generator=torch.Generator().manual_seed(2)))
    distance = (moved[..., :, None] - path[..., None, :]).norm(dim=1).amin(2)  # to the nearest recorded point
    assert distance.max() < path.diff(dim=2).norm(dim=1).max()


def test_a_tap_stays_a_tap():
    path = torch.full((2, 2, 64), 0.4)
    moved = pace(batch_of(path), sample_pace(batch_of(path), PaceConfig(1.0, 1.0, 1.0, 12, 1.0), torch.Generator()))
    assert torch.allclose(moved.path, path)


def test_coarse_paths_are_straight_between_few_points():
    path = walk()
    points = torch.tensor([4.0, 10.0, 64.0, 64.0])
    coarse = coarsen(path, points)
    assert torch.equal(coarse[2:], path[2:])
    assert torch.allclose(coarse[..., [0, -1]], path[..., [0, -1]], atol=1e-6)
    third = coarse[0, :, 1:21]  # within the first of three straight pieces
    assert third.diff(dim=1).diff(dim=1).abs().max() < 1e-5


def test_running_on_goes_straight_past_the_end():
    x = torch.linspace(0.1, 0.6, 64)
    path = torch.stack([x, torch.full_like(x, 0.5)])[None]
    moved = run_on(path, SIZE, torch.tensor([0.5]))
    assert moved[0, 0, -1] == pytest.approx(0.65, abs=1e-6)
    assert torch.equal(moved[..., :55], path[..., :55])
    assert (moved[0, 0].diff() > 0).all()
    assert torch.equal(moved[0, 1], path[0, 1])


def test_parameters_come_from_the_generator():
    batch = batch_of(walk())
    config = PaceConfig(1.0, 0.7, 0.5, 12, 0.3)
    one, same, other = (sample_pace(batch, config, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one.even, other.even)
    assert (one.points >= 12).all()
    assert (one.points <= 64).all()
