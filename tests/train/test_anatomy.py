import pytest
import torch

from glissando.train.anatomy import describe
from glissando.train.rearrange import align

KEYS = torch.tensor([[0.1 * k + 0.05, 0.5, 0.05, 0.075] for k in range(10)])[None]  # 1.5 times as high as wide


def swipe(*stops: tuple[float, float, int]) -> torch.Tensor:
    """Straight from stop to stop, each with the steps it takes to get there. Shape: [1, 2, 64]."""
    x, y = [stops[0][0]], [stops[0][1]]
    for at_x, at_y, steps in stops[1:]:
        from_x, from_y = x[-1], y[-1]
        x += [from_x + (at_x - from_x) * (i + 1) / steps for i in range(steps)]
        y += [from_y + (at_y - from_y) * (i + 1) / steps for i in range(steps)]
    assert len(x) == 64
    return torch.tensor([x, y])[None]


def measure(path: torch.Tensor, word: list[int]) -> dict[str, float]:
    targets, lengths = torch.tensor([word]), torch.tensor([len(word)])
    return describe(path, KEYS, targets, lengths, align(path, KEYS, targets, lengths))


def test_an_exact_swipe_misses_nothing():
    found = measure(swipe((0.05, 0.5, 0), (0.55, 0.5, 31), (0.25, 0.5, 32)), [0, 5, 2])
    for name in ("start_p50", "end_p50", "inner_p50", "closest_p50", "shift_p50", "overshoot_p50", "sharp_reach_p50"):
        assert found[name] == pytest.approx(0, abs=1e-5), name
    assert found["ratio_p50"] == pytest.approx(1, abs=1e-5)
    assert found["zero_steps"] == 0


def test_offsets_in_key_widths():
    # Starts 0.3 widths left, turns 0.4 widths beyond the key, ends 0.5 widths too far and 0.2 too low.
    found = measure(swipe((0.02, 0.5, 0), (0.59, 0.5, 31), (0.2, 0.52, 32)), [0, 5, 2])
    assert found["start_p50"] == pytest.approx(0.3, abs=1e-4)
    assert found["overshoot_p50"] == pytest.approx(0.5, abs=1e-4)
    assert found["end_p50"] == pytest.approx((0.5**2 + 0.2**2) ** 0.5, abs=1e-4)
    assert found["sharp_reach_p50"] == pytest.approx(0.4, abs=1e-4)
    assert found["ratio_p50"] == pytest.approx((5.7 + (3.9**2 + 0.2**2) ** 0.5) / 8, abs=1e-3)


def test_rests_and_turns_in_steps():
    still = swipe((0.05, 0.5, 0), (0.05, 0.5, 5), (0.55, 0.5, 25), (0.25, 0.5, 25), (0.25, 0.5, 8))
    found = measure(still, [0, 5, 2])
    assert found["start_dwell"] == 5
    assert found["end_dwell"] == 8
    assert found["zero_steps"] == pytest.approx(13 / 63, abs=1e-6)
    straight = measure(swipe((0.05, 0.5, 0), (0.95, 0.5, 63)), [0, 4, 9])
    assert straight["straight_speed_p50"] == pytest.approx(1, abs=1e-4)


def test_time_exponent_of_a_swipe_that_obeys_it():
    # Segments of 1, 4 and 4 widths; time as the square root of length: 1 : 2 : 2 of 60 steps, and a rest.
    path = swipe((0.05, 0.5, 0), (0.15, 0.5, 12), (0.55, 0.5, 24), (0.95, 0.5, 27))
    targets, lengths = torch.tensor([[0, 1, 5, 9]]), torch.tensor([4])
    frames = torch.tensor([[0, 12, 36, 60]])
    found = describe(path, KEYS, targets, lengths, frames)
    assert found["time_exponent"] == pytest.approx(0.5, abs=1e-4)
    assert found["time_spread"] == pytest.approx(0, abs=1e-4)
