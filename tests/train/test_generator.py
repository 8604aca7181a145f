import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from glissando.errors import TrainingError
from glissando.gesture import Gesture, resample_batch
from glissando.layout import Layout
from glissando.train.anatomy import describe
from glissando.train.generator import Draw, GeneratorConfig, follow, plan, synthesize
from glissando.train.motion import position, progress
from glissando.train.rearrange import align

SPREADS = [
    "care",
    "below",
    "shift",
    "start",
    "inner",
    "end",
    "bow",
    "wobble",
    "pace",
    "unevenness",
    "hesitation",
    "fluency",
    "overlap_spread",
    "drift",
]
CHANCES = ["run", "loop", "lost", "silent", "clock", "start_dwell_ms", "end_dwell_ms"]
EXACT = GeneratorConfig(
    **dict.fromkeys([*SPREADS, *CHANCES], 0.0),
    **dict.fromkeys(["overshoot", "reach", "pausing"], (0.0, 0.0)),
    **{"overlap": (0.3, 0.0), "rise": (2.3, 0.0), "fall": (4.2, 0.0)},
)
QWERTY = Layout.from_rows("qwerty", ["qwertyuiop", "asdfghjkl", "zxcvbnm"])


def layout_keys(layout: Layout, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    keys = torch.tensor([(key.cx, key.cy, key.rx, key.ry) for key in layout.keys])
    return keys.expand(batch, -1, -1), torch.ones(batch, len(keys), dtype=torch.bool)


def words(*spelled: str) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, spelled))
    rows = [[QWERTY.keys_of[c][0] for c in word] + [0] * (longest - len(word)) for word in spelled]
    return torch.tensor(rows), torch.tensor([len(word) for word in spelled])


def make(spelled: list[str], config: GeneratorConfig, seed: int = 0) -> torch.Tensor:
    targets, lengths = words(*spelled)
    return synthesize(targets, lengths, *layout_keys(QWERTY, len(spelled)), torch.Generator().manual_seed(seed), config)


def to_widths(offset: torch.Tensor) -> torch.Tensor:
    """Lengths of offsets in key widths, keys 1.33 times as high as wide. Shape: [..., 2] -> [...]."""
    return (offset / torch.tensor([0.1, 0.25])).norm(dim=-1)


def test_without_noise_a_swipe_goes_from_key_to_key():
    path = make(["great", "to"], EXACT)
    centres = torch.tensor(QWERTY.centres)
    for row, word in enumerate(["great", "to"]):
        at = centres[[QWERTY.keys_of[c][0] for c in word]]
        distance = to_widths(path[row].T[:, None] - at)  # [64, L]
        assert distance[0, 0] < 0.05
        assert distance[-1, -1] < 0.1
        assert (distance.amin(0) < 0.25).all()  # corners may be cut a little


def test_motion_starts_and_ends_at_its_aims_even_on_the_move():
    targets, lengths = words("hello", "it", "a", "queue")
    keys, _ = layout_keys(QWERTY, 4)
    centres = keys[0][targets][..., :2] * 10
    config = replace(EXACT, run=0.4, drift=0.5, start_dwell_ms=5.0, end_dwell_ms=5.0)
    motion = plan(follow(centres, lengths), Draw(torch.Generator().manual_seed(3), 4, targets.device), config)
    edges = position(motion, torch.stack([torch.zeros(4), motion.duration], dim=1))
    torch.testing.assert_close(edges[..., 0], centres[:, 0], atol=1e-3, rtol=0)
    torch.testing.assert_close(edges[..., 1], centres[torch.arange(4), lengths - 1], atol=1e-3, rtol=0)


def test_a_stroke_runs_from_nothing_to_all_and_never_back():
    elapsed = torch.linspace(-50, 250, 301)[None]
    done = progress(elapsed, torch.tensor([[200.0]]), torch.tensor([[2.0]]), torch.tensor([[3.0]]))[0]
    assert (done[:51] == 0).all()
    assert (done[250:] == 1).all()
    assert (done.diff() >= 0).all()
    assert done[150].item() == pytest.approx(1 - 0.75**3)


def test_a_doubled_letter_takes_its_time():
    single, double = make(["polo", "poll"], replace(EXACT, double_ms=400.0))
    on_l = torch.tensor([QWERTY.keys[QWERTY.keys_of["l"][0]].cx, QWERTY.keys[QWERTY.keys_of["l"][0]].cy])
    near = [(to_widths(path.T - on_l) < 0.1).sum() for path in (single, double)]
    assert near[1] > near[0] + 10


def test_a_loop_leaves_the_key_and_comes_back():
    dwell, loop = (make(["goo"], replace(EXACT, loop=chance, loop_size=0.8, double_ms=400.0)) for chance in (0.0, 1.0))
    length = [to_widths(path[0].T.diff(dim=0)).sum() for path in (dwell, loop)]
    assert length[1] > length[0] + 1
    assert to_widths(loop[0, :, -1] - dwell[0, :, -1]) < 0.15


def test_straight_on_is_not_slowed_and_turning_back_is():
    straight, back = make(["qtp", "qpt"], EXACT)
    speed = [to_widths(path.T.diff(dim=0)) for path in (straight, back)]
    slowest = [float(s[15:50].min() / s.mean()) for s in speed]
    assert slowest[0] > 0.25
    assert slowest[1] < 0.05


def test_the_same_seed_gives_the_same_swipes():
    first, again, other = (make(["hello", "world"], GeneratorConfig(), seed) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other, atol=0.01)


def test_half_precision_around_it_changes_nothing():
    expected = make(["hello", "world"], GeneratorConfig(), 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(make(["hello", "world"], GeneratorConfig(), 1), expected)


@pytest.mark.parametrize("letters", [1, 2, 5, 30, 48])
def test_anything_is_finite_and_inside(letters):
    generator = torch.Generator().manual_seed(letters)
    batch, count = 200, 33
    keys = torch.rand(batch, count, 4, generator=generator) * torch.tensor([1, 1, 0.1, 0.2]) + 1e-3
    mask = torch.arange(count) < torch.randint(26, count + 1, (batch, 1), generator=generator)
    targets = torch.randint(0, 26, (batch, letters), generator=generator)
    targets[:20] = targets[:20, :1]  # one letter over and over
    lengths = torch.randint(1, letters + 1, (batch,), generator=generator)
    path = synthesize(targets, lengths, keys * mask[..., None], mask, generator)
    assert path.shape == (batch, 2, 64)
    assert torch.isfinite(path).all()
    assert path.min() >= 0
    assert path.max() <= 1


def test_a_config_that_cannot_be_is_refused():
    with pytest.raises(TrainingError, match="rates_hz"):
        GeneratorConfig(rates_hz=())
    with pytest.raises(TrainingError, match="canvas"):
        GeneratorConfig(canvas=(400.0, 300.0))
    with pytest.raises(TrainingError, match="neighbours"):
        GeneratorConfig(neighbours=1.0)


# How far a figure of synthetic swipes may be from the one of real swipes.
TOLERANCES = {
    "start_p50": 0.05,
    "start_p95": 0.12,
    "end_p50": 0.08,
    "end_p95": 0.2,
    "overshoot_p50": 0.08,
    "inner_p50": 0.04,
    "inner_p90": 0.1,
    "closest_p50": 0.04,
    "shift_p50": 0.04,
    "below": 0.04,
    "zero_steps": 0.02,
    "start_dwell": 0.6,
    "peak_p50": 0.4,
    "speed_spread": 0.08,
    "lag1_p50": 0.03,
    "jolt": 0.05,
    "sharp_speed_p50": 0.06,
    "straight_speed_p50": 0.1,
    "sharp_reach_p50": 0.07,
    "curve_slope": 0.05,
    "ratio_p50": 0.06,
    "time_exponent": 0.08,
    "time_spread": 0.06,
}


@pytest.mark.data
def test_synthetic_swipes_measure_like_real_ones(data):
    keys, mask = layout_keys(Layout.from_json(data / "layouts" / "qwerty.json"), 1)
    number = {key.letter: i for i, key in enumerate(Layout.from_json(data / "layouts" / "qwerty.json").keys)}
    gestures, spelled = [], []
    with gzip.open(data / "swipes" / "how_we_swipe_train.jsonl.gz", "rt") as lines:
        for count, line in enumerate(lines):
            row = json.loads(line)
            if count % 16 == 0 and row["key_dist_max"] <= 2:
                gestures.append(Gesture(row["x"], row["y"], row["t"]))
                spelled.append([number[letter] for letter in row["word"]])
            if len(spelled) == 2500:
                break
    lengths = torch.tensor([len(word) for word in spelled])
    targets = torch.tensor([word + [0] * (int(lengths.max()) - len(word)) for word in spelled])
    keys, mask = keys.expand(len(spelled), -1, -1), mask.expand(len(spelled), -1)
    made = synthesize(targets, lengths, keys, mask, torch.Generator().manual_seed(0))
    found = [
        describe(path, keys, targets, lengths, align(path, keys, targets, lengths))
        for path in (torch.from_numpy(np.array(resample_batch(gestures))), made)
    ]
    apart = {name: found[1][name] - found[0][name] for name in TOLERANCES}
    assert {name: gap for name, gap in apart.items() if abs(gap) > TOLERANCES[name]} == {}
