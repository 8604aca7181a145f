import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from glissando.geometry import (
    Ruler,
    WalkCosts,
    distances,
    normalise,
    path_headings,
    resample_evenly,
    stretch_costs,
    visit_costs,
    walk,
)
from glissando.layout import Key, Layout, load_layout
from glissando.lexicon import Lexicon
from glissando.shark2 import Shark2, Shark2Constants
from glissando.synth import swipe
from glissando.trie import build_trie

WORDS = ("hello", "help", "held", "world", "word", "a", "to", "too", "stream", "steam")


def measured(layout, gesture, words=WORDS):
    """Location and shape of every word. Shape: [W, 2]."""
    trie = build_trie(Lexicon.from_counts(dict.fromkeys(words, 1.0)), tuple(layout.keys_of))
    nodes = np.array([*map(trie.find, words), -1], dtype=np.int32)
    ruler = Ruler.of(layout)
    result = distances(ruler.trace(gesture.x, gesture.y, gesture.t), nodes, trie, ruler)
    assert (result[-1] == 0).all()  # no hypothesis, no distance
    return result[:-1]


@pytest.mark.parametrize("layout", ["qwerty", "clearflow"])
def test_the_distances_are_shark2s(layout):
    layout = load_layout(layout)
    gesture = swipe("hello", layout, np.random.default_rng(0))
    wide = Shark2Constants(start_radius=100, end_radius=100, start_weight=0, end_weight=0, shape_weight=1)
    shark = Shark2(layout, Lexicon.from_counts(dict.fromkeys(WORDS, 1.0)), wide)
    matches = shark.match(gesture)
    terms = {
        shark.spellings[template]: (location, -likelihood)
        for template, location, likelihood in zip(
            matches.templates, matches.locations, matches.likelihoods, strict=True
        )
    }
    np.testing.assert_allclose(measured(layout, gesture), [terms[word] for word in WORDS], atol=1e-5)


def test_a_doubled_letter_changes_nothing():
    layout = load_layout("qwerty")
    found = dict(zip(WORDS, measured(layout, swipe("to", layout)), strict=True))
    np.testing.assert_array_equal(found["to"], found["too"])


def test_of_several_keys_the_nearest_counts():
    # Two keys for a, at either end; b in the middle.
    keys = [Key("a", 0.1, 0.5, 0.1, 0.5), Key("b", 0.5, 0.5, 0.1, 0.5), Key("a", 0.9, 0.5, 0.1, 0.5)]
    layout = Layout("two", tuple(keys))
    one = Layout("one", tuple(keys[:2]))
    gesture = type(swipe("ab", one))([0.9, 0.7, 0.5], [0.5, 0.5, 0.5], [0, 100, 200])
    near, far = measured(layout, gesture, ("ab", "b")), measured(one, gesture, ("ab", "b"))
    assert near[0, 0] < far[0, 0]


def test_a_tap_and_a_far_finger_stay_finite():
    layout = load_layout("qwerty")
    for x, y, t in (([0.5], [0.5], [0.0]), ([1e9, -1e9], [0.0, 1e12], [0.0, 1.0])):
        gesture = type(swipe("to", layout))(x, y, t)
        assert np.isfinite(measured(layout, gesture)).all()


COSTS = WalkCosts(tunnel=0.5, stray=2.0, turn=1.0, haste=0.5)


def f32(values) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def cost_of(point, heading, a=(0, 0), b=(4, 0)) -> float:
    """What one point costs on the stretch between two keys."""
    costs = np.empty(1, dtype=np.float32)
    stretch_costs(f32([point]), f32(heading).reshape(2, 1), f32([a]), f32([b]), COSTS, costs)
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


def test_haste_is_the_speed_at_a_letter_relative_to_the_mean():
    path = f32([(0, 0, 0), (1, 0, 100), (2, 0, 110), (3, 0, 120)])  # 40 ms a step on the average
    visits = visit_costs(path, f32([(0, 0)]), np.array([0, 1]), COSTS)
    # Over the neighbours: 1 step in 100 ms, 2 in 110, 2 in 20 (4 times the mean, counted as 3), 1 in 10 (same).
    speed = np.array([0.4, 80 / 110, 3, 3])
    np.testing.assert_allclose(visits[0], np.arange(4) + 0.5 * speed, rtol=1e-5)


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


def test_points_lie_at_equal_distances_with_their_times():
    path = resample_evenly(f32([(0, 0, 0), (3, 0, 30), (3, 1, 130)]), 5)
    np.testing.assert_allclose(path, [(0, 0, 0), (1, 0, 10), (2, 0, 20), (3, 0, 30), (3, 1, 130)], atol=1e-6)


def test_resting_at_the_ends_moves_no_point_but_takes_time():
    path = resample_evenly(f32([(0, 0, 0), (0, 0, 50), (2, 0, 70), (2, 0, 90)]), 3)
    np.testing.assert_allclose(path, [(0, 0, 0), (1, 0, 60), (2, 0, 90)], atol=1e-6)


def test_normalising_forgets_place_and_size():
    path = f32([(0, 0), (4, 0), (4, 2), (0, 2)])
    np.testing.assert_allclose(normalise(path), [-0.5, 0.5, 0.5, -0.5, -0.25, -0.25, 0.25, 0.25])
    np.testing.assert_allclose(normalise(path * 7 + 3), normalise(path), atol=1e-6)
    np.testing.assert_array_equal(normalise(f32([(2, 3), (2, 3)])), np.zeros(4))


def test_a_process_that_compiles_measures_the_same_as_one_that_finds_the_code_in_the_cache(tmp_path):
    """To the last bit: on a cluster, some processes compile and others do not."""
    code = f"""
import numpy as np
from glissando.geometry import Ruler, distances
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.synth import swipe
from glissando.trie import build_trie

layout, rng = load_layout("qwerty"), np.random.default_rng(0)
trie = build_trie(Lexicon.from_counts(dict.fromkeys({WORDS!r}, 1.0)), tuple(layout.keys_of))
nodes, ruler = np.array([trie.find(word) for word in {WORDS!r}], dtype=np.int32), Ruler.of(layout)
for word in {WORDS!r} * 5:
    gesture = swipe(word, layout, rng)
    print(distances(ruler.trace(gesture.x, gesture.y, gesture.t), nodes, trie, ruler).tobytes().hex())
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True).stdout
        for _ in range(2)
    )
    assert first == second
