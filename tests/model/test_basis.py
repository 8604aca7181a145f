import math

import pytest
import torch
import torch.nn.functional as F

from glissando.model.basis import cosine_basis, grid_basis


@pytest.mark.parametrize("resolution", [1, 2, 3, 8, 16])
def test_cosine_basis_is_equation_1(resolution):
    keys = torch.rand(2, 5, 2, dtype=torch.float64)
    got = cosine_basis(keys, resolution).view(2, 5, resolution, resolution)
    for u in range(resolution):
        for v in range(resolution):
            expected = torch.cos(math.pi * u * keys[..., 0]) * torch.cos(math.pi * v * keys[..., 1])
            torch.testing.assert_close(got[..., u, v], expected)


@pytest.mark.parametrize("resolution", [2, 8, 12])
def test_grid_basis_is_bilinear_interpolation(resolution):
    keys, values = torch.rand(1, 20, 2), torch.randn(resolution, resolution)
    got = grid_basis(keys, resolution)[0] @ values.flatten()
    # grid_sample wants (width, height) in [-1, 1] and an image [height, width]: x is our first axis.
    expected = F.grid_sample(values.T[None, None], keys[:, None] * 2 - 1, align_corners=True)[0, 0, 0]
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


def test_grid_rows_sum_to_one_inside_and_beyond_the_square():
    keys = torch.rand(3, 10, 2) * 2 - 0.5
    torch.testing.assert_close(grid_basis(keys, 8).sum(-1), torch.ones(3, 10))
