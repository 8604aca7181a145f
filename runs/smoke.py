"""Swipes for runs/smoke.sh: two files of made-up people, and the word list they type from.

    python runs/smoke.py DIRECTORY

Writes train.jsonl.gz, test.jsonl.gz (other people) and words.txt.
"""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from glissando.corpus.records import Swipe, write_swipes
from glissando.layout import load_layout
from glissando.lexicon import load_lexicon
from glissando.synth import swipe

WORDS = 500  # the most frequent ones
PEOPLE = {"train": 150, "test": 25}
SWIPES = 40  # of each person
WIDTH = 360  # of the letter area, in pixels


def typed(people: int, words: list[str], rng: np.random.Generator) -> Iterator[Swipe]:
    """Every person swipes some of the words, with a human's noise."""
    layout = load_layout("qwerty")
    for person in range(people):
        for word in rng.choice(words, SWIPES, replace=False):
            yield Swipe(
                word=str(word), gesture=swipe(str(word), layout, rng), layout="qwerty", session=f"p{person}",
                canvas_width=WIDTH, canvas_height=WIDTH * layout.aspect, source="glissando.synth", language="en",
            )  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1])
    plain = (word for word in load_lexicon("en").words if len(word) > 1 and word.isascii() and word.isalpha())
    words = list(islice(filter(str.islower, plain), WORDS))
    (folder / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    for seed, (name, people) in enumerate(PEOPLE.items()):
        count = write_swipes(folder / f"{name}.jsonl.gz", typed(people, words, np.random.default_rng(seed)))
        print(f"{name}: {count:,} swipes of {people} made-up people, {len(words)} words")


if __name__ == "__main__":
    main()
