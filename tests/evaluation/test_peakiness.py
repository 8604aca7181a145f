import numpy as np
import pytest

from glissando.evaluation.peakiness import mass_per_letter, measure_peakiness


def emissions(*frames: tuple[float, ...]) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.array([frames], dtype=np.float32))


def test_a_spike_between_blanks_by_hand():
    # Letters a, b and blank; a is meant.
    found = measure_peakiness(emissions((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)), [[0]])
    assert found.entropy == pytest.approx(0)
    assert found.silent == 75
    assert found.peak == 1
    assert found.mass == pytest.approx(1)
    assert found.under == 0


def test_a_spread_letter_by_hand():
    found = measure_peakiness(emissions((0.25, 0.25, 0.5), (0.5, 0.0, 0.5)), [[0, 1]])
    assert found.entropy == pytest.approx((1.5 * np.log(2) + np.log(2)) / 2)
    assert found.silent == 0
    assert found.peak == pytest.approx((0.5 + 0.25) / 2)
    assert found.mass == pytest.approx(0.5)
    assert found.under == 100


def test_uniform_emissions_have_the_entropy_of_the_alphabet():
    found = measure_peakiness(np.full((3, 5, 7), -np.log(7), np.float32), [[0], [1, 1], [2]])
    assert found.entropy == pytest.approx(np.log(7), rel=1e-5)


def test_mass_is_counted_per_letter_of_each_swipe():
    log_probs = np.log(np.array([[[0.4, 0.6], [0.8, 0.2]], [[0.5, 0.5], [0.5, 0.5]]]))
    assert mass_per_letter(log_probs, [1, 2]) == pytest.approx([1.2, 0.5])


def test_rounding_above_certainty_emits_nothing():
    assert mass_per_letter(np.array([[[-50.0, 1e-7]]]), [1]) == pytest.approx([0.0])
