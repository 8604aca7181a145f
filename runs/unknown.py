"""Words that no list has: the constants of literals and of "none of these", and what they reach.

    python runs/unknown.py [--data DIR] [--write]

Takes the packaged constants as they are and fits what they lack to how_we_swipe_val with Android's list alone, without
added targets: what a literal is worth, how likely no word found is the one meant, the temperature. Prints val with each
half of the people ranked by the other half's fit, and JCUKEN and direct touch by val's. --write puts the constants into
the package. Cost: two minutes on two cores.
"""

import argparse
import json
from dataclasses import replace

import numpy as np
from scoring import ASSETS
from sets import TITLES, Encoded, arguments, half_of_the_people, keyboard_and_swipes, word_list

from glissando.evaluation.beams import TuningSet
from glissando.evaluation.metrics import calibration_error, reliability
from glissando.evaluation.unknown import fit_unknown
from glissando.keyboard import Keyboard, load
from glissando.lexicon import load_lexicon
from glissando.scoring import Scoring, read_scoring


def encode(data: argparse.Namespace, name: str, constants: str) -> Encoded:
    """Run the networks over a set, on a keyboard with Android's list alone."""
    board, swipes = keyboard_and_swipes(data.data, name)
    assert isinstance(board, Keyboard)
    lexicon = load_lexicon(word_list(data.data, name))
    method = constants.partition("-")[2] or "encoder"
    keyboard = load(board.layout, lexicon=lexicon, scoring=constants, method=method, context=None)  # type: ignore[arg-type]
    words = [swipe.word for swipe in swipes]
    return Encoded(TuningSet.encode(keyboard, [s.gesture for s in swipes], words, unknown=True), swipes)


def is_known(encoded: Encoded) -> np.ndarray:
    """Whether the lexicon has each swipe's word. Shape: [n] bool."""
    trie = encoded.part.keyboard.trie
    nodes = [trie.find(typed) for typed in encoded.part.targets]
    return np.array([node > 0 and trie.endings[node + 1] > trie.endings[node] for node in nodes])


def show(title: str, ranks: np.ndarray, known: np.ndarray, sure: np.ndarray | None = None) -> None:
    """Print top-1 / 3 of all words, of known and of unknown ones, and the calibration error."""
    parts = {"all": np.ones(len(ranks), bool), "known": known, "unknown": ~known}
    text = ", ".join(
        f"{name} ({rows.sum():,}) "
        + " / ".join(f"{100 * np.mean((ranks > 0) & (ranks <= k), where=rows):.2f}" for k in (1, 3))
        for name, rows in parts.items()
    )
    error = "" if sure is None else f", calibration error {calibration_error(reliability(sure, ranks == 1)):.2f} %"
    print(f"  {title}: {text}{error}", flush=True)


def crossed(val: Encoded, scoring: Scoring) -> None:
    """Print val with each half of the people ranked by the other half's fit."""
    first = half_of_the_people(val.swipes)
    ranks, sure = np.zeros(len(first), int), np.zeros(len(first))
    for half in (first, ~first):
        fitted = fit_unknown([val.part], scoring, rows=lambda beams, half=half: beams.select(half))  # type: ignore[misc]
        beams = val.part.open_beams(fitted).select(~half)
        ranks[~half] = beams.ranks(fitted)[0]
        some = np.diff(beams.offsets) > 0
        sure[np.flatnonzero(~half)[some]] = beams.best_shares(fitted)[0]
    show("val, halves crossed", ranks, is_known(val), sure)


def closed(scoring: Scoring) -> Scoring:
    """The same constants without literals and without a chance of none."""
    names = ("literal_bonus", "fluency_weight", "none_bonus", "none_share")
    values = {name: getattr(Scoring(), name) for name in names}
    return replace(scoring.changed(values), matched=closed(scoring.matched) if scoring.matched else None)


def main(chosen: argparse.Namespace) -> None:
    """Fit, compare, and write if asked."""
    for name in chosen.constants:
        sets = {title: encode(chosen, title, name) for title in TITLES if "decoder" not in name or title == "val"}
        base = closed(sets["val"].part.keyboard.scoring)
        beams = sets["val"].part.open_beams(base)
        print(name)
        show("val without literals", beams.ranks(base)[0], is_known(sets["val"]), None)
        crossed(sets["val"], base)
        fitted = fit_unknown([sets["val"].part], base)
        print(f"  {json.dumps(fitted.to_dict())}")
        for title, encoded in sets.items():
            beams = encoded.part.open_beams(fitted)
            sure = np.zeros(len(encoded.swipes))
            sure[np.diff(beams.offsets) > 0] = beams.best_shares(fitted)[0]
            show(
                f"{TITLES[title]}, asked {100 * beams.asked.mean():.0f} %",
                beams.ranks(fitted)[0],
                is_known(encoded),
                sure,
            )
        if chosen.write:
            data, _ = read_scoring(name)
            data["scoring"] = fitted.to_dict()
            data["unknown"] = (
                "literals and none: conditional logit on how_we_swipe_val, AOSP English list alone; runs/unknown.py"
            )
            (ASSETS / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("constants", nargs="*", default=["en-matcher", "general-matcher"])
    parser.add_argument("--write", action="store_true")
    main(parser.parse_args())
