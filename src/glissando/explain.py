"""What the network saw in a swipe, and why a word was not its first reading. Numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glissando.beam import Hypotheses, greedy
from glissando.ctc import Alignment, align, needed_frames, word_costs
from glissando.gesture import Gesture, Points, as_gesture
from glissando.keyboard import Keyboard, Readings
from glissando.lexicon import typed_letters
from glissando.scoring import Candidate, score_words

FIELD_WIDTH = 40  # samples of the likelihood field across the letter area
ALL = 1_000_000  # more candidates than any beam holds


@dataclass(frozen=True)
class Sight:
    """A letter of the best word: its frame, the probability there, and the likelihood field [rows][columns], 0-255."""

    letter: str
    frame: int
    confidence: float
    field: list[list[int]] | None


@dataclass(frozen=True)
class Verdict:
    """What became of a word; the fields are those of the API's Meant, ``alignment`` is its own."""

    word: str
    verdict: str
    rank: int | None = None
    would_rank: int | None = None
    score: float | None = None
    log_prob: float | None = None
    frequency: int | None = None
    letters: str = ""
    alignment: Alignment | None = None


@dataclass(frozen=True)
class Explanation:
    """A swipe, explained: all ranked candidates, the literal letters, the gate [T], the letters seen, the verdict."""

    candidates: list[Candidate]
    literal: str
    gate: list[float]
    sights: list[Sight]
    best: Alignment | None
    meant: Verdict | None


def explain(keyboard: Keyboard, points: Points, word: str | None = None) -> Explanation:
    """Explain a swipe, and what became of ``word`` if one was meant."""
    gesture = as_gesture(points)
    emissions = keyboard.emissions(gesture)
    readings = keyboard.read([gesture])
    log_probs = readings.log_probs  # [1, T, L + 1]
    ranked = keyboard.stages([gesture], ALL, readings).candidates[0]
    best = align(log_probs[0], _labels(keyboard, ranked[0].letters)) if ranked else None
    fields = _field_maker(keyboard, emissions.coefficients[0])
    sights = []
    for letter, frame in zip(ranked[0].letters, best.frames, strict=True) if ranked and best else ():
        confidence = float(np.exp(log_probs[0, frame, keyboard.trie.letters.index(letter)]))
        sights.append(Sight(letter, frame, confidence, fields(frame)))
    return Explanation(
        candidates=ranked,
        literal="".join(keyboard.trie.letters[label] for label in greedy(log_probs)[0]),
        gate=(1 / (1 + np.exp(-emissions.gate[0].astype(np.float64)))).tolist(),
        sights=sights,
        best=best,
        meant=judge(keyboard, gesture, readings, ranked, word) if word else None,
    )


def judge(keyboard: Keyboard, gesture: Gesture, readings: Readings, ranked: Sequence[Candidate], word: str) -> Verdict:
    """Say what became of a word.

    Args:
        keyboard: the keyboard that decoded the swipe.
        gesture: the swipe.
        readings: what the networks say of it.
        ranked: every candidate the beam kept, best first.
        word: the word that was meant, in any case.
    """
    log_probs = readings.log_probs[0]  # [T, L + 1]
    letters = "".join(typed_letters(word, frozenset(keyboard.layout.letters)))
    labels = _labels(keyboard, letters)
    if not letters or needed_frames(labels) > len(log_probs):
        return Verdict(word, "not typeable", letters=letters)
    rank = next((i for i, one in enumerate(ranked, 1) if one.word == word), None) or next(
        (i for i, one in enumerate(ranked, 1) if one.word.casefold() == word.casefold()), None
    )
    entry = _lexicon_entry(keyboard, letters, word)
    frequency = keyboard.lexicon.rare if entry is None else int(keyboard.lexicon.frequencies[entry])
    log_prob = -float(word_costs(log_probs[None], [labels])[0])
    if rank is not None:
        score: float | None = ranked[rank - 1].score
        verdict = "first" if rank == 1 else "outscored"
    else:
        score = _score(keyboard, gesture, readings, letters, log_prob, frequency)
        verdict = "out of lexicon" if entry is None else "pruned"
    would = None if score is None else 1 + sum(one.score > score for one in ranked)
    return Verdict(
        word, verdict, rank, rank or would, score, log_prob, frequency, letters, align(log_probs, labels)
    )  # fmt: skip


def _score(
    keyboard: Keyboard, gesture: Gesture, readings: Readings, letters: str, log_prob: float, frequency: int
) -> float | None:
    """What a word that is not among the candidates would have scored; None where the lexicon has no such letters."""
    node = keyboard.trie.find(letters)
    if node < 0 and (keyboard.scoring.geometric or keyboard.decoder is not None):
        return None
    word = Hypotheses(np.array([node], dtype=np.int32), np.array([log_prob], dtype=np.float32))
    word = keyboard.weigh(word, readings)
    lengths, bytes_, distances = np.array([len(letters)]), np.array([frequency]), keyboard.measure(gesture, word)
    return float(score_words(word.log_probs, lengths, bytes_, keyboard.scoring, distances)[0])


def field(coefficients: np.ndarray, aspect: float, width: int = FIELD_WIDTH) -> np.ndarray:
    """The likelihood over the letter area from cosine coefficients [N * N], the best place being 1.

    Shape: [rows, width] in 0 to 1, rows by the aspect, height over width.
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


def _field_maker(keyboard: Keyboard, coefficients: np.ndarray):  # type: ignore[no-untyped-def]
    """A function from a frame to its field as bytes, or to None where the encoder's head is not the cosine basis."""
    config = keyboard.encoder.weights.card.get("config", {})
    cosine = config.get("basis", "cosine") == "cosine"
    aspect = keyboard.layout.aspect

    def make(frame: int) -> list[list[int]] | None:
        return np.rint(255 * field(coefficients[frame], aspect)).astype(int).tolist() if cosine else None

    return make


def _labels(keyboard: Keyboard, letters: str) -> list[int]:
    """Indices of letters in the emissions."""
    return [keyboard.trie.letters.index(letter) for letter in letters]


def _lexicon_entry(keyboard: Keyboard, letters: str, word: str) -> int | None:
    """Where the lexicon has the word: as written, else in another case, else nowhere."""
    node = keyboard.trie.find(letters)
    if node < 0:
        return None
    indices = keyboard.trie.words[keyboard.trie.endings[node] : keyboard.trie.endings[node + 1]].tolist()
    exact = [i for i in indices if keyboard.lexicon.words[i] == word]
    folded = [i for i in indices if keyboard.lexicon.words[i].casefold() == word.casefold()]
    return next(iter(exact + folded), None)
