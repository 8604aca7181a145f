"""How often the collection's check flags people's swipes, swipes of another word, and scribbles.

    python runs/flagging.py [--data DIR] [--limit 1600]

A swipe of another word is a person's swipe with the next word of the same session as its label; a scribble is a path
through 6 to 24 random places. The bound (``checking.MAX_COST``) was chosen on the first file; the others had no say.
Cost: 60 s.
"""

import argparse
import os
from itertools import pairwise
from pathlib import Path

import numpy as np

import glissando
from glissando.corpus.records import Swipe, read_swipes
from glissando.gesture import Gesture
from glissando.layout import load_layout
from glissando.web.checking import MAX_DISTANCE, Check, check_swipe

FILES = {
    "how_we_swipe_val": ("qwerty", "en"),
    "direct_touch_dev": ("qwerty_z15", "en"),
    "yandex_jcuken_dev": ("jcuken_default", "ru"),
}


def scribble(rng: np.random.Generator) -> Gesture:
    """A path through random places, at 60 points in 80 ms a place."""
    places = rng.uniform(0, 1, (rng.integers(6, 25), 2))
    at = np.linspace(0, len(places) - 1, 60)
    x, y = (np.interp(at, np.arange(len(places)), places[:, axis]) for axis in (0, 1))
    return Gesture(x, y, at * 80)


def checks(keyboard: glissando.Keyboard, swipes: list[Swipe]) -> dict[str, list[Check]]:
    """The checks of swipes of each kind."""
    rng = np.random.default_rng(0)
    kinds: dict[str, list[Check]] = {"as asked": [], "another word": [], "scribbles": []}
    for one, other in pairwise(swipes):
        kinds["as asked"].append(check_swipe(keyboard, one.gesture, one.word, one.aspect))
        if one.word != other.word and one.session == other.session:
            kinds["another word"].append(check_swipe(keyboard, one.gesture, other.word, one.aspect))
        kinds["scribbles"].append(check_swipe(keyboard, scribble(rng), one.word, one.aspect))
    return kinds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("GLISSANDO_DATA", "data"))
    parser.add_argument("--limit", type=int, default=1600)
    args = parser.parse_args()
    for name, (layout, language) in FILES.items():
        keys = load_layout(Path(args.data) / "layouts" / f"{layout}.json")
        swipes = [one for one in read_swipes(Path(args.data) / "swipes" / f"{name}.jsonl.gz") if one.layout == layout]
        print(f"{name}, {min(len(swipes), args.limit):,} swipes")
        for kind, found in checks(glissando.load(keys, language=language), swipes[: args.limit]).items():
            flagged = np.mean([one.flagged for one in found])
            far = np.mean([(one.key_distance or 0) > MAX_DISTANCE for one in found])
            print(
                f"  {kind}: {flagged:.1%} flagged; {far:.1%} farther than {MAX_DISTANCE:g} key widths from their keys"
            )


if __name__ == "__main__":
    main()
