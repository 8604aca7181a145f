import numpy as np
import pytest

from glissando.evaluation.bench import Timing
from glissando.evaluation.metrics import reliability
from glissando.evaluation.study import Range, StudyResult, Trial
from glissando.figures.latency import draw_latency
from glissando.figures.style import save
from glissando.figures.tuning import draw_history, draw_reliability, draw_response, response

pytest.importorskip("matplotlib")


def hill(choice):
    return 90 - (choice["a"] - 1) ** 2 - 10 * choice["b"] ** 2


@pytest.fixture
def search():
    history = tuple(Trial({"a": a, "b": 0.0}, hill({"a": a, "b": 0.0})) for a in (0.0, 3.0, 1.0, 2.0))
    space = {"a": Range(0.0, 4.0), "b": Range(-1.0, 1.0)}
    return StudyResult({"a": 1.0, "b": 0.0}, 90.0, space, (), history, 0, "hill", hill)


def test_the_response_moves_one_constant_and_keeps_the_others(search):
    reports = []
    curves = response(search, 5, lambda done, total: reports.append((done, total)))
    np.testing.assert_allclose(curves["a"][0], [0, 1, 1, 2, 3, 4])
    np.testing.assert_allclose(curves["a"][1], [89, 90, 90, 89, 86, 81])
    np.testing.assert_allclose(curves["b"][0], [-1, -0.5, 0, 0, 0.5, 1])
    assert reports[-1] == (12, 12)


def test_pictures_are_drawn_without_a_display(search, tmp_path):
    bins = reliability([0.2, 0.7, 0.9], [False, True, True])
    files = draw_history(search, "tt1mm5, %", tmp_path / "history")
    files += draw_response(search, "tt1mm5, %", tmp_path / "response", points=5)
    files.append(draw_reliability({"one": bins, "two": bins}, tmp_path / "reliability.png"))
    timings = {10: Timing(1.0, 1.5, 1.1), 100: Timing(1.2, 2.0, 1.3)}
    files += save(draw_latency(timings, timings), tmp_path / "latency")
    names = ["history.png", "history.svg", "response.png", "response.svg", "reliability.png"]
    names += ["latency.png", "latency.svg"]
    assert [file.name for file in files] == names
    for file in files:
        assert file.read_bytes().startswith(b"\x89PNG" if file.suffix == ".png" else b"<?xml")
