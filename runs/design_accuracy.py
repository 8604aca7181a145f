"""How well the keyboard reads made-up swipes, drawn as a person might, on layouts that no one has swiped on yet.

    python runs/design_accuracy.py qwerty clearflow kasroz found/layout.json [--swipes 3852] [--weights encoder]

The words are how_we_swipe_val's, swiped by the generator of training (train/generator.py: jitter, overshoot, cut
corners), the same draws on every layout; beam 100, Android's list and the targets, the packaged constants. The encoder
has seen QWERTY more than any other keyboard, and the swipes are synthetic: read the differences, not the levels. One
CPU core, half a minute a layout.
"""

import argparse
import random

import numpy as np
from ablation_scores import SEED, make_up
from sets import arguments, interval, tops, word_list

from glissando.corpus.layouts import LayoutShelf
from glissando.evaluation.beams import TuningSet
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for, read_targets
from glissando.layout import load_layout


def main(options: argparse.Namespace) -> None:
    """Print a row for every layout."""
    reading = EvaluationOptions(
        lexicon=word_list(options.data, "val"), add_targets=True, max_key_distance=2.0, weights=options.weights,
        method="encoder",
    )  # fmt: skip
    file = options.data / "swipes" / "how_we_swipe_val.jsonl.gz"
    words = [swipe.word for swipe in read_targets(file, LayoutShelf(options.data / "layouts"), reading)]
    words = random.Random(SEED).sample(words, min(options.swipes, len(words)))
    print("| layout | top-1 / 3 / 10 | recall@100 | top-1 over the first, 95 % |\n|---|---|---|---|")
    first: np.ndarray | None = None
    for name in options.layouts:
        layout = load_layout(name)
        decoder, _ = keyboard_for(layout, words, reading)
        beams = TuningSet.encode(decoder, make_up(words, layout), words).beams(decoder.scoring, measured=True)
        ranks, _ = beams.ranks(decoder.scoring)
        right = (ranks == 1).astype(float)
        gain = "" if first is None else interval(right - first)
        first = right if first is None else first
        print(f"| {layout.name} | {tops(ranks)} | {100 * np.mean(ranks > 0):.2f} | {gain} |", flush=True)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("layouts", nargs="+", metavar="LAYOUT")
    parser.add_argument("--swipes", type=int, default=3852)
    parser.add_argument("--weights", default="encoder")
    main(parser.parse_args())
