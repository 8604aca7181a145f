import itertools

import numpy as np

from glissando.templates import (
    Templates,
    match_locations,
    match_shapes,
    near_pairs,
    normalise,
    resample_evenly,
    template_shapes,
)
from glissando.walk import Weights, cost_tables

WEIGHTS = Weights(
    start_radius=1.0, end_radius=1.0, tunnel=0.5, stray=2.0, turn=1.0, haste=0.5,
    shape_weight=3.0, location_weight=5.0, start_weight=1.0, end_weight=1.0,
)  # fmt: skip


def f32(values) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_points_lie_at_equal_distances_with_their_times():
    path = resample_evenly(f32([(0, 0, 0), (3, 0, 30), (3, 1, 130)]), 5)
    np.testing.assert_allclose(path, [(0, 0, 0), (1, 0, 10), (2, 0, 20), (3, 0, 30), (3, 1, 130)], atol=1e-6)


def test_resting_at_the_ends_moves_no_point_but_takes_time():
    path = resample_evenly(f32([(0, 0, 0), (0, 0, 50), (2, 0, 70), (2, 0, 90)]), 3)
    np.testing.assert_allclose(path, [(0, 0, 0), (1, 0, 60), (2, 0, 90)], atol=1e-6)


def test_one_point_is_repeated():
    np.testing.assert_array_equal(resample_evenly(f32([(0.2, 0.3, 0)]), 4), np.tile(f32([0.2, 0.3, 0]), (4, 1)))


def test_normalising_forgets_place_and_size():
    path = f32([(0, 0), (4, 0), (4, 2), (0, 2)])
    np.testing.assert_allclose(normalise(path), [-0.5, 0.5, 0.5, -0.5, -0.25, -0.25, 0.25, 0.25])
    np.testing.assert_allclose(normalise(path * 7 + 3), normalise(path), atol=1e-6)
    np.testing.assert_array_equal(normalise(f32([(2, 3), (2, 3)])), np.zeros(4))


def test_pruning_keeps_the_pairs_near_both_ends():
    groups = np.array([0, 1, 3, 3, 4])  # aa: 1 template, ab: 2, ba: none, bb: 1
    pairs, total = near_pairs(f32([0.5, 2.0]), f32([0.9, 1.0]), groups, WEIGHTS)
    assert (pairs.tolist(), total) == ([0, 1], 3)


def test_pruning_widens_until_a_template_survives():
    groups = np.array([0, 0, 0, 0, 1])  # only bb
    pairs, total = near_pairs(f32([0.5, 40.0]), f32([0.9, 1.0]), groups, WEIGHTS)
    assert 3 in pairs
    assert total == 1


def test_no_score_exceeds_its_bound():
    rng = np.random.default_rng(0)
    keys, key_starts = f32(rng.uniform(0, 3, (5, 2))), np.arange(6)
    words = sorted(itertools.product(range(5), repeat=3), key=lambda word: (word[0], word[-1]))
    letters, starts = np.array(words, dtype=np.uint8).ravel(), np.arange(0, 3 * len(words) + 1, 3)
    groups = np.searchsorted([5 * word[0] + word[-1] for word in words], np.arange(26))
    shapes = template_shapes(letters, starts, keys, key_starts, 16)
    templates = Templates(keys, key_starts, letters, starts, groups, shapes, f32(rng.uniform(0, 9, len(words))))
    for _ in range(10):
        trace = np.column_stack([rng.uniform(0, 3, (6, 2)), np.sort(rng.uniform(0, 500, 6))]).astype(np.float32)
        path = resample_evenly(trace, 16)
        visits, strays = cost_tables(path, keys, key_starts, WEIGHTS)
        found, partial, bound = match_shapes(path, visits, templates, WEIGHTS)
        location = match_locations(found, visits, strays, templates)
        assert np.all(partial - 5 * location + templates.prior[found] <= bound + 1e-4)
