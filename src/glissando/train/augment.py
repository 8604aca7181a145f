"""Co-augmentation: the seven stages of the report's appendix, on the path and the keys together, and one of ours.

Every stage is a pure function of tensors and of one parameter tensor; ``sample_parameters`` draws all
parameters beforehand. So ``augment`` holds no randomness and ``torch.compile`` takes it whole.

Six stages are affine maps, and one function, ``move``, applies a map to path and keys alike. A box is the one around
the path and the key centres; padded keys do not count, and stay zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from glissando.errors import TrainingError
from glissando.model.settings import Config, setting
from glissando.train.batches import Batch

WAVES = 6  # of a sway, the fastest three times up and down


@dataclass(frozen=True)
class AugmentConfig(Config):
    """The range of each stage; the defaults are the report's.

    Attributes:
        y_scale: contraction of the y axis around 0.5, (low, high).
        x_scale: contraction of the x axis around 0.5, (low, high).
        shear: both shear factors, (low, high).
        flip_x: probability of a flip left to right.
        flip_y: probability of a flip top to bottom.
        rotation: angle in degrees, (low, high); (0, 0) never rotates.
        translate: whether the content goes to a random valid place.
        reversal: probability of reversing path and word in time.
        scale_rows: layouts of more rows than this keep their y scale.
        upright: share of samples that are neither flipped nor rotated, as every keyboard in use is; not in the report.
        sway: how far a path is moved off its keys, as another person's finger would be: the standard deviations of
            a shift of the whole path and of slow waves along it, in key sizes; not in the report.
    """

    y_scale: tuple[float, float] = setting((0.75, 1.0), "(0, 1]")
    x_scale: tuple[float, float] = setting((0.85, 1.0), "(0, 1]")
    shear: tuple[float, float] = (-0.05, 0.05)
    flip_x: float = setting(0.5, "[0, 1]")
    flip_y: float = setting(0.5, "[0, 1]")
    rotation: tuple[float, float] = (0.0, 360.0)
    translate: bool = True
    reversal: float = setting(0.1, "[0, 1]")
    scale_rows: int = 3
    upright: float = setting(0.0, "[0, 1]")
    sway: tuple[float, float] = setting((0.0, 0.0), "[0, inf)")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("y_scale", "x_scale", "shear", "rotation"):
            low, high = getattr(self, name)
            if low > high:
                raise TrainingError(f"augment.{name} must be (low, high) with low <= high, got {(low, high)}")

    @classmethod
    def off(cls) -> AugmentConfig:
        """Every stage switched off: the identity."""
        return cls((1.0, 1.0), (1.0, 1.0), (0.0, 0.0), 0.0, 0.0, (0.0, 0.0), False, 0.0)


class Parameters(NamedTuple):
    """The parameters drawn for every sample of a batch, a stage per field.

    Attributes:
        y_scale: [B] factor on y.
        x_scale: [B] factor on x.
        shear: [B, 2] factors (s_xy, s_yx).
        flip: [B, 2] -1 where an axis is flipped, else 1.
        angle: [B] radians.
        place: [B, 2] where the box goes: 0 is the lowest valid origin, 1 the highest. Below 0 the box stays, and is
            only pushed back inside where it sticks out.
        reverse: [B] bool.
        sway: [B, 2, 1 + WAVES] in key sizes: the shift, then the height of each wave.
    """

    y_scale: Tensor
    x_scale: Tensor
    shear: Tensor
    flip: Tensor
    angle: Tensor
    place: Tensor
    reverse: Tensor
    sway: Tensor


def sample_parameters(batch: Batch, config: AugmentConfig, generator: torch.Generator) -> Parameters:
    """Draw the parameters of every stage (the generator must live on the batch's device)."""
    size, device = len(batch.lengths), batch.path.device
    draw = torch.rand((11, size), generator=generator, device=device)  # [11, B]
    normal = torch.randn((size, 2, 1 + WAVES), generator=generator, device=device)
    shift, wave = config.sway[0], config.sway[1] / math.sqrt(WAVES / 2)  # cos^2 is 1/2 on average
    turned = draw[10] >= config.upright
    y_scale = torch.where(batch.rows > config.scale_rows, 1.0, _between(draw[0], config.y_scale))
    flips = [
        torch.where(turned & (draw[i] < chance), -1.0, 1.0) for i, chance in ((4, config.flip_x), (5, config.flip_y))
    ]
    low, high = config.rotation
    return Parameters(
        y_scale=y_scale,
        x_scale=_between(draw[1], config.x_scale),
        shear=_between(draw[2:4].T, config.shear),
        flip=torch.stack(flips, dim=1),
        angle=torch.where(turned, _between(draw[6], (math.radians(low), math.radians(high))), 0.0),
        place=draw[7:9].T if config.translate else torch.full_like(draw[7:9].T, -1.0),
        reverse=draw[9] < config.reversal,
        sway=torch.cat([shift * normal[..., :1], wave * normal[..., 1:]], dim=2),
    )


def augment(batch: Batch, parameters: Parameters) -> Batch:
    """Apply the sway, then the seven stages in the report's order."""
    path, keys, mask = sway(batch.path, batch.keys, batch.mask, parameters.sway), batch.keys, batch.mask
    path, keys = scale_y(path, keys, mask, parameters.y_scale)
    path, keys = scale_x(path, keys, mask, parameters.x_scale)
    path, keys = shear(path, keys, mask, parameters.shear)
    path, keys = flip(path, keys, mask, parameters.flip)
    path, keys = rotate(path, keys, mask, parameters.angle)
    path, keys = translate(path, keys, mask, parameters.place)
    path, targets = reverse(path, batch.targets, batch.lengths, parameters.reverse)
    return batch._replace(path=path, keys=keys, targets=targets)


def sway(path: Tensor, keys: Tensor, mask: Tensor, heights: Tensor) -> Tensor:
    """Move a path off its keys by slow waves. Shapes: [B, 2, n], [B, K, 4], [B, K], [B, 2, 1 + WAVES] -> [B, 2, n]."""
    real = mask[:, :, None].to(keys.dtype)
    size = 2 * (keys[..., 2:] * real).sum(1) / real.sum(1).clamp(min=1)  # [B, 2] width and height of a key
    along = torch.linspace(0, math.pi, path.shape[2], device=path.device)
    waves = torch.cos(torch.arange(1 + WAVES, device=path.device)[:, None] * along)  # [1 + WAVES, n]
    moved = (heights[..., None] * waves).sum(2)  # a product of matrices would lose bits to TF32
    return path + size[..., None] * moved


def scale_y(path: Tensor, keys: Tensor, mask: Tensor, factor: Tensor) -> tuple[Tensor, Tensor]:
    """Contract y around 0.5. Shapes: [B, 2, n], [B, K, 4], [B, K], factor [B]."""
    return move(path, keys, mask, Affine(yy=factor, y=0.5 * (1 - factor)))


def scale_x(path: Tensor, keys: Tensor, mask: Tensor, factor: Tensor) -> tuple[Tensor, Tensor]:
    """Contract x around 0.5. Shapes: [B, 2, n], [B, K, 4], [B, K], factor [B]."""
    return move(path, keys, mask, Affine(xx=factor, x=0.5 * (1 - factor)))


def shear(path: Tensor, keys: Tensor, mask: Tensor, factors: Tensor) -> tuple[Tensor, Tensor]:
    """Skew: x' = x + s_xy (y - 0.5), then y' = y + s_yx (x' - 0.5). Shapes: [B, 2, n], [B, K, 4], [B, K], [B, 2].

    Content that the skew makes larger than the unit square is contracted to fit; the report is silent on it.
    """
    s_xy, s_yx = factors.unbind(1)
    path, keys = move(path, keys, mask, Affine(xy=s_xy, x=-0.5 * s_xy))
    path, keys = move(path, keys, mask, Affine(yx=s_yx, y=-0.5 * s_yx))
    low, high = content_box(path, keys, mask)
    fit = 1 / (high - low).clamp(min=1)  # [B, 2], 1 where it fits
    middle = (low + high) / 2
    x, y = (middle * (1 - fit)).unbind(1)
    return move(path, keys, mask, Affine(xx=fit[:, 0], yy=fit[:, 1], x=x, y=y))


def flip(path: Tensor, keys: Tensor, mask: Tensor, signs: Tensor) -> tuple[Tensor, Tensor]:
    """Mirror each axis at 0.5 where its sign is -1. Shapes: [B, 2, n], [B, K, 4], [B, K], [B, 2]."""
    x, y = (0.5 * (1 - signs)).unbind(1)
    return move(path, keys, mask, Affine(xx=signs[:, 0], yy=signs[:, 1], x=x, y=y))


def rotate(path: Tensor, keys: Tensor, mask: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    """Turn around the path's centroid, where the turned content still fits a unit square somewhere.

    Of the readings of the report's "rejected if it overflows" this one lets nearly every angle through on a
    wide keyboard; ``translate`` then brings the content back inside. Shapes: [B, 2, n], [B, K, 4], [B, K], [B].
    """
    cos, sin = torch.cos(angle), torch.sin(angle)
    x, y = path.mean(dim=2).unbind(1)
    turn = Affine(xx=cos, xy=-sin, yx=sin, yy=cos, x=x - (cos * x - sin * y), y=y - (sin * x + cos * y))
    turned_path, turned_keys = move(path, keys, mask, turn)
    low, high = content_box(turned_path, turned_keys, mask)
    fits = ((high - low) <= 1).all(dim=1)[:, None, None]
    return torch.where(fits, turned_path, path), torch.where(fits, turned_keys, keys)


def translate(path: Tensor, keys: Tensor, mask: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
    """Put the box of path and key centres at a place inside the unit square; ``Parameters`` explains ``place``.

    Shapes: [B, 2, n], [B, K, 4], [B, K], [B, 2].
    """
    low, high = content_box(path, keys, mask)
    room = (1 - (high - low)).clamp(min=0)
    origin = torch.where(place < 0, torch.minimum(low.clamp(min=0), room), place * room)
    # The untouched case must stay untouched to the last bit, so its room is measured against the box itself.
    inside = ((low >= 0) & (high <= 1)) & (place < 0)
    x, y = torch.where(inside, 0.0, origin - low).unbind(1)
    path, keys = move(path, keys, mask, Affine(x=x, y=y))
    # Rounding alone can leave the square, by an ulp.
    return path.clamp(0, 1), torch.cat([keys[..., :2].clamp(0, 1), keys[..., 2:]], dim=2)


def reverse(path: Tensor, targets: Tensor, lengths: Tensor, backwards: Tensor) -> tuple[Tensor, Tensor]:
    """Reverse time and word where told. Shapes: [B, 2, n], [B, L], [B], [B] bool; padding stays at the end."""
    place = torch.arange(targets.shape[1], device=targets.device)
    mirrored = torch.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)  # [B, L]
    path = torch.where(backwards[:, None, None], path.flip(2), path)
    return path, torch.where(backwards[:, None], targets.gather(1, mirrored), targets)


class Affine(NamedTuple):
    """x' = xx x + xy y + x, y' = yx x + yy y + y, each coefficient a number or one per sample, [B]."""

    xx: Tensor | float = 1.0
    xy: Tensor | float = 0.0
    yx: Tensor | float = 0.0
    yy: Tensor | float = 1.0
    x: Tensor | float = 0.0
    y: Tensor | float = 0.0


def move(path: Tensor, keys: Tensor, mask: Tensor, affine: Affine) -> tuple[Tensor, Tensor]:
    """Apply one affine map to path and keys. Shapes: [B, 2, n], [B, K, 4], [B, K].

    Half sizes become those of the moved key's bounding box, |M| (rx, ry). Written out in scalars: a matrix
    product would lose bits to bfloat16 or TF32.
    """
    xx, xy, x = _column(affine.xx), _column(affine.xy), _column(affine.x)
    yx, yy, y = _column(affine.yx), _column(affine.yy), _column(affine.y)
    path = torch.stack([xx * path[:, 0] + xy * path[:, 1] + x, yx * path[:, 0] + yy * path[:, 1] + y], dim=1)
    cx, cy, rx, ry = keys.unbind(2)  # [B, K] each
    moved = torch.stack(
        [
            xx * cx + xy * cy + x,
            yx * cx + yy * cy + y,
            _size(xx) * rx + _size(xy) * ry,
            _size(yx) * rx + _size(yy) * ry,
        ],
        dim=2,
    )
    return path, torch.where(mask[:, :, None], moved, 0.0)


def content_box(path: Tensor, keys: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The corners of the box around path and real key centres. Shapes: two of [B, 2]."""
    centres = keys[..., :2]
    real = mask[:, :, None]
    low = torch.minimum(path.amin(2), torch.where(real, centres, torch.inf).amin(1))
    high = torch.maximum(path.amax(2), torch.where(real, centres, -torch.inf).amax(1))
    return low, high


def _between(draw: Tensor, limits: tuple[float, float]) -> Tensor:
    """Bring draws from [0, 1) to a range; equal limits give exactly that number."""
    low, high = limits
    return low + (high - low) * draw


def _size(value: Tensor | float) -> Tensor | float:
    """A coefficient without its sign."""
    return value.abs() if isinstance(value, Tensor) else abs(value)


def _column(value: Tensor | float) -> Tensor | float:
    """A coefficient that broadcasts over points: [B] -> [B, 1]."""
    return value[:, None] if isinstance(value, Tensor) else value
