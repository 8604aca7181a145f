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

WARM_UP = 20  # runs that do not count
TOKENS = 25  # flashlight-text's beam_size_token


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
        resample, encoder, search, rank, end_to_end: our steps, one thread.
        flashlight: flashlight-text's LexiconDecoder on the same emissions, None where it is not installed.
        speedup: flashlight's median over our search's.
        recall, flashlight_recall: percent of targets among the results.
    """

    swipes: int
    spellings: int
    beam: int
    resample: Timing
    encoder: Timing
    search: Timing
    rank: Timing
    end_to_end: Timing
    flashlight: Timing | None
    speedup: float | None
    recall: float
    flashlight_recall: float | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def benchmark(
    keyboard: Keyboard,
    gestures: Sequence[Gesture],
    words: Sequence[str],
    progress: Callable[[int, int], None] | None = None,
) -> Benchmark:
    """Time every step of decoding, and our beam beside flashlight-text's, swipe by swipe in turn."""
    letters = frozenset(keyboard.layout.letters)
    targets = ["".join(typed_letters(word, letters)) for word in words]
    log_probs = keyboard.letter_log_probs(gestures)
    rival = FlashlightDecoder(keyboard) if _has_flashlight() else None
    spent: dict[str, list[float]] = {}
    hits, rival_hits = 0, 0
    options = keyboard._search_options
    for i in range(-WARM_UP, len(gestures)):
        gesture, emissions = gestures[i], log_probs[i]
        paths = _timed(spent, "resample", resample_batch, [gesture])
        _timed(spent, "encoder", keyboard.encoder.run, paths, keyboard.layout.centres)
        found = _timed(spent, "search", search, emissions, keyboard.trie, **options)
        _timed(spent, "rank", keyboard.rank, found, 0, 5)
        _timed(spent, "end_to_end", keyboard.decode, gesture)
        spelled = _timed(spent, "flashlight", rival.decode, emissions) if rival else set()
        if i < 0:
            spent.clear()
            continue
        hits += keyboard.trie.find(targets[i]) in found.nodes
        rival_hits += targets[i] in spelled
        if progress:
            progress(i + 1, len(gestures))
    timings = {name: Timing(*np.percentile(times, [50, 95]).tolist()) for name, times in spent.items()}
    return Benchmark(
        swipes=len(gestures),
        spellings=int(np.count_nonzero(np.diff(keyboard.trie.endings))),
        beam=keyboard.width,
        **{name: timings[name] for name in ("resample", "encoder", "search", "rank", "end_to_end")},
        flashlight=timings.get("flashlight"),
        speedup=timings["flashlight"].p50 / timings["search"].p50 if rival else None,
        recall=100 * hits / len(gestures),
        flashlight_recall=100 * rival_hits / len(gestures) if rival else None,
    )


class FlashlightDecoder:
    """flashlight-text's lexicon decoder over a keyboard's trie, as its users set it up."""

    def __init__(self, keyboard: Keyboard) -> None:
        try:
            from flashlight.lib.text import decoder as flashlight
        except ImportError:
            raise MissingExtraError("the comparison needs flashlight-text: pip install 'glissando[dev]'") from None
        trie = keyboard.trie
        blank = len(trie.letters)
        self.spellings = sorted({typed for typed in keyboard.lexicon.spell(frozenset(trie.letters)) if typed})
        self.language_model = flashlight.ZeroLM()
        start = self.language_model.start(False)
        lexicon = flashlight.Trie(blank + 1, -1)
        label = {letter: index for index, letter in enumerate(trie.letters)}
        for number, typed in enumerate(self.spellings):
            _, score = self.language_model.score(start, number)
            lexicon.insert([label[letter] for letter in typed], number, score)
        lexicon.smear(flashlight.SmearingMode.MAX)
        options = flashlight.LexiconDecoderOptions(
            beam_size=keyboard.width,
            beam_size_token=min(TOKENS, blank + 1),
            beam_threshold=1e4,
            lm_weight=0.0,
            word_score=0.0,
            unk_score=float("-inf"),
            sil_score=0.0,
            log_add=True,
            criterion_type=flashlight.CriterionType.CTC,
        )
        self.decoder = flashlight.LexiconDecoder(
            options, lexicon, self.language_model, -1, blank, len(self.spellings), [], False
        )

    def decode(self, log_probs: np.ndarray) -> set[str]:
        """Spellings of the results that are one word. Shape: [T, L + 1]."""
        frames = np.ascontiguousarray(log_probs, dtype=np.float32)
        found = set()
        for result in self.decoder.decode(frames.ctypes.data, *frames.shape):
            words = [word for word in result.words if word >= 0]
            if len(words) == 1:
                found.add(self.spellings[words[0]])
        return found


def _has_flashlight() -> bool:
    from importlib.util import find_spec

    return find_spec("flashlight") is not None


def _timed(spent: dict[str, list[float]], name: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call, and note the milliseconds it took."""
    start = time.perf_counter()
    result = call(*args, **options)
    spent.setdefault(name, []).append(1000 * (time.perf_counter() - start))
    return result
