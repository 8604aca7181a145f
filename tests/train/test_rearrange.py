from itertools import combinations_with_replacement

import pytest
import torch

from glissando.train.batches import Batch, LayoutTable
from glissando.train.rearrange import align, letter_mask, rearrange

ROW = torch.tensor([[0.1 * k + 0.05, 0.5, 0.05, 0.5] for k in range(10)])  # ten keys in one row


def grid(batch: int, generator: torch.Generator, columns: int = 6, rows: int = 4) -> torch.Tensor:
    """A regular grid with its keys in random order, another order for every sample. Shape: [B, K, 4]."""
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    size = torch.tensor([0.5 / columns, 0.5 / rows]).expand(rows * columns, 2)
    keys = torch.cat([torch.stack([(x + 0.5) / columns, (y + 0.5) / rows], dim=2).flatten(0, 1), size], dim=1)
    order = torch.rand(batch, rows * columns, generator=generator).argsort(1)
    return keys[order]


def smooth_paths(batch: int, generator: torch.Generator, points: int = 64) -> torch.Tensor:
    """Random curves of a few sines. Shape: [B, 2, points]."""
    time = torch.linspace(0, 6, points)
    waves = torch.randn(batch, 2, 5, generator=generator)
    phase = torch.rand(batch, 2, 5, 1, generator=generator) * 6
    return 0.5 + 0.1 * (waves[..., None] * torch.sin(time * torch.arange(1, 6)[:, None] + phase)).sum(2)


def batch_of(path: torch.Tensor, keys: torch.Tensor, targets: torch.Tensor, lengths: torch.Tensor) -> Batch:
    return Batch(path, keys, torch.ones(keys.shape[:2], dtype=torch.bool), targets, lengths, torch.ones_like(lengths))


def carry(batch: Batch, keys: torch.Tensor, **options) -> torch.Tensor:
    """The paths on other keyboards, which have ten rows. Shape: [B, 2, n]."""
    frames = align(batch.path, batch.keys, batch.targets, batch.lengths)
    moved = rearrange(batch, frames, LayoutTable(keys, batch.mask, 10 * batch.rows), **options)
    assert (moved.rows == 10).all()
    return moved.path


def random_batch(batch: int = 64, letters: int = 12, points: int = 64, seed: int = 0) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    keys = grid(batch, generator)
    targets = torch.randint(0, 24, (batch, letters), generator=generator)
    targets[:, 3] = targets[:, 2]  # doubled letters
    targets[::2, 6] = targets[::2, 5]
    lengths = torch.randint(1, letters + 1, (batch,), generator=generator)
    targets = targets * letter_mask(targets, lengths)
    path = smooth_paths(batch, generator, points).clamp(0, 1)
    return batch_of(path, keys, targets, lengths)


def brute_force(path, keys, word):
    """Try every order-preserving choice of frames."""
    count, size = path.shape[1], 2 * keys[word, 2:].mean(0)
    best = (float("inf"), None)
    for inner in combinations_with_replacement(range(count), len(word) - 2):
        frames = (0, *inner, count - 1)
        if any(f == g and a != b for f, g, a, b in zip(frames, frames[1:], word, word[1:], strict=False)):
            continue
        cost = sum((((path[:, f] - keys[k, :2]) / size) ** 2).sum() for f, k in zip(frames, word, strict=True))
        best = min(best, (float(cost), frames))
    return best


@pytest.mark.parametrize("word", [[3, 8, 1], [2, 2, 5, 9], [4, 7, 7, 4], [1, 6, 2, 8], [5, 5], [0, 9, 9, 9]])
def test_align_equals_trying_everything(word):
    generator = torch.Generator().manual_seed(sum(word))
    keys, path = grid(1, generator)[0], smooth_paths(1, generator, 9)[0]
    frames = align(path[None], keys[None], torch.tensor([word]), torch.tensor([len(word)]))[0].tolist()
    size = 2 * keys[word, 2:].mean(0)
    cost = sum(float((((path[:, f] - keys[k, :2]) / size) ** 2).sum()) for f, k in zip(frames, word, strict=True))
    assert cost == pytest.approx(brute_force(path, keys, word)[0], rel=1e-5)


def test_align_pins_ends_and_keeps_order():
    batch = random_batch(letters=30)
    frames = align(*batch[:2], batch.targets, batch.lengths)
    last = frames.gather(1, batch.lengths[:, None] - 1)[:, 0]
    assert (frames[:, 0] == 0).all()
    assert (last[batch.lengths > 1] == 63).all()
    real = letter_mask(batch.targets, batch.lengths)[:, 1:]
    gap, doubled = frames.diff(dim=1), batch.targets[:, 1:] == batch.targets[:, :-1]
    assert (gap[real & doubled] >= 0).all()
    assert (gap[real & ~doubled] >= 1).all()


@pytest.mark.parametrize("retime", [False, True])
@pytest.mark.parametrize("turn", [False, True])
def test_a_swipe_carried_to_its_own_layout_stays(retime, turn):
    batch = random_batch()
    torch.testing.assert_close(carry(batch, batch.keys, retime=retime, turn=turn), batch.path, atol=1e-5, rtol=0)


def test_offsets_at_the_letters_scale_with_the_keys():
    new_keys = torch.tensor([[0.5, 0.1 * k + 0.05, 0.25, 0.05] for k in range(10)])[None]  # a column of wide keys
    targets, lengths = torch.tensor([[1, 8]]), torch.tensor([2])
    path = torch.stack([torch.linspace(0.16, 0.83, 64), torch.linspace(0.6, 0.45, 64)])[None]
    moved = carry(batch_of(path, ROW[None], targets, lengths), new_keys, retime=False, turn=False)
    # Five times as wide and a tenth as high: an offset (.01, .1) is (.05, .01), (-.02, -.05) is (-.1, -.005).
    torch.testing.assert_close(moved[0, :, 0], torch.tensor([0.55, 0.16]))
    torch.testing.assert_close(moved[0, :, -1], torch.tensor([0.40, 0.845]))


def test_an_overshoot_turns_with_its_segment():
    across = torch.tensor([[0.2, 0.5, 0.1, 0.1], [0.6, 0.5, 0.1, 0.1]])[None]
    down = torch.tensor([[0.5, 0.2, 0.1, 0.1], [0.5, 0.6, 0.1, 0.1]])[None]
    below = 0.06 * 0.2
    path = torch.stack([torch.linspace(0.2, 0.7, 64), torch.full((64,), 0.5 + below)])[None]  # 0.1 too far
    batch = batch_of(path, across, torch.tensor([[0, 1]]), torch.tensor([2]))
    for turn, end in ((True, [0.5, 0.7 + below]), (False, [0.6, 0.6 + below])):
        torch.testing.assert_close(carry(batch, down, turn=turn)[0, :, -1], torch.tensor(end))


@pytest.mark.parametrize("turn", [False, True])
def test_paths_stay_in_one_piece(turn):
    """Sampled ever more finely, the steps of a continuous path vanish; a jump would stay."""
    batch = random_batch(points=64 * 64)
    frames = align(batch.path, batch.keys, batch.targets, batch.lengths)
    new_keys = grid(64, torch.Generator().manual_seed(4), columns=8, rows=3)
    # Where the finger never comes near a letter two letters share neighbouring frames: that is a true jump.
    spans = torch.where(letter_mask(batch.targets, batch.lengths)[:, 1:], frames.diff(dim=1), 64)
    doubled = batch.targets[:, 1:] == batch.targets[:, :-1]
    calm = (spans.masked_fill(doubled, 64) > 32).all(1)
    assert calm.sum() > 8
    moved = carry(batch, new_keys, retime=False, turn=turn)
    assert moved.diff(dim=2).abs().amax((1, 2))[calm].max() < 0.06


def test_time_goes_where_the_way_is_longer():
    targets, lengths = torch.tensor([[0, 4, 8]]), torch.tensor([3])
    new_keys = ROW.clone()
    new_keys[4, 0] = 0.85 - 0.8 / 5  # legs of 0.64 and 0.16 instead of 0.4 each
    path = torch.stack([torch.linspace(0.05, 0.85, 64), torch.full((64,), 0.5)])[None]
    moved = carry(batch_of(path, ROW[None], targets, lengths), new_keys[None], retime=True)
    long, short = 1.6**0.47, 0.4**0.47
    reached = (moved[0, 0] < new_keys[4, 0]).sum()
    assert abs(int(reached) - 63 * long / (long + short)) < 1.5


@pytest.mark.parametrize("length", [1, 2, 3, 30])
def test_anything_stays_finite_and_inside(length):
    generator = torch.Generator().manual_seed(length)
    keys, new_keys = grid(40, generator), grid(40, generator)
    targets = torch.randint(0, 24, (40, length), generator=generator)
    targets[:10] = targets[:10, :1]  # one letter over and over
    path = torch.rand(40, 2, 64, generator=generator)
    path[:5] = 0.5  # taps
    moved = carry(batch_of(path, keys, targets, torch.full((40,), length)), new_keys, turn=True)
    assert torch.isfinite(moved).all()
    assert moved.min() >= 0
    assert moved.max() <= 1
