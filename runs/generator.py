"""Synthetic swipes on any layout, for the starred columns of the ablations and for design_accuracy.py.

A swipe is a chain of bell-shaped strokes from key to key that add up. Where two strokes overlap in time they cut the
corner between them; where they leave a pause the finger waits; how much they overlap depends on the turn. How far
people miss, how they bow a line and how their pace wanders is drawn per person and per letter. The finished motion is
then recorded by a phone (touchscreen.py). The constants were chosen so that offsets, speeds and turns measure like
those of How We Swipe (anatomy.describe of commit e0aec40). Training on these swipes did not help real ones
(docs/ablations.md); the code that did is in that commit too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad
from touchscreen import Device, record

from glissando.train.rearrange import TIME_EXPONENT, letter_keys

TAP_MS = 20.0  # no touch is shorter
SAMPLES = 256  # of the device, at most; at 60 Hz they last 4.3 s


@dataclass(frozen=True)
class GeneratorConfig:
    """How people swipe. Lengths in key widths; spreads are standard deviations, per axis, over people or letters.

    Attributes:
        key_height: lowest and highest, over phones.
        care: spread over people of the logarithm of how far they miss.
        below: how far under the centres of keys fingers land.
        shift: spread of the displacement of a whole swipe.
        start, inner, end: spread of the miss at touch-down, at letters between the ends, at lift-off.
        neighbours: correlation of successive letters' misses.
        overshoot: mean and spread of the way past the last key, along the track.
        reach: mean and spread of the way past a letter at which the word turns back.
        bow: spread of a segment's sagitta over its length.
        wobble: spread of slow tremor.
        move_ms: time of a stroke of one key width.
        pace: spread over people of the logarithm of time.
        unevenness: spread over strokes of the same.
        pausing: chance of a wait at a letter, where the word goes straight on and where it turns back.
        pause_ms: mean wait of the median person.
        hesitation: spread over people of its logarithm.
        start_dwell_ms, end_dwell_ms: mean rest after touch-down and before lift-off.
        run: largest share of a stroke done in the air, before touch-down or after lift-off.
        rise, fall: mean and spread over people of how gently strokes begin and end; 1 is at once.
        double_ms: time on a doubled letter.
        loop, loop_size: chance that a doubled letter is a loop, not a dwell, and how wide.
        overlap: share of the shorter stroke that overlaps, where the word goes straight on and where it turns back.
        fluency: spread over people of that share.
        overlap_spread: spread over letters.
        drift: relative spread of changes of speed within a swipe.
        canvas: least and most pixels across the letter area.
        rates_hz: sampling rates, each as likely as it is listed.
        lost: mean share of samples that never arrive; exponential over phones.
        silent: share of phones that say nothing while the finger stays on a pixel.
        clock: mean spread of time stamps in sampling periods; exponential over phones.
    """

    key_height: tuple[float, float] = (1.33, 1.7)
    care: float = 0.5
    below: float = 0.11
    shift: float = 0.12
    start: float = 0.15
    inner: float = 0.185
    end: float = 0.18
    neighbours: float = -0.13
    overshoot: tuple[float, float] = (0.19, 0.43)
    reach: tuple[float, float] = (0.18, 0.28)
    bow: float = 0.115
    wobble: float = 0.06
    move_ms: float = 165.0
    pace: float = 0.44
    unevenness: float = 0.35
    pausing: tuple[float, float] = (0.2, 0.38)
    pause_ms: float = 55.0
    hesitation: float = 1.15
    start_dwell_ms: float = 52.0
    end_dwell_ms: float = 13.0
    run: float = 0.11
    rise: tuple[float, float] = (2.3, 0.25)
    fall: tuple[float, float] = (4.2, 0.9)
    double_ms: float = 150.0
    loop: float = 0.15
    loop_size: float = 0.5
    overlap: tuple[float, float] = (0.28, 0.05)
    fluency: float = 0.1
    overlap_spread: float = 0.045
    drift: float = 0.35
    canvas: tuple[float, float] = (320.0, 430.0)
    rates_hz: tuple[float, ...] = (60.0, 60.0, 60.0, 90.0, 120.0)
    lost: float = 0.03
    silent: float = 0.65
    clock: float = 0.09


DEFAULTS = GeneratorConfig()


class Motion(NamedTuple):
    """A batch of movements, S strokes each, in key widths and milliseconds."""

    origin: Tensor  # [B, 2] touch-down
    step: Tensor  # [B, S, 2] from key to key
    bulge: Tensor  # [B, S, 2] sideways, at the middle of a stroke
    swirl: Tensor  # [B, S, 2] back and forth along a loop
    begin: Tensor  # [B, S] ms
    time: Tensor  # [B, S] ms a stroke takes
    rise: Tensor  # [B, 1] exponents of the strokes' beginning and end
    fall: Tensor  # [B, 1]
    duration: Tensor  # [B] ms, touch-down to lift-off
    waves: Tensor  # [B, W, 5] tremor and drift: frequency, phase, x, y, pace


class Track(NamedTuple):
    """A batch of words as ways between keys, S = L - 1 each, in key widths."""

    centres: Tensor  # [B, L, 2]
    lengths: Tensor  # [B]
    leg: Tensor  # [B, S] bool, False for padding
    step: Tensor  # [B, S, 2] from key to key
    doubled: Tensor  # [B, S] bool, the same key again
    bend: Tensor  # [B, L] 0 where the word goes straight on, 1 where it turns back, rests on a letter or ends


def synthesize(targets: Tensor, lengths: Tensor, keys: Tensor, generator: torch.Generator) -> Tensor:
    """Make a swipe for every word.

    Args:
        targets: [B, L] key indices, padded.
        lengths: [B], at least one.
        keys: [B, K, 4].
        generator: of the device the tensors are on.

    Returns:
        [B, 2, 64] in the unit square.
    """
    draw, config = Draw(generator, len(targets), targets.device), DEFAULTS
    size = 2 * keys[..., 2:].sum(1) / keys.shape[1]  # [B, 2]
    width, height = size[:, :1], size[:, 1:] / draw.uniform(1, *config.key_height)
    unit = torch.cat([width, height], dim=1)  # [B, 2] a key width along x and along y
    motion = plan(follow(letter_keys(keys, targets)[..., :2] / unit[:, None], lengths), draw, config)
    device = draw_device(width, draw, config)
    path = record(partial(position, motion), motion.duration, device)
    return (path * unit[..., None]).clamp(0, 1)


class Draw:
    """Random tensors whose first axis is the batch, from one generator."""

    def __init__(self, generator: torch.Generator, batch: int, device: torch.device) -> None:
        self.generator, self.batch, self.device = generator, batch, device

    def normal(self, *shape: int) -> Tensor:
        """Standard normal. Shape: [B, *shape]."""
        return torch.randn(self.batch, *shape, generator=self.generator, device=self.device)

    def uniform(self, columns: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Uniform between two values. Shape: [B, columns]."""
        return low + (high - low) * torch.rand(self.batch, columns, generator=self.generator, device=self.device)

    def exponential(self, mean: float) -> Tensor:
        """Exponential, by inversion. Shape: [B]."""
        return -mean * (1 - self.uniform(1)[:, 0]).log()

    def choice(self, values: tuple[float, ...]) -> Tensor:
        """One of some values. Shape: [B]."""
        table = torch.tensor(values, device=self.device)
        return table[torch.randint(len(values), (self.batch,), generator=self.generator, device=self.device)]


def draw_device(key_width: Tensor, draw: Draw, config: GeneratorConfig) -> Device:
    """Phones, one per swipe. Shape: key_width [B, 1] as a share of the letter area."""
    return Device(
        pixel=1 / (key_width * draw.uniform(1, *config.canvas)),
        period=1000 / draw.choice(config.rates_hz)[:, None],
        arrives=draw.uniform(SAMPLES) >= draw.exponential(config.lost)[:, None],
        silent=draw.uniform(1) < config.silent,
        jitter=(draw.exponential(config.clock)[:, None] * draw.normal(SAMPLES)).clamp(-0.4, 0.4),
    )


def follow(centres: Tensor, lengths: Tensor) -> Track:
    """The way a word takes. Shape: [B, L, 2] in key widths, [B] -> Track."""
    if centres.shape[1] == 1:  # room for one step, which goes nowhere
        centres = centres.expand(-1, 2, -1)
    number = torch.arange(1, centres.shape[1], device=centres.device)
    leg = number < lengths[:, None]
    step = centres.diff(dim=1) * leg[..., None]
    doubled = leg & (step.abs().sum(2) < 1e-4)
    heading = normalize(step, dim=2)
    stops = doubled[:, 1:] | doubled[:, :-1] | ~leg[:, 1:]
    bend = (1 - (heading[:, 1:] * heading[:, :-1]).sum(2)).clamp(0, 2) / 2
    return Track(centres, lengths, leg, step, doubled, pad(torch.where(stops, 1.0, bend), (1, 1), value=1.0))


def plan(track: Track, draw: Draw, config: GeneratorConfig) -> Motion:
    """Turn words into strokes."""
    strokes = track.leg.shape[1]
    care = (config.care * draw.normal(1)).exp()  # [B, 1]
    aims = track.centres + _misses(track, care, draw, config)
    step = aims.diff(dim=1) * track.leg[..., None]
    begin, time, duration = _timing(track, step.norm(dim=2), draw, config)
    rise = (config.rise[0] + config.rise[1] * draw.normal(1)).clamp(min=1.3)
    fall = (config.fall[0] + config.fall[1] * draw.normal(1)).clamp(min=1.3)
    # Strokes may be under way at touch-down and unfinished at lift-off; their steps then are longer, from aim to aim.
    unseen = progress(-begin, time, rise, fall)
    seen = (progress(duration[:, None] - begin, time, rise, fall) - unseen).clamp(min=0.3)
    step = step / seen[..., None]
    origin = aims[:, 0] - unseen[:, :1] * step[:, 0]
    looped = track.doubled & (draw.uniform(strokes) < config.loop)
    angle = draw.uniform(strokes, 0, 2 * math.pi)
    around = config.loop_size * looped[..., None] * torch.stack([angle.cos(), angle.sin()], dim=2)
    bulge = config.bow * care[..., None] * draw.normal(strokes, 1) * _across(step) + _across(around)
    return Motion(origin, step, bulge, around / 2, begin, time, rise, fall, duration, _waves(care, draw, config))


def _across(way: Tensor) -> Tensor:
    """A quarter turn. Shape: [..., 2] -> [..., 2]."""
    return torch.stack([-way[..., 1], way[..., 0]], dim=-1)


def _misses(track: Track, care: Tensor, draw: Draw, config: GeneratorConfig) -> Tensor:
    """By how much the finger misses each key. Shape: care [B, 1] -> [B, L, 2]."""
    letters = track.bend.shape[1]
    number = torch.arange(letters, device=care.device)
    # An autoregression of first order, written as one matrix; each letter's miss has unit variance.
    weight = torch.tril(config.neighbours ** (number[:, None] - number).clamp(min=0))
    miss = (weight / weight.norm(dim=1, keepdim=True)) @ draw.normal(letters, 2)
    last = number == track.lengths[:, None] - 1  # [B, L]
    spread = torch.where(last, config.end, torch.where(number == 0, config.start, config.inner))
    beyond = config.overshoot[0] + config.overshoot[1] * draw.normal(1)
    past = (config.reach[0] + config.reach[1] * draw.normal(letters)) * track.bend.sqrt()
    # Of equal letters in a row, all are approached as the first and typed where the last one is.
    first = torch.where(pad(track.doubled, (1, 0)), 0, number).cummax(1).values[..., None].expand(-1, -1, 2)
    final = torch.where(pad(track.doubled, (0, 1)), letters - 1, number).flip(1).cummin(1).values.flip(1)
    heading = normalize(pad(track.step, (0, 0, 1, 0)), dim=2).gather(1, first)  # into each letter
    miss = miss * (spread * care)[..., None] + heading * torch.where(last, beyond, past)[..., None]
    shift = config.shift * draw.normal(1, 2)
    shift[..., 1] += config.below
    return miss.gather(1, final[..., None].expand(-1, -1, 2)) + shift


def _timing(track: Track, length: Tensor, draw: Draw, config: GeneratorConfig) -> tuple[Tensor, Tensor, Tensor]:
    """When each stroke begins, how long it takes, and the whole duration. Shape: [B, S] -> [B, S], [B, S], [B]."""
    strokes, bend = length.shape[1], track.bend[:, 1:-1]  # [B, S - 1]
    pace = (config.pace * draw.normal(1) + config.unevenness * draw.normal(strokes)).exp()
    time = torch.where(track.doubled, config.double_ms, config.move_ms * length.clamp(min=0.3) ** TIME_EXPONENT)
    time = time * pace * track.leg
    fluency = config.fluency * draw.normal(1) + config.overlap_spread * draw.normal(strokes - 1)
    shorter = torch.minimum(time[:, 1:], time[:, :-1])  # zero after the last stroke
    overlap = (_between(config.overlap, bend) + fluency).clamp(0, 0.9) * shorter
    patience = config.pause_ms * (config.hesitation * draw.normal(1)).exp()
    chance = _between(config.pausing, bend).clamp(min=1e-6)
    # Exponential with that chance, else nothing.
    wait = -patience * (draw.uniform(strokes - 1) / chance).clamp(1e-6, 1).log() * track.leg[:, 1:]
    final = time.gather(1, (track.lengths[:, None] - 2).clamp(min=0))[:, 0]
    # Below zero the first stroke is under way at touch-down, or the last one unfinished at lift-off.
    start = draw.exponential(config.start_dwell_ms) - config.run * draw.uniform(1)[:, 0] * time[:, 0]
    finish = draw.exponential(config.end_dwell_ms) - config.run * draw.uniform(1)[:, 0] * final
    end = time.cumsum(1) + torch.cat([start[:, None], wait - overlap], dim=1).cumsum(1)
    return end - time, time, (end[:, -1] + finish).clamp(min=TAP_MS)


def _between(values: tuple[float, float], bend: Tensor) -> Tensor:
    """From the value where a word goes straight on to the one where it turns back."""
    return values[0] + (values[1] - values[0]) * bend


def _waves(care: Tensor, draw: Draw, config: GeneratorConfig, count: int = 6) -> Tensor:
    """Sines that make tremor and drift. Shape: [B, W, 5] (cycles per ms, phase, x, y, pace)."""
    frequency = 0.0005 * 20 ** draw.uniform(count)  # 0.5 to 10 Hz
    phase = draw.uniform(count, 0, 2 * math.pi)
    scale = math.sqrt(2 / count)  # so that the sum has the spread asked for
    wobble = config.wobble * scale * draw.normal(count, 2) * (care * 0.001 / frequency)[..., None]  # slow is wide
    pace = config.drift * scale * draw.normal(count, 1)
    pace = pace * (0.95 / pace.abs().sum(1, keepdim=True)).clamp(max=1)  # time must not run back
    return torch.cat([frequency[..., None], phase[..., None], wobble, pace], dim=2)


def progress(elapsed: Tensor, time: Tensor, rise: Tensor, fall: Tensor) -> Tensor:
    """How much of a stroke is done, 0 to 1, by Kumaraswamy's curve 1 - (1 - u^rise)^fall.

    Both exponents near 2.5 give about the bell of minimum jerk; a larger fall is a slow homing in on the key.
    """
    u = (elapsed / time.clamp(min=1)).clamp(0, 1)
    return 1 - (1 - u**rise) ** fall


def position(motion: Motion, time: Tensor) -> Tensor:
    """Where the finger is. Shape: time [B, n] in ms -> [B, 2, n] in key widths."""
    frequency, phase, x, y, pace = motion.waves.unbind(2)  # [B, W]
    omega = 2 * math.pi * frequency
    angle = omega[..., None] * time[:, None] + phase[..., None]  # [B, W, n]
    # Drift: the motion's own clock runs at 1 + sum pace cos(angle), and stops when the real one does.
    swing = (pace / omega)[..., None]  # [B, W, 1]
    clock = time + (swing * (angle.sin() - phase.sin()[..., None])).sum(1)
    last = motion.duration[:, None]
    total = last + (swing[..., 0] * ((omega * last + phase).sin() - phase.sin())).sum(1, keepdim=True)
    elapsed = (clock * last / total)[:, None] - motion.begin[..., None]  # [B, S, n]
    done = progress(elapsed, motion.time[..., None], motion.rise[..., None], motion.fall[..., None])
    arch = 4 * done * (1 - done)
    where = motion.origin[..., None] + motion.step.mT @ done + motion.bulge.mT @ arch
    where = where + motion.swirl.mT @ (arch * (2 * done - 1))
    return where + torch.stack([x, y], dim=1) @ angle.cos()
