import numpy as np
import pytest
import torch

from glissando.design.minimum_jerk import leg_times, minimum_jerk_paths
from glissando.layout import load_layout
from glissando.synth import DWELL_MS, WIDTH_MM, leg_durations, word_paths, word_points

WORDS = ["a", "of", "aa", "all", "the", "stream", "committee", "bookkeeper", "extraordinary", "ooo"]


def batch(words, layout, dtype=torch.float32):
    visited = [word_points(word, layout) for word in words]
    room = max(len(points) for points in visited)
    points = [np.pad(p, ((0, room - len(p)), (0, 0)), mode="edge") for p in visited]
    size = torch.tensor([WIDTH_MM, WIDTH_MM * layout.aspect], dtype=dtype)
    return torch.tensor(np.stack(points), dtype=dtype), torch.tensor([len(p) for p in visited]), size


@pytest.mark.parametrize("name", ["kasroz", "qwerty"])
def test_torch_and_numpy_make_the_same_paths(name):
    layout = load_layout(name)
    paths = minimum_jerk_paths(*batch(WORDS, layout))
    np.testing.assert_allclose(paths.numpy(), word_paths(WORDS, layout), atol=3e-6)


def test_a_word_does_not_notice_the_longer_words_beside_it():
    layout = load_layout("clearflow")
    together = minimum_jerk_paths(*batch(WORDS, layout, torch.float64))
    for word, path in zip(WORDS, together, strict=True):
        if len(word) > 1:
            alone = minimum_jerk_paths(*batch([word], layout, torch.float64))[0]
            torch.testing.assert_close(path, alone, rtol=0, atol=1e-9)


def test_random_points_in_any_order():
    rng = np.random.default_rng(3)
    layout = load_layout("dvorak")
    words = ["".join(rng.choice(list("abcdefghijklmno"), size=n)) for n in rng.integers(1, 20, size=200)]
    paths = minimum_jerk_paths(*batch(words, layout))
    np.testing.assert_allclose(paths.numpy(), word_paths(words, layout), atol=2e-5)


def test_leg_times_by_hand():
    points = torch.tensor([[0.0, 0.0], [0.1, 0.0], [0.1, 0.0]], dtype=torch.float64)
    times = leg_times(points, torch.tensor([100.0, 50.0], dtype=torch.float64))
    assert times.tolist() == pytest.approx([leg_durations(points.numpy(), 0.5, 100)[0], DWELL_MS])
