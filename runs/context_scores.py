"""The weight of context, fitted to how_we_swipe_val, and how well it holds for people it was not fitted to.

    python runs/context_scores.py [--data DIR] [--write]

Prints top-1 / 3 of sentences (prompts that several people of the study were given) and of random words, without context
and with the true words of the prompt before each swipe; the weight alone or all constants are fitted on one half of the
people and tested on the other. --write puts the weight into the packaged constants. Cost: half a minute on two cores.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from sets import arguments, half_of_the_people, keyboard_and_swipes

from glissando.evaluation.beams import StoredBeams, TuningSet
from glissando.evaluation.fit import CONSTANTS, fit_scoring
from glissando.evaluation.metrics import calibration_error, reliability
from glissando.evaluation.prompts import prompt_texts
from glissando.evaluation.survey import Survey
from glissando.scoring import Scoring

ASSETS = Path(__file__).parents[1] / "src" / "glissando" / "assets" / "scoring"
FILES = {"decoder": ("en-decoder",), "encoder": ("en", "general")}  # constants that each method reads


def show(name: str, beams: StoredBeams, ranks: np.ndarray, sentences: np.ndarray) -> None:
    """Print what some ranks reach."""
    parts = {"sentences": sentences, "words": ~sentences, "all": np.ones(len(ranks), bool)}
    figures = [
        f"{part} {100 * np.mean(ranks[rows] == 1):.2f} / {100 * np.mean((ranks[rows] > 0) & (ranks[rows] <= 3)):.2f}"
        for part, rows in parts.items()
    ]
    print(f"  {name}: {', '.join(figures)}", flush=True)


def crossed(beams: StoredBeams, scoring: Scoring, first: np.ndarray, constants: tuple[str, ...]) -> np.ndarray:
    """The ranks of each half of the people by the other half's constants."""
    ranks = np.zeros(len(first), int)
    for half in (first, ~first):
        fitted = fit_scoring([beams.select(half)], scoring, constants)
        chosen = {constant: round(getattr(fitted, constant), 4) for constant in (*constants, "temperature")}
        error = calibration_error(reliability(*beams.select(~half).best_shares(fitted)))
        print(f"    {chosen}, calibration error on the other half {error:.1f} %")
        ranks[~half] = beams.select(~half).ranks(fitted)[0]
    return ranks


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    for method, files in FILES.items():
        keyboard, swipes = keyboard_and_swipes(given.data, "val", method=method)  # type: ignore[arg-type]
        survey = Survey.of(swipes)
        survey.read_prompts([given.data / "swipes" / "how_we_swipe_train.jsonl.gz"])
        sentences = np.array([survey.is_sentence(swipe.sentence) for swipe in swipes])  # type: ignore[arg-type]
        gestures, words = [swipe.gesture for swipe in swipes], [swipe.word for swipe in swipes]
        encoded = TuningSet.encode(keyboard, gestures, words, prompt_texts(swipes))  # type: ignore[arg-type]
        scoring = keyboard.scoring
        beams = encoded.beams(scoring, measured=True)  # type: ignore[arg-type]
        first = half_of_the_people(swipes)
        print(method)
        show("no context", beams, beams.ranks(replace(scoring, context_weight=0.0))[0], sentences)  # type: ignore[arg-type]
        for constants in (("context_weight",), CONSTANTS):
            ranks = crossed(beams, scoring, first, constants)  # type: ignore[arg-type]
            show(f"{len(constants)} fitted on the other half", beams, ranks, sentences)
        fitted = fit_scoring([beams], scoring, ("context_weight",))  # type: ignore[arg-type]
        weight = round(fitted.context_weight, 2)
        show(f"packaged, weight {weight}", beams, beams.ranks(replace(scoring, context_weight=weight))[0], sentences)  # type: ignore[arg-type]
        if given.write:
            for name in files:
                data = json.loads((ASSETS / f"{name}.json").read_text(encoding="utf-8"))
                data["scoring"]["context_weight"] = weight
                (ASSETS / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
