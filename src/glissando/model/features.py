"""The eight features of a path, computed inside the network so that they exist once.

Position, velocity, acceleration, speed and curvature, the derivatives by a Savitzky-Golay filter (7 taps,
order 2) over resampled steps.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

CHANNELS = 8  # x, y, vx, vy, ax, ay, speed, curvature
FIRST = tuple(tap / 28 for tap in (-3, -2, -1, 0, 1, 2, 3))
SECOND = tuple(tap / 42 for tap in (5, 0, -3, -4, -3, 0, 5))
STILL = 1e-4  # a step this short is no movement: it keeps the speed and the heading of a resting finger smooth
MAX_CURVATURE = 2.0  # radians per step


class PathFeatures(nn.Module):
    """Turn a path into its features, in float32.

    A derivative does not see the path's origin, so it is taken of the steps between points: replicate padding
    is then a step of zero, and a finger at rest has a velocity of exactly zero, whatever the rounding.
    """

    first: Tensor
    second: Tensor

    def __init__(self, points: int = 64) -> None:
        super().__init__()
        self.register_buffer("first", _step_operator(FIRST, points), persistent=False)  # [n - 1, n]
        self.register_buffer("second", _step_operator(SECOND, points), persistent=False)  # [n - 1, n]

    def forward(self, path: Tensor) -> Tensor:
        """Compute the features.

        Args:
            path: [B, 2, n] points in the unit square.

        Returns:
            [B, 8, n] x, y, velocity, acceleration, speed, curvature.
        """
        path = path.float()
        steps = path[..., 1:] - path[..., :-1]  # [B, 2, n - 1]
        velocity, acceleration = steps @ self.first, steps @ self.second  # [B, 2, n]
        # In units of STILL, or the ONNX exporter takes the 1e-8 beside the squares for zero and drops it.
        x, y = (velocity * (1 / STILL)).chunk(2, dim=1)  # [B, 1, n]
        speed = (x * x + y * y + 1).sqrt() * STILL
        curvature = (_turns(x, y) @ self.first).clamp(-MAX_CURVATURE, MAX_CURVATURE)
        return torch.cat([path, velocity, acceleration, speed, curvature], dim=1)


def _step_operator(taps: tuple[float, ...], points: int) -> Tensor:
    """Write a derivative filter as a matrix on steps. Shape: [points - 1, points], a column per output.

    With replicate padding the filter is a matrix S on the points, and points are x[0] + (sums of steps). The
    taps sum to zero, so x[0] drops out and S times the summing matrix remains.
    """
    reach = len(taps) // 2
    on_points = torch.zeros(points, points, dtype=torch.float64)
    for row in range(points):
        for offset, tap in enumerate(taps, start=-reach):
            on_points[row, min(max(row + offset, 0), points - 1)] += tap
    summing = torch.ones(points, points - 1, dtype=torch.float64).tril(-1)
    return (on_points @ summing).T.float()


def _turns(x: Tensor, y: Tensor) -> Tensor:
    """Wrapped differences of the heading, in (-pi, pi]: the angle from each velocity to the next.

    The angle between two vectors needs no unwrapping, and the 1 (a squared ``STILL``) makes it zero, not noise,
    where the finger rests and has no heading. Spelled out because ONNX has no atan2.

    Args:
        x: [B, 1, n] horizontal velocity in units of ``STILL``.
        y: [B, 1, n] vertical velocity in units of ``STILL``.

    Returns:
        [B, 1, n - 1] radians.
    """
    sine = x[..., :-1] * y[..., 1:] - y[..., :-1] * x[..., 1:]
    cosine = x[..., :-1] * x[..., 1:] + y[..., :-1] * y[..., 1:] + 1
    acute = torch.atan(sine / cosine.abs().clamp(min=1e-6))  # the floor only keeps 0 / 0 out
    return torch.where(cosine < 0, torch.where(sine < 0, -math.pi, math.pi) - acute, acute)
