"""The packaged scoring constants, fitted to how_we_swipe_val by cross-entropy, and how well they hold.

    python runs/scoring.py [--data DIR] [--write] [--picture FILE.png]

Prints the constants, what they reach on the rows they were fitted to and on two sets they were not, the expected
calibration error, and the same for val when each half of its people is ranked by the other half's fit. --write puts
them into the package, for English and as the general ones, with the weight that synthetic swipes have on the same list
and layout (evaluation/labelfree.py). --picture draws the reliability. Cost: a minute on two cores.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sets import SETS, TITLES, Encoded, arguments, encode, half_of_the_people, tops

from glissando.evaluation import metrics
from glissando.evaluation.beams import StoredBeams
from glissando.evaluation.fit import CONSTANTS, FLAT, fit_scoring
from glissando.evaluation.labelfree import made_up_weight, word_usage
from glissando.figures.tuning import draw_reliability
from glissando.scoring import Scoring
from glissando.weights import load_weights

# Exponent and bonus are the original's. Of the look-ahead, what lies on val's plateau (within two words of the best of
# 31 pairs) and keeps Russian words in the beam too; the floor is for added words, whose bytes are the lowest.
PRUNING = Scoring(pruning_exponent=0.42, pruning_bonus=1.04, pruning_frequency=0.035, pruning_floor=75.0)
ASSETS = Path(__file__).parents[1] / "src" / "glissando" / "assets" / "scoring"


def calibration_error(beams: StoredBeams, scoring: Scoring) -> float:
    """Expected calibration error of the best candidate's probability, in percent."""
    return metrics.calibration_error(metrics.reliability(*beams.best_shares(scoring)))


def chance_error(beams: StoredBeams, scoring: Scoring, draws: int = 200) -> float:
    """The error that this number of swipes would show if every probability were right, in percent."""
    shares, _ = beams.best_shares(scoring)
    rng = np.random.default_rng(0)
    simulated = (metrics.reliability(shares, rng.uniform(size=len(shares)) < shares) for _ in range(draws))
    return float(np.mean([metrics.calibration_error(bins) for bins in simulated]))


def rounded(scoring: Scoring) -> Scoring:
    """Five decimals are enough."""
    numbers = {name: round(value, 5) for name, value in scoring.to_dict().items() if name != "matched"}
    return Scoring(**numbers, matched=rounded(scoring.matched) if scoring.matched else None)


def show(encoded: dict[str, Encoded], beams: dict[str, StoredBeams], constants: Sequence[str]) -> Scoring:
    """Fit constants and print how well they hold."""
    scoring = rounded(fit_scoring([beams["val"]], PRUNING, constants))
    print(json.dumps(scoring.to_dict()))
    for name, part in beams.items():
        error, chance = calibration_error(part, scoring), chance_error(part, scoring)
        print(f"  {name}: {tops(part.ranks(scoring)[0])}, calibration error {error:.1f} %, by chance {chance:.1f}")
    first = half_of_the_people(encoded["val"].swipes)
    halves = [beams["val"].select(first), beams["val"].select(~first)]
    fits = [fit_scoring([half], PRUNING, constants) for half in halves]
    ranks = np.concatenate([halves[0].ranks(fits[1])[0], halves[1].ranks(fits[0])[0]])
    error = np.mean([calibration_error(half, fit) for half, fit in zip(halves, fits[::-1], strict=True)])
    print(
        f"  val, each half of the people by the other's fit: {tops(ranks)}, calibration error {error:.1f} %",
        flush=True,
    )
    return scoring


def write(encoded: Encoded, scoring: Scoring) -> None:
    """Put constants into the package."""
    keyboard = encoded.part.keyboard.replace(scoring=scoring)
    made_up = made_up_weight(keyboard, word_usage(keyboard.lexicon, "en"))
    source = (
        f"conditional logit on how_we_swipe_val ({len(encoded.swipes):,} swipes, "
        f"{len({swipe.session for swipe in encoded.swipes})} people), AOSP English list and targets, encoder "
        f"{load_weights('encoder').card['sha256'][:12]}; runs/scoring.py"
    )
    for name, note in (
        ("en", ""),
        ("general", "; the English constants, which hold on Russian swipes they have not seen"),
    ):
        data = {
            "scoring": scoring.to_dict(),
            "label_free": {"frequency_weight": round(made_up, 6), "lexicon": "AOSP English", "layout": "qwerty"},
            "provenance": source + note,
        }
        (ASSETS / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--picture", type=Path)
    chosen = parser.parse_args()
    every = {name: encode(chosen.data, name) for name in SETS}
    stored = {name: part.beams(PRUNING, measured=True) for name, (part, _) in every.items()}
    show(every, stored, FLAT)
    fitted = show(every, stored, CONSTANTS)
    if chosen.picture:
        curves = {TITLES[name]: metrics.reliability(*part.best_shares(fitted)) for name, part in stored.items()}
        draw_reliability(curves, chosen.picture)
    if chosen.write:
        write(every["val"], fitted)
