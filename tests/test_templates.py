import itertools

import numpy as np

from glissando.geometry import WalkCosts, resample_evenly
from glissando.templates import (
    MatchWeights,
    Templates,
    cost_tables,
    match_locations,
    match_shapes,
    near_pairs,
    template_shapes,
)

WEIGHTS = MatchWeights(
    start_radius=1.0, end_radius=1.0, shape_weight=3.0, location_weight=5.0, start_weight=1.0, end_weight=1.0
)
COSTS = WalkCosts(tunnel=0.5, stray=2.0, turn=1.0, haste=0.5)


def f32(values) -> np.ndarray:
    return np.array(values, dtype=np.float32)


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
        visits, strays = cost_tables(path, keys, key_starts, COSTS)
        found, partial, bound = match_shapes(path, visits, templates, WEIGHTS)
        location = match_locations(found, visits, strays, templates)
        assert np.all(partial - 5 * location + templates.prior[found] <= bound + 1e-4)
