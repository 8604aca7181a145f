"""Encoder against encoder + matcher on the same swipes, and the constants of the matcher's method.

    glissando export onnx run/matcher.safetensors src/glissando/assets/weights/matcher.onnx
    python runs/matcher_compare.py [--data DIR] [--matcher FILE] [--doubt 0.9] [--write]

The first line packages a trained matcher. The second fits the constants by cross-entropy: those of the first ranking,
then those of the swipes in doubt, about which the matcher is asked. `general-matcher` is fitted to how_we_swipe_val,
`en-matcher` to val and, at 0.3, direct touch. Prints both on three sets, and val with each half of its people ranked by
the other half's fit, without context and with the true words before; McNemar's exact test says whether a gain over the
encoder is one. --write puts the constants into the package. Cost: two minutes on two cores.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from context_scores import show
from scoring import ASSETS, PRUNING, calibration_error, rounded
from sets import TITLES, Encoded, arguments, half_of_the_people, keyboard_and_swipes, mcnemar, tops

from glissando.evaluation.beams import StoredBeams, TuningSet
from glissando.evaluation.fit import CONSTANTS, fit_matched, fit_scoring
from glissando.evaluation.labelfree import made_up_weight, word_usage
from glissando.evaluation.prompts import prompt_texts
from glissando.evaluation.survey import Survey
from glissando.keyboard import Keyboard
from glissando.runtime import MatcherRuntime
from glissando.scoring import Scoring, load_scoring
from glissando.weights import load_weights

SECOND_SHARE = 0.3  # of direct touch in the English constants
ALONE = tuple(name for name in CONSTANTS if name != "context_weight")
Rows = Callable[[StoredBeams], StoredBeams]


def encode(data: Path, name: str, matcher: MatcherRuntime) -> Encoded:
    """Run the encoder over a set, on a keyboard with the matcher."""
    keyboard, swipes = keyboard_and_swipes(data, name)
    assert isinstance(keyboard, Keyboard)
    board = keyboard.replace(matcher=matcher)
    texts = prompt_texts(swipes)
    return Encoded(TuningSet.encode(board, [s.gesture for s in swipes], [s.word for s in swipes], texts), swipes)


def fit(sets: Sequence[TuningSet], shares: Sequence[float], doubt: float, rows: Rows = lambda beams: beams) -> Scoring:
    """Both rankings' constants, then the weight of context in each. ``rows`` picks the swipes that are fitted to."""
    start = replace(PRUNING, doubt=doubt)
    searched = [rows(part.beams(start, measured=True)) for part in sets]
    alone = [replace(beams, gains=np.zeros_like(beams.gains)) for beams in searched]
    first = fit_scoring(alone, start, ALONE, shares)
    first = replace(first, context_weight=fit_scoring(searched[:1], first, ("context_weight",)).context_weight)
    asked = [rows(part.matched_beams(first)) for part in sets]
    alone = [replace(beams, gains=np.zeros_like(beams.gains)) for beams in asked]
    both = fit_matched(alone, first, ALONE, shares)
    assert both.matched is not None
    doubtful = asked[0].select(asked[0].asked)
    weight = fit_scoring([doubtful], both.matched, ("context_weight",)).context_weight
    return replace(both, matched=replace(both.matched, context_weight=weight))


def without_context(beams: StoredBeams) -> StoredBeams:
    """The same beams as if nothing stood before the swipes."""
    return replace(beams, gains=np.zeros_like(beams.gains))


def report(name: str, encoded: Encoded, scoring: Scoring, against: Scoring) -> None:
    """Print what constants reach on a set, beside the encoder's own method."""
    plain = without_context(encoded.part.beams(against, measured=True)).ranks(against)[0]
    beams = without_context(encoded.part.matched_beams(scoring))
    ranks = beams.ranks(scoring)[0]
    test = mcnemar(plain == 1, ranks == 1)
    print(
        f"  {TITLES[name]}, n = {len(ranks):,}: encoder {tops(plain)}, matcher {tops(ranks)}, asked about "
        f"{100 * beams.asked.mean():.0f} %, calibration error {calibration_error(beams, scoring):.1f} %, "
        f"p = {test.p:.2g}",
        flush=True,
    )


def crossed(val: Encoded, doubt: float, sentences: np.ndarray) -> None:
    """Print val with each half of the people ranked by the other half's fit."""
    first = half_of_the_people(val.swipes)
    plain, alone, told = (np.zeros(len(first), int) for _ in range(3))
    for half in (first, ~first):
        base = fit_scoring([without_context(val.part.beams(PRUNING, measured=True)).select(half)], PRUNING, ALONE)
        plain[~half] = without_context(val.part.beams(base, measured=True)).select(~half).ranks(base)[0]
        fitted = fit([val.part], [1.0], doubt, lambda beams, half=half: beams.select(half))  # type: ignore[misc]
        beams = val.part.matched_beams(fitted).select(~half)
        alone[~half], told[~half] = without_context(beams).ranks(fitted)[0], beams.ranks(fitted)[0]
    test = mcnemar(plain == 1, alone == 1)
    figures = f"encoder {tops(plain)}, matcher {tops(alone)}, p = {test.p:.2g}"
    print(f"val, each half of the people by the other's fit: {figures}")
    beams = val.part.matched_beams(fitted)
    show("alone", beams, alone, sentences)
    show("after the prompt's words", beams, told, sentences)


def write(name: str, keyboard: Keyboard, source: str) -> None:
    """Put constants into the package."""
    weight = made_up_weight(keyboard, word_usage(keyboard.lexicon, "en"))
    data = {
        "scoring": keyboard.scoring.to_dict(),
        "label_free": {"frequency_weight": round(weight, 6), "lexicon": "AOSP English", "layout": "qwerty"},
        "provenance": source,
    }
    (ASSETS / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def main(chosen: argparse.Namespace) -> None:
    """Fit, compare, and write if asked."""
    matcher = MatcherRuntime(load_weights(chosen.matcher))
    sets = {name: encode(chosen.data, name, matcher) for name in TITLES}
    survey = Survey.of(sets["val"].swipes)
    survey.read_prompts([chosen.data / "swipes" / "how_we_swipe_train.jsonl.gz"])
    sentences = np.array([survey.is_sentence(swipe.sentence) for swipe in sets["val"].swipes])  # type: ignore[arg-type]
    crossed(sets["val"], chosen.doubt, sentences)
    networks = f"encoder {load_weights('encoder').card['sha256'][:12]}, matcher {matcher.weights.card['sha256'][:12]}"
    for name, studies, shares in (
        ("general-matcher", ("val",), [1.0]),
        ("en-matcher", ("val", "direct"), [1.0, SECOND_SHARE]),
    ):
        scoring = rounded(fit([sets[study].part for study in studies], shares, chosen.doubt))
        print(f"{name}: {json.dumps(scoring.to_dict())}")
        for title, encoded in sets.items():
            report(title, encoded, scoring, load_scoring("en"))
        if chosen.write:
            fitted = " and, at 0.3, direct_touch_dev" if len(studies) > 1 else ""
            source = f"conditional logit on how_we_swipe_val{fitted}, AOSP English list and targets, {networks}"
            keyboard = sets["val"].part.keyboard.replace(scoring=scoring)
            write(name, keyboard, f"{source}; runs/matcher_compare.py")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--matcher", default="matcher")
    parser.add_argument("--doubt", type=float, default=0.9)
    parser.add_argument("--write", action="store_true")
    main(parser.parse_args())
