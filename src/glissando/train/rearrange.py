"""Re-arrangement: a real swipe carried to another layout, its human residuals kept.

A swipe is a walk along its word's keys plus deviations from it. ``align`` finds when the finger was at each letter;
``rearrange`` splits every point into progress along the line between two keys and a residual, and puts both together
again on the new keys. Everything is batched and stays on its device.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from glissando.train.batches import Batch, LayoutTable

TIME_EXPONENT = 0.47  # a segment's share of time grows with this power of its length (Cao & Zhai: 0.469)
BELOW = 0.06  # key heights; how far under the centres of keys fingers are on average
MINIMUM_PROGRESS = 0.3  # below this the finger hardly moved along the segment; its progress is then read off time


def letter_keys(keys: Tensor, targets: Tensor) -> Tensor:
    """The key of every letter. Shape: [B, K, 4], [B, L] -> [B, L, 4]."""
    return keys.gather(1, targets[..., None].expand(-1, -1, keys.shape[2]))


def letter_mask(targets: Tensor, lengths: Tensor) -> Tensor:
    """Which of the padded letters are real. Shape: [B, L], [B] -> [B, L] bool."""
    return torch.arange(targets.shape[1], device=targets.device) < lengths[:, None]


def pitch(keys: Tensor, targets: Tensor, lengths: Tensor) -> Tensor:
    """Mean size (width, height) of the keys a word visits. Shape: -> [B, 2]."""
    real = letter_mask(targets, lengths)[..., None]
    sizes = 2 * letter_keys(keys, targets)[..., 2:]  # [B, L, 2]
    return (sizes * real).sum(1) / lengths.clamp(min=1)[:, None]


def align(path: Tensor, keys: Tensor, targets: Tensor, lengths: Tensor) -> Tensor:
    """Find the frame at which the finger types each letter: in order, ends pinned, least squares.

    Distances count in key widths across and key heights down. Letters on different keys get different
    frames, so every segment has a beginning and an end; a doubled letter may share its frame. Frames of
    padded letters are the last one's.

    Args:
        path: [B, 2, T].
        keys: [B, K, 4].
        targets: [B, L] key indices; words of more letters than frames have no alignment.
        lengths: [B] letters in each word, at least one.

    Returns:
        [B, L] int64.
    """
    centres = letter_keys(keys, targets)[..., :2]  # [B, L, 2]
    size = pitch(keys, targets, lengths)[:, None, :, None]
    cost = ((path[:, None] - centres[..., None]) / size).square().sum(2)  # [B, L, T]
    doubled = torch.zeros_like(targets, dtype=torch.bool)
    doubled[:, 1:] = targets[:, 1:] == targets[:, :-1]
    came_from = _search(cost, doubled)
    return _trace_back(came_from, lengths, path.shape[2])


def _search(cost: Tensor, doubled: Tensor) -> Tensor:
    """Forward pass: for a letter at a frame, the best frame of the letter before it. Shape: [B, L, T] -> [B, L, T]."""
    batch, letters, frames = cost.shape
    unreachable = torch.full((batch, 1), torch.inf, device=cost.device, dtype=cost.dtype)
    total = torch.cat([cost[:, 0, :1], unreachable.expand(-1, frames - 1)], dim=1)  # the first letter at frame 0
    first = torch.zeros((batch, 1), device=cost.device, dtype=torch.int64)
    came_from = [first.expand(-1, frames)]
    for letter in range(1, letters):
        best, where = total.cummin(dim=1)  # over frames up to this one
        earlier = torch.cat([unreachable, best[:, :-1]], dim=1)  # over frames before this one
        where_earlier = torch.cat([first, where[:, :-1]], dim=1)
        same = doubled[:, letter, None]
        total = cost[:, letter] + torch.where(same, best, earlier)
        came_from.append(torch.where(same, where, where_earlier))
    return torch.stack(came_from, dim=1)


def _trace_back(came_from: Tensor, lengths: Tensor, frames: int) -> Tensor:
    """Backward pass from the last letter at the last frame; one letter alone is typed at frame 0. Shape: -> [B, L]."""
    letters = came_from.shape[1]
    at = torch.where(lengths > 1, frames - 1, 0)  # [B]
    at_letters = [at] * letters
    for letter in range(letters - 1, 0, -1):
        at_letters[letter] = at
        previous = came_from[:, letter].gather(1, at[:, None])[:, 0]
        at = torch.where(letter < lengths, previous, at)
    at_letters[0] = at
    return torch.stack(at_letters, dim=1)


def rearrange(batch: Batch, frames: Tensor, grids: LayoutTable, retime: bool = True, turn: bool = True) -> Batch:
    """Carry swipes to other layouts. Carried to its own layout, a swipe stays as it is.

    Between two letters a point is p + u d + residual: p the first key, d the way to the next, u the progress
    along d, from 0 to 1 between the letters' frames. On the new keys it is p' + u d' + residual, the residual
    scaled with the keys. At a letter the residual is the finger's offset from the key, whichever segment
    it is seen from, so the path stays in one piece.

    Args:
        batch: the swipes; its targets are read as indices into the new keys too.
        frames: [B, L] from ``align``.
        grids: the new layouts, one for each swipe: keys [B, K', 4], mask [B, K'], rows [B].
        retime: give each segment the share of time that its new length takes.
        turn: let residuals turn with their segments, so that an overshoot stays one; else they keep their direction
            on the keyboard.

    Returns:
        The batch on its new layouts, paths clipped to the unit square.
    """
    old_size = pitch(batch.keys, batch.targets, batch.lengths)[:, None]  # [B, 1, 2]
    new_size = pitch(grids.keys, batch.targets, batch.lengths)[:, None]
    old = letter_keys(batch.keys, batch.targets)[..., :2] / old_size  # [B, L, 2], in keys from here on
    new = letter_keys(grids.keys, batch.targets)[..., :2] / new_size
    points = batch.path.transpose(1, 2) / old_size  # [B, T, 2]
    segment = _segments(frames, batch.lengths, points.shape[1])
    following = (segment + 1).minimum(batch.lengths[:, None] - 1)
    progress = _progress(points, old, frames, segment, following)[..., None]
    residual = points - torch.lerp(_take(old, segment), _take(old, following), progress)
    if turn and old.shape[1] > 1:
        residual = _turn(residual, _turns(old, new, batch.lengths), segment, progress[..., 0])
    moved = torch.lerp(_take(new, segment), _take(new, following), progress) + residual
    path = (moved * new_size).transpose(1, 2)
    if retime:
        path = _retime(path, old.diff(dim=1).norm(dim=2), new.diff(dim=1).norm(dim=2), frames, batch.lengths)
    return Batch(path.clamp(0, 1), grids.keys, grids.mask, batch.targets, batch.lengths, grids.rows)


def _segments(frames: Tensor, lengths: Tensor, count: int) -> Tensor:
    """The letter each frame comes after, at most the last but one. Shape: [B, L], [B] -> [B, T]."""
    time = torch.arange(count, device=frames.device)
    real = torch.arange(frames.shape[1], device=frames.device) < lengths[:, None]
    reached = (frames[..., None] <= time) & real[..., None]  # [B, L, T]
    return (reached.sum(1) - 1).minimum(lengths[:, None] - 2).clamp(min=0)


def _take(points: Tensor, index: Tensor) -> Tensor:
    """Rows of a batch of points. Shape: [B, n, 2], [B, T] -> [B, T, 2]."""
    return points.gather(1, index[..., None].expand(-1, -1, 2))


def _progress(points: Tensor, centres: Tensor, frames: Tensor, segment: Tensor, following: Tensor) -> Tensor:
    """Progress along each segment, 0 at its first letter's frame and 1 at its last one's.

    It is the projection on the way from key to key, shifted and scaled to run from 0 to 1. Where the finger
    hardly advanced, or the letter is doubled, it is the share of the segment's frames instead. Motion beyond
    either end goes to the residual: on a longer segment it must not grow.

    Args:
        points: [B, T, 2].
        centres: [B, L, 2] old keys.
        frames: [B, L].
        segment: [B, T] letter before each frame.
        following: [B, T] letter after it.

    Returns:
        [B, T] in [0, 1].
    """
    here, ahead = _take(centres, segment), _take(centres, following)
    way = ahead - here
    first, last = frames.gather(1, segment), frames.gather(1, following)  # [B, T]
    length = way.square().sum(2)

    def project(at: Tensor) -> Tensor:
        return ((at - here) * way).sum(2) / length.clamp(min=1e-6)

    start, end = project(_take(points, first)), project(_take(points, last))
    advance = end - start
    along = (project(points) - start) / advance.clamp(min=MINIMUM_PROGRESS)
    time = torch.arange(points.shape[1], device=points.device)
    elapsed = (time - first) / (last - first).clamp(min=1)
    return torch.where((advance > MINIMUM_PROGRESS) & (length > 1e-6), along, elapsed).clamp(0, 1)


def _turns(old: Tensor, new: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The angle by which each segment has turned, and each letter: half way between the segments around it.

    A doubled letter's segment has no direction: both letters turn as one, and it with them.

    Args:
        old: [B, L, 2] keys, L > 1.
        new: [B, L, 2] keys.
        lengths: [B].

    Returns:
        [B, L - 1] and [B, L] radians; the letters' within pi of the segments around them.
    """
    way, new_way = old.diff(dim=1), new.diff(dim=1)  # [B, S, 2]
    number = torch.arange(way.shape[1], device=way.device)
    directed = (way.abs().sum(2) > 1e-4) & (new_way.abs().sum(2) > 1e-4) & (number < lengths[:, None] - 1)
    angle = torch.atan2(new_way[..., 1], new_way[..., 0]) - torch.atan2(way[..., 1], way[..., 0])
    angle = torch.where(directed, angle, 0.0)
    before = torch.where(directed, number, -1).cummax(1).values  # [B, S] the last directed segment up to each
    after = torch.where(directed, number, len(number)).flip(1).cummin(1).values.flip(1)
    before, after = pad(before, (1, 0), value=-1), pad(after, (0, 1), value=len(number))  # around each letter
    before, after = torch.where(before < 0, after, before), torch.where(after == len(number), before, after)
    earlier, later = (angle.gather(1, i.clamp(0, len(number) - 1)) for i in (before, after))
    letters = earlier + _wrap(later - earlier) / 2
    return torch.where(directed, angle, letters[:, :-1]), letters


def _turn(residual: Tensor, turns: tuple[Tensor, Tensor], segment: Tensor, progress: Tensor) -> Tensor:
    """Turn residuals: at a letter by the letter's angle, half way to the next letter by the segment's.

    Fingers land below their target, whatever direction they come from, so that part of the residual stays.

    Args:
        residual: [B, T, 2].
        turns: [B, L - 1] and [B, L] radians.
        segment: [B, T].
        progress: [B, T].

    Returns:
        [B, T, 2].
    """
    middle = turns[0].gather(1, segment)
    back, ahead = (_wrap(turns[1].gather(1, i) - middle) for i in (segment, segment + 1))
    away = 2 * progress - 1  # -1 at the segment's first letter, 1 at its last
    angle = middle + torch.where(away < 0, -away * back, away * ahead)
    x, y = residual[..., 0], residual[..., 1] - BELOW
    cosine, sine = angle.cos(), angle.sin()
    return torch.stack([cosine * x - sine * y, sine * x + cosine * y + BELOW], dim=2)


def _wrap(angle: Tensor) -> Tensor:
    """The same angle from -pi to pi."""
    return torch.remainder(angle + torch.pi, 2 * torch.pi) - torch.pi


def _retime(path: Tensor, old_legs: Tensor, new_legs: Tensor, frames: Tensor, lengths: Tensor) -> Tensor:
    """Share the frames out anew, each segment's time growing with a power of its length.

    Args:
        path: [B, 2, T].
        old_legs: [B, L - 1] lengths of the segments before.
        new_legs: [B, L - 1] lengths now, in the same unit.
        frames: [B, L].
        lengths: [B].

    Returns:
        [B, 2, T].
    """
    count = path.shape[2]
    number = torch.arange(old_legs.shape[1], device=path.device)
    moves = (old_legs > 1e-3) & (new_legs > 1e-3) & (number < lengths[:, None] - 1)
    factor = torch.where(moves, (new_legs / old_legs.clamp(min=1e-3)).clamp(0.05, 20) ** TIME_EXPONENT, 1.0)
    frames = pad(frames, (0, 1), value=count - 1)  # the way after a last letter, or a lone one
    factor = pad(factor, (0, 1), value=1.0)
    spans = frames.diff(dim=1).float()  # [B, L]
    passed = pad((spans * factor).cumsum(1), (1, 0))  # [B, L + 1] new time at each letter
    passed = passed / passed[:, -1:].clamp(min=1e-6) * (count - 1)
    time = torch.arange(count, device=path.device, dtype=path.dtype).expand(len(path), -1).contiguous()
    after = torch.searchsorted(passed.contiguous(), time, right=True).clamp(1, frames.shape[1] - 1)
    begin, end = passed.gather(1, after - 1), passed.gather(1, after)
    share = ((time - begin) / (end - begin).clamp(min=1e-6)).clamp(0, 1)
    old_time = frames.gather(1, after - 1) + share * spans.gather(1, after - 1)  # [B, T]
    left = old_time.floor().clamp(0, count - 2)
    index = left.long()[:, None].expand(-1, 2, -1)
    return torch.lerp(path.gather(2, index), path.gather(2, index + 1), (old_time - left)[:, None])
