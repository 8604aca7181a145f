"""The three sets that the tables of tuning are made on, their halves, and the comparison of two rankings."""

import argparse
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe
from glissando.evaluation.beams import TuningSet
from glissando.evaluation.evaluate import EvaluationOptions, Method, keyboard_for, read_targets, with_aspect
from glissando.keyboard import Keyboard
from glissando.lexicon import Lexicon
from glissando.scoring import Scoring
from glissando.shark2 import Shark2

SETS = {"val": ("how_we_swipe_val", "en"), "ru": ("yandex_jcuken_dev", "ru"), "direct": ("direct_touch_dev", "en")}
TITLES = {"val": "val", "ru": "JCUKEN", "direct": "direct touch"}


class Encoded(NamedTuple):
    """A set's swipes, before and after the networks have run."""

    part: TuningSet
    swipes: list[Swipe]


def arguments(description: str) -> argparse.ArgumentParser:
    """A command line that knows where the data are."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("GLISSANDO_DATA") or "../shared/data"))
    return parser


def word_list(data: Path, name: str) -> Path:
    """Android's list for a set."""
    return data / "wordlists" / f"{SETS[name][1]}_wordlist.combined.gz"


def keyboard_and_swipes(
    data: Path, name: str, lexicon: Path | Lexicon | str | None = None, method: Method = "encoder"
) -> tuple[Keyboard | Shark2, list[Swipe]]:
    """A set's swipes on the layout that most of them were made on, and a keyboard whose lexicon has their words."""
    options = EvaluationOptions(
        method=method, lexicon=lexicon or word_list(data, name), add_targets=True, max_key_distance=2.0
    )
    shelf = LayoutShelf(data / "layouts")
    swipes = list(read_targets(data / "swipes" / f"{SETS[name][0]}.jsonl.gz", shelf, options))
    layouts = [swipe.layout for swipe in swipes]
    layout = max(set(layouts), key=layouts.count)
    swipes = [swipe for swipe in swipes if swipe.layout == layout]
    seen = with_aspect(shelf[layout], swipes)
    return keyboard_for(seen, [swipe.word for swipe in swipes], options)[0], swipes


def encode(data: Path, name: str, lexicon: Path | Lexicon | str | None = None) -> Encoded:
    """Run the encoder over a set; by default with Android's list."""
    keyboard, swipes = keyboard_and_swipes(data, name, lexicon)
    assert isinstance(keyboard, Keyboard)
    return Encoded(TuningSet.encode(keyboard, [s.gesture for s in swipes], [s.word for s in swipes]), swipes)


def pruning_of(scoring: Scoring) -> dict[str, float]:
    """The pruning constants alone."""
    return {name: value for name, value in scoring.to_dict().items() if name.startswith("pruning_")}


def half_of_the_people(swipes: list[Swipe], seed: int = 0) -> np.ndarray:
    """Which swipes belong to the first half of the people, or of the words where people are not known. Shape: [n]."""
    owners = [swipe.session or swipe.word for swipe in swipes]
    order = sorted(set(owners))
    np.random.default_rng(seed).shuffle(order)
    chosen = set(order[: len(order) // 2])
    return np.array([owner in chosen for owner in owners])


class McNemar(NamedTuple):
    """Two methods compared on the same swipes: those that only the second or only the first reads right."""

    gained: int
    lost: int
    p: float  # two-sided exact p-value of the hypothesis that neither method is better


def mcnemar(first: np.ndarray, second: np.ndarray) -> McNemar:
    """McNemar's exact test. Shape: [n], [n] bool, whether each swipe was read right."""
    gained, lost = int((second & ~first).sum()), int((first & ~second).sum())
    return McNemar(gained, lost, float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0)


def tops(ranks: np.ndarray) -> str:
    """Top-1 / 3 / 10 in percent."""
    return " / ".join(f"{100 * np.mean((ranks > 0) & (ranks <= k)):.2f}" for k in (1, 3, 10))


def interval(differences: np.ndarray, draws: int = 10_000) -> str:
    """A mean difference per swipe in points, with its 95 % bootstrap interval. Shape: [n]."""
    rng = np.random.default_rng(0)
    means = [differences[rng.integers(0, len(differences), len(differences))].mean() for _ in range(draws)]
    low, high = 100 * np.percentile(means, [2.5, 97.5])
    return f"{100 * differences.mean():+.2f} ({low:+.2f} to {high:+.2f})"
