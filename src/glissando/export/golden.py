"""Golden vectors: swipes with everything that decoding makes of them, for a port in another language to compare with.

Most are swipes as people make them. The others are those that ports get wrong: a single point, points at one
instant, outside the keyboard, a duration that rounds to the even number of frames, times since 1970.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from glissando.gesture import Gesture
from glissando.keyboard import Keyboard, Readings
from glissando.scoring import Candidate
from glissando.synth import swipe

CANDIDATES = 8  # of each swipe
MARGIN = 0.01  # between the best two scores; nearer ones may swap for rounding alone, which proves nothing
# What the emissions may change by when the path moves by its last bit. Where a finger turns on the spot its heading
# hangs on that bit: such a swipe tells rounding from rounding, not right from wrong.
UNSTEADY = 3e-5  # well within the tolerance: another runtime moves them by more than the last bit does
UNSTEADY_SCORE = 5e-4
ROUNDING = 3e-5  # what two runtimes differ by, and more
MOVES = 8
TRIES = 40  # words, for a swipe that is clear and steady
COMMON = 20_000  # the words of ordinary swipes are among the so many most frequent
DEEP = 10.0  # log-emissions below minus this are compared relative to their size: they are zero to a beam
# What a port may differ by and be right: float32 in another order of operations.
TOLERANCES = {"path": 1e-6, "emissions": 5e-4, "corrected": 1e-3, "scores": 1e-3, "probabilities": 1e-3}

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


def golden_swipes(keyboard: Keyboard, count: int, seed: int = 0) -> list[Golden]:
    """Make ``count`` swipes, two fifths of them awkward; where that is too few for one of each kind, a few more."""
    rng = np.random.default_rng(seed)
    kinds = [*BENDS, *_WORDS]
    each = max(1, 2 * count // (5 * len(kinds)))
    plan = [kind for kind in kinds for _ in range(each)]
    plan += ["swipe"] * (count - len(plan))
    choices = {kind: _choices(keyboard, kind) for kind in (*_WORDS, "swipe")}
    return [_draw(keyboard, kind, choices.get(kind, choices["swipe"]), rng) for kind in plan]


def golden_lines(keyboard: Keyboard, swipes: Sequence[Golden]) -> Iterator[str]:
    """One line of JSON for each swipe, as docs/deployment.md describes it."""
    gestures = [one.gesture for one in swipes]
    stages = keyboard.stages(gestures, CANDIDATES)
    readings, hypotheses, distances = stages.readings, stages.hypotheses, stages.distances
    letters = readings.log_probs  # [B, T, L + 1]
    for row, one in enumerate(swipes):
        path = one.gesture.path()
        emissions = keyboard.encoder.run(path[None], keyboard.layout.centres).log_probs[0]
        places = {int(node): i for i, node in enumerate(hypotheses.nodes[row])}
        candidates = [
            _candidate(found, None if distances is None else distances[row, places[keyboard.trie.find(found.letters)]])
            for found in stages.candidates[row]
        ]
        record: dict[str, Any] = {
            "kind": one.kind,
            "word": one.word,
            "points": np.column_stack([one.gesture.x, one.gesture.y, one.gesture.t]).tolist(),
            "path": [[float(str(value)) for value in axis] for axis in path],  # float32, to its last bit
            "emissions": _rounded(emissions, 5),
            "greedy": keyboard.literal(letters[row : row + 1])[0],
            "candidates": candidates,
        }
        # What the beam reads, where several keys have one letter and it is not the emissions themselves.
        if len(keyboard.trie.letters) < len(keyboard.layout.keys):
            record["letters"] = _rounded(letters[row], 5)
        if readings.corrected is not None:
            record["corrected"] = _rounded(readings.corrected[row], 5)
        yield json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _candidate(found: Candidate, distances: np.ndarray | None) -> dict[str, Any]:
    """A candidate with the terms of its score."""
    terms = {} if distances is None else {"location": float(distances[0]), "shape": float(distances[1])}
    figures = {"log_prob": found.log_prob, **terms, "score": found.score, "probability": found.probability}
    return {
        "word": found.word, "letters": found.letters, "frequency": found.frequency,
        **{name: round(value, 6) for name, value in figures.items()},
    }  # fmt: skip


def _draw(keyboard: Keyboard, kind: str, choices: np.ndarray, rng: np.random.Generator) -> Golden:
    """One swipe of a kind, of a word for which it is clear and steady; after enough tries the steadiest of them."""
    found: list[tuple[float, Golden]] = []
    for _ in range(TRIES):
        word = keyboard.lexicon.words[rng.choice(choices)]
        made = swipe(word, keyboard.layout, rng, rng.uniform(0.2, 1.2))
        points = np.column_stack([made.x, made.y, made.t])
        points = BENDS[kind](points, rng) if kind in BENDS else points
        golden = Golden(kind, word, Gesture.from_points(np.round(points, 5)))
        found.append((_unsteadiness(keyboard, golden.gesture, rng), golden))
        if found[-1][0] < UNSTEADY:
            break
    return min(found, key=lambda one: one[0])[1]


def _unsteadiness(keyboard: Keyboard, gesture: Gesture, rng: np.random.Generator) -> float:
    """How much hangs on rounding: what the networks' answer moves by, and one more if the beam's changes with it."""
    if not _clear(keyboard, gesture):
        return 2.0
    path = gesture.path()
    moved = [np.nextafter(path, rng.choice(np.array([-1, 2], np.float32), path.shape)) for _ in range(MOVES)]
    readings = keyboard.read_paths(np.stack([path, *moved]))
    said = [readings.log_probs] if readings.corrected is None else [readings.log_probs, readings.corrected]
    changes = [np.abs(one[1:] - one[0]) / np.maximum(1, np.abs(one[0]) / DEEP) for one in said]
    return float(max(change.max() for change in changes)) + (not _same_answers(keyboard, gesture, readings, rng))


def _clear(keyboard: Keyboard, gesture: Gesture) -> bool:
    """Whether rounding cannot change the best candidate. Equal scores keep their order."""
    scores = [found.score for found in keyboard.decode(gesture, k=2)]
    return len(scores) < 2 or scores[0] == scores[1] or scores[0] - scores[1] > MARGIN


def _same_answers(keyboard: Keyboard, gesture: Gesture, readings: Readings, rng: np.random.Generator) -> bool:
    """Whether the beam makes the same of what was said of a path, first, and of others that are all but it."""
    # Two hypotheses of equal rank at the edge of the beam: which of them is pruned hangs on rounding, too.
    noise = rng.normal(0, ROUNDING, readings.log_probs.shape).astype(np.float32)
    noise[0] = 0
    moved = Readings(readings.log_probs + noise, readings.corrected)
    ranked = keyboard.stages([gesture] * len(noise), 2 * CANDIDATES, moved).candidates
    first, *others = ({one.word: one.score for one in candidates} for candidates in ranked)
    wanted = dict(list(first.items())[:CANDIDATES])
    return all(
        word in other and abs(other[word] - score) < UNSTEADY_SCORE
        for other in others
        for word, score in wanted.items()
    )


def _choices(keyboard: Keyboard, kind: str) -> np.ndarray:
    """Indices of the words that suit a kind; of all the trie's words where none does."""
    by_frequency = np.argsort(-keyboard.lexicon.frequencies.astype(int), kind="stable")
    typed = keyboard.lexicon.spell(frozenset(keyboard.layout.letters))
    common = [index for index in by_frequency if typed[index]][:COMMON]
    suits = _WORDS.get(kind, lambda letters: len(letters) > 1)
    return np.array([index for index in common if suits(typed[index])] or common)


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
