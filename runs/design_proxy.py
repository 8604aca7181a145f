"""Which cost of exact swipes predicts the errors of real ones?

    python runs/design_proxy.py [--weights encoder]

For every corpus with real swipes: the words' costs on its layout, from exact swipes alone, against whether the real
swipes of those words were read correctly (beam 100, Android's list + targets, key_dist_max <= 2). Prints for each
cost the area under the ROC curve (0.5 is chance), Spearman's correlation over swipes, and how much the error rate
rises per nat. Needs GLISSANDO_DATA. About two minutes of two CPU cores.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, spearmanr

from glissando.corpus.layouts import LayoutShelf
from glissando.ctc import word_costs
from glissando.evaluation.evaluate import EvaluationOptions, decode_swipes, keyboard_for, read_targets, with_aspect
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import LOG_RANGE
from glissando.runtime import EncoderRuntime
from glissando.synth import swipe, word_paths
from glissando.weights import load_weights

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GLISSANDO_DATA") or ROOT.parent / "shared" / "data")
CORPORA = {
    "how_we_swipe_val": "en_wordlist.combined.gz",
    "direct_touch_dev": "en_wordlist.combined.gz",
    "yandex_jcuken_dev": "ru_wordlist.combined.gz",
}
NOISY = 4  # jittered swipes per word
BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", default="encoder")
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    for corpus, words in CORPORA.items():
        options = EvaluationOptions(
            lexicon=DATA / "wordlists" / words, layouts=DATA / "layouts", weights=given.weights, add_targets=True,
            max_key_distance=2.0, limit=given.limit,
        )  # fmt: skip
        shelf = LayoutShelf(options.layouts)
        swipes = list(read_targets(DATA / "swipes" / f"{corpus}.jsonl.gz", shelf, options))
        swipes = [one for one in swipes if one.layout == swipes[0].layout]
        decoder, known = keyboard_for(
            with_aspect(shelf[swipes[0].layout], swipes), [one.word for one in swipes], options
        )
        assert isinstance(decoder, Keyboard)
        outcomes = decode_swipes((decoder, known), swipes, options)
        wrong = np.array([outcome.rank != 1 for outcome in outcomes])
        print(f"{corpus}: {len(wrong):,} swipes on {decoder.layout.name}, {100 * wrong.mean():.2f} % read wrongly")
        targets = [outcome.target for outcome in outcomes]
        for name, costs in all_costs(decoder, sorted(set(targets))).items():
            cost = np.array([costs[target] for target in targets])
            print(f"  {name:22} mean {cost.mean():6.3f}  {predicts(cost, wrong)}", flush=True)
        length = np.array([len(target) for target in targets], dtype=float)
        print(f"  {'letters, to compare':22} mean {length.mean():6.3f}  {predicts(length, wrong)}")


def predicts(cost: np.ndarray, wrong: np.ndarray) -> str:
    """How well a cost predicts errors."""
    ranks = rankdata(cost)
    bad, good = int(wrong.sum()), int((~wrong).sum())
    area = (ranks[wrong].sum() - bad * (bad + 1) / 2) / (bad * good)
    slope = np.polyfit(np.minimum(cost, np.quantile(cost, 0.98)), wrong, 1)[0]
    return f"AUC {area:.3f}  Spearman {spearmanr(cost, wrong).statistic:.3f}  {100 * slope:+.2f} points a nat"


def all_costs(keyboard: Keyboard, words: list[str]) -> dict[str, dict[str, float]]:
    """The costs that are compared, each by word."""
    layout = keyboard.layout
    exact = word_paths(words, layout)
    rng = np.random.default_rng(0)
    jittered = [np.stack([swipe(word, layout, rng).path() for word in words]) for _ in range(NOISY)]
    columns = {
        "exact, by the judge": ctc(EncoderRuntime(load_weights("judge")), layout, words, exact),
        "exact": ctc(keyboard.encoder, layout, words, exact),
        "exact, turned": ctc(keyboard.encoder, layout, words, exact, turned=True),
        "jittered": np.mean([ctc(keyboard.encoder, layout, words, paths) for paths in jittered], axis=0),
        "ranked": ranked(keyboard, words),
        "rarity, to compare": rarity(keyboard, words),
    }
    columns["exact + ranked"] = columns["exact"] + columns["ranked"]
    return {name: dict(zip(words, values.tolist(), strict=True)) for name, values in columns.items()}


def ctc(
    encoder: EncoderRuntime, layout: Layout, words: list[str], paths: np.ndarray, turned: bool = False
) -> np.ndarray:
    """CTC cost of words on paths under an encoder; ``turned`` exchanges x and y. Shape: [B]."""
    place = {letter: keys[0] for letter, keys in layout.keys_of.items()}
    costs = []
    for start in range(0, len(words), BATCH):
        part = words[start : start + BATCH]
        keys, seen = layout.centres, paths[start : start + BATCH]
        if turned:
            keys, seen = keys[:, ::-1], seen[:, ::-1]
        labels = [[place[letter] for letter in word] for word in part]
        costs.append(word_costs(encoder.run(seen, keys).log_probs, labels))
    return np.concatenate(costs)


def ranked(keyboard: Keyboard, words: list[str]) -> np.ndarray:
    """What telling a word from the lexicon's others costs on its exact swipe: -log of its probability. Shape: [B]."""
    costs = []
    candidates = keyboard.decode_batch([swipe(word, keyboard.layout) for word in words], 400)
    for word, ranked_words in zip(words, candidates, strict=True):
        share = sum(one.probability for one in ranked_words if one.letters == word)
        costs.append(-np.log(max(share, 1e-6)))
    return np.array(costs)


def rarity(keyboard: Keyboard, words: list[str]) -> np.ndarray:
    """What of the ranking has nothing to do with the layout: how rare a word is, in decades. Shape: [B]."""
    spelled = keyboard.lexicon.spell(frozenset(keyboard.layout.letters))
    most: dict[str, int] = {}
    for letters, byte in zip(spelled, keyboard.lexicon.frequencies.tolist(), strict=True):
        most[letters] = max(byte, most.get(letters, 0))
    return np.array([-most[word] * LOG_RANGE / 255 for word in words])


if __name__ == "__main__":
    main()
