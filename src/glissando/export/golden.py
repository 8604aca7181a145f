"""Golden vectors: swipes with every stage of decoding them, for a port in another language to compare with.

Most are swipes as people make them. The others are those that ports get wrong: a single point, points at one
instant, outside the keyboard, a duration that rounds to the even number of frames, times since 1970. Some are of words
that are in no list, or that only the person uses, or have letters that were tapped. And, where the keyboard has a
context, there are swipes after a text: an ended sentence, unknown words, another script, emoji.

A golden vector must tell right from wrong, not one rounding from another. So its swipe is steady: its emissions hardly
change when the path moves by its last bit. (Where a finger turns on the spot its heading depends on that bit.) And it
is clear: rounding changes neither its best word, nor what the beam keeps, nor whether the swipe is read letter by
letter, nor whether the matcher is asked, nor which finalists that compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import numpy as np

from glissando.export.awkward import Golden, Source
from glissando.export.fluency import has_literals, variant
from glissando.gesture import resample_batch
from glissando.keyboard import PLAIN, Keyboard
from glissando.scoring import Candidate
from glissando.stages import LITERAL, Readings, Spellings, Stages
from glissando.threads import map_on_cores
from glissando.vocabulary import Vocabulary

CANDIDATES = 8  # of each swipe
# How far a correct port may be from the reference: float32 in another order of operations.
TOLERANCES = {
    "path": 1e-6, "emissions": 5e-4, "corrected": 1e-3, "matches": 1e-3, "gains": 1e-4, "scores": 1e-3,
    "probabilities": 1e-3,
}  # fmt: skip
DEEP = 10.0  # log-emissions below minus this are compared relative to their size: they are zero to a beam
MARGIN = 0.01  # between the best two scores; closer ones may swap by rounding alone
DOUBT = 0.01  # between the probability of the best word and the one below which the matcher is asked
PLAINLY = 0.01  # between the log-probability of the best word and the one below which literals are read
ROUNDING = 3e-5  # noise on the emissions, a little more than two runtimes differ by
SCORE_CHANGE = 5e-4  # what a score, or the probability of none, may change by under that noise
STEADY = 0.08  # share of the tolerances that a move of the path by its last bit may take up
MOVES = 8  # such moves that a swipe must stand
TRIES = 8  # swipes drawn for a golden vector in each round
ROUNDS = 5  # after which the steadiest so far is taken
GROUP = 16  # golden vectors chosen at a time


def golden_swipes(keyboard: Keyboard, count: int, seed: int = 0) -> Iterator[Golden]:
    """Make ``count`` swipes, two fifths of them awkward; where that is too few for one of each kind, a few more."""
    rng = np.random.default_rng(seed)
    source = Source(keyboard)
    plan = [kind for kind in source.kinds for _ in range(max(1, 2 * count // (5 * len(source.kinds))))]
    plan += ["swipe"] * (count - len(plan))
    for start in range(0, len(plan), GROUP):
        yield from _choose(source, plan[start : start + GROUP], rng)


def golden_lines(keyboard: Keyboard, swipes: Sequence[Golden]) -> Iterator[str]:
    """One line of JSON for each swipe, as docs/deployment.md describes it."""
    stages = _decode(keyboard, swipes, CANDIDATES, keyboard.read([golden.gesture for golden in swipes]))
    readings = stages.readings
    for row, golden in enumerate(swipes):
        path = golden.gesture.path()
        emissions = keyboard.encoder.run(path[None], keyboard.layout.centres).log_probs[0]
        letters = readings.log_probs[row]  # [T, L + 1]
        record: dict[str, Any] = {
            "kind": golden.kind,
            "word": golden.word,
            "points": np.column_stack([golden.gesture.x, golden.gesture.y, golden.gesture.t]).tolist(),
            **_circumstances(golden),
            "path": [[float(str(value)) for value in axis] for axis in path],  # float32, to its last bit
            "emissions": _rounded(emissions, 5),
            "greedy": keyboard.greedy(letters[None])[0],
            "candidates": _candidates(keyboard, stages, row, golden.context),
            "none": round(stages.candidates[row].none, 6),
        }
        # What the beam reads, where several keys have one letter and it is not the emissions themselves.
        if len(keyboard.trie.letters) < len(keyboard.layout.keys):
            record["letters"] = _rounded(letters, 5)
        if readings.corrected is not None:
            record["corrected"] = _rounded(readings.corrected[row], 5)
        if keyboard.matcher is not None:
            found = _compared(stages, row)
            record["matches"] = found and {letters: round(one, 6) for letters, one in found.items()}
        yield json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _circumstances(golden: Golden) -> dict[str, Any]:
    """What is known of a swipe beside its points, as a record has it."""
    known = {"context": golden.context, "prefix": golden.prefix or None, "suffix": golden.suffix or None}
    return {name: value for name, value in (known | {"own": golden.own or None}).items() if value is not None}


def _decode(keyboard: Keyboard, swipes: Sequence[Golden], k: int, readings: Readings) -> Stages:
    """Every stage of decoding swipes with what is known of each; the readings are in the same order."""
    boards = {id(golden): _board(keyboard, golden) for golden in swipes}

    def decode(row: int) -> tuple[Any, ...]:
        golden = swipes[row]
        board = boards[id(golden)]
        spellings = _find(board, golden, readings, row)
        matches = board.match(golden.gesture, spellings)
        finalists = board.score(spellings, matches)
        return spellings, matches, finalists, board.choose(finalists, k, golden.context)

    spellings, matches, finalists, candidates = zip(*map_on_cores(decode, range(len(swipes))), strict=True)
    return Stages(readings, list(spellings), list(matches), list(finalists), list(candidates))


def _board(keyboard: Keyboard, golden: Golden) -> Keyboard:
    """The keyboard with the own words of a swipe."""
    if not golden.own:
        return keyboard
    words = Vocabulary()
    for word, uses in golden.own.items():
        words.learn(word, uses, date.max)  # a word that is used in the future has not faded, on any day
    return variant(keyboard, vocabulary=words)


def _find(board: Keyboard, golden: Golden, readings: Readings, row: int) -> Spellings:
    """The spellings of a swipe between its tapped letters."""
    return board.find(golden.gesture, readings, row, board.dictionary.affixes(golden.prefix, golden.suffix))


def _candidates(keyboard: Keyboard, stages: Stages, row: int, text: str | None) -> list[dict[str, Any]]:
    """The candidates of a swipe with the terms of their scores, those that were computed."""
    finalists = stages.finalists[row]
    words = [keyboard.dictionary.word(finalists, place) for place in range(len(finalists.words))]
    rows = dict(zip(words, finalists.rows.tolist(), strict=True))
    terms = []
    for one in stages.candidates[row]:
        numbers = _terms(one, stages.spellings[row], stages.matches[row], rows[one.word])
        if text is not None and keyboard.context is not None:
            numbers["gain"] = float(keyboard.context.after(text).gains(keyboard.context.number([one.word]))[0])
        numbers |= {"score": one.score, "probability": one.probability}
        rounded = {name: round(value, 6) for name, value in numbers.items()}
        literal = {"literal": True} if one.literal else {}
        terms.append({"word": one.word, "letters": one.letters, "frequency": one.frequency, **literal, **rounded})
    return terms


def _terms(one: Candidate, spellings: Spellings, matches: np.ndarray | None, place: int) -> dict[str, float]:
    """The terms of a candidate that belong to its spelling."""
    numbers = {"log_prob": one.log_prob}
    if spellings.distances is not None:
        numbers |= {"location": float(spellings.distances[place, 0]), "shape": float(spellings.distances[place, 1])}
    if one.literal:
        numbers["fluency"] = float(spellings.fluency[place])
    if matches is not None:
        numbers["match"] = float(matches[place])
    return numbers


def _compared(stages: Stages, row: int) -> dict[str, float] | None:
    """What the matcher found of a swipe's spellings, by their letters; None where it was not asked.

    The lowest is left out: all spellings that were not compared have it too.
    """
    matches = stages.matches[row]
    if matches is None:
        return None
    pairs = zip(stages.spellings[row].texts(), matches.tolist(), strict=True)
    return {letters: match for letters, match in pairs if match > matches.min()}


def _choose(source: Source, kinds: Sequence[str], rng: np.random.Generator) -> list[Golden]:
    """A swipe of each kind that is steady and clear; where none is, the best of all rounds."""
    keyboard, best = source.keyboard, dict[int, tuple[float, Golden]]()
    pending = list(range(len(kinds)))
    for _ in range(ROUNDS):
        drawn = [source.draw(kinds[i], rng) for i in pending for _ in range(TRIES)]
        changes = _change(_read_moved(keyboard, drawn, 1, rng), len(drawn)).reshape(-1, TRIES)  # a first look
        steadiest = [drawn[TRIES * row + place] for row, place in enumerate(changes.argmin(axis=1))]
        for i, golden, doubt in zip(pending, steadiest, _doubts(keyboard, steadiest, rng), strict=True):
            if i not in best or doubt < best[i][0]:
                best[i] = doubt, golden
        pending = [i for i in pending if best[i][0] >= STEADY]
        if not pending:
            break
    return [best[i][1] for i in range(len(kinds))]


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
    stages = _decode(keyboard, repeated, 2 * CANDIDATES, noisy)
    rows = [range(row, row + 1 + MOVES) for row in range(0, len(repeated), 1 + MOVES)]
    decided = _are_decided(keyboard, repeated, stages, [some[0] for some in rows])
    clear = [_is_clear(stages, some) and one for some, one in zip(rows, decided, strict=True)]
    return _change(readings, len(swipes)) + ~np.array(clear)


def _is_clear(stages: Stages, rows: Sequence[int]) -> bool:
    """Whether a swipe's best word leads by ``MARGIN``, and all rows say of it what the first one says.

    They have the same candidates, scored alike, none of them is as likely, and the matcher compares the same finalists,
    if it is asked.
    """
    first, *others = ({one.word: one.score for one in stages.candidates[row]} for row in rows)
    scores = list(first.values())
    # Words of exactly equal scores keep their order.
    if len(scores) > 1 and scores[0] != scores[1] and scores[0] - scores[1] <= MARGIN:
        return False
    compared = [_compared(stages, row) for row in rows]
    if any((found and set(found)) != (compared[0] and set(compared[0])) for found in compared):
        return False
    if np.ptp([stages.candidates[row].none for row in rows]) > SCORE_CHANGE:
        return False
    return all(
        word in other and abs(other[word] - score) < SCORE_CHANGE
        for other in others
        for word, score in list(first.items())[:CANDIDATES]
    )


def _are_decided(keyboard: Keyboard, swipes: Sequence[Golden], stages: Stages, rows: Sequence[int]) -> list[bool]:
    """Whether swipes are read, and the matcher is asked or not, all the same with a little more or less doubt.

    That is by ``DOUBT``, and by ``PLAINLY`` for the log-probability of the best word.
    """
    boards = [
        variant(keyboard, scoring=keyboard.scoring.changed({"doubt": keyboard.scoring.doubt + shift}))
        for shift in (-DOUBT, DOUBT)
    ]

    def is_decided(row: int) -> bool:
        outcomes = set()
        for board in (_board(one, swipes[row]) for one in boards):
            spellings = _find(board, swipes[row], stages.readings, row)
            outcomes.add((len(spellings), board.match(swipes[row].gesture, spellings) is not None))
        return len(outcomes) == 1 and _is_plainly_read(keyboard, stages.spellings[row])

    return [is_decided(row) for row in rows]


def _is_plainly_read(keyboard: Keyboard, spellings: Spellings) -> bool:
    """Whether the best word's letters are so likely, or so unlikely, that rounding does not decide on literals."""
    words = spellings.take(spellings.source != LITERAL)
    if not has_literals(keyboard) or not len(words):
        return True
    best = int(words.scores(keyboard.scoring).argmax())
    return abs(float(words.log_probs[best]) - PLAIN) > PLAINLY


def _rounded(array: np.ndarray, decimals: int) -> list[Any]:
    return np.round(array.astype(np.float64), decimals).tolist()
