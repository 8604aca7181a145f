import numpy as np
import pytest

from glissando.errors import GlissandoError
from glissando.evaluation.scaling import PowerLaw, extrapolate, fit_power_law

AMOUNTS = np.array([50.0, 100.0, 250.0, 500.0, 1000.0])


def test_a_law_by_hand():
    law = PowerLaw(floor=0.02, factor=0.1, exponent=0.5, reference=100)
    assert law.at(100) == pytest.approx(0.12)
    assert law.at(400) == pytest.approx(0.07)


def test_the_law_that_made_the_errors_is_found():
    made = PowerLaw(0.0, 0.08, 0.3, 1000)
    found = fit_power_law(AMOUNTS, made.at(AMOUNTS))
    assert (found.floor, found.factor, found.exponent) == pytest.approx((0.0, 0.08, 0.3), abs=1e-6)


def test_a_floor_is_found():
    made = PowerLaw(0.05, 0.04, 0.8, 1000)
    found = fit_power_law(AMOUNTS, made.at(AMOUNTS), floor=True)
    assert (found.floor, found.factor, found.exponent) == pytest.approx((0.05, 0.04, 0.8), abs=1e-3)


def test_a_floor_is_never_below_zero():
    falling = 0.1 - 0.02 * np.log(AMOUNTS / 1000)  # slower than any power law with a floor
    found = fit_power_law(AMOUNTS, falling - 0.05, floor=True)
    assert found.floor == 0


def test_two_points_determine_a_law_without_a_floor():
    law = fit_power_law([100, 400], np.array([0.2, 0.1]))
    assert law.at([100, 400, 1600]) == pytest.approx([0.2, 0.1, 0.05], rel=1e-3)


@pytest.mark.parametrize(("amounts", "floor"), [([100], False), ([100, 100], False), ([100, 200], True)])
def test_too_few_amounts_are_refused(amounts, floor):
    with pytest.raises(GlissandoError, match="a power law needs errors at"):
        fit_power_law(amounts, np.full(len(amounts), 0.1), floor=floor)


def test_amounts_below_zero_are_refused():
    with pytest.raises(GlissandoError, match="must be positive"):
        fit_power_law([-1, 100], np.array([0.2, 0.1]))


def make_swipes(people: int, each: int, seed: int) -> tuple[np.ndarray, list[int]]:
    """Runs whose errors follow 0.08 (n / 1000) ** -0.3, people differing in skill."""
    rng = np.random.default_rng(seed)
    skill = np.repeat(rng.gamma(4, 1 / 4, people), each)
    rates = np.minimum(PowerLaw(0.0, 0.08, 0.3, 1000).at(AMOUNTS)[:, None] * skill, 1)
    return rng.uniform(size=skill.size) < rates, list(np.repeat(np.arange(people), each))


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    truth = 0.08 * 16**-0.3
    held = 0
    for seed in range(40):
        wrong, owners = make_swipes(60, 40, seed)
        found = extrapolate(AMOUNTS, wrong, owners, [16_000], draws=300)
        held += bool(found.low[0] <= truth <= found.high[0])
    assert held >= 33  # of 40; 95 % would be 38


def test_people_are_drawn_not_swipes():
    # Every swipe of a person is read alike: ten people are ten observations, however many swipes they made.
    few = np.array([[i >= 5 for i in range(10)], [i >= 8 for i in range(10)]])
    one = extrapolate([100, 1000], few, list(range(10)), [1000], draws=500)
    many = extrapolate(
        [100, 1000], np.repeat(few, 50, axis=1), np.repeat(np.arange(10), 50).tolist(), [1000], draws=500
    )
    assert one.high[0] - one.low[0] == pytest.approx(many.high[0] - many.low[0])
    assert one.high[0] - one.low[0] > 0.3


def test_the_noise_of_seeds_widens_the_interval():
    wrong, owners = make_swipes(60, 40, 0)
    narrow = extrapolate(AMOUNTS, wrong, owners, [16_000], draws=500)
    wide = extrapolate(AMOUNTS, wrong, owners, [16_000], draws=500, seed_spread=0.01)
    assert wide.high[0] - wide.low[0] > 1.2 * (narrow.high[0] - narrow.low[0])


def test_a_gain_is_surer_than_a_level():
    wrong, owners = make_swipes(60, 40, 0)
    found = extrapolate(AMOUNTS, wrong, owners, [1000, 16_000], draws=500)
    assert (found.gain[0], found.gain_low[0], found.gain_high[0]) == pytest.approx((0, 0, 0))
    assert found.gain_low[1] < found.gain[1] < found.gain_high[1]
    assert found.gain[1] == pytest.approx(0.08 * (1 - 16**-0.3), abs=0.02)
    assert found.gain_high[1] - found.gain_low[1] < found.high[1] - found.low[1]


def test_data_that_do_harm_are_seen_to():
    law = fit_power_law([100, 400], np.array([0.1, 0.11]))
    assert law.exponent < 0
    assert law.at(1600) == pytest.approx(0.121, rel=0.01)
