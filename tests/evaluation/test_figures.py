import numpy as np
import pytest

from glissando.evaluation.figures import draw_history, draw_response, response
from glissando.evaluation.ledger import Point
from glissando.evaluation.study import Found, Range

pytest.importorskip("matplotlib")


def hill(choice):
    return 90 - (choice["a"] - 1) ** 2 - 10 * choice["b"] ** 2


@pytest.fixture
def found():
    history = tuple(Point({"a": a, "b": 0.0}, hill({"a": a, "b": 0.0})) for a in (0.0, 3.0, 1.0, 2.0))
    return Found({"a": 1.0, "b": 0.0}, 90.0, {"a": Range(0.0, 4.0), "b": Range(-1.0, 1.0)}, (), history, 0)


def test_the_response_moves_one_constant_and_keeps_the_others(found):
    seen = []
    curves = response(found, hill, 5, lambda done, total: seen.append((done, total)))
    np.testing.assert_allclose(curves["a"][0], [0, 1, 1, 2, 3, 4])
    np.testing.assert_allclose(curves["a"][1], [89, 90, 90, 89, 86, 81])
    np.testing.assert_allclose(curves["b"][0], [-1, -0.5, 0, 0, 0.5, 1])
    assert seen[-1] == (12, 12)


def test_pictures_are_drawn_without_a_display(found, tmp_path):
    files = draw_history(found, "tt1mm5, %", tmp_path / "history")
    files += draw_response(found, response(found, hill, 5), "tt1mm5, %", tmp_path / "response")
    assert [file.name for file in files] == ["history.png", "history.svg", "response.png", "response.svg"]
    for file in files:
        assert file.read_bytes().startswith(b"\x89PNG" if file.suffix == ".png" else b"<?xml")
