"""Encoder against encoder + decoder on the same swipes, each with constants of its own, and the decoder's constants.

    glissando export onnx run/decoder.safetensors src/glissando/assets/weights/decoder.onnx
    python runs/decoder_compare.py [--data DIR] [--weights FILE] [--decoder FILE] [--holdout 0.1] [--holdout-seed 0]
                                   [--write]

The first line packages a trained decoder. The second fits scoring and the decoder's share (cross-entropy) to
how_we_swipe_val and compares the methods there, with each half of val's people ranked by the other half's fit, and with
val's constants on direct touch and on the tenth of the training people that the decoder's training set aside (the
same share and seed as its settings say). McNemar's exact test says whether a gain is one. The encoder searches in both
methods, pruned as runs/scoring.py says. --write puts the decoder's constants into the package. Cost: five minutes on
two cores.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from scoring import ASSETS, PRUNING, calibration_error, rounded
from sets import arguments, half_of_the_people, mcnemar, tops, word_list

from glissando.corpus.layouts import LayoutShelf
from glissando.evaluation.beams import TuningSet
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for, read_targets
from glissando.evaluation.fit import cross_entropy, fit_scoring
from glissando.scoring import Scoring
from glissando.train.sampling import held_out
from glissando.weights import load_weights

SHARES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)  # of the decoder


def encode(data: Path, swipes: list, options: EvaluationOptions) -> TuningSet:
    """Swipes, all on the first one's layout, through the networks."""
    words = [swipe.word for swipe in swipes]
    decoder, _ = keyboard_for(LayoutShelf(data / "layouts")[swipes[0].layout], words, options)
    return TuningSet.encode(decoder, [swipe.gesture for swipe in swipes], words)  # type: ignore[arg-type]


def set_aside(data: Path, options: EvaluationOptions, share: float, seed: int) -> list:
    """The swipes of the training people that decoders are not trained on; sessions count as they come, as in a pack."""
    shelf = LayoutShelf(data / "layouts")
    swipes = list(read_targets(data / "swipes" / "how_we_swipe_train.jsonl.gz", shelf, options))
    numbers = {session: number for number, session in enumerate(dict.fromkeys(swipe.session for swipe in swipes))}
    mask = held_out(np.array([numbers[swipe.session] for swipe in swipes]), share, seed)
    return [swipe for swipe, aside in zip(swipes, mask, strict=True) if aside]


def fit(part: TuningSet, rows: np.ndarray | None = None) -> Scoring:
    """Constants that make the words meant likeliest, of all swipes or of some. Shape: rows [n] bool."""
    fits = []
    for share in SHARES if part.readings.corrected is not None else (PRUNING.decoder_share,):
        beams = part.beams(replace(PRUNING, decoder_share=share), measured=True)
        beams = beams if rows is None else beams.select(rows)
        scoring = fit_scoring([beams], replace(PRUNING, decoder_share=share))
        fits.append((cross_entropy(beams, scoring), scoring))
    return min(fits, key=lambda found: found[0])[1]


def compare(name: str, before: np.ndarray, after: np.ndarray) -> None:
    """Print two rankings of the same swipes. Shape: [n], [n] ranks of the targets, 0 where lost."""
    test = mcnemar(before == 1, after == 1)
    print(f"{name}, n = {len(before):,}")
    print(f"  encoder            {tops(before)}")
    print(f"  encoder + decoder  {tops(after)}")
    gain = 100 * (np.mean(after == 1) - np.mean(before == 1))
    print(f"  top-1 {gain:+.2f}: {test.gained} swipes gained, {test.lost} lost, McNemar p = {test.p:.2g}", flush=True)


def main(chosen: argparse.Namespace) -> None:
    """Fit, compare, and write if asked."""
    base = EvaluationOptions(
        lexicon=word_list(chosen.data, "val"), add_targets=True, max_key_distance=2.0,
        weights=chosen.weights, decoder=chosen.decoder,
    )  # fmt: skip
    methods = [replace(base, method="encoder"), replace(base, method="decoder")]
    shelf = LayoutShelf(chosen.data / "layouts")
    val = list(read_targets(chosen.data / "swipes" / "how_we_swipe_val.jsonl.gz", shelf, base))
    first = half_of_the_people(val)
    fitted, direct, crossed = [], [], []
    for options in methods:
        part = encode(chosen.data, val, options)
        fitted.append(rounded(fit(part)))
        beams = part.beams(fitted[-1], measured=True)
        direct.append(beams.ranks(fitted[-1])[0])
        halves = [fit(part, half) for half in (~first, first)]
        crossed.append(np.where(first, *(part.beams(half, measured=True).ranks(half)[0] for half in halves)))
        error = calibration_error(beams, fitted[-1])
        print(f"{options.method}: recall {beams.recall:.2f}, calibration error {error:.1f} %")
        print(f"  {json.dumps(fitted[-1].to_dict())}", flush=True)
    compare("val, constants fitted there", *direct)
    compare("val, each half of the people by the other's fit", *crossed)
    others = {"direct touch": list(read_targets(chosen.data / "swipes" / "direct_touch_dev.jsonl.gz", shelf, base))}
    if chosen.holdout:
        others["training people set aside"] = set_aside(chosen.data, base, chosen.holdout, chosen.holdout_seed)
    for name, swipes in others.items():
        parts = [encode(chosen.data, swipes, options) for options in methods]
        ranks = [part.beams(s, measured=True).ranks(s)[0] for part, s in zip(parts, fitted, strict=True)]
        compare(f"{name}, val's constants", *ranks)
    if chosen.write:
        source = (
            f"conditional logit on how_we_swipe_val ({len(val):,} swipes), AOSP English list and targets, encoder "
            f"{load_weights(chosen.weights).card['sha256'][:12]}, decoder "
            f"{load_weights(chosen.decoder).card['sha256'][:12]}; runs/decoder_compare.py"
        )
        data = {"scoring": fitted[1].to_dict(), "provenance": source}
        (ASSETS / "en-decoder.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--weights", default="encoder")
    parser.add_argument("--decoder", default="decoder")
    parser.add_argument("--holdout", type=float, default=0.1)
    parser.add_argument("--holdout-seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    main(parser.parse_args())
