"""Words that no list has: the constants of literals and of "none of these", and what they reach.

    python runs/unknown.py [--data DIR] [--write] [NAME ...]

Takes packaged constants as they are, by default those of the matcher, and fits what they lack to how_we_swipe_val with
Android's list alone, without added targets: what a literal is worth, how likely no word found is the one meant, the
temperature. Prints val with each half of the people ranked by constants that were all fitted to the other half, then
all sets by val's. --write puts the constants into the package. Cost: two minutes for each name on two cores.
"""

import argparse
import json

import numpy as np
from matcher_compare import encode as encode_closed
from matcher_compare import fit
from scoring import ASSETS, rounded
from sets import TITLES, Encoded, arguments, half_of_the_people, keyboard_and_swipes, word_list

from glissando.evaluation.beams import StoredBeams, TuningSet
from glissando.evaluation.metrics import calibration_error, reliability
from glissando.evaluation.unknown import fit_unknown
from glissando.keyboard import Keyboard
from glissando.lexicon import load_lexicon
from glissando.loading import load
from glissando.scoring import Scoring, read_scoring

SOURCE = "literals and none: conditional logit on how_we_swipe_val, AOSP English list alone; runs/unknown.py"


def encode(chosen: argparse.Namespace, name: str, constants: str) -> Encoded:
    """Run the networks over a set, on a keyboard with Android's list alone."""
    board, swipes = keyboard_and_swipes(chosen.data, name)
    assert isinstance(board, Keyboard)
    method = constants.partition("-")[2] or "encoder"
    keyboard = load(
        board.layout, lexicon=load_lexicon(word_list(chosen.data, name)), scoring=constants, context=None,
        method=method,  # type: ignore[arg-type]
    )  # fmt: skip
    words = [swipe.word for swipe in swipes]
    return Encoded(TuningSet.encode(keyboard, [s.gesture for s in swipes], words, unknown=True), swipes)


def is_known(encoded: Encoded) -> np.ndarray:
    """Whether the lexicon has each swipe's word. Shape: [n] bool."""
    trie = encoded.part.keyboard.trie
    nodes = [trie.find(typed) for typed in encoded.part.targets]
    return np.array([node > 0 and trie.endings[node + 1] > trie.endings[node] for node in nodes])


def judged(beams: StoredBeams, scoring: Scoring) -> tuple[np.ndarray, np.ndarray]:
    """The rank of every word meant, and the probability of the first candidate. Shape: [n], [n]."""
    sure = np.zeros(len(beams.targets))
    sure[np.diff(beams.offsets) > 0] = beams.best_shares(scoring)[0]
    return beams.ranks(scoring)[0], sure


def show(title: str, ranks: np.ndarray, sure: np.ndarray, known: np.ndarray) -> None:
    """Print top-1 / 3 of all words, of known and of unknown ones, and the calibration error."""
    figures = []
    for name, rows in {"all": np.ones(len(ranks), bool), "known": known, "unknown": ~known}.items():
        if rows.any():
            tops = (100 * np.mean((ranks[rows] > 0) & (ranks[rows] <= k)) for k in (1, 3))
            figures.append(f"{name} ({rows.sum():,}) " + " / ".join(f"{top:.2f}" for top in tops))
    error = calibration_error(reliability(sure, ranks == 1))
    print(f"  {title}: {', '.join(figures)}, calibration error {error:.2f} %", flush=True)


def crossed(chosen: argparse.Namespace, val: Encoded) -> None:
    """Print val with each half of the people ranked by constants that were all fitted to the other half."""
    matcher = val.part.keyboard.matcher
    assert matcher is not None
    closed, first = encode_closed(chosen.data, "val", matcher).part, half_of_the_people(val.swipes)
    ranks, sure = np.zeros(len(first), int), np.zeros(len(first))
    for half in (first, ~first):

        def rows(beams: StoredBeams, half: np.ndarray = half) -> StoredBeams:
            return beams.select(half)

        fitted = fit_unknown([val.part], fit([closed], [1.0], 0.9, rows), rows=rows)
        ranks[~half], sure[~half] = judged(val.part.open_beams(fitted).select(~half), fitted)
    show("val, each half of the people by the other's fit", ranks, sure, is_known(val))


def main(chosen: argparse.Namespace) -> None:
    """Fit, compare, and write if asked."""
    for name in chosen.constants:
        print(name)
        sets = {title: encode(chosen, title, name) for title in TITLES if "decoder" not in name or title == "val"}
        val = sets["val"]
        base = val.part.keyboard.scoring.closed()
        show("val without literals", *judged(val.part.open_beams(base), base), is_known(val))
        if name.endswith("matcher"):
            crossed(chosen, val)
        fitted = rounded(fit_unknown([val.part], base))
        print(f"  {json.dumps(fitted.to_dict())}")
        for title, encoded in sets.items():
            beams = encoded.part.open_beams(fitted)
            literal = np.add.reduceat(beams.fluency < 0, beams.offsets[:-1]).mean()
            asked = f"matcher asked {100 * beams.asked.mean():.0f} %, {literal:.1f} literals"
            show(f"{TITLES[title]}, {asked}", *judged(beams, fitted), is_known(encoded))
        if chosen.write:
            data = {**read_scoring(name)[0], "scoring": fitted.to_dict(), "unknown": SOURCE}
            (ASSETS / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("constants", nargs="*", default=["general-matcher", "en-matcher"])
    parser.add_argument("--write", action="store_true")
    main(parser.parse_args())
