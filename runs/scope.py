"""The language-scope table of RESULTS.md: constants tuned on English, on Russian, and on both, as Markdown.

    python runs/scope.py [--data DIR] [--trials 400] [--splits 10]

Tunes equation 3's three constants (tt1mm5, Optuna) and all of ours (cross-entropy, evaluation/fit.py), with the
packaged pruning. Each is tuned on a random half of the people of how_we_swipe_val, of the words of yandex_jcuken_dev,
or of both, every corpus counting the same, and reported on the other halves and on direct touch, which no tune sees;
the mean over several splits. Beside it the report's own protocol: tuned and reported on the same rows. The last line
is the Russian tune's gain over the English one on the Russian swipes that neither saw, by a paired bootstrap over
swipes. Cost: four minutes on two cores.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from sets import SETS, TITLES, arguments, encode, half_of_the_people, interval, pruning_of

from glissando.evaluation.beams import StoredBeams
from glissando.evaluation.fit import SCORING_SPACE, fit_scoring, search_scoring
from glissando.evaluation.study import Plan
from glissando.scoring import Scoring, load_scoring

SCOPES = {"English": ("val",), "Russian": ("ru",), "English + Russian": ("val", "ru")}
Tune = Callable[[Sequence[StoredBeams]], Scoring]


def hits(beams: StoredBeams, scoring: Scoring) -> np.ndarray:
    """Which swipes have their word first. Shape: [n]."""
    return (beams.ranks(scoring)[0] == 1).astype(float)


def untouched(beams: dict[str, StoredBeams], halves: list[dict[str, np.ndarray]], scope: Sequence[str], tune: Tune):
    """Share of the splits in which each swipe came first when no tune had seen it. Shape: [n] for each set."""
    right = {name: np.zeros(len(part.targets)) for name, part in beams.items()}
    times = {name: np.zeros(len(part.targets)) for name, part in beams.items()}
    for half in halves:
        scoring = tune([beams[name].select(half[name]) for name in scope])
        for name, part in beams.items():
            rest = ~half[name]
            right[name][rest] += hits(part.select(rest), scoring)
            times[name] += rest
    return {name: right[name] / np.maximum(times[name], 1) for name in beams}, times


def table(title: str, beams: dict[str, StoredBeams], halves: list[dict[str, np.ndarray]], tune: Tune) -> None:
    """A row per scope, and the Russian tune's gain."""
    columns = [f"{TITLES[name]}, {what}" for what in ("halves", "all rows") for name in beams]
    print(f"\n{title}, top-1\n\n| tuned on | " + " | ".join(columns) + " |\n|" + "---|" * (1 + len(columns)))
    shares = {}
    for name, scope in SCOPES.items():
        shares[name], times = untouched(beams, halves, scope, tune)
        whole = tune([beams[part] for part in scope])
        cells = [100 * shares[name][part][times[part] > 0].mean() for part in beams]
        cells += [100 * hits(part, whole).mean() for part in beams.values()]
        print(f"| {name} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |", flush=True)
    seen = times["ru"] > 0
    gain = (shares["Russian"]["ru"] - shares["English"]["ru"])[seen]
    print(f"\nRussian tune over English tune, JCUKEN unseen, {len(gain)} swipes: {interval(gain)}", flush=True)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--splits", type=int, default=10)
    chosen = parser.parse_args()
    pruned = Scoring(**pruning_of(load_scoring("en")))
    plan = Plan(SCORING_SPACE, chosen.trials)
    encoded = {name: encode(chosen.data, name) for name in SETS}
    stored = {name: part.beams(pruned, measured=True) for name, (part, _) in encoded.items()}
    nobody = np.zeros(len(stored["direct"].targets), dtype=bool)
    split = [
        {**{name: half_of_the_people(encoded[name].swipes, seed) for name in ("val", "ru")}, "direct": nobody}
        for seed in range(chosen.splits)
    ]
    table("Equation 3", stored, split, lambda parts: replace(pruned, **search_scoring(parts, pruned, plan).best))
    table("All terms", stored, split, lambda parts: fit_scoring(parts, pruned))
