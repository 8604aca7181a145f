"""Write the swipes of some of the people of a corpus, as the setting ``part`` of a training chooses them.

    python runs/people.py train.jsonl.gz held.jsonl.gz 0.94 1        # those whose random number lies in [0.94, 1)

A training on ``part=[0,0.94]`` has not seen them. Swipes farther than two key widths from their keys are left out.
"""

import argparse
from pathlib import Path

import numpy as np

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import write_swipes
from glissando.evaluation.evaluate import EvaluationOptions, read_targets
from glissando.train.sampling import draws


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("low", type=float)
    parser.add_argument("high", type=float)
    parser.add_argument("--seed", type=int, default=1, help="part_seed of the training")
    chosen = parser.parse_args()
    swipes = list(read_targets(chosen.corpus, LayoutShelf(), EvaluationOptions(max_key_distance=2.0)))
    numbers: dict[str | None, int] = {}  # as a pack numbers people: as they come
    people = np.array([numbers.setdefault(swipe.session, len(numbers)) for swipe in swipes])
    drawn = draws(people, chosen.seed)
    kept = np.flatnonzero((chosen.low <= drawn) & (drawn < chosen.high))
    write_swipes(chosen.output, [swipes[row] for row in kept.tolist()])
    print(f"{chosen.output}: {len(kept):,} swipes of {len(np.unique(people[kept])):,} people")


if __name__ == "__main__":
    main()
