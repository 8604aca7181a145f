"""SHARK2's constants, packaged and tuned on half of the people, as Markdown.

    python runs/shark2_constants.py [--data DIR] [--trials 400]

Location and frequency weight by tt1mm5, as the report tunes them; radii, shape and ends stay. Tuned on half of the
people of how_we_swipe_val, reported on both halves and on Russian and direct touch, which no tune sees. Cost: two
minutes on two cores.
"""

from dataclasses import replace

from sets import SETS, arguments, half_of_the_people, keyboard_and_swipes

from glissando.evaluation.beams import as_scoring, store_matches
from glissando.evaluation.fit import SHARK2_SPACE, search_shark2
from glissando.evaluation.study import Plan
from glissando.shark2 import Shark2Constants

if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=400)
    chosen = parser.parse_args()
    beams, swipes = {}, {}
    for name in SETS:
        shark2, swipes[name] = keyboard_and_swipes(chosen.data, name, method="shark2")
        beams[name] = store_matches(shark2, [s.gesture for s in swipes[name]], [s.word for s in swipes[name]])
    first = half_of_the_people(swipes["val"])
    tuned, others = beams["val"].select(first), beams["val"].select(~first)
    packaged = Shark2Constants()
    search = search_shark2([tuned], packaged, Plan(SHARK2_SPACE, chosen.trials))
    print("| constants | location weight | frequency weight | val, half tuned on | val, other half | JCUKEN | direct |")
    print("|---|---|---|---|---|---|---|")
    for title, constants in (("packaged", packaged), ("tuned on half of val", replace(packaged, **search.best))):
        sets = (tuned, others, beams["ru"], beams["direct"])
        shares = [part.accuracy(as_scoring(constants))["top1"] for part in sets]
        weights = f"{constants.location_weight:.2f} | {constants.frequency_weight:.4f}"
        print(f"| {title} | {weights} | " + " | ".join(f"{share:.2f}" for share in shares) + " |", flush=True)
    fixed = {name: value for name, value in packaged.to_dict().items() if name not in SHARK2_SPACE}
    print("\nNot tuned here: " + ", ".join(f"{name} {value:g}" for name, value in fixed.items()) + ".")
