import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import make_interp_spline

from glissando.errors import LayoutError
from glissando.layout import Key, Layout
from glissando.synth import (
    DWELL_MS,
    TAP_MS,
    evaluate_spline,
    leg_durations,
    minimum_jerk,
    quintic_spline,
    swipe,
    word_paths,
    word_points,
)

QWERTY = Layout.from_rows("qwerty", ["qwertyuiop", "asdfghjkl", "zxcvbnm"])


def test_two_points_give_the_classic_minimum_jerk_profile():
    x, y, t = minimum_jerk(np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([400.0]), rate_hz=50)
    u = t / 400
    np.testing.assert_allclose(x, 10 * u**3 - 15 * u**4 + 6 * u**5, atol=1e-12)
    np.testing.assert_allclose(y, 1.0)
    assert len(t) == 21
    assert t[-1] == 400


@pytest.mark.parametrize("length", [2, 3, 4, 7, 15])
def test_spline_equals_scipys_quintic_with_ends_at_rest(length):
    rng = np.random.default_rng(length)
    points, durations = rng.random((length, 2)), rng.uniform(40, 400, length - 1)
    knots = np.concatenate([[0], np.cumsum(durations)])
    rest = [(1, [0, 0]), (2, [0, 0])]
    reference = make_interp_spline(knots, points, k=5, bc_type=(rest, rest))
    times = np.linspace(0, knots[-1], 200)
    ours = evaluate_spline(quintic_spline(points, durations), durations, times)
    np.testing.assert_allclose(ours, reference(times), atol=1e-9)


def test_exact_swipe_starts_and_ends_on_its_keys_and_passes_the_others():
    gesture = swipe("word", QWERTY)
    path = np.stack([gesture.x, gesture.y], axis=1)
    keys = word_points("word", QWERTY)
    np.testing.assert_allclose(path[0], keys[0])
    np.testing.assert_allclose(path[-1], keys[-1])
    for key in keys[1:-1]:
        assert np.linalg.norm(path - key, axis=1).min() < 0.03
    assert np.diff(gesture.t).max() <= 1000 / 60 + 1e-6
    assert gesture.duration == pytest.approx(leg_durations(keys, QWERTY.aspect).sum())


def test_a_doubled_letter_is_a_dwell():
    gesture = swipe("fell", QWERTY)
    middle = swipe("felk", QWERTY).duration - swipe("lk", QWERTY).duration
    on_l = (gesture.t > middle - 1) & (gesture.t < middle + DWELL_MS + 1)
    assert on_l.sum() >= 6
    np.testing.assert_allclose(gesture.x[on_l], word_points("l", QWERTY)[0, 0], atol=1e-6)


def test_durations_by_hand_and_one_letter_is_a_short_tap():
    points = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.5], [0.1, 0.5]])
    durations = leg_durations(points, aspect=0.4, width_mm=100)
    np.testing.assert_allclose(durations, [68.8 * 10**0.469, 68.8 * 20**0.469, 0.0])
    tap = swipe("I", QWERTY)
    assert tap.duration == TAP_MS
    np.testing.assert_allclose(tap.x, word_points("i", QWERTY)[0, 0])


def test_noise_comes_from_the_generator_and_scales():
    exact = swipe("hello", QWERTY)
    same = [swipe("hello", QWERTY, np.random.default_rng(5)) for _ in range(2)]
    np.testing.assert_array_equal(same[0].x, same[1].x)
    other = swipe("hello", QWERTY, np.random.default_rng(6))
    assert len(other) != len(same[0]) or not np.allclose(other.x, same[0].x)
    silent = swipe("hello", QWERTY, np.random.default_rng(5), noise=0.0)
    np.testing.assert_allclose(silent.x, exact.x)


def test_noisy_ends_miss_by_what_people_miss():
    rng = np.random.default_rng(0)
    gestures = [swipe("the", QWERTY, rng) for _ in range(500)]
    keys = word_points("the", QWERTY)
    scale = np.array([10, 10 * QWERTY.aspect])  # to key widths
    start = [np.linalg.norm(([g.x[0], g.y[0]] - keys[0]) * scale) for g in gestures]
    end = [np.linalg.norm(([g.x[-1], g.y[-1]] - keys[-1]) * scale) for g in gestures]
    assert 0.22 < np.median(start) < 0.34
    assert 0.32 < np.median(end) < 0.50


def test_a_pause_slows_the_path_at_every_point_and_moves_none():
    points, durations = np.array([[0.0, 0.0], [0.5, 0.4], [1.0, 0.1]]), np.array([300.0, 200.0])
    slowest = []
    for pause in (0.0, 0.5, 1.0):
        x, y, t = minimum_jerk(points, durations, rate_hz=1000, pause=pause)
        np.testing.assert_allclose([x[300], y[300]], points[1], atol=1e-12)
        assert t[-1] == 500
        slowest.append(np.hypot(x[301] - x[299], y[301] - y[299]))
    assert slowest[1] == pytest.approx(slowest[0] / 2, rel=0.05)
    assert slowest[2] < slowest[0] / 20


def test_of_two_keys_with_a_letter_the_nearer_is_visited():
    keys = tuple(Key(c, x, 0.5, 0.05, 0.5) for c, x in [("a", 0.1), ("b", 0.5), ("a", 0.9), ("c", 0.8)])
    points = word_points("ca", Layout("twice", keys))
    np.testing.assert_allclose(points[:, 0], [0.8, 0.9], atol=1e-6)


def test_a_word_without_keys_is_an_error_that_names_it():
    with pytest.raises(LayoutError, match=r"'qwerty'.*'мир'"):
        swipe("мир", QWERTY)


@settings(max_examples=50, deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=30), st.integers(0, 2**32))
def test_any_word_gives_a_finite_gesture(word, seed):
    gesture = swipe(word, QWERTY, np.random.default_rng(seed))
    assert np.isfinite(gesture.x).all()
    assert gesture.path().shape == (2, 64)
    assert np.abs(gesture.x).max() < 3


def test_word_paths_are_the_swipes_of_each_word_read_at_even_times():
    words = ["word", "a", "fell", "to", "committee", "aa"]
    paths = word_paths(words, QWERTY)
    assert paths.shape == (6, 2, 64)
    for word, path in zip(words, paths, strict=True):
        points = word_points(word, QWERTY)
        legs = leg_durations(points, QWERTY.aspect)
        durations = np.where(legs > 0, legs, DWELL_MS)
        if len(points) == 1:
            np.testing.assert_allclose(path, np.repeat(points.T, 64, axis=1), atol=1e-6)
            continue
        x, y, t = minimum_jerk(points, durations, rate_hz=1000 * 63 / durations.sum())
        assert len(t) == 64
        np.testing.assert_allclose(path, np.clip([x, y], 0, 1), atol=1e-6)


def test_a_spline_that_rests_on_its_way_is_two_splines():
    rng = np.random.default_rng(2)
    points, durations = rng.random((5, 2)), rng.uniform(50, 300, 4)
    rest = np.array([False, False, True, False, False])
    whole = quintic_spline(points, durations, rest)
    np.testing.assert_allclose(whole[:2], quintic_spline(points[:3], durations[:2]), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(whole[2:], quintic_spline(points[2:], durations[2:]), rtol=1e-8, atol=1e-12)
