"""What the network saw in a swipe, and why a word was not its first candidate. Numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from glissando.beam import Hypotheses
from glissando.ctc import align, needed_frames, word_costs
from glissando.gesture import Gesture, Points, as_gesture
from glissando.keyboard import Keyboard, Readings
from glissando.lexicon import typed_letters
from glissando.scoring import Candidate, score_words

FIELD_WIDTH = 40  # samples of the likelihood field across the letter area
ALL = 1_000_000  # more candidates than any beam holds

WordVerdict = Literal["first", "outscored", "pruned", "out of lexicon", "not typeable"]


@dataclass(frozen=True)
class SeenLetter:
    """A letter of the best word, and what the network saw where it was swiped.

    Attributes:
        letter: the letter.
        frame: the frame of the emissions where it is most likely.
        confidence: its probability there.
        field: the likelihood over the letter area, [rows][columns], 0 to 255; None where the encoder has no field.
    """

    letter: str
    frame: int
    confidence: float
    field: list[list[int]] | None


@dataclass(frozen=True)
class LetterCost:
    """What a letter costs in the best alignment of its word: minus the log-probability of its frames."""

    letter: str
    frame: int
    cost: float


@dataclass(frozen=True)
class MeantWord:
    """What became of the word that was meant.

    Attributes:
        word: the word.
        verdict: what became of it; a pruned word was given up by the beam.
        best_score, best_costs: score and letters of the first candidate, to compare with.
        rank: its place among the candidates, from 1; None where the beam did not keep it.
        would_rank: the place that its score would give it.
        score, log_prob, frequency: as in Candidate; the frequency of a rare word where the lexicon lacks it.
        costs: what each of its letters costs.
        gaps: what the frames between its letters cost.
        worst: the index of the letter that costs most.
    """

    word: str
    verdict: WordVerdict
    best_score: float | None
    best_costs: list[LetterCost]
    rank: int | None = None
    would_rank: int | None = None
    score: float | None = None
    log_prob: float | None = None
    frequency: int | None = None
    costs: Sequence[LetterCost] = ()
    gaps: float | None = None
    worst: int | None = None


@dataclass(frozen=True)
class Explanation:
    """A swipe, explained.

    Attributes:
        candidates: every word the beam kept, best first.
        literal: the letters read without a lexicon.
        gate: for each frame, the probability that a letter is meant.
        letters: the letters of the first candidate as the network saw them.
        meant: what became of the word that was meant; None where none was named.
    """

    candidates: list[Candidate]
    literal: str
    gate: list[float]
    letters: list[SeenLetter]
    meant: MeantWord | None


def explain(keyboard: Keyboard, points: Points, word: str | None = None) -> Explanation:
    """Explain a swipe, and what became of ``word`` if one was meant."""
    gesture = as_gesture(points)
    emissions = keyboard.emissions(gesture)
    readings = keyboard.read([gesture])
    candidates = keyboard.stages([gesture], ALL, readings).candidates[0]
    best = letter_costs(keyboard, readings.log_probs[0], candidates[0].letters)[0] if candidates else []
    gate = 1 / (1 + np.exp(-emissions.gate[0].astype(np.float64)))
    return Explanation(
        candidates=candidates,
        literal=keyboard.literal(readings.log_probs)[0],
        gate=gate.round(4).tolist(),
        letters=[_seen(keyboard, one, readings.log_probs[0], emissions.coefficients[0]) for one in best],
        meant=judge(keyboard, gesture, readings, candidates, word) if word else None,
    )


def judge(
    keyboard: Keyboard, gesture: Gesture, readings: Readings, candidates: Sequence[Candidate], word: str
) -> MeantWord:
    """Say what became of a word.

    Args:
        keyboard: the keyboard that decoded the swipe.
        gesture: the swipe.
        readings: what the networks say of it.
        candidates: every word the beam kept, best first.
        word: the word that was meant, in any case.
    """
    log_probs = readings.log_probs[0]  # [T, L + 1]
    best = candidates[0] if candidates else None
    best_costs = letter_costs(keyboard, log_probs, best.letters)[0] if best else []
    meant = MeantWord(word, "not typeable", best.score if best else None, best_costs)
    letters = "".join(typed_letters(word, frozenset(keyboard.layout.letters)))
    labels = _labels(keyboard, letters)
    if not letters or needed_frames(labels) > len(log_probs):
        return meant
    costs, gaps = letter_costs(keyboard, log_probs, letters)
    log_prob = -float(word_costs(log_probs[None], [labels])[0])
    worst = max(range(len(costs)), key=lambda i: costs[i].cost)
    _, entries = keyboard.trie.words_at(np.array([keyboard.trie.find(letters)]))
    entry = _position([keyboard.lexicon.words[index] for index in entries.tolist()], word)
    frequency = keyboard.lexicon.rare if entry is None else int(keyboard.lexicon.frequencies[entries[entry]])
    meant = replace(meant, log_prob=log_prob, frequency=frequency, costs=costs, gaps=gaps, worst=worst)
    place = _position([one.word for one in candidates], word)
    if place is not None:
        verdict: WordVerdict = "first" if place == 0 else "outscored"
        return replace(meant, verdict=verdict, rank=place + 1, would_rank=place + 1, score=candidates[place].score)
    score = _score(keyboard, gesture, readings, letters, frequency)
    would_rank = None if score is None else 1 + sum(one.score > score for one in candidates)
    verdict = "out of lexicon" if entry is None else "pruned"
    return replace(meant, verdict=verdict, would_rank=would_rank, score=score)


def letter_costs(keyboard: Keyboard, log_probs: np.ndarray, letters: str) -> tuple[list[LetterCost], float]:
    """What each letter of a word costs in its best alignment, and what the frames between them cost.

    Args:
        keyboard: the keyboard.
        log_probs: [T, L + 1] emissions of one swipe.
        letters: what of the word is typed.
    """
    alignment = align(log_probs, _labels(keyboard, letters))
    rows = zip(letters, alignment.frames, alignment.costs, strict=True)
    return [LetterCost(*row) for row in rows], alignment.gaps


def field(coefficients: np.ndarray, aspect: float, width: int = FIELD_WIDTH) -> np.ndarray:
    """The likelihood over the letter area from cosine coefficients [N * N]; at the best place it is 1.

    Shape: [rows, width] in 0 to 1, with as many rows as the aspect, height over width, asks for.
    """
    return np.exp(field_logits(coefficients, width, max(4, min(round(width * aspect), 2 * width))))


def field_logits(coefficients: np.ndarray, width: int, height: int) -> np.ndarray:
    """Key logits at every place of the letter area (eq. 1 and 2), the highest being 0.

    Args:
        coefficients: [N * N], of cos(pi u x) cos(pi v y), v fastest.
        width: samples across.
        height: samples down.

    Returns:
        [height, width].
    """
    resolution = round(len(coefficients) ** 0.5)
    x, y = ((np.arange(size) + 0.5) / size for size in (width, height))
    order = np.pi * np.arange(resolution)
    square = coefficients.reshape(resolution, resolution).astype(np.float64)  # [u, v]
    logits = np.cos(np.outer(y, order)) @ square.T @ np.cos(np.outer(order, x))
    return logits - logits.max()


def _seen(keyboard: Keyboard, one: LetterCost, log_probs: np.ndarray, coefficients: np.ndarray) -> SeenLetter:
    """What the network saw at a letter. Shapes: log_probs [T, L + 1], coefficients [T, N * N]."""
    confidence = float(np.exp(log_probs[one.frame, keyboard.trie.letters.index(one.letter)]))
    # An encoder whose head is not the cosine basis has no field between the keys.
    if keyboard.encoder.weights.card.get("config", {}).get("basis", "cosine") != "cosine":
        return SeenLetter(one.letter, one.frame, confidence, None)
    likelihood = np.rint(255 * field(coefficients[one.frame], keyboard.layout.aspect))
    return SeenLetter(one.letter, one.frame, confidence, likelihood.astype(int).tolist())


def _score(keyboard: Keyboard, gesture: Gesture, readings: Readings, letters: str, frequency: int) -> float | None:
    """What a word that is not a candidate would have scored; None where its score needs a place in the trie."""
    node = keyboard.trie.find(letters)
    if node < 0 and (keyboard.scoring.geometric or keyboard.decoder is not None):
        return None
    log_prob = -word_costs(readings.log_probs[:1], [_labels(keyboard, letters)])  # [1]
    word = Hypotheses(np.array([node], dtype=np.int32), log_prob.astype(np.float32))
    word = keyboard.weigh(word, readings)
    lengths, frequencies, distances = np.array([len(letters)]), np.array([frequency]), keyboard.measure(gesture, word)
    return float(score_words(word.log_probs, lengths, frequencies, keyboard.scoring, distances)[0])


def _labels(keyboard: Keyboard, letters: str) -> list[int]:
    """Indices of letters in the emissions."""
    return [keyboard.trie.letters.index(letter) for letter in letters]


def _position(words: Sequence[str], word: str) -> int | None:
    """The index of a word as written, else in another case; None where it is missing."""
    places = [i for i, one in enumerate(words) if one.casefold() == word.casefold()]
    return next((i for i in places if words[i] == word), places[0] if places else None)
