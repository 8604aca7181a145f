"""Ranking constants that follow their person: top-1 with the packaged constants and with factors learned word by word.

    python runs/adaptation.py [--data DIR] [--penalty 10 20 30] [--stiffness 1 10] [--orders 6] [--sets ...]

Every swipe is decoded once, with the matcher. Then the words of each person are taken one by one: a word is ranked with
the factors learned so far, and only then recorded (habits.py). Where a set does not know its people, it counts as one
person. Prints, for the order of the file, top-1 and the calibration error of the best candidate, packaged and adapted,
and the factors in the end; then the mean gain over several orders of the words, because a gain of one order is mostly
chance. Cost: half a minute on two cores for one penalty and one order, and half a minute more for six orders.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from sets import SETS, arguments, keyboard_and_swipes

from glissando.corpus.records import Swipe
from glissando.evaluation.beams import StoredBeams, TuningSet
from glissando.evaluation.metrics import calibration_error, reliability
from glissando.habits import PENALTY, STIFFNESS, TERMS, Features, Habits, contributions
from glissando.keyboard import Keyboard
from glissando.scoring import Scoring, load_scoring, softmax

SETS["indirect"] = ("indirect_touch", "en")  # 36 people who point at a distant keyboard: no touch screen


class Prior(NamedTuple):
    """The arguments of Habits."""

    penalty: float
    stiffness: float

    def __str__(self) -> str:
        return f"penalty {self.penalty:g}, stiffness {self.stiffness:g}"


def terms_of(beams: StoredBeams, scoring: Scoring) -> list[np.ndarray]:
    """The contributions of every swipe's finalists, by the constants that each is ranked by. Shape: n of [N, K]."""
    assert scoring.matched is not None
    known = Features(
        beams.log_probs, beams.lengths, beams.frequencies, beams.distances.astype(np.float64),
        beams.matches.astype(np.float64),
    )  # fmt: skip
    first, again = contributions(known, scoring), contributions(known, scoring.matched)
    asked = np.repeat(beams.asked, np.diff(beams.offsets))
    return np.split(np.where(asked[:, None], again, first), beams.offsets[1:-1])


def people(swipes: list[Swipe]) -> Iterator[np.ndarray]:
    """The rows of each person, in order; all of them where people are not known."""
    sessions = np.array([swipe.session or "" for swipe in swipes])
    for session in dict.fromkeys(sessions.tolist()):
        yield np.flatnonzero(sessions == session)


def judge(logits: np.ndarray, meant: int) -> tuple[bool, float]:
    """Whether the best of some finalists is the one meant, and its probability; -1 is none. Shape: [N]."""
    best = int(logits.argmax())
    return best == meant, float(softmax(logits)[best])


def adapt(terms: list[np.ndarray], places: np.ndarray, rows: np.ndarray, habits: Habits) -> list[tuple[bool, float]]:
    """Judge a person's swipes one by one, each before it is recorded."""
    found = []
    for row in rows:
        found.append(judge(terms[row] @ habits.factors, places[row]))
        if places[row] >= 0:  # a word that the beam has lost teaches nothing
            habits.record(terms[row], places[row])
    return found


def describe(found: list[tuple[bool, float]]) -> str:
    """Top-1 and calibration error."""
    right, shares = (np.array(column) for column in zip(*found, strict=True))
    return f"{100 * right.mean():.2f}, error {calibration_error(reliability(shares, right)):.1f} %"


def report(terms: list[np.ndarray], places: np.ndarray, groups: list[np.ndarray], orders: int, prior: Prior) -> None:
    """Print what adapting is worth on a set."""
    before = [judge(terms[row].sum(axis=1), places[row]) for rows in groups for row in rows]
    right = np.mean([one[0] for one in before])
    gains = []
    for order in range(orders):
        rng = np.random.default_rng(order)
        learned = [Habits(*prior) for _ in groups]
        after = []
        for rows, habits in zip(groups, learned, strict=True):
            after += adapt(terms, places, rng.permutation(rows) if order else rows, habits)
        gains.append(100 * (np.mean([one[0] for one in after]) - right))
        if order == 0:
            factors = np.mean([habits.fit() for habits in learned], axis=0)
            named = ", ".join(f"{name} {factor:.2f}" for name, factor in zip(TERMS, factors, strict=True))
            print(f"  {prior}: {describe(before)} -> {describe(after)} ({gains[0]:+.2f}); {named}", flush=True)
    if orders > 1:
        print(f"    mean gain of {orders} orders {np.mean(gains):+.2f}, deviation {np.std(gains):.2f}", flush=True)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--penalty", type=float, nargs="+", default=[PENALTY])
    parser.add_argument("--stiffness", type=float, nargs="+", default=[STIFFNESS])
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument("--scoring", default="auto", help="packaged constants to start from")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["val", "ru", "direct"])
    chosen = parser.parse_args()
    for name in chosen.sets:
        keyboard, swipes = keyboard_and_swipes(chosen.data, name, method="matcher")
        assert isinstance(keyboard, Keyboard)
        part = TuningSet.encode(keyboard, [s.gesture for s in swipes], [s.word for s in swipes])
        scoring = load_scoring(chosen.scoring, SETS[name][1], "matcher")
        beams = part.matched_beams(scoring)
        terms = terms_of(beams, scoring)
        places = np.where(beams.places >= 0, beams.places - beams.offsets[:-1], -1)
        groups = list(people(swipes))
        print(f"{name}: {len(groups)} people, {len(swipes):,} swipes", flush=True)
        for prior in product(chosen.penalty, chosen.stiffness):
            report(terms, places, groups, chosen.orders, Prior(*prior))
