import numpy as np
import pytest

from glissando.evaluation.calibration import Bin, calibration_error, reliability
from glissando.evaluation.figures import draw_reliability
from glissando.evaluation.metrics import Outcome, summarise


def test_bins_hold_what_was_said_beside_what_came_true():
    bins = reliability([0.05, 0.15, 0.95, 0.85, 1.0], [False, True, True, False, True], bins=2)
    assert bins == [Bin(2, pytest.approx(0.1), 0.5), Bin(3, pytest.approx(2.8 / 3), pytest.approx(2 / 3))]
    # By hand: |.1 - .5| * 2/5 + |.9333 - .6667| * 3/5
    assert calibration_error(bins) == pytest.approx(100 * (0.4 * 0.4 + (2.8 - 2) / 5))


def test_honest_probabilities_have_no_error_and_boasting_ones_do():
    rng = np.random.default_rng(0)
    said = rng.uniform(size=20_000)
    right = rng.uniform(size=20_000) < said
    assert calibration_error(reliability(said, right)) < 1.5
    assert calibration_error(reliability(said, right**2 * (rng.uniform(size=20_000) < 0.8))) > 8
    assert calibration_error([]) == 0


def test_outcomes_without_a_probability_do_not_count():
    sure = Outcome("a", ("a",), probability=0.9)
    wrong = Outcome("a", ("b", "a"), probability=0.9)
    assert summarise([sure, wrong, Outcome("a", ("a",))]).calibration_error == pytest.approx(40)
    assert summarise([Outcome("a", ("a",))]).calibration_error is None


def test_the_picture_is_drawn(tmp_path):
    bins = reliability([0.2, 0.7, 0.9], [False, True, True])
    file = draw_reliability({"one": bins, "two": bins}, tmp_path / "reliability.png")
    assert file.read_bytes().startswith(b"\x89PNG")
