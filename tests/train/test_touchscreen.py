import numpy as np
import torch

from glissando.gesture import Gesture, resample
from glissando.train.touchscreen import Device, record


def curve(time: torch.Tensor) -> torch.Tensor:
    """A finger that goes, rests between 300 and 500 ms, and goes on. Shape: [B, n] -> [B, 2, n]."""
    moving = time.clamp(max=300) + (time - 500).clamp(min=0)
    return torch.stack([moving / 100, (moving / 150).sin()], dim=1)


def devices(batch: int, samples: int = 128, *, lost: float = 0.0, silent: bool = False, jitter: float = 0.0) -> Device:
    generator = torch.Generator().manual_seed(batch)
    return Device(
        pixel=torch.full((batch, 1), 0.03),
        period=torch.full((batch, 1), 1000 / 60),
        arrives=torch.rand(batch, samples, generator=generator) >= lost,
        silent=torch.full((batch, 1), silent),
        jitter=jitter * (torch.rand(batch, samples, generator=generator) - 0.5),
    )


def reference(device: Device, row: int, duration: float) -> np.ndarray:
    """Collect the events one by one, then resample them as the decode path does. Shape: [2, 64]."""
    pixel, period = float(device.pixel[row]), float(device.period[row])
    events = []
    previous = None
    for k in range(device.arrives.shape[1]):
        time = torch.tensor([[k * period]])
        if time >= duration and k:
            break
        place = (curve(time) / pixel).round()[0, :, 0].tolist()
        quiet = bool(device.silent[row]) and place == previous
        previous = place
        if k == 0 or (bool(device.arrives[row, k]) and not quiet):
            stamp = 0.0 if k == 0 else round((k + float(device.jitter[row, k])) * period)
            events.append((*place, min(stamp, duration)))
    events.append((*events[-1][:2], duration))
    x, y, t = np.array(events).T
    scale = 1e-3  # resample clips to the unit square
    return resample(Gesture(x * scale, 0.5 + y * scale, t)) / scale * pixel - np.array([[0], [0.5 / scale * pixel]])


def check_against_reference(device: Device, durations: list[float]) -> None:
    paths = record(curve, torch.tensor(durations), device)
    for row, duration in enumerate(durations):
        np.testing.assert_allclose(paths[row], reference(device, row, round(duration)), atol=2e-3)


def test_a_plain_phone_equals_events_resampled_by_the_decode_path():
    check_against_reference(devices(4), [800.0, 633.4, 1500.0, 20.0])


def test_lost_samples_silence_and_jitter_equal_the_same_events_resampled():
    check_against_reference(devices(5, lost=0.2, jitter=0.3), [800.0, 1000.0, 555.0, 1234.0, 100.0])
    check_against_reference(devices(3, silent=True), [800.0, 1200.0, 450.0])
    check_against_reference(devices(6, lost=0.1, silent=True, jitter=0.5), [700.0, 800.0, 900.0, 1000.0, 300.0, 50.0])


def test_the_lift_off_repeats_the_last_place_heard():
    path = record(curve, torch.tensor([210.0]), devices(1))[0]
    last = curve(torch.tensor([[200.0]]))[0, :, 0]
    torch.testing.assert_close(path[:, -1], (last / 0.03).round() * 0.03)


def test_a_swipe_longer_than_the_samples_is_sampled_thinly_to_its_end():
    path = record(curve, torch.tensor([4000.0]), devices(1, samples=33))[0]
    assert torch.isfinite(path).all()
    assert path[0, -1] > 35  # of 38 in all


def test_a_tap_is_a_point():
    path = record(curve, torch.tensor([0.0]), devices(1))[0]
    torch.testing.assert_close(path, torch.zeros(2, 64))
