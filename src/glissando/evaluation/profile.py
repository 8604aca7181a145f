"""The report's device profile for the machine it runs on: runtimes side by side, cold start and memory.

Machines are noisy. So what is to be compared runs in turns, a few runs each, and what is measured is the processor time
of the one thread that does the work: on an idle machine it is the time on the clock, on a busy one what that would be.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np

from glissando.beam import search
from glissando.errors import GlissandoError
from glissando.evaluation.bench import Timing
from glissando.gesture import Gesture, resample_batch
from glissando.keyboard import Keyboard
from glissando.lexicon import Lexicon
from glissando.runtime import CORRECTED, INPUTS, OUTPUTS, EncoderRuntime

WARM_UP, RUNS = 50, 500  # the report's
TURN = 10  # runs before the next contender's turn
WIDTHS = (10, 25, 50, 100, 200, 400)
SIZES = (1_000, 5_000, 20_000, 60_000, 150_000)

Name = TypeVar("Name")


@dataclass(frozen=True)
class Latency:
    """Milliseconds of one thread in one runtime.

    Attributes:
        encoder: the bare forward.
        end_to_end: resampling, encoder and beam, as the report counts it.
        decode: all of ``Keyboard.decode``: the same, then geometry and ranking.
        decoder: the bare forward, None without a decoder.
        corrected, corrected_decode: ``end_to_end`` and ``decode`` with the decoder.
    """

    encoder: Timing
    end_to_end: Timing
    decode: Timing
    decoder: Timing | None = None
    corrected: Timing | None = None
    corrected_decode: Timing | None = None


@dataclass(frozen=True)
class ColdStart:
    """A fresh process from its first import to its first word.

    Attributes:
        seconds: that took, the interpreter's own start left out.
        megabytes: peak resident memory above what the bare interpreter had.
        peak: peak resident memory in megabytes.
    """

    seconds: float
    megabytes: float
    peak: float


@dataclass(frozen=True)
class Profile:
    """What ``glissando bench`` prints of the runtimes.

    Attributes:
        latency: by runtime.
        skipped: runtimes that could not be timed, and why.
        parameters, megabytes: of encoder and decoder, megabytes by form of file.
        cold_start: None where the system cannot say.
    """

    latency: dict[str, Latency]
    skipped: dict[str, str]
    parameters: dict[str, int]
    megabytes: dict[str, float]
    cold_start: ColdStart | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def race(
    keyboards: Mapping[str, Keyboard],
    gestures: Sequence[Gesture],
    *,
    warm_up: int = WARM_UP,
    runs: int = RUNS,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Latency]:
    """Time the same keyboard in several runtimes, in turns.

    Args:
        keyboards: by runtime; those with a decoder are timed with and without it.
        gestures: swipes on their layout, used over and over.
        warm_up: runs of everything that do not count.
        runs: runs that do.
        progress: called with (runs done, runs in all).
    """
    calls: dict[tuple[str, str], Callable[[int], Any]] = {}
    for name, keyboard in keyboards.items():
        for step, call in _steps(keyboard, gestures).items():
            calls[name, step] = call
    timings = take_turns(calls, warm_up=warm_up, runs=runs, progress=progress)
    return {
        name: Latency(**{step: timing for (owner, step), timing in timings.items() if owner == name})
        for name in keyboards
    }


def take_turns(
    calls: Mapping[Name, Callable[[int], Any]],
    *,
    warm_up: int = WARM_UP,
    runs: int = RUNS,
    progress: Callable[[int, int], None] | None = None,
) -> dict[Name, Timing]:
    """Time calls in turns of ``TURN`` runs each; every call is given the number of its run."""
    spent: dict[Name, list[float]] = {name: [] for name in calls}
    for start in range(0, warm_up + runs, TURN):
        for name, call in calls.items():
            for run in range(start, min(start + TURN, warm_up + runs)):
                began = time.thread_time()
                call(run)
                spent[name].append(1000 * (time.thread_time() - began))
        if progress:
            progress(min(start + TURN, warm_up + runs), warm_up + runs)
    return {name: Timing(*np.percentile(times[warm_up:], [50, 95]).tolist()) for name, times in spent.items()}


def sweep(
    keyboard: Keyboard,
    gestures: Sequence[Gesture],
    *,
    widths: Sequence[int] = WIDTHS,
    sizes: Sequence[int] = SIZES,
    warm_up: int = WARM_UP,
    runs: int = RUNS,
) -> tuple[dict[int, Timing], dict[int, Timing]]:
    """Time ``decode`` by beam width, with all words, and by how many of the most frequent words there are.

    Returns:
        Width to milliseconds; words to milliseconds, sizes well below the whole lexicon and that last.
    """
    smaller = [size for size in sizes if 1.5 * size < len(keyboard.lexicon)]
    made = {("width", width): _with(keyboard, width=width) for width in widths}
    made |= {("words", size): _with(keyboard, lexicon=most_frequent(keyboard.lexicon, size)) for size in smaller}
    made["words", len(keyboard.lexicon)] = keyboard
    calls = {key: (lambda run, one=one: one.decode(gestures[run % len(gestures)])) for key, one in made.items()}
    timings = take_turns(calls, warm_up=warm_up, runs=runs)
    return (
        {number: timing for (kind, number), timing in timings.items() if kind == "width"},
        {number: timing for (kind, number), timing in timings.items() if kind == "words"},
    )


def most_frequent(lexicon: Lexicon, count: int) -> Lexicon:
    """The lexicon cut to its most frequent words, in the order they stood."""
    kept = np.sort(np.argsort(-lexicon.frequencies.astype(int), kind="stable")[:count])
    words = [lexicon.words[i] for i in kept]
    return replace(lexicon, words=words, frequencies=lexicon.frequencies[kept])


def cold_start(options: Mapping[str, Any]) -> ColdStart | None:
    """Load a keyboard and decode a swipe in a fresh process, once for the system's caches and once to be timed.

    Args:
        options: arguments of ``glissando.load`` that JSON can hold.

    Returns:
        None on systems that do not tell a process its peak memory.
    """
    if sys.platform == "win32":
        return None
    for _ in range(2):
        command = [sys.executable, "-c", _FIRST_WORD, json.dumps(options)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise GlissandoError(f"a fresh process could not decode: {(done.stderr.splitlines() or [''])[-1]}")
        found = json.loads(done.stdout)
    return ColdStart(found["seconds"], found["after"] - found["before"], found["after"])


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
    plain = _with(keyboard, decoder=None)
    feed = _encoder_feed(plain.encoder, resample_batch(gestures[:1]), plain.layout.centres)
    calls: dict[str, Callable[[int], Any]] = {
        "encoder": lambda run: plain.encoder.session.run(OUTPUTS, feed),
        "end_to_end": lambda run: _to_beam(plain, gestures[run % len(gestures)]),
        "decode": lambda run: plain.decode(gestures[run % len(gestures)]),
    }
    if keyboard.decoder is not None:
        session = keyboard.decoder.session
        emissions = plain.encoder.run(resample_batch(gestures[:1]), plain.layout.centres)
        columns = slice(None) if keyboard.decoder_columns is None else keyboard.decoder_columns
        frames = np.ascontiguousarray(emissions.log_probs[..., columns])
        given = dict(zip(OUTPUTS, (frames, emissions.coefficients, emissions.gate), strict=True))
        calls["decoder"] = lambda run: session.run(CORRECTED, given)
        calls["corrected"] = lambda run: _to_beam(keyboard, gestures[run % len(gestures)])
        calls["corrected_decode"] = lambda run: keyboard.decode(gestures[run % len(gestures)])
    return calls


def _to_beam(keyboard: Keyboard, gesture: Gesture) -> None:
    """Decode as far as the report's end to end: resample, networks, beam."""
    search(keyboard.read([gesture]).log_probs[0], keyboard.trie, keyboard.pruning)


def _encoder_feed(encoder: EncoderRuntime, paths: np.ndarray, keys: np.ndarray) -> dict[str, np.ndarray]:
    """An encoder's inputs, ready made. Shape: paths [1, 2, 64], keys [K, 2]."""
    room = INPUTS["layout_mask"][0]
    padded = np.zeros((1, room, 2), dtype=np.float32)
    padded[:, : len(keys)] = keys
    return {"features": paths, "layout_keys": padded, "layout_mask": (np.arange(room) < len(keys))[None]}


def _with(keyboard: Keyboard, **changes: Any) -> Keyboard:
    """The keyboard with another ``width``, ``lexicon`` or ``decoder``."""
    return keyboard.replace(**changes)
