"""The Triton kernel against the plain elimination: on a GPU, or on the CPU where Triton's interpreter is asked for."""

import os

import pytest
import torch

from glissando.design.minimum_jerk import _rates, _repeated

pytest.importorskip("triton")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("no GPU, and TRITON_INTERPRET=1 is not set", allow_module_level=True)


def test_the_kernel_finds_the_rates_of_the_plain_form():
    from glissando.design.spline_kernel import spline_rates

    draw = torch.Generator().manual_seed(0)
    points = torch.rand(200, 9, 2, generator=draw)
    points[5, 3], points[7, 6:], points[9] = points[5, 4], points[7, 6], points[9, :1]
    step, h = points.diff(dim=1), 0.5 + torch.rand(200, 8, generator=draw)
    velocity, acceleration = _rates(step, h, _repeated(step))
    rates = spline_rates(step.to(DEVICE), h.to(DEVICE), _repeated(step).to(DEVICE)).cpu()
    torch.testing.assert_close(rates, torch.cat([velocity, acceleration], 2), rtol=1e-4, atol=1e-4)
