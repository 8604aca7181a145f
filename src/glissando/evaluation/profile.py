"""The report's device profile for this machine: runtimes side by side, beam widths, lexicon sizes, a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glissando.beam import search
from glissando.errors import GlissandoError
from glissando.evaluation.bench import Timing, take_turns
from glissando.gesture import Gesture, resample_batch
from glissando.keyboard import MATCHED, Keyboard
from glissando.lexicon import Lexicon
from glissando.runtime import CORRECTED, INPUTS, OUTPUTS

WIDTHS = (10, 25, 50, 100, 200, 400)
LETTERS = 8  # of the finalists that a bare matcher is timed with: many, as the longest counts
SIZES = (1_000, 5_000, 20_000, 60_000, 150_000)


@dataclass(frozen=True)
class Latency:
    """Milliseconds of one thread in one runtime.

    Attributes:
        encoder: the bare forward.
        end_to_end: resampling, encoder and beam, as the report counts it.
        decode: all of ``Keyboard.decode``: the same, then geometry and ranking.
        decoder: the bare forward, None without a decoder.
        corrected, corrected_decode: ``end_to_end`` and ``decode`` with the decoder.
        matcher: the bare forward for as many finalists as it compares, of ``LETTERS`` letters, None without a matcher.
        matched_decode: ``decode`` with the matcher, which is asked in doubt.
    """

    encoder: Timing
    end_to_end: Timing
    decode: Timing
    decoder: Timing | None = None
    corrected: Timing | None = None
    corrected_decode: Timing | None = None
    matcher: Timing | None = None
    matched_decode: Timing | None = None


@dataclass(frozen=True)
class ColdStart:
    """A fresh process from its first import to its first word.

    Attributes:
        seconds: the time, without the interpreter's own start.
        megabytes: peak resident memory above that of the bare interpreter.
        peak: peak resident memory in megabytes.
    """

    seconds: float
    megabytes: float
    peak: float


@dataclass(frozen=True)
class Profile:
    """The report's profile of a device, for this machine.

    Attributes:
        latency: by runtime.
        skipped: runtimes that could not be timed, and why.
        parameters: of each network.
        megabytes: of their files.
        cold_start: None where the system does not tell a process its peak memory.
    """

    latency: dict[str, Latency]
    skipped: dict[str, str]
    parameters: dict[str, int]
    megabytes: dict[str, float]
    cold_start: ColdStart | None


def race(keyboards: Mapping[str, Keyboard], gestures: Sequence[Gesture], **options: Any) -> dict[str, Latency]:
    """Time the same keyboard in several runtimes, in turns.

    Args:
        keyboards: by runtime; those with a decoder or a matcher are timed with and without it.
        gestures: swipes on their layout, used over and over.
        options: those of ``take_turns``.
    """
    steps = {name: _steps(keyboard, gestures) for name, keyboard in keyboards.items()}
    calls = {(name, step): call for name, part in steps.items() for step, call in part.items()}
    timings = take_turns(calls, **options)
    return {name: Latency(**{step: timings[name, step] for step in part}) for name, part in steps.items()}


def sweep(
    keyboard: Keyboard,
    gestures: Sequence[Gesture],
    *,
    widths: Sequence[int] = WIDTHS,
    sizes: Sequence[int] = SIZES,
    **options: Any,
) -> tuple[dict[int, Timing], dict[int, Timing]]:
    """Time ``decode`` by beam width with all words, and by the number of the most frequent words.

    ``options`` are those of ``take_turns``.

    Returns:
        Width to milliseconds; words to milliseconds, sizes well below the whole lexicon and that last.
    """
    smaller = [size for size in sizes if 1.5 * size < len(keyboard.lexicon)]
    boards = {("width", width): keyboard.replace(width=width) for width in widths}
    boards |= {("words", size): keyboard.replace(lexicon=most_frequent(keyboard.lexicon, size)) for size in smaller}
    boards["words", len(keyboard.lexicon)] = keyboard
    calls = {key: (lambda run, one=one: one.decode(gestures[run % len(gestures)])) for key, one in boards.items()}
    timings = take_turns(calls, **options)
    return (
        {number: timing for (kind, number), timing in timings.items() if kind == "width"},
        {number: timing for (kind, number), timing in timings.items() if kind == "words"},
    )


def most_frequent(lexicon: Lexicon, count: int) -> Lexicon:
    """The lexicon cut to its most frequent words, in their order."""
    kept = np.sort(np.argsort(-lexicon.frequencies.astype(int), kind="stable")[:count])
    return replace(lexicon, words=[lexicon.words[i] for i in kept], frequencies=lexicon.frequencies[kept])


def cold_start(options: Mapping[str, Any]) -> ColdStart | None:
    """Load a keyboard and decode a swipe in a fresh process, once to fill the system's caches and once to be timed.

    Args:
        options: arguments of ``glissando.load`` that JSON can hold.

    Returns:
        None on systems that do not tell a process its peak memory.
    """
    if sys.platform == "win32":
        return None
    for _ in range(2):
        command = [sys.executable, "-c", _FIRST_WORD, json.dumps(options)]
        process = subprocess.run(command, capture_output=True, text=True)
        if process.returncode:
            raise GlissandoError(f"a fresh process could not decode: {(process.stderr.splitlines() or [''])[-1]}")
    usage = json.loads(process.stdout)
    return ColdStart(usage["seconds"], usage["after"] - usage["before"], usage["after"])


_FIRST_WORD = """
import json, pathlib, resource, sys, time
def peak():
    if sys.platform == "linux":  # getrusage starts from the peak of the process that started this one
        status = pathlib.Path("/proc/self/status").read_text().split()
        return int(status[status.index("VmHWM:") + 1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
before, began = peak(), time.perf_counter()
import glissando
keyboard = glissando.load(**json.loads(sys.argv[1]))
keyboard.decode([(0.2, 0.2, 0), (0.5, 0.5, 200), (0.8, 0.2, 400)])
print(json.dumps({"seconds": time.perf_counter() - began, "before": before, "after": peak()}))
"""


def _steps(keyboard: Keyboard, gestures: Sequence[Gesture]) -> dict[str, Callable[[int], Any]]:
    """What is timed of one keyboard, by the names of ``Latency``."""
    plain, matched = keyboard.replace(decoder=None, matcher=None), keyboard.replace(decoder=None)
    paths = resample_batch(gestures[:1])
    feed = _encoder_feed(paths, plain.layout.centres)
    calls: dict[str, Callable[[int], Any]] = {
        "encoder": lambda run: plain.encoder.session.run(OUTPUTS, feed),
        "end_to_end": lambda run: _to_beam(plain, gestures[run % len(gestures)]),
        "decode": lambda run: plain.decode(gestures[run % len(gestures)]),
    }
    if keyboard.decoder is not None:
        corrected, session = keyboard.replace(matcher=None), keyboard.decoder.session
        emissions = plain.encoder.run(paths, plain.layout.centres)
        columns = slice(None) if keyboard.decoder_columns is None else keyboard.decoder_columns
        frames = np.ascontiguousarray(emissions.log_probs[..., columns])
        given = dict(zip(OUTPUTS, (frames, emissions.coefficients, emissions.gate), strict=True))
        calls["decoder"] = lambda run: session.run(CORRECTED, given)
        calls["corrected"] = lambda run: _to_beam(corrected, gestures[run % len(gestures)])
        calls["corrected_decode"] = lambda run: corrected.decode(gestures[run % len(gestures)])
    if (matcher := keyboard.matcher) is not None:
        mask = np.ones((1, MATCHED, LETTERS), dtype=bool)
        shown = (paths.transpose(0, 2, 1), np.zeros((*mask.shape, 2), dtype=np.float32), mask)
        calls["matcher"] = lambda run: matcher.run(*shown)
        calls["matched_decode"] = lambda run: matched.decode(gestures[run % len(gestures)])
    return calls


def _to_beam(keyboard: Keyboard, gesture: Gesture) -> None:
    """Decode as far as the report's end to end: resample, networks, beam."""
    search(keyboard.read_one(gesture).log_probs[0], keyboard.trie, keyboard.pruning)


def _encoder_feed(paths: np.ndarray, keys: np.ndarray) -> dict[str, np.ndarray]:
    """An encoder's inputs. Shape: paths [1, 2, 64], keys [K, 2]."""
    room = INPUTS["layout_mask"][0]
    padded = np.zeros((1, room, 2), dtype=np.float32)
    padded[:, : len(keys)] = keys
    return {"features": paths, "layout_keys": padded, "layout_mask": (np.arange(room) < len(keys))[None]}
