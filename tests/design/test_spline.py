import numpy as np
import pytest
import torch

from glissando.design.spline import minimum_jerk_paths
from glissando.layout import load_layout
from glissando.synth import WIDTH_MM, word_paths, word_points

WORDS = ["a", "of", "aa", "all", "the", "stream", "committee", "bookkeeper", "extraordinary", "ooo"]


def batch(words, layout, dtype=torch.float32):
    visited = [word_points(word, layout) for word in words]
    room = max(2, max(len(points) for points in visited))
    points = [np.pad(p, ((0, room - len(p)), (0, 0)), mode="edge") for p in visited]
    size = torch.tensor([WIDTH_MM, WIDTH_MM * layout.aspect], dtype=dtype)
    return torch.tensor(np.stack(points), dtype=dtype), torch.tensor([len(p) for p in visited]), size


@pytest.mark.parametrize("name", ["kasroz", "qwerty"])
def test_torch_and_numpy_make_the_same_paths(name):
    rng = np.random.default_rng(3)
    drawn = ["".join(rng.choice(list("abcdefghijklmno"), size=n)) for n in rng.integers(1, 20, size=200)]
    for words, tolerance in ((WORDS, 3e-6), (["at", "of"], 3e-6), (drawn, 2e-5)):
        paths = minimum_jerk_paths(*batch(words, load_layout(name)))
        np.testing.assert_allclose(paths.numpy(), word_paths(words, load_layout(name)), atol=tolerance)


def test_a_word_does_not_depend_on_the_longer_words_beside_it():
    layout = load_layout("clearflow")
    together = minimum_jerk_paths(*batch(WORDS, layout, torch.float64))
    for word, path in zip(WORDS, together, strict=True):
        alone = minimum_jerk_paths(*batch([word], layout, torch.float64))[0]
        torch.testing.assert_close(path, alone, rtol=0, atol=1e-9)
