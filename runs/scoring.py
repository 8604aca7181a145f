"""The packaged scoring constants, fitted to how_we_swipe_val by cross-entropy, and how well they hold.

    python runs/scoring.py [--data DIR] [--write]

Prints the constants, what they reach on the rows they were fitted to and on two sets they were not, the expected
calibration error, and the same for val when each half of its people is ranked by the other half's fit. --write puts
them into the package, for English and as the general ones. Cost: half a minute on two cores.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
from tables import SETS, encode, half_of_the_people

from glissando.evaluation.fit import fit_scoring
from glissando.evaluation.stored import StoredBeams
from glissando.scoring import Scoring, softmax
from glissando.weights import load_weights

PRUNING = Scoring(pruning_exponent=0.42, pruning_bonus=1.04)  # of those tried, what keeps Russian words in the beam too
BINS = 15
ASSETS = Path(__file__).parents[1] / "src" / "glissando" / "assets" / "scoring"


def tops(ranks: np.ndarray) -> str:
    """Top-1 / 3 / 10 in percent."""
    return " / ".join(f"{100 * np.mean((ranks > 0) & (ranks <= k)):.2f}" for k in (1, 3, 10))


def calibration_error(beams: StoredBeams, scoring: Scoring) -> float:
    """Expected calibration error of the best candidate's probability, in percent."""
    scores, edges = beams.scores(scoring), beams.offsets
    found = [i for i in range(len(beams.places)) if edges[i + 1] > edges[i]]
    shares = [softmax(scores[edges[i] : edges[i + 1]], scoring.temperature) for i in found]
    sure = np.array([share.max() for share in shares])
    right = np.array([beams.places[i] == edges[i] + share.argmax() for i, share in zip(found, shares, strict=True)])
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = [abs(sure[bins == b].mean() - right[bins == b].mean()) * np.mean(bins == b) for b in np.unique(bins)]
    return 100 * float(sum(gaps))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("GLISSANDO_DATA") or "../shared/data"))
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    encoded = {name: encode(chosen.data, name) for name in SETS}
    beams = {name: part.beams(PRUNING, measured=True) for name, (part, _) in encoded.items()}
    for geometric in (False, True):
        scoring = fit_scoring([beams["val"]], PRUNING, geometric)
        scoring = Scoring(**{name: round(value, 5) for name, value in scoring.to_dict().items()})
        print(json.dumps(scoring.to_dict()))
        for name, part in beams.items():
            print(
                f"  {name}: {tops(part.ranks(scoring)[0])}, calibration error {calibration_error(part, scoring):.1f} %"
            )
        first = half_of_the_people(encoded["val"][1])
        halves = [beams["val"].select(first), beams["val"].select(~first)]
        fits = [fit_scoring([half], PRUNING, geometric) for half in halves]
        ranks = np.concatenate([halves[0].ranks(fits[1])[0], halves[1].ranks(fits[0])[0]])
        print(f"  val, each half of the people by the other's fit: {tops(ranks)}")
    if chosen.write:
        source = (
            "conditional logit on how_we_swipe_val (3,852 swipes, 65 people), AOSP English list and targets, encoder "
            f"{load_weights('encoder').card['sha256'][:12]}; runs/scoring.py"
        )
        for name, note in (
            ("en", ""),
            ("general", "; the English constants, which hold on Russian swipes they have not seen"),
        ):
            data = {"scoring": scoring.to_dict(), "provenance": source + note}
            (ASSETS / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
