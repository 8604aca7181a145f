"""The frequency weight by synthetic swipes for word lists that have not been tuned, beside the weight by labels.

    python runs/label_free.py [--data DIR] [--trials 400]

Constants tuned on how_we_swipe_val with Android's English list are moved to other lists and layouts by
evaluation/labelfree.py, which sees none of their swipes. "labels" is the weight fitted to the rows it is reported on.
English with wordfreq's list is the test with enough swipes; Russian is held out. Cost: five minutes.
"""

from dataclasses import replace

import numpy as np
import wordfreq
from sets import TITLES, arguments, encode, interval, pruning_of

from glissando.evaluation.fit import SCORING_SPACE, fit_scoring, search_scoring
from glissando.evaluation.labelfree import made_up_weight, word_usage
from glissando.evaluation.study import Plan
from glissando.lexicon import Lexicon
from glissando.scoring import Scoring, load_scoring


def spread_counts(language: str) -> Lexicon:
    """wordfreq's words with bytes spread over 1 to 255, as those of a user's own counts are."""
    counted = wordfreq.get_frequency_dict(language, "best")
    lexicon = Lexicon.from_counts({word: counted[word] for word in Lexicon.from_language(language).words})
    return replace(lexicon, language=language)


def flat_bytes(language: str) -> Lexicon:
    """wordfreq's words with 25.8 bytes a decade, where the package has 36.2: a list with too small a spread."""
    counted = wordfreq.get_frequency_dict(language, "best")
    lexicon = Lexicon.from_language(language)
    logs = np.log10([counted[word] for word in lexicon.words])
    return replace(lexicon, frequencies=np.clip(np.rint(25.8 * (logs + 9)), 0, 255).astype(np.uint8))


LISTS = {
    "Android's": lambda language: None,
    "wordfreq's": Lexicon.from_language,
    "wordfreq's, flat": flat_bytes,
    "counts over 1-255": spread_counts,
}


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=400)
    chosen = parser.parse_args()
    packaged = load_scoring("en")
    pruned = Scoring(**pruning_of(packaged))
    others = ["wordfreq's", "wordfreq's, flat", "counts over 1-255"]
    rows = [(name, title) for name in ("val", "ru") for title in ("Android's", *others)]
    rows += [("direct", title) for title in others]
    columns = ("set", "list", "weight, made-up", "by labels", "English weight", "made-up weight", "gain", "labels")
    references, constants = {}, {}
    print("| constants | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name, title in rows:
        language = "ru" if name == "ru" else "en"
        part = encode(chosen.data, name, LISTS[title](language)).part
        beams = part.beams(pruned, measured=True)
        if not constants:
            search = search_scoring([beams], pruned, Plan(SCORING_SPACE, chosen.trials))
            constants = {"equation 3": replace(pruned, **search.best), "all terms": packaged}
        for terms, scoring in constants.items():
            keyboard = part.keyboard.replace(scoring=scoring)
            here = made_up_weight(keyboard, word_usage(keyboard.lexicon, language))
            ratio = here / references.setdefault(terms, here)
            fitted = fit_scoring([beams], scoring, ["frequency_weight"])
            labels = fitted.frequency_weight / scoring.frequency_weight
            ranks = [
                beams.ranks(replace(scoring, frequency_weight=scoring.frequency_weight * times))[0] == 1
                for times in (1.0, ratio, labels)
            ]
            shares = [f"{100 * np.mean(hits):.2f}" for hits in ranks]
            gain = interval(ranks[1].astype(float) - ranks[0])
            cells = [terms, TITLES[name], title, f"x {ratio:.2f}", f"x {labels:.2f}", *shares[:2], gain, shares[2]]
            print("| " + " | ".join(cells) + " |", flush=True)
