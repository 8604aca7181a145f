"""The scoring-term and beam-width tables of RESULTS.md, as Markdown.

    python runs/tables.py [--data DIR] [--trials 400]

Each row of the first table tunes only its own terms (tt1mm5, Optuna) on half of the people of how_we_swipe_val; the
others are zero, pruning is the packaged one. It is reported on the half it was tuned on (the report's own protocol), on
the other half of the people, and on Russian and direct touch, which no tune sees. Cost: two minutes on two cores.
"""

import time
from dataclasses import replace
from itertools import combinations

import numpy as np
from sets import SETS, arguments, encode, half_of_the_people, pruning_of, tops

from glissando.beam import search
from glissando.evaluation.beams import TuningSet
from glissando.evaluation.fit import FLAT, choose_constants, fit_scoring, search_scoring
from glissando.evaluation.study import Plan
from glissando.scoring import Scoring, load_scoring

TERMS = {"length_exponent": "γ", "frequency_weight": "λ_f", "length_bonus": "β"}
WIDTHS = (10, 25, 50, 100, 200, 400)


def scoring_terms(sets: dict[str, TuningSet], first: np.ndarray, trials: int) -> None:
    """A row per subset of equation 3's terms, and two beyond it."""
    pruning = pruning_of(load_scoring("en"))
    bare = Scoring(0, 0, 0, **pruning)
    beams = {name: part.beams(bare, measured=True) for name, part in sets.items()}
    tuned, others = beams["val"].select(first), beams["val"].select(~first)
    print("| terms | val, the half tuned on | val, the other half | JCUKEN | direct touch |\n|---|---|---|---|---|")

    def row(name: str, scoring: Scoring) -> None:
        shares = [part.accuracy(scoring)["top1"] for part in (tuned, others, beams["ru"], beams["direct"])]
        print(f"| {name} | " + " | ".join(f"{share:.2f}" for share in shares) + " |", flush=True)

    row("raw CTC", bare)
    for count in (1, 2, 3):
        for names in combinations(TERMS, count):
            plan = Plan(choose_constants(names), trials)
            row(", ".join(TERMS[name] for name in names), replace(bare, **search_scoring([tuned], bare, plan).best))
    row("the report's English tune", Scoring(**pruning))
    row("γ, λ_f, β, floor (cross-entropy)", fit_scoring([tuned], bare, FLAT))
    row("γ, λ_f, β, floor, location, shape (cross-entropy)", fit_scoring([tuned], bare))


def beam_widths(sets: dict[str, TuningSet]) -> None:
    """Top-1 / 3 / 10 and milliseconds by beam width, with the packaged constants."""
    scoring = load_scoring("en")
    print("\n| beam | val | JCUKEN | direct touch | ms per swipe, search on one thread |\n|---|---|---|---|---|")
    for width in WIDTHS:
        cells = []
        for part in sets.values():
            part = replace(part, keyboard=part.keyboard.replace(width=width))
            ranks, _ = part.beams(scoring, measured=True).ranks(scoring)
            cells.append(tops(ranks))
        keyboard, spent = sets["val"].keyboard.replace(width=width), []
        for log_probs in sets["val"].readings.log_probs[:300]:
            start = time.perf_counter()
            search(log_probs, keyboard.trie, keyboard.pruning)
            spent.append(1000 * (time.perf_counter() - start))
        print(f"| {width} | " + " | ".join(cells) + f" | {np.median(spent):.2f} |", flush=True)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=400)
    chosen = parser.parse_args()
    encoded = {name: encode(chosen.data, name) for name in SETS}
    parts = {name: part for name, (part, _) in encoded.items()}
    scoring_terms(parts, half_of_the_people(encoded["val"].swipes), chosen.trials)
    beam_widths(parts)
