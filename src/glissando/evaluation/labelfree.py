"""A frequency weight for a word list for which there are no labelled swipes.

The right weight depends on the scale of the list's frequencies, on how well they agree with what people write, on how
many words lie near one another on the layout, and on how certain the encoder is there. Synthetic swipes (synth.py)
for words drawn as often as they are used reflect all of this, so a weight is fitted to them as to real swipes. They
are not real swipes, so only the change of the weight is used: constants tuned on real swipes are stored with the
weight that synthetic swipes have on the same list and layout, and the tuned weight is multiplied by the ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from glissando.errors import GlissandoError, LexiconError, ScoringError
from glissando.evaluation.beams import TuningSet
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for
from glissando.evaluation.fit import fit_scoring
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import Lexicon, typed_letters
from glissando.scoring import Scoring, read_scoring
from glissando.synth import swipe

ZIPF_SHIFT = 2.7  # Mandelbrot's: the r-th word of a list is used as 1 / (r + 2.7)


@dataclass(frozen=True)
class Draws:
    """The synthetic swipes to draw.

    Attributes:
        swipes: how many; with 2,000 the weight varies by about 3 % from seed to seed.
        noise: the amount of human noise, 1 is natural.
        seed: repeats the draw.
    """

    swipes: int = 2000
    noise: float = 1.0
    seed: int = 0


def word_usage(lexicon: Lexicon, language: str = "") -> dict[str, float]:
    """How often words are used, up to a factor.

    The counts are wordfreq's, which are independent of the list, so errors of the list show. If wordfreq lacks the
    language, Zipf's law gives them in the order of the list; then errors of the list cannot show.
    """
    import wordfreq

    if language in wordfreq.available_languages("best"):
        counted = wordfreq.get_frequency_dict(language, "best")
        return {word: counted[word] for word in Lexicon.from_language(language).words}
    order = np.argsort(-lexicon.frequencies.astype(np.int64), kind="stable")
    return {lexicon.words[index]: 1 / (rank + ZIPF_SHIFT) for rank, index in enumerate(order.tolist(), 1)}


def make_up_swipes(keyboard: Keyboard, usage: Mapping[str, float], draws: Draws | None = None) -> TuningSet:
    """Synthetic swipes for words drawn by usage; words that the lexicon lacks are added to it as rare ones.

    Words of one letter are left out: they are taps.
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
    return TuningSet.encode(keyboard.replace(lexicon=lexicon, decoder=None, matcher=None), gestures, meant)


def made_up_weight(keyboard: Keyboard, usage: Mapping[str, float], draws: Draws | None = None) -> float:
    """The frequency weight that fits synthetic swipes best, with the keyboard's other constants.

    The scale of the score is fitted too and divided out: these swipes may be clearer or less clear than real ones.
    """
    scoring = keyboard.scoring
    beams = make_up_swipes(keyboard, usage, draws).beams(scoring, scoring.geometric)
    return fit_scoring([beams], scoring, ["frequency_weight"]).frequency_weight


def reference_weight(data: Any, source: str) -> float:
    """The ``made_up_weight`` that is stored in the JSON of some constants."""
    entry = data.get("label_free") if isinstance(data, Mapping) else None
    value = entry.get("frequency_weight") if isinstance(entry, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ScoringError(
            f"{source} has no label_free.frequency_weight, the weight of synthetic swipes where it was tuned; "
            f"begin with constants that have it, such as the packaged ones"
        )
    return float(value)


def tune_label_free(
    layout: Layout, options: EvaluationOptions, draws: Draws | None = None, command: str = ""
) -> dict[str, Any]:
    """Constants for a list on a layout, in the form that decoding reads and that another tuning can begin with.

    Args:
        layout: the layout.
        options: the word list, its language, the encoder, the beam, and the constants to begin with.
        draws: the synthetic swipes.
        command: goes into the provenance.
    """
    draws = draws or Draws()
    keyboard = keyboard_for(layout, [], options)[0]
    if not isinstance(keyboard, Keyboard):
        raise GlissandoError("only the encoder's frequency weight is set without labels; leave --method away")
    if isinstance(options.scoring, (Mapping, Scoring)):
        raise ScoringError("--label-free begins with a packaged name or a JSON file, not with constants in memory")
    language = options.language or keyboard.lexicon.language or layout.language
    reference = reference_weight(*read_scoring(options.scoring, language, keyboard.method))
    made_up = made_up_weight(keyboard, word_usage(keyboard.lexicon, language), draws)
    if made_up <= 0:
        raise ScoringError(
            f"the frequencies of lexicon {keyboard.lexicon.name} do not agree with how often words are used"
        )
    change = made_up / reference
    scoring = _scaled(keyboard.scoring, change)
    if scoring.matched is not None:
        scoring = replace(scoring, matched=_scaled(scoring.matched, change))
    return {
        "scoring": scoring.to_dict(),
        "label_free": {"frequency_weight": made_up, "lexicon": keyboard.lexicon.name, "layout": layout.name},
        "provenance": {
            "command": command,
            "began_with": {"frequency_weight": keyboard.scoring.frequency_weight, "label_free": reference},
            "draws": asdict(draws),
            "weights": keyboard.encoder.weights.card["sha256"][:16],
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        },
    }


def _scaled(scoring: Scoring, change: float) -> Scoring:
    """Constants whose frequency weight is multiplied."""
    return replace(scoring, frequency_weight=scoring.frequency_weight * change)
