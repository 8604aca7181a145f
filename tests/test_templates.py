import itertools

import numpy as np
import pytest

from glissando.templates import (
    Templates,
    Weights,
    cost_tables,
    letter_distances,
    match_locations,
    match_shapes,
    near_pairs,
    normalise,
    resample_evenly,
    stray_cost,
    template_shapes,
    walk,
)

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


def test_the_tunnel_is_free_inside_and_linear_outside():
    a, b, east = f32([0, 0]), f32([4, 0]), (1.0, 0.0)
    assert stray_cost(f32([2, 0.5]), east, a, b, WEIGHTS) == pytest.approx(0)
    assert stray_cost(f32([2, 0.8]), east, a, b, WEIGHTS) == pytest.approx(2 * 0.3)
    assert stray_cost(f32([5, 0]), east, a, b, WEIGHTS) == pytest.approx(2 * 0.5)  # past the end
    assert stray_cost(f32([2, 0]), (0.0, 1.0), a, b, WEIGHTS) == pytest.approx(1)  # across
    assert stray_cost(f32([2, 0]), (-1.0, 0.0), a, b, WEIGHTS) == pytest.approx(2)  # backwards


def test_a_letter_is_as_near_as_its_nearest_key():
    keys, key_starts = f32([(0, 0), (3, 4), (0, 1)]), np.array([0, 2, 3])
    np.testing.assert_allclose(letter_distances(f32([3, 3]), keys, key_starts), [1, np.hypot(3, 2)])


def test_haste_is_the_speed_at_a_letter_relative_to_the_mean():
    path = f32([(0, 0, 0), (1, 0, 100), (2, 0, 110), (3, 0, 120)])  # 40 ms a step on the average
    visits, _ = cost_tables(path, f32([(0, 0)]), np.array([0, 1]), WEIGHTS)
    # Over the neighbours: 1 step in 100 ms, 2 in 110, 2 in 20 (4 times the mean, counted as 3), 1 in 10 (same).
    speed = np.array([0.4, 80 / 110, 3, 3])
    np.testing.assert_allclose(visits[0], np.arange(4) + 0.5 * speed, rtol=1e-5)


def test_a_stretch_between_letters_with_several_keys_takes_the_cheapest_pair():
    path = f32([(0, 0, 0), (1, 0, 10), (2, 0, 20)])
    keys, key_starts = f32([(0, 9), (0, 0), (2, 0)]), np.array([0, 2, 3])  # letter 0 far above and at the start
    _, strays = cost_tables(path, keys, key_starts, WEIGHTS)
    np.testing.assert_allclose(strays[0, 1], 0, atol=1e-6)
    np.testing.assert_allclose(strays[1, 0, :2], 2, atol=1e-6)  # backwards, nearer than to the far key


def cheapest_walk(word, visits, strays) -> float:
    """The walk by trying every way to place the letters; points up to a letter's lie on the stretch before it."""
    m, n = len(word), visits.shape[1]
    best = np.inf
    for places in itertools.combinations_with_replacement(range(n), m):
        cost = sum(visits[letter, place] for letter, place in zip(word, places, strict=True)) / m
        for point in range(n):
            passed = sum(place < point for place in places)  # letters behind this point
            stretch = min(max(passed - 1, 0), max(m - 2, 0))
            cost += strays[word[stretch], word[min(stretch + 1, m - 1)], point] / n
        best = min(best, cost)
    return best


@pytest.mark.parametrize("word", [[0], [0, 1], [2, 0, 1], [0, 3, 0, 2]])
def test_the_walk_is_the_cheapest_of_all(word):
    rng = np.random.default_rng(len(word))
    for _ in range(20):
        visits, strays = f32(rng.exponential(size=(4, 6))), f32(rng.exponential(size=(4, 4, 6)))
        found = walk(np.array(word, dtype=np.uint8), visits, strays)
        assert found == pytest.approx(cheapest_walk(word, visits, strays), rel=1e-5)


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
