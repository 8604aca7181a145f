"""The dial at which clarity and travel weigh the same, and what known layouts cost at it.

    python runs/design_dial.py [--weights judge] [--layouts 64] [--words 2000] [--view upright]

Random layouts of the grid 4-6-6-6-4 differ in clarity (nats a word) and in travel (seconds a word). The dial is the
ratio of the two standard deviations: at it, neither term decides alone. It is computed before any known layout is
looked at; then QWERTY, ClearFlow and KASROZ are judged with it. Cost: WORDS x LAYOUTS swipes, two minutes of two cores
with the defaults.
"""

import argparse

import numpy as np

from glissando.design.config import SearchConfig
from glissando.design.cost import LayoutCosts
from glissando.design.judge import make_judge
from glissando.design.run import EXACT_MEMO_BITS, judge_layouts
from glissando.design.task import letters_of_language, make_task, parse_grid
from glissando.design.words import SearchWords
from glissando.layout import load_layout
from glissando.lexicon import load_lexicon
from glissando.train.world import join_world

GRID = "4-6-6-6-4"


def balance(words: SearchWords, weights: str, config: SearchConfig, count: int) -> tuple[float, float]:
    """Standard deviations of clarity and of travel over random layouts."""
    task = make_task(parse_grid(GRID), "".join(words.alphabet))
    rng = np.random.default_rng(0)
    with join_world() as world:
        judge = make_judge(weights, task, config, world, exact=True)
        layouts = [rng.permutation(task.size).tolist() for _ in range(count)]
        prices = LayoutCosts(task, words, judge, EXACT_MEMO_BITS).arrangements(layouts)
    clarity, travel = np.array([(one.clarity, one.travel) for one in prices]).T
    print(f"{count} random layouts: {clarity.mean():.3f} +- {clarity.std():.3f} nats, {travel.mean():.3f} +- "
          f"{travel.std():.4f} s a word, correlation {np.corrcoef(clarity, travel)[0, 1]:+.2f}")  # fmt: skip
    return float(clarity.std()), float(travel.std())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--weights", default="judge")
    parser.add_argument("--layouts", type=int, default=64)
    parser.add_argument("--words", type=int, default=2000)
    parser.add_argument("--view", choices=["upright", "turned"], default="upright")
    chosen = parser.parse_args()
    settings = SearchConfig(view=chosen.view)
    words = SearchWords.choose(load_lexicon("en"), letters_of_language("en"), chosen.words)
    clear, slow = balance(words, chosen.weights, settings, chosen.layouts)
    dial = clear / slow
    print(f"dial {dial:.2f} nats a second")
    known = [load_layout(name) for name in ("kasroz", "clearflow", "qwerty")]
    for layout, cost in zip(known, judge_layouts(known, words, chosen.weights, settings), strict=True):
        print(f"{layout.name:10} {cost.total(dial):.4f} = {cost.clarity:.4f} nats + dial x {cost.travel:.4f} s")
