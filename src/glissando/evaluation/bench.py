"""Time every step of decoding, and our beam search beside flashlight-text's.

Machines are noisy. So calls that are to be compared run in turns, a few runs each, and what is measured is the
processor time of the one thread that does the work. On an idle machine it equals the time on the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from glissando.beam import search
from glissando.errors import MissingExtraError
from glissando.gesture import Gesture, resample_batch
from glissando.keyboard import Keyboard
from glissando.lexicon import typed_letters
from glissando.runtime import MatcherRuntime
from glissando.stages import LEXICON, Stages

STEPS = ("resample", "encoder", "search", "geometry", "match", "rank", "in_context", "end_to_end")
WARM_UP, RUNS = 50, 500  # the report's
TURN = 10  # runs before the next call's turn

# Options of flashlight-text, and torchaudio's defaults for them, which most people use.
TOKENS = 25  # beam_size_token
THRESHOLD = 50.0  # beam_threshold
NEVER = -1e4  # log-probability of what must not happen, well beyond the threshold

Name = TypeVar("Name")
Progress = Callable[[int, int], None]
Calls = dict[str, Callable[[int], Any]]  # each is given the number of its run


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one step, over all runs."""

    p50: float
    p95: float
    mean: float

    @classmethod
    def of(cls, times: Sequence[float]) -> Timing:
        """Of milliseconds, one number for each run."""
        p50, p95 = np.percentile(times, [50, 95]).tolist()
        return cls(p50, p95, float(np.mean(times)))


def take_turns(
    calls: Mapping[Name, Callable[[int], Any]],
    *,
    warm_up: int = WARM_UP,
    runs: int = RUNS,
    progress: Progress | None = None,
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
    return {name: Timing.of(times[warm_up:]) for name, times in spent.items()}


@dataclass(frozen=True)
class Matching:
    """What the matcher costs: decoding with it and without it, by turns.

    Attributes:
        asked: percent of swipes that are in doubt.
        forward: the network alone, for the finalists of swipes in doubt; None where none is.
        without: ``end_to_end`` of the encoder alone.
        p50, mean: ``end_to_end`` in units of ``without``.
    """

    asked: float
    forward: Timing | None
    without: Timing
    p50: float
    mean: float


@dataclass(frozen=True)
class Benchmark:
    """The steps of decoding, and our beam search beside flashlight-text's.

    Attributes:
        swipes: how many were decoded.
        spellings: size of the trie's vocabulary.
        beam: hypotheses kept by both searches.
        resample, encoder, search, geometry, match, rank, end_to_end: our steps, one thread; the matcher runs in "match"
            where a swipe is in doubt.
        in_context: "rank" after a text.
        matching: what the matcher costs; None without a matcher.
        flashlight: flashlight-text's LexiconDecoder on the same emissions, None where it is not installed.
        flashlight_word: the same, restricted to one word per swipe, which it does not do by itself.
        speedup, speedup_word: the median of each over our search's.
        recall, flashlight_recall, flashlight_word_recall: percent of targets among the results.
    """

    swipes: int
    spellings: int
    beam: int
    resample: Timing
    encoder: Timing
    search: Timing
    geometry: Timing
    match: Timing
    rank: Timing
    in_context: Timing
    end_to_end: Timing
    matching: Matching | None
    flashlight: Timing | None
    flashlight_word: Timing | None
    speedup: float | None
    speedup_word: float | None
    recall: float
    flashlight_recall: float | None
    flashlight_word_recall: float | None


def benchmark(
    keyboard: Keyboard, gestures: Sequence[Gesture], words: Sequence[str], progress: Progress | None = None
) -> Benchmark:
    """Time every step of decoding, and our beam beside flashlight-text's.

    Args:
        keyboard: what decodes.
        gestures: swipes on its layout, at least one.
        words: the word meant by each.
        progress: called with (runs done, runs in all).
    """
    letters, count = frozenset(keyboard.layout.letters), len(gestures)
    targets = ["".join(typed_letters(word, letters)) for word in words]
    stages = keyboard.stages(gestures, 0)
    emissions = stages.readings.log_probs
    calls = _steps(keyboard, gestures, words, stages) | _matching_calls(keyboard, gestures)
    nodes = [keyboard.trie.find(target) for target in targets]
    found = [one.nodes[one.source == LEXICON] for one in stages.spellings]
    hits = [node >= 0 and node in some for node, some in zip(nodes, found, strict=True)]
    recall = {"search": 100 * sum(hits) / count}
    for name, rival in _rivals(keyboard).items():
        calls[name] = lambda run, rival=rival: rival.decode(emissions[run % count])  # type: ignore[misc]
        hits = [target in rival.decode(emissions[i]) for i, target in enumerate(targets)]
        recall[name] = 100 * sum(hits) / count
    timings = take_turns(calls, runs=count, progress=progress)
    ratio = {name: timings[name].p50 / timings["search"].p50 for name in recall}
    return Benchmark(
        swipes=count,
        spellings=int(np.count_nonzero(np.diff(keyboard.trie.endings))),
        beam=keyboard.width,
        **{name: timings[name] for name in STEPS},
        matching=_matching(timings, stages),
        flashlight=timings.get("flashlight"),
        flashlight_word=timings.get("flashlight_word"),
        speedup=ratio.get("flashlight"),
        speedup_word=ratio.get("flashlight_word"),
        recall=recall["search"],
        flashlight_recall=recall.get("flashlight"),
        flashlight_word_recall=recall.get("flashlight_word"),
    )


def _steps(keyboard: Keyboard, gestures: Sequence[Gesture], words: Sequence[str], stages: Stages) -> Calls:
    """The steps of decoding, each given what the one before gave."""
    paths, count = resample_batch(gestures), len(gestures)
    readings, found = stages.readings, stages.spellings
    listed = [keyboard.search(readings, row) for row in range(count)]
    texts = [" ".join(words[max(i - 2, 0) : i]) for i in range(count)]  # the words meant before

    def rank(i: int, context: str | None = None) -> None:
        keyboard.choose(keyboard.score(found[i], stages.matches[i]), context=context)

    return {
        "resample": lambda run: resample_batch([gestures[run % count]]),
        "encoder": lambda run: keyboard.encoder.run(paths[run % count, None], keyboard.layout.centres),
        "search": lambda run: search(readings.log_probs[run % count], keyboard.trie, keyboard.pruning),
        "geometry": lambda run: keyboard.measure(gestures[run % count], listed[run % count]),
        "match": lambda run: keyboard.match(gestures[run % count], found[run % count]),
        "rank": lambda run: rank(run % count),
        "in_context": lambda run: rank(run % count, texts[run % count]),
        "end_to_end": lambda run: keyboard.decode(gestures[run % count]),
    }


def _matching_calls(keyboard: Keyboard, gestures: Sequence[Gesture]) -> Calls:
    """Decoding without the matcher, and the matcher alone on what it was shown; nothing without a matcher."""
    if keyboard.matcher is None:
        return {}
    alone, listener = keyboard.replace(matcher=None), Listener(keyboard.matcher)
    keyboard.replace(matcher=listener).stages(gestures, 0)
    calls: Calls = {"without": lambda run: alone.decode(gestures[run % len(gestures)])}
    if listener.heard:
        calls["forward"] = lambda run: listener.matcher.run(*listener.heard[run % len(listener.heard)])
    return calls


def _matching(timings: Mapping[str, Timing], stages: Stages) -> Matching | None:
    """What the matcher costs, where there is one."""
    if "without" not in timings:
        return None
    whole, without = timings["end_to_end"], timings["without"]
    asked = sum(matches is not None for matches in stages.matches)
    return Matching(
        asked=100 * asked / len(stages.matches),
        forward=timings.get("forward"),
        without=without,
        p50=whole.p50 / without.p50,
        mean=whole.mean / without.mean,
    )


class Listener:
    """A matcher that remembers what it was shown, swipe by swipe."""

    def __init__(self, matcher: MatcherRuntime) -> None:
        self.matcher = matcher
        self.heard: list[tuple[np.ndarray, ...]] = []

    def run(self, *arrays: np.ndarray) -> np.ndarray:
        """As ``MatcherRuntime.run``."""
        self.heard.append(arrays)
        return self.matcher.run(*arrays)


def _rivals(keyboard: Keyboard) -> dict[str, FlashlightSearch]:
    """flashlight-text's decoder in both forms, or nothing where it is not installed."""
    try:
        return {
            "flashlight": FlashlightSearch(keyboard),
            "flashlight_word": FlashlightSearch(keyboard, one_word=True),
        }
    except MissingExtraError:
        return {}


class FlashlightSearch:
    """flashlight-text's lexicon decoder over a keyboard's trie.

    It decodes sentences: after a word the next may begin, so on a swipe chains of short words crowd the beam.
    ``one_word`` forbids that: every spelling then ends in the separator, which is possible only in one extra frame at
    the end.
    """

    def __init__(self, keyboard: Keyboard, one_word: bool = False) -> None:
        try:
            from flashlight.lib.text import decoder as flashlight
        except ImportError:
            raise MissingExtraError("the comparison needs flashlight-text: pip install 'glissando[dev]'") from None
        trie = keyboard.trie
        blank = len(trie.letters)
        # The separator (its "silence") must be a column of its own: it is read wherever no word has begun, and -1
        # would read the blank of the frame before.
        separator = blank + 1
        self.one_word = one_word
        self.spellings = sorted({typed for typed in keyboard.lexicon.spell(frozenset(trie.letters)) if typed})
        self.language_model = flashlight.ZeroLM()
        lexicon = flashlight.Trie(separator + 1, -1)
        label = {letter: index for index, letter in enumerate(trie.letters)}
        ending = [separator] if one_word else []
        for number, typed in enumerate(self.spellings):
            lexicon.insert([label[letter] for letter in typed] + ending, number, 0.0)
        options = flashlight.LexiconDecoderOptions(
            beam_size=keyboard.width,
            beam_size_token=min(TOKENS, separator + 1),
            beam_threshold=THRESHOLD,
            lm_weight=0.0,
            word_score=0.0,
            unk_score=float("-inf"),
            sil_score=0.0,
            log_add=True,
            criterion_type=flashlight.CriterionType.CTC,
        )
        self.decoder = flashlight.LexiconDecoder(
            options, lexicon, self.language_model, separator, blank, len(self.spellings), [], False
        )

    def decode(self, log_probs: np.ndarray) -> set[str]:
        """Spellings of the results that are one word. Shape: [T, L + 1]."""
        count, width = log_probs.shape
        frames = np.full((count + self.one_word, width + 1), NEVER, dtype=np.float32)
        frames[:count, :width] = log_probs
        if self.one_word:
            frames[-1, -1] = 0.0
        results = self.decoder.decode(frames.ctypes.data, *frames.shape)
        chains = [[word for word in result.words if word >= 0] for result in results]
        return {self.spellings[chain[0]] for chain in chains if len(chain) == 1}
