"""Speed, measured as a ratio in one run against something real."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from glissando.beam import search
from glissando.errors import MissingExtraError
from glissando.gesture import Gesture, resample_batch
from glissando.keyboard import Keyboard
from glissando.lexicon import typed_letters

STEPS = ("resample", "encoder", "search", "geometry", "rank", "end_to_end")
WARM_UP = 20  # runs that do not count
TOKENS = 25  # flashlight-text's beam_size_token
THRESHOLD = 50.0  # its beam_threshold, the default of torchaudio, by which most people meet it
NEVER = -1e4  # log-probability of what must not happen, well beyond the threshold


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one step on one swipe, over all swipes tried."""

    p50: float
    p95: float


@dataclass(frozen=True)
class Benchmark:
    """What ``glissando bench`` prints.

    Attributes:
        swipes: how many were decoded.
        spellings: size of the trie's vocabulary.
        beam: hypotheses kept by both searches.
        resample, encoder, search, geometry, rank, end_to_end: our steps, one thread.
        flashlight: flashlight-text's LexiconDecoder on the same emissions, None where it is not installed.
        flashlight_word: the same, confined to one word per swipe, which it does not do by itself.
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
    rank: Timing
    end_to_end: Timing
    flashlight: Timing | None
    flashlight_word: Timing | None
    speedup: float | None
    speedup_word: float | None
    recall: float
    flashlight_recall: float | None
    flashlight_word_recall: float | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def benchmark(
    keyboard: Keyboard,
    gestures: Sequence[Gesture],
    words: Sequence[str],
    progress: Callable[[int, int], None] | None = None,
) -> Benchmark:
    """Time every step of decoding, and our beam beside flashlight-text's, swipe by swipe in turn.

    Args:
        keyboard: what decodes.
        gestures: swipes on its layout, at least one.
        words: the word meant by each.
        progress: called with (swipes done, swipes in all).
    """
    letters = frozenset(keyboard.layout.letters)
    targets = ["".join(typed_letters(word, letters)) for word in words]
    log_probs = keyboard.read(gestures).log_probs
    rivals = _rivals(keyboard)
    spent: dict[str, list[float]] = {}
    hits = dict.fromkeys(["search", *rivals], 0)
    for i in range(-WARM_UP, len(gestures)):
        gesture, emissions = gestures[i % len(gestures)], log_probs[i % len(gestures)]
        paths = _timed(spent, "resample", resample_batch, [gesture])
        _timed(spent, "encoder", keyboard.encoder.run, paths, keyboard.layout.centres)
        found = _timed(spent, "search", search, emissions, keyboard.trie, keyboard.pruning)
        far = _timed(spent, "geometry", keyboard.measure, gesture, found)
        _timed(spent, "rank", keyboard.rank, found, far)
        _timed(spent, "end_to_end", keyboard.decode, gesture)
        spelled = {name: _timed(spent, name, rival.decode, emissions) for name, rival in rivals.items()}
        if i < 0:
            spent.clear()
            continue
        node = keyboard.trie.find(targets[i])
        hits["search"] += node >= 0 and node in found.nodes  # -1 fills the list where less was found
        for name in rivals:
            hits[name] += targets[i] in spelled[name]
        if progress:
            progress(i + 1, len(gestures))
    return _summary(keyboard, spent, {name: 100 * count / len(gestures) for name, count in hits.items()})


def _rivals(keyboard: Keyboard) -> dict[str, FlashlightDecoder]:
    """flashlight-text's decoder in both forms, or nothing where it is not installed."""
    try:
        return {
            "flashlight": FlashlightDecoder(keyboard),
            "flashlight_word": FlashlightDecoder(keyboard, one_word=True),
        }
    except MissingExtraError:
        return {}


def _summary(keyboard: Keyboard, spent: dict[str, list[float]], recall: dict[str, float]) -> Benchmark:
    """Percentiles of what was timed, and the ratios."""
    timings = {name: Timing(*np.percentile(times, [50, 95]).tolist()) for name, times in spent.items()}
    ratio = {name: timings[name].p50 / timings["search"].p50 for name in recall}
    return Benchmark(
        swipes=len(spent["search"]),
        spellings=int(np.count_nonzero(np.diff(keyboard.trie.endings))),
        beam=keyboard.width,
        **{name: timings[name] for name in STEPS},
        flashlight=timings.get("flashlight"),
        flashlight_word=timings.get("flashlight_word"),
        speedup=ratio.get("flashlight"),
        speedup_word=ratio.get("flashlight_word"),
        recall=recall["search"],
        flashlight_recall=recall.get("flashlight"),
        flashlight_word_recall=recall.get("flashlight_word"),
    )


class FlashlightDecoder:
    """flashlight-text's lexicon decoder over a keyboard's trie.

    It decodes sentences: after a word the next may begin, so on a swipe chains of short words crowd the beam.
    ``one_word`` forbids that. Every spelling then ends in the separator, which can be had in one frame only,
    added behind the others.
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
        found = set()
        for result in self.decoder.decode(frames.ctypes.data, *frames.shape):
            words = [word for word in result.words if word >= 0]
            if len(words) == 1:
                found.add(self.spellings[words[0]])
        return found


def _timed(spent: dict[str, list[float]], name: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call, and note the milliseconds it took."""
    start = time.perf_counter()
    result = call(*args, **options)
    spent.setdefault(name, []).append(1000 * (time.perf_counter() - start))
    return result
