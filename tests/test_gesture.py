import gzip
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glissando.errors import GestureError
from glissando.gesture import Gesture, as_gesture, resample, resample_batch


def twin(gesture, points=64):
    """The rule in its plainest words: 60 Hz by time, then so many points by index, then into the square."""
    t = gesture.t - gesture.t[0]
    n60 = max(2, round(float(t[-1]) / (1000 / 60)) + 1)
    instants = np.linspace(0, t[-1], n60)
    index = np.linspace(0, n60 - 1, points)
    axes = [np.interp(index, np.arange(n60), np.interp(instants, t, axis)) for axis in (gesture.x, gesture.y)]
    return np.clip(np.stack(axes), 0, 1)


@st.composite
def gestures(draw, most=40):
    """Fingers of one to ``most`` points, with pauses, taps and strays beyond the square."""
    n = draw(st.integers(1, most))
    steps = draw(st.lists(st.integers(1, 400), min_size=n, max_size=n))
    place = st.floats(-0.5, 1.5, allow_nan=False, width=32)
    x, y = (draw(st.lists(place, min_size=n, max_size=n)) for _ in range(2))
    return Gesture(x, y, np.cumsum(steps) + draw(st.integers(-1000, 10**9)))


@given(gestures(), st.sampled_from([1, 2, 3, 64, 129]))
@settings(deadline=None)
def test_resampling_is_the_rule_in_its_plainest_words(gesture, points):
    np.testing.assert_allclose(resample(gesture, points), twin(gesture, points), rtol=0, atol=6e-8)


@given(st.lists(gestures(), max_size=6), st.sampled_from([2, 17, 64]))
@settings(max_examples=60, deadline=None)
def test_a_batch_equals_its_gestures_one_by_one(batch, points):
    paths = resample_batch(batch, points)
    assert paths.shape == (len(batch), 2, points)
    assert paths.dtype == np.float32
    for path, gesture in zip(paths, batch, strict=True):
        np.testing.assert_allclose(path, resample(gesture, points), atol=1e-6)


def test_time_decides_where_a_sample_falls():
    # A rest of 300 ms, then a dash of 100 ms: 25 samples at 60 Hz, of which the first 19 rest.
    path = Gesture([0, 0, 1], [0, 0, 0], [0, 300, 400]).path(25)
    np.testing.assert_allclose(path[0], [0] * 19 + [1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1], atol=1e-6)


@pytest.mark.parametrize(("duration", "frames"), [(1, 2), (16, 2), (24.9, 2), (25.1, 3), (33, 3), (1000, 61)])
def test_the_number_of_frames_is_rounded(duration, frames):
    # A spike at the middle is seen in full only if a frame falls on it: with an odd number of frames.
    path = Gesture([0, 1, 0], [0, 0, 0], [0, duration / 2, duration]).path(2 * frames - 1)
    assert path[0].max() == pytest.approx(1.0 if frames % 2 else 0.0, abs=1e-6)


def test_points_at_one_time_jump_there():
    # At 110 ms, between two frames, the finger is at three places: it comes to the first and leaves from the last.
    path = Gesture([0.2, 0.2, 0.5, 0.8, 0.8], [0, 0, 0, 0, 0], [0, 110, 110, 110, 200]).path(13)
    np.testing.assert_allclose(path[0], [0.2] * 7 + [0.8] * 6, atol=1e-6)


@pytest.mark.parametrize(
    "gesture",
    [
        Gesture([0.3], [0.6], [42]),
        Gesture([0.3, 0.3], [0.6, 0.6], [7, 7]),
        Gesture([0.1, 0.9, 0.3], [0.2, 0.4, 0.6], [7, 7, 7]),
        Gesture([0.3, 0.3], [0.6, 0.6], [0, 500]),
    ],
)
def test_a_tap_is_a_constant_path(gesture):
    for path in (gesture.path(), resample_batch([Gesture([0, 1], [0, 1], [0, 90]), gesture])[1]):
        np.testing.assert_allclose(path, np.repeat([[0.3], [0.6]], 64, axis=1), atol=1e-6)


def test_a_finger_outside_the_square_is_brought_to_its_edge():
    path = Gesture([-1, 2], [0.5, 1e300], [0, 600]).path()
    assert (path.min(), path.max()) == (0, 1)
    assert path[0, 20] == 0  # a third of the way, still left of the square
    assert path[0, 31] == pytest.approx(-1 + 3 * 31 / 63, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "y", "t", "message"),
    [
        ([], [], [], "at least one point"),
        ([0, 1], [0], [0, 1], "differ in length: 2, 1, 2"),
        ([0, math.nan], [0, 0], [0, 1], r"x\[1\] is NaN"),
        ([0, 0], [0, math.inf], [0, 1], r"y\[1\] is inf"),
        ([0, 0], [0, 0], [-math.inf, 1], r"t\[0\] is -inf"),
        ([0, 0, 0], [0, 0, 0], [0, 20, 10], "backwards at point 2: 20 ms, then 10 ms"),
        (["a"], [0], [0], "x must be numbers"),
        ([[0, 1]], [0], [0], r"x must be a flat list of numbers, got shape \(1, 2\)"),
        ([10**400], [0], [0], "x must be numbers"),
        ([0], {"a": 1}, [0], "y"),
    ],
)
def test_bad_columns_are_refused_by_name(x, y, t, message):
    with pytest.raises(GestureError, match=message):
        Gesture(x, y, t)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "at least one point"),
        ([(0, 0)], r"triples, got an array of shape \(1, 2\)"),
        ([(0, 0, 0), (1, 1)], "must be \\(x, y, t\\) numbers"),
        ([{"x": 0, "y": 0, "t": 0}], "must be \\(x, y, t\\) numbers"),
        (None, "must be \\(x, y, t\\) numbers"),
        ([(0, math.nan, 5)], r"y\[0\] is NaN"),
        ([(10**400, 0, 0)], "must be \\(x, y, t\\) numbers"),
        ([(0, 0, -1.7e308), (0, 0, 1.7e308)], "more than a day"),
    ],
)
def test_bad_points_are_refused(points, message):
    with pytest.raises(GestureError, match=message):
        Gesture.from_points(points)


def test_points_come_in_many_forms():
    triples = [(0.1, 0.2, 0), (0.3, 0.4, 16)]
    for points in (triples, np.array(triples), iter(triples), (list(triple) for triple in triples)):
        gesture = as_gesture(points)
        assert (gesture.x.tolist(), gesture.y.tolist(), gesture.t.tolist()) == ([0.1, 0.3], [0.2, 0.4], [0, 16])
    assert len(gesture) == 2
    assert gesture.duration == 16
    assert as_gesture(gesture) is gesture


def test_a_gesture_keeps_its_own_points():
    x = np.array([0.1, 0.2])
    gesture = Gesture(x, x, [0, 1])
    x[0] = 0.9
    assert gesture.x[0] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        gesture.x[0] = 0.9


@pytest.mark.data
def test_real_swipes_are_resampled_by_the_rule(data):
    with gzip.open(data / "swipes" / "how_we_swipe_val.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in itertools.islice(lines, 300)]
    batch = [Gesture(row["x"], row["y"], row["t"]) for row in rows]
    np.testing.assert_allclose(resample_batch(batch), [twin(gesture) for gesture in batch], rtol=0, atol=6e-8)


def test_a_million_points_are_only_points():
    x = np.linspace(0, 1, 1_000_000)
    np.testing.assert_allclose(Gesture(x, x, np.arange(1_000_000)).path()[0], np.linspace(0, 1, 64), atol=1e-6)
