"""A frequency weight for a word list that nobody has tuned, without a labelled swipe.

How much a list's frequencies should count depends on how they are scaled, on how well they agree with what people
write, on how many words lie near one another on the layout, and on how sure the encoder is there. Made-up swipes
(synth.py) for words drawn as often as they are used know all of this: the weight that suits them is fitted as it
would be to real ones. They are not real ones, so the weight itself is not taken over, but how it changes: constants
tuned on real swipes keep beside them the weight that made-up swipes would have had on their list and layout, and the
tuned weight is moved by the ratio of the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from glissando.errors import GlissandoError, LexiconError, ScoringError
from glissando.evaluation.evaluate import EvaluationOptions, make_decoder
from glissando.evaluation.fit import fit_frequency_weight
from glissando.evaluation.tune import TuningSet
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import Lexicon, typed_letters
from glissando.scoring import Scoring, read_scoring
from glissando.synth import swipe

ZIPF_SHIFT = 2.7  # Mandelbrot's: the r-th word of a list is used as 1 / (r + 2.7)


@dataclass(frozen=True)
class Draws:
    """The swipes to make up.

    Attributes:
        swipes: how many; with 2,000 the weight varies by some 3 % from seed to seed.
        noise: how much human noise, 1 being what people do.
        seed: repeats the draw.
    """

    swipes: int = 2000
    noise: float = 1.0
    seed: int = 0


def word_usage(lexicon: Lexicon, language: str = "") -> dict[str, float]:
    """How often words are used, up to a factor.

    By wordfreq, which counted them in other places than the list did, so that the list's own errors show. Where it
    does not know the language, by Zipf's law in the order of the list, which takes the list at its word.
    """
    import wordfreq

    if language in wordfreq.available_languages("best"):
        counted = wordfreq.get_frequency_dict(language, "best")
        return {word: counted[word] for word in Lexicon.from_language(language).words}
    order = np.argsort(-lexicon.frequencies.astype(np.int64), kind="stable")
    return {lexicon.words[index]: 1 / (rank + ZIPF_SHIFT) for rank, index in enumerate(order.tolist(), 1)}


def make_up_swipes(keyboard: Keyboard, usage: Mapping[str, float], draws: Draws | None = None) -> TuningSet:
    """Swipes for words drawn by usage, encoded; words that the list lacks are added to it as rare ones.

    Words of one letter are left out: they are taps, and their only rivals are the neighbouring keys.
    """
    draws = draws or Draws()
    rng = np.random.default_rng(draws.seed)
    letters = frozenset(keyboard.layout.letters)
    words = [word for word in usage if len(typed_letters(word, letters)) > 1]
    if not words:
        raise LexiconError(f"no word of two letters or more can be typed on layout {keyboard.layout.name!r}")
    shares = np.array([usage[word] for word in words])
    meant = [words[i] for i in rng.choice(len(words), draws.swipes, p=shares / shares.sum())]
    known = frozenset(keyboard.lexicon.spell(letters))
    lexicon = keyboard.lexicon.with_words(word for word in meant if "".join(typed_letters(word, letters)) not in known)
    gestures = [swipe(word, keyboard.layout, rng, draws.noise) for word in meant]
    with_all = Keyboard(keyboard.layout, lexicon, keyboard.encoder, keyboard.scoring, keyboard.width)
    return TuningSet.encode(with_all, gestures, meant)


def made_up_weight(keyboard: Keyboard, usage: Mapping[str, float], draws: Draws | None = None) -> float:
    """The frequency weight that suits made-up swipes best, the other constants being the keyboard's."""
    scoring = keyboard.scoring
    return fit_frequency_weight(make_up_swipes(keyboard, usage, draws).beams(scoring, scoring.geometric), scoring)


def reference_weight(data: Any, source: str) -> float:
    """What ``made_up_weight`` was where some constants were tuned, as it stands in their JSON."""
    entry = data.get("label_free") if isinstance(data, Mapping) else None
    value = entry.get("frequency_weight") if isinstance(entry, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ScoringError(
            f"{source} does not say what its frequency weight would be by made-up swipes (label_free); "
            f"begin with constants that do, such as the packaged ones"
        )
    return float(value)


def tune_label_free(
    layout: Layout, options: EvaluationOptions, draws: Draws | None = None, command: str = ""
) -> dict[str, Any]:
    """Constants for a list on a layout, in the form that decoding reads and another tuning can begin with.

    Args:
        layout: where the words will be swiped.
        options: the word list, its language, the encoder, the beam, and the constants to begin with.
        draws: the swipes to make up.
        command: goes into the provenance.
    """
    draws = draws or Draws()
    keyboard = make_decoder(layout, [], options)[0]
    if not isinstance(keyboard, Keyboard):
        raise GlissandoError("only the encoder's frequency weight is set without labels; leave --method away")
    if isinstance(options.scoring, (Mapping, Scoring)):
        raise ScoringError("a weight is set without labels from a packaged name or a JSON file")
    language = options.language or keyboard.lexicon.language or layout.language
    reference = reference_weight(*read_scoring(options.scoring, language))
    made_up = made_up_weight(keyboard, word_usage(keyboard.lexicon, language), draws)
    if made_up <= 0:
        raise ScoringError(f"the frequencies of lexicon {keyboard.lexicon.name} tell nothing of what is written")
    weight = keyboard.scoring.frequency_weight * made_up / reference
    return {
        "scoring": replace(keyboard.scoring, frequency_weight=weight).to_dict(),
        "label_free": {"frequency_weight": made_up, "lexicon": keyboard.lexicon.name, "layout": layout.name},
        "provenance": {
            "command": command,
            "began_with": {"frequency_weight": keyboard.scoring.frequency_weight, "label_free": reference},
            "draws": asdict(draws),
            "weights": keyboard.encoder.weights.card["sha256"][:16],
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        },
    }
