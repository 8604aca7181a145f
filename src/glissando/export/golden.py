"""Golden vectors: swipes with every stage of decoding them, for a port in another language to compare with.

Most are swipes as people make them. The others are those that ports get wrong: a single point, points at one
instant, outside the keyboard, a duration that rounds to the even number of frames, times since 1970. And, where the
keyboard has a context, swipes after a text: an ended sentence, unknown words, another script, emoji.

A golden vector must tell right from wrong, not one rounding from another. So its swipe is steady: its emissions hardly
change when the path moves by its last bit. (Where a finger turns on the spot its heading depends on that bit.) And it
is clear: rounding changes neither its best word, nor what the beam keeps, nor whether the matcher is asked, nor which
finalists that compares.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from glissando.context import Context
from glissando.errors import BundleError
from glissando.gesture import Gesture, resample_batch
from glissando.keyboard import Keyboard
from glissando.stages import Readings, Stages
from glissando.synth import swipe

CANDIDATES = 8  # of each swipe
COMMON = 20_000  # ordinary swipes are of one of this many most frequent words
# How far a correct port may be from the reference: float32 in another order of operations.
TOLERANCES = {
    "path": 1e-6, "emissions": 5e-4, "corrected": 1e-3, "matches": 1e-3, "gains": 1e-4, "scores": 1e-3,
    "probabilities": 1e-3,
}  # fmt: skip
DEEP = 10.0  # log-emissions below minus this are compared relative to their size: they are zero to a beam
MARGIN = 0.01  # between the best two scores; closer ones may swap by rounding alone
DOUBT = 0.01  # between the probability of the best word and the one below which the matcher is asked
ROUNDING = 3e-5  # noise on the emissions, a little more than two runtimes differ by
SCORE_CHANGE = 5e-4  # what a score may change by under that noise
STEADY = 0.08  # share of the tolerances that a move of the path by its last bit may take up
MOVES = 8  # such moves that a swipe must stand
TRIES = 8  # swipes drawn for a golden vector in each round
ROUNDS = 5  # after which the steadiest so far is taken
GROUP = 16  # golden vectors chosen at a time

Bend = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # [n, 3] -> [m, 3]
Text = Callable[[str, str], str]  # of two words that the context knows in this order


@dataclass(frozen=True, eq=False)
class Golden:
    """A swipe to compare with.

    Attributes:
        kind: "swipe", or what is awkward about it.
        word: the word it was made for.
        gesture: its points, rounded to decimals that JSON holds exactly.
        context: the text before it; None where that is not known.
    """

    kind: str
    word: str
    gesture: Gesture
    context: str | None = None


def golden_swipes(keyboard: Keyboard, count: int, seed: int = 0) -> Iterator[Golden]:
    """Make ``count`` swipes, two fifths of them awkward; where that is too few for one of each kind, a few more."""
    rng = np.random.default_rng(seed)
    kinds = [*BENDS, *_WORDS, *([] if keyboard.context is None else TEXTS)]
    plan = [kind for kind in kinds for _ in range(max(1, 2 * count // (5 * len(kinds))))]
    plan += ["swipe"] * (count - len(plan))
    words = _words_by_kind(keyboard)
    for start in range(0, len(plan), GROUP):
        yield from _choose(keyboard, plan[start : start + GROUP], words, rng)


def golden_lines(keyboard: Keyboard, swipes: Sequence[Golden]) -> Iterator[str]:
    """One line of JSON for each swipe, as docs/deployment.md describes it."""
    gestures, texts = [golden.gesture for golden in swipes], [golden.context for golden in swipes]
    stages = keyboard.stages(gestures, CANDIDATES, contexts=texts)
    readings = stages.readings
    for row, golden in enumerate(swipes):
        path = golden.gesture.path()
        emissions = keyboard.encoder.run(path[None], keyboard.layout.centres).log_probs[0]
        letters = readings.log_probs[row]  # [T, L + 1]
        record: dict[str, Any] = {
            "kind": golden.kind,
            "word": golden.word,
            "points": np.column_stack([golden.gesture.x, golden.gesture.y, golden.gesture.t]).tolist(),
            "path": [[float(str(value)) for value in axis] for axis in path],  # float32, to its last bit
            "emissions": _rounded(emissions, 5),
            "greedy": keyboard.greedy(letters[None])[0],
            "candidates": _candidates(keyboard, stages, row, golden.context),
        }
        # What the beam reads, where several keys have one letter and it is not the emissions themselves.
        if len(keyboard.trie.letters) < len(keyboard.layout.keys):
            record["letters"] = _rounded(letters, 5)
        if readings.corrected is not None:
            record["corrected"] = _rounded(readings.corrected[row], 5)
        if keyboard.matcher is not None:
            found = _compared(stages, row)
            record["matches"] = found and {letters: round(one, 6) for letters, one in found.items()}
        if golden.context is not None:
            record["context"] = golden.context
        yield json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def single_context(keyboard: Keyboard) -> Context | None:
    """The context of a keyboard; an error where it has several languages, which a bundle cannot hold."""
    if keyboard.context is None or isinstance(keyboard.context, Context):
        return keyboard.context
    names = ", ".join(keyboard.lexicon.languages)
    raise BundleError(
        f"a bundle holds the context of one language, and this keyboard has {names}; load it without context"
    )


def _candidates(keyboard: Keyboard, stages: Stages, row: int, text: str | None) -> list[dict[str, Any]]:
    """The candidates of a swipe with the terms of their scores, those that were computed."""
    spellings, matches = stages.spellings[row], stages.matches[row]
    places = {letters: place for place, letters in enumerate(spellings.texts())}
    distances = spellings.distances
    terms = []
    for one in stages.candidates[row]:
        place = places[one.letters]
        numbers = {"log_prob": one.log_prob}
        if distances is not None:
            numbers |= {"location": float(distances[place, 0]), "shape": float(distances[place, 1])}
        if one.literal:
            numbers["fluency"] = float(spellings.fluency[place])
        if matches is not None:
            numbers["match"] = float(matches[place])
        if text is not None and keyboard.context is not None:
            numbers["gain"] = float(keyboard.context.after(text).gains(keyboard.context.number([one.word]))[0])
        numbers |= {"score": one.score, "probability": one.probability}
        rounded = {name: round(value, 6) for name, value in numbers.items()}
        terms.append({"word": one.word, "letters": one.letters, "frequency": one.frequency, **rounded})
    return terms


def _compared(stages: Stages, row: int) -> dict[str, float] | None:
    """What the matcher found of a swipe's spellings, by their letters; None where it was not asked.

    The lowest is left out: all spellings that were not compared have it too.
    """
    matches = stages.matches[row]
    if matches is None:
        return None
    pairs = zip(stages.spellings[row].texts(), matches.tolist(), strict=True)
    return {letters: match for letters, match in pairs if match > matches.min()}


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
    text = None
    if (context := single_context(keyboard)) is not None and kind in TEXTS:
        text = TEXTS[kind](*_words_before(context, word, rng))
    return Golden(kind, word, Gesture.from_points(np.round(points, 5)), text)


def _words_before(context: Context, word: str, rng: np.random.Generator) -> tuple[str, str]:
    """Two words that the context has seen before a word; where it has none, two that follow each other.

    The beginning of a sentence is no word, and a context without pairs has none.
    """
    seen = np.flatnonzero(context.pair_nexts == context.number([word])[0])  # [n] places of triples
    if len(seen):
        place = context.pairs[np.searchsorted(context.pair_starts, rng.choice(seen), "right") - 1]
    elif len(context.nexts):
        place = rng.integers(len(context.nexts))
    else:
        return "", ""
    first = int(np.searchsorted(context.starts, place, "right")) - 1
    return "" if first == 0 else context.words[first], context.words[int(context.nexts[place])]


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
    repeated = [golden for golden in swipes for _ in range(1 + MOVES)]
    gestures, texts = [golden.gesture for golden in repeated], [golden.context for golden in repeated]
    stages = keyboard.stages(gestures, 2 * CANDIDATES, noisy, texts)
    rows = [range(row, row + 1 + MOVES) for row in range(0, len(repeated), 1 + MOVES)]
    clear = [_is_clear(stages, some) and _is_asked_clearly(keyboard, stages, gestures, some[0]) for some in rows]
    return _change(readings, len(swipes)) + ~np.array(clear)


def _is_clear(stages: Stages, rows: Sequence[int]) -> bool:
    """Whether a swipe's best word leads by ``MARGIN``, and all rows say of it what the first one says.

    They have the same candidates, scored alike, and the matcher compares the same finalists, if it is asked.
    """
    first, *others = ({one.word: one.score for one in stages.candidates[row]} for row in rows)
    scores = list(first.values())
    # Words of exactly equal scores keep their order.
    if len(scores) > 1 and scores[0] != scores[1] and scores[0] - scores[1] <= MARGIN:
        return False
    compared = [_compared(stages, row) for row in rows]
    if any((found and set(found)) != (compared[0] and set(compared[0])) for found in compared):
        return False
    return all(
        word in other and abs(other[word] - score) < SCORE_CHANGE
        for other in others
        for word, score in list(first.items())[:CANDIDATES]
    )


def _is_asked_clearly(keyboard: Keyboard, stages: Stages, gestures: Sequence[Gesture], row: int) -> bool:
    """Whether a little more or less doubt, by ``DOUBT``, leaves it at asking the matcher or at not asking it."""
    asked = []
    for shift in (-DOUBT, DOUBT):
        moved = keyboard.replace(scoring=keyboard.scoring.changed({"doubt": keyboard.scoring.doubt + shift}))
        spellings = moved.find(gestures[row], stages.readings, row)
        asked.append((len(spellings), moved.match(gestures[row], spellings) is not None))
    return asked[0] == asked[1]


def _words_by_kind(keyboard: Keyboard) -> dict[str, np.ndarray]:
    """Indices of the common words that suit a kind, and of those of ordinary swipes; of all where none suits."""
    by_frequency = np.argsort(-keyboard.lexicon.frequencies.astype(int), kind="stable")
    typed = keyboard.lexicon.spell(frozenset(keyboard.layout.letters))
    common = [index for index in by_frequency if typed[index]][:COMMON]
    suits = {**_WORDS, "swipe": lambda letters: len(letters) > 1}
    words = {
        kind: np.array([index for index in common if suit(typed[index])] or common) for kind, suit in suits.items()
    }
    if (context := single_context(keyboard)) is None:
        return words
    # After a text, words that some pair of words predicts.
    predicted = words["swipe"][np.isin(keyboard.dictionary.listed_numbers(words["swipe"]), context.pair_nexts)]
    return words | dict.fromkeys(TEXTS, predicted if len(predicted) else words["swipe"])


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
# What stands before a swipe, made of two words that may precede it.
TEXTS: dict[str, Text] = {
    "at the beginning of a text": lambda _, __: "",
    "after a word": lambda _, last: last.capitalize(),
    "after two words": lambda first, last: f"{first} {last} ",
    "after a sentence": lambda first, last: f"{first} {last}.",
    "after a sentence and two words": lambda first, last: f"{last}! {first.capitalize()} {last}",
    "after punctuation": lambda first, last: f"“{first},” ({last.upper()}",
    "after an unknown word": lambda first, last: f"{first} {last} qqzzqq",
    "after an unknown word and a known one": lambda _, last: f"qqzzqq {last}",
    "after another script": lambda _, last: f"{last} 日本語 हिन्दी",
    "after a number": lambda first, last: f"{first} {last} 3.14",
    "after control characters": lambda first, last: f"{last}.\x1f{first}\0{last}",
    "after a long text": lambda first, last: f"{first} {last} " * 100,
    "after one long word": lambda _, last: last * 300,
    # Some 210 code points, which are more than 256 units of UTF-16.
    "after emoji": lambda first, last: f"{'😀' * 200} {first} {last}",
    "after an accent in two parts": lambda first, _: unicodedata.normalize("NFD", f"{first} café"),
    "after an elision": lambda first, last: f"{first} l’{last}",
}
