import itertools

import numpy as np
import pytest

from glissando.walk import Weights, cost_tables, letter_distances, path_headings, stretch_costs, walk

WEIGHTS = Weights(
    start_radius=1.0, end_radius=1.0, tunnel=0.5, stray=2.0, turn=1.0, haste=0.5,
    shape_weight=3.0, location_weight=5.0, start_weight=1.0, end_weight=1.0,
)  # fmt: skip


def f32(values) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def cost_of(point, heading, a=(0, 0), b=(4, 0)) -> float:
    """What one point costs on the stretch between two keys."""
    costs = np.empty(1, dtype=np.float32)
    stretch_costs(f32([point]), f32(heading).reshape(2, 1), f32([a]), f32([b]), WEIGHTS, costs)
    return float(costs[0])


def test_the_tunnel_is_free_inside_and_linear_outside():
    east = (1, 0)
    assert cost_of((2, 0.5), east) == pytest.approx(0)
    assert cost_of((2, 0.8), east) == pytest.approx(2 * 0.3)
    assert cost_of((5, 0), east) == pytest.approx(2 * 0.5)  # past the end
    assert cost_of((2, 0), (0, 1)) == pytest.approx(1)  # across
    assert cost_of((2, 0), (-1, 0)) == pytest.approx(2)  # backwards


def test_a_heading_is_that_of_the_neighbours_and_a_rest_has_none():
    headings = path_headings(f32([(0, 0), (3, 4), (6, 0), (6, 0), (6, 0)]))
    np.testing.assert_allclose(headings, [(0.6, 1, 0.6, 0, 0), (0.8, 0, -0.8, 0, 0)], atol=1e-6)


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
