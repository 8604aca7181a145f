import numpy as np
import pytest
from scipy.optimize import minimize

from glissando.logit import Choices, Prior, fit_weights


def drawn(weights, n=2000, seed=0):
    """Choices among 2 to 9 alternatives, drawn by the softmax of known weights."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 10, n)
    values = rng.normal(size=(sizes.sum(), len(weights)))
    noisy = values @ np.asarray(weights) + rng.gumbel(size=len(values))
    starts = np.cumsum(sizes) - sizes
    targets = np.array(
        [start + noisy[start : start + size].argmax() for start, size in zip(starts, sizes, strict=True)]
    )
    return Choices(values, sizes, targets)


def test_two_alternatives_by_hand():
    # The first alternative is a nat ahead and was chosen in 3 of 4 cases: its share is 3/4 at a weight of ln 3.
    choices = Choices(np.tile([[1.0], [0.0]], (4, 1)), np.full(4, 2), np.array([0, 2, 4, 7]))
    assert choices.shares(np.array([np.log(3)])) == pytest.approx([0.75, 0.25] * 4)
    assert choices.cost(np.zeros(1)) == pytest.approx(np.log(2))
    assert fit_weights([choices], np.zeros(1), ridge=0.0) == pytest.approx([np.log(3)])


def test_gradient_and_curvature_are_those_of_the_cost():
    choices, at, small = drawn([0.5, -1.0, 2.0], n=50), np.array([0.3, 0.2, -0.4]), 1e-5
    gradient, curvature = choices.slope(at)
    for axis in range(3):
        step = small * np.eye(3)[axis]
        assert gradient[axis] == pytest.approx(
            (choices.cost(at + step) - choices.cost(at - step)) / (2 * small), rel=1e-5
        )
        change = (choices.slope(at + step)[0] - choices.slope(at - step)[0]) / (2 * small)
        assert curvature[axis] == pytest.approx(change, rel=1e-4, abs=1e-7)


def test_the_weights_behind_the_choices_are_found():
    assert fit_weights([drawn([0.5, -1.0, 2.0])], np.zeros(3)) == pytest.approx([0.5, -1.0, 2.0], abs=0.15)


def test_shares_decide_between_parts():
    parts = [drawn([1.0]), drawn([-1.0], n=100)]
    assert fit_weights(parts, np.zeros(1), (1, 0.01))[0] > 0.8
    assert fit_weights(parts, np.zeros(1), (0.01, 1))[0] < -0.8
    assert fit_weights(parts, np.zeros(1)) == pytest.approx(fit_weights(parts, np.zeros(1), (1, 1)))


def test_a_prior_pulls_to_its_centre():
    choices, centre = drawn([2.0, 0.0], n=200), np.array([1.0, 1.0])
    free, stiff = np.full(2, 1e-9), np.array([1e6, 1e-9])
    assert fit_weights([choices], centre, prior=Prior(free, centre), ridge=0.0) == pytest.approx([2.0, 0.0], abs=0.5)
    held = fit_weights([choices], np.zeros(2), prior=Prior(stiff, centre), ridge=0.0)
    assert held[0] == pytest.approx(1, abs=1e-4)
    assert held[1] < 0.5
    between = fit_weights([choices], centre, prior=Prior(np.full(2, 0.1), centre), ridge=0.0)
    assert 1 < between[0] < 2
    assert 0 < between[1] < 1


def test_the_fit_is_the_least_cost_that_another_optimiser_finds():
    choices, prior = drawn([0.5, -1.0, 2.0], n=60), Prior(np.array([0.1, 0.02, 0.3]), np.array([1.0, 1.0, 0.5]))
    found = fit_weights([choices], np.ones(3), prior=prior, ridge=0.0)
    best = minimize(lambda at: choices.cost(at) + prior.cost(at), np.zeros(3), tol=1e-10)
    assert found == pytest.approx(best.x, abs=1e-4)


def test_a_far_start_and_a_column_that_says_nothing_do_no_harm():
    choices = drawn([1.0], n=300)
    silent = Choices(np.column_stack([choices.values, np.zeros(len(choices.values))]), *parts_of(choices))
    assert fit_weights([silent], np.array([40.0, 1.0])) == pytest.approx([1.0, 0.0], abs=0.3)
    prior = Prior(np.full(2, 0.01), np.ones(2))
    assert fit_weights([silent], np.array([40.0, 3.0]), prior=prior, ridge=0.0)[1] == pytest.approx(1.0)


def parts_of(choices):
    return np.diff([*choices.starts, len(choices.values)]), choices.targets
