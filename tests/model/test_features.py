import math

import numpy as np
import pytest
import torch
from scipy.signal import savgol_filter

from glissando.model.features import MAX_CURVATURE, PathFeatures

X, Y, VX, VY, AX, AY, SPEED, CURVATURE = range(8)


def features(path):
    return PathFeatures(np.shape(path)[-1])(torch.as_tensor(np.asarray(path), dtype=torch.float32)[None])[0].numpy()


def wandering_path(seed=0, points=64):
    steps = np.random.default_rng(seed).normal(0, 0.01, (2, points)).cumsum(1)
    return np.clip(0.5 + steps.cumsum(1) / 4, 0, 1)


def test_derivatives_are_savitzky_golay_with_replicate_padding():
    path = wandering_path()
    got = features(path)
    velocity = savgol_filter(path, 7, 2, deriv=1, mode="nearest")
    acceleration = savgol_filter(path, 7, 2, deriv=2, mode="nearest")
    # scipy's second derivative is that of the fitted parabola, twice its leading coefficient: the same taps.
    np.testing.assert_allclose(got[[X, Y]], path, atol=1e-7)
    np.testing.assert_allclose(got[[VX, VY]], velocity, atol=1e-6)
    np.testing.assert_allclose(got[[AX, AY]], acceleration, atol=1e-6)
    np.testing.assert_allclose(got[SPEED], np.sqrt((velocity**2).sum(0) + 1e-8), atol=1e-6)


def test_curvature_is_the_filtered_unwrapped_heading():
    angle = np.linspace(0, 5 * math.pi, 64)  # two and a half turns: the raw heading wraps
    path = 0.5 + 0.4 * np.stack([np.cos(angle), np.sin(angle)])
    vx, vy = savgol_filter(path, 7, 2, deriv=1, mode="nearest")
    expected = savgol_filter(np.unwrap(np.arctan2(vy, vx)), 7, 2, deriv=1, mode="nearest")
    got = features(path)[CURVATURE]
    np.testing.assert_allclose(got, expected, atol=2e-4)
    assert got[32] == pytest.approx(angle[1], abs=1e-3)  # a circle turns by the same angle every step


@pytest.mark.parametrize("place", [(0.0, 0.0), (0.1, 0.7), (1 / 3, 2 / 3)])
def test_a_tap_has_no_movement_and_no_heading(place):
    got = features(np.repeat(np.array(place)[:, None], 64, axis=1))
    np.testing.assert_array_equal(got[[VX, VY, AX, AY, CURVATURE]], 0)
    np.testing.assert_allclose(got[SPEED], 1e-4)


def test_rounding_noise_of_a_resting_finger_is_no_curvature():
    path = np.full((2, 64), 0.3) + np.random.default_rng(0).choice([-3e-8, 0, 3e-8], (2, 64))
    assert np.abs(features(path)[CURVATURE]).max() < 1e-3


def test_about_face_is_half_a_turn_whichever_way_it_points():
    for start, end in [((0.2, 0.5), (0.8, 0.5)), ((0.8, 0.5), (0.2, 0.5)), ((0.5, 0.9), (0.5, 0.1))]:
        there = np.linspace(start, end, 32).T
        got = features(np.concatenate([there, there[:, ::-1]], axis=1))
        assert got[CURVATURE].sum() == pytest.approx(math.pi, abs=0.05)


def test_curvature_is_clamped():
    zigzag = np.stack([np.linspace(0, 1, 64), 0.5 + 0.4 * np.sin(np.arange(64) * 2.5)])
    spin = 0.5 + 0.4 * np.stack([np.cos(np.arange(64) * 2.8), np.sin(np.arange(64) * 2.8)])
    assert np.abs(features(zigzag)[CURVATURE]).max() <= MAX_CURVATURE
    assert np.abs(features(spin)[CURVATURE]).max() == MAX_CURVATURE


def test_gradients_are_finite():
    line = np.linspace((0, 0), (1, 1), 64).T
    about_face = np.concatenate([line[:, ::2], line[:, ::-2]], axis=1)
    paths = np.stack([np.full((2, 64), 0.25), line, about_face, wandering_path()])
    leaf = torch.tensor(paths, dtype=torch.float32, requires_grad=True)
    PathFeatures()(leaf).square().sum().backward()
    assert torch.isfinite(leaf.grad).all()
