import os

import numpy as np
import pytest
import torch

from glissando.design.spline import minimum_jerk_paths, solve_band, spline_band
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


def test_the_kernel_solves_as_the_plain_form_does():
    """On a GPU, or on the CPU with TRITON_INTERPRET=1."""
    pytest.importorskip("triton")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("no GPU, and TRITON_INTERPRET=1 is not set")
    from glissando.design import spline_kernel

    draw = torch.Generator().manual_seed(0)
    points = torch.rand(200, 9, 2, generator=draw)
    points[5, 3], points[7, 6:], points[9] = points[5, 4], points[7, 6], points[9, :1]
    band = spline_band(points, 0.5 + torch.rand(200, 8, generator=draw))
    rates = spline_kernel.solve_band(band.to(device)).cpu()
    torch.testing.assert_close(rates, solve_band(band), rtol=1e-4, atol=1e-4)
