"""Golden vectors: swipes with every stage of decoding them, for a port in another language to compare with.

Most are swipes as people make them. The others are those that ports get wrong: a single point, points at one
instant, outside the keyboard, a duration that rounds to the even number of frames, times since 1970.

A golden vector must tell right from wrong, not one rounding from another. So its swipe is steady: its emissions hardly
change when the path moves by its last bit. (Where a finger turns on the spot its heading depends on that bit.) And it
is clear: rounding changes neither its best word nor what the beam keeps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from glissando.gesture import Gesture, resample_batch
from glissando.keyboard import Keyboard, Readings
from glissando.scoring import Candidate
from glissando.synth import swipe

CANDIDATES = 8  # of each swipe
COMMON = 20_000  # ordinary swipes are of one of this many most frequent words
# How far a correct port may be from the reference: float32 in another order of operations.
TOLERANCES = {"path": 1e-6, "emissions": 5e-4, "corrected": 1e-3, "scores": 1e-3, "probabilities": 1e-3}
DEEP = 10.0  # log-emissions below minus this are compared relative to their size: they are zero to a beam
MARGIN = 0.01  # between the best two scores; closer ones may swap by rounding alone
ROUNDING = 3e-5  # noise on the emissions, a little more than two runtimes differ by
SCORE_CHANGE = 5e-4  # what a score may change by under that noise
STEADY = 0.08  # share of the tolerances that a move of the path by its last bit may take up
MOVES = 8  # such moves that a swipe must stand
TRIES = 8  # swipes drawn for a golden vector in each round
ROUNDS = 5  # after which the steadiest so far is taken
GROUP = 16  # golden vectors chosen at a time

Bend = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # [n, 3] -> [m, 3]


@dataclass(frozen=True, eq=False)
class Golden:
    """A swipe to compare with.

    Attributes:
        kind: "swipe", or what is awkward about it.
        word: the word it was made for.
        gesture: its points, rounded to decimals that JSON holds exactly.
    """

    kind: str
    word: str
    gesture: Gesture


def golden_swipes(keyboard: Keyboard, count: int, seed: int = 0) -> Iterator[Golden]:
    """Make ``count`` swipes, two fifths of them awkward; where that is too few for one of each kind, a few more."""
    rng = np.random.default_rng(seed)
    kinds = [*BENDS, *_WORDS]
    plan = [kind for kind in kinds for _ in range(max(1, 2 * count // (5 * len(kinds))))]
    plan += ["swipe"] * (count - len(plan))
    words = _words_by_kind(keyboard)
    for start in range(0, len(plan), GROUP):
        yield from _choose(keyboard, plan[start : start + GROUP], words, rng)


def golden_lines(keyboard: Keyboard, swipes: Sequence[Golden]) -> Iterator[str]:
    """One line of JSON for each swipe, as docs/deployment.md describes it."""
    stages = keyboard.stages([golden.gesture for golden in swipes], CANDIDATES)
    readings, nodes, distances = stages.readings, stages.hypotheses.nodes, stages.distances
    for row, golden in enumerate(swipes):
        path = golden.gesture.path()
        emissions = keyboard.encoder.run(path[None], keyboard.layout.centres).log_probs[0]
        letters = readings.log_probs[row]  # [T, L + 1]
        places = {int(node): place for place, node in enumerate(nodes[row])}
        record: dict[str, Any] = {
            "kind": golden.kind,
            "word": golden.word,
            "points": np.column_stack([golden.gesture.x, golden.gesture.y, golden.gesture.t]).tolist(),
            "path": [[float(str(value)) for value in axis] for axis in path],  # float32, to its last bit
            "emissions": _rounded(emissions, 5),
            "greedy": keyboard.literal(letters[None])[0],
            "candidates": [
                _terms(one, None if distances is None else distances[row, places[keyboard.trie.find(one.letters)]])
                for one in stages.candidates[row]
            ],
        }
        # What the beam reads, where several keys have one letter and it is not the emissions themselves.
        if len(keyboard.trie.letters) < len(keyboard.layout.keys):
            record["letters"] = _rounded(letters, 5)
        if readings.corrected is not None:
            record["corrected"] = _rounded(readings.corrected[row], 5)
        yield json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _terms(candidate: Candidate, distances: np.ndarray | None) -> dict[str, Any]:
    """A candidate with the terms of its score."""
    measured = {} if distances is None else {"location": float(distances[0]), "shape": float(distances[1])}
    numbers = {
        "log_prob": candidate.log_prob, **measured, "score": candidate.score, "probability": candidate.probability
    }  # fmt: skip
    return {
        "word": candidate.word, "letters": candidate.letters, "frequency": candidate.frequency,
        **{name: round(value, 6) for name, value in numbers.items()},
    }  # fmt: skip


def _choose(
    keyboard: Keyboard, kinds: Sequence[str], words: Mapping[str, np.ndarray], rng: np.random.Generator
) -> list[Golden]:
    """A swipe of each kind that is steady and clear; where none is, the best of all rounds."""
    best: dict[int, tuple[float, Golden]] = {}
    pending = list(range(len(kinds)))
    for _ in range(ROUNDS):
        drawn = [_draw(keyboard, kinds[i], words, rng) for i in pending for _ in range(TRIES)]
        changes = _change(_read_moved(keyboard, drawn, 1, rng), len(drawn)).reshape(-1, TRIES)  # a first look
        steadiest = [drawn[TRIES * row + place] for row, place in enumerate(changes.argmin(axis=1))]
        for i, golden, doubt in zip(pending, steadiest, _doubts(keyboard, steadiest, rng), strict=True):
            if i not in best or doubt < best[i][0]:
                best[i] = doubt, golden
        pending = [i for i in pending if best[i][0] >= STEADY]
        if not pending:
            break
    return [best[i][1] for i in range(len(kinds))]


def _draw(keyboard: Keyboard, kind: str, words: Mapping[str, np.ndarray], rng: np.random.Generator) -> Golden:
    """One swipe of a kind."""
    word = keyboard.lexicon.words[rng.choice(words.get(kind, words["swipe"]))]
    exact = swipe(word, keyboard.layout, rng, rng.uniform(0.2, 1.2))
    points = np.column_stack([exact.x, exact.y, exact.t])
    points = BENDS[kind](points, rng) if kind in BENDS else points
    return Golden(kind, word, Gesture.from_points(np.round(points, 5)))


def _read_moved(keyboard: Keyboard, swipes: Sequence[Golden], moves: int, rng: np.random.Generator) -> Readings:
    """Readings of n swipes, each as it is and then with its path moved by the last bit. B is n * (1 + moves)."""
    paths = resample_batch([golden.gesture for golden in swipes])
    paths = paths[:, None].repeat(1 + moves, axis=1)  # [n, 1 + moves, 2, 64]
    towards = rng.choice(np.array([-1, 2], np.float32), paths[:, 1:].shape)
    paths[:, 1:] = np.nextafter(paths[:, 1:], towards)
    return keyboard.read_paths(paths.reshape(-1, *paths.shape[2:]))


def _change(readings: Readings, swipes: int) -> np.ndarray:
    """How far the moves change what the networks say, as a share of the tolerances. Shape: [n]."""
    change = np.zeros(swipes)
    for array, name in ((readings.log_probs, "emissions"), (readings.corrected, "corrected")):
        if array is not None:
            rows = array.reshape(swipes, -1, *array.shape[1:])  # [n, 1 + moves, T, L + 1]
            apart = np.abs(rows[:, 1:] - rows[:, :1]) / np.maximum(1, np.abs(rows[:, :1]) / DEEP)
            change = np.maximum(change, apart.max(axis=(1, 2, 3)) / TOLERANCES[name])
    return change


def _doubts(keyboard: Keyboard, swipes: Sequence[Golden], rng: np.random.Generator) -> np.ndarray:
    """How much depends on rounding: ``_change``, and one more for a swipe that is not clear. Shape: [n]."""
    readings = _read_moved(keyboard, swipes, MOVES, rng)
    # Of two hypotheses of equal rank at the edge of the beam, rounding decides which is pruned.
    noise = rng.normal(0, ROUNDING, readings.log_probs.shape).astype(np.float32)
    noise[:: 1 + MOVES] = 0
    noisy = Readings(readings.log_probs + noise, readings.corrected)
    repeated = [golden.gesture for golden in swipes for _ in range(1 + MOVES)]
    ranked = keyboard.stages(repeated, 2 * CANDIDATES, noisy).candidates
    clear = [_is_clear(ranked[row : row + 1 + MOVES]) for row in range(0, len(ranked), 1 + MOVES)]
    return _change(readings, len(swipes)) + ~np.array(clear)


def _is_clear(rankings: Sequence[Sequence[Candidate]]) -> bool:
    """Whether the best word leads by ``MARGIN``, and all rankings have the candidates of the first, scored alike."""
    first, *others = ({one.word: one.score for one in ranking} for ranking in rankings)
    scores = list(first.values())
    # Words of exactly equal scores keep their order.
    if len(scores) > 1 and scores[0] != scores[1] and scores[0] - scores[1] <= MARGIN:
        return False
    return all(
        word in other and abs(other[word] - score) < SCORE_CHANGE
        for other in others
        for word, score in list(first.items())[:CANDIDATES]
    )


def _words_by_kind(keyboard: Keyboard) -> dict[str, np.ndarray]:
    """Indices of the common words that suit a kind, and of those of ordinary swipes; of all where none suits."""
    by_frequency = np.argsort(-keyboard.lexicon.frequencies.astype(int), kind="stable")
    typed = keyboard.lexicon.spell(frozenset(keyboard.layout.letters))
    common = [index for index in by_frequency if typed[index]][:COMMON]
    suits = {**_WORDS, "swipe": lambda letters: len(letters) > 1}
    return {kind: np.array([index for index in common if suit(typed[index])] or common) for kind, suit in suits.items()}


def _rounded(array: np.ndarray, decimals: int) -> list[Any]:
    return np.round(array.astype(np.float64), decimals).tolist()


def _timed(points: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The points at other times. Shape: [n, 3], [n] -> [n, 3]."""
    return np.column_stack([points[:, :2], t])


def _stretched(points: np.ndarray, factor: float) -> np.ndarray:
    """The points drawn away from the middle of the keyboard."""
    return np.column_stack([(points[:, :2] - 0.5) * factor + 0.5, points[:, 2]])


def _dense(points: np.ndarray) -> np.ndarray:
    """The points at a thousand a second, as a stylus may bring them."""
    t = np.arange(0.0, points[-1, 2])
    return np.column_stack([*(np.interp(t, points[:, 2], points[:, axis]) for axis in (0, 1)), t])


def _scribbled(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """No word at all: a random walk for as long as the swipe took."""
    return _timed(0.5 + np.cumsum(rng.normal(0, 0.08, (len(points), 2)), axis=0), points[:, 2])


# What is done to an ordinary swipe. Its first point is at 0 ms.
BENDS: dict[str, Bend] = {
    "one point": lambda p, _: p[:1],
    "two points": lambda p, _: p[[0, -1]],
    "points at one instant": lambda p, _: _timed(p, np.zeros(len(p))),
    "pairs of points at one instant": lambda p, _: _timed(p, p[np.arange(len(p)) // 2 * 2, 2]),
    "a finger that rests": lambda p, _: np.column_stack([np.tile(p[0, :2], (len(p), 1)), p[:, 2]]),
    "a rest at the end": lambda p, _: np.append(p, [[*p[-1, :2], p[-1, 2] + 1500]], axis=0),
    "outside the keyboard": lambda p, _: _stretched(p, 1.7),
    "far outside": lambda p, _: _stretched(p, 1e6),
    # 4.5 frames of 60 Hz: the even number of them counts.
    "half a frame": lambda p, _: _timed(p, p[:, 2] * 75 / p[-1, 2]),
    "in a blink": lambda p, _: _timed(p, p[:, 2] / 500),
    "very slow": lambda p, _: _timed(p, p[:, 2] * 40),
    "since 1970": lambda p, _: _timed(p, np.round(p[:, 2]) + 1_800_000_000_000),
    "a thousand a second": lambda p, _: _dense(p),
    "backwards": lambda p, _: _timed(p[::-1], p[:, 2]),
    "scribble": lambda p, rng: _scribbled(p, rng),
}
# Ordinary swipes of awkward words.
_WORDS: dict[str, Callable[[str], bool]] = {
    "doubled letters": lambda letters: any(a == b for a, b in pairwise(letters)),
    "one letter": lambda letters: len(letters) == 1,
    "long word": lambda letters: len(letters) >= 12,
}
