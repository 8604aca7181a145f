"""What the network saw in a swipe, and why a word was not its first reading. Numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from glissando.beam import Hypotheses, greedy, search
from glissando.gesture import Gesture, as_gesture
from glissando.keyboard import Keyboard, Points
from glissando.lexicon import typed_letters
from glissando.scoring import Candidate, score_words

IMPOSSIBLE = -1e30  # log of zero, finite so that differences stay numbers
FIELD_WIDTH = 40  # samples of the likelihood field across the letter area
ALL = 1_000_000  # more candidates than any beam holds


@dataclass(frozen=True)
class Alignment:
    """The best way of a word through the emissions.

    Attributes:
        frames: for each letter, the frame in which it is most likely.
        costs: for each letter, minus the log-probability of the frames given to it.
        gaps: the same for the frames given to blank.
    """

    frames: tuple[int, ...]
    costs: tuple[float, ...]
    gaps: float


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
    log_probs = keyboard.letter_log_probs([gesture])  # [1, T, L + 1]
    scoring = keyboard.scoring
    hypotheses = search(
        log_probs[0], keyboard.trie, width=keyboard.width,
        pruning_exponent=scoring.pruning_exponent, pruning_bonus=scoring.pruning_bonus,
    )  # fmt: skip
    ranked = keyboard.rank(hypotheses, 0, ALL, keyboard.distances([gesture], hypotheses))
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
        meant=judge(keyboard, gesture, log_probs[0], ranked, word) if word else None,
    )


def judge(
    keyboard: Keyboard, gesture: Gesture, log_probs: np.ndarray, ranked: Sequence[Candidate], word: str
) -> Verdict:
    """Say what became of a word.

    Args:
        keyboard: the keyboard that decoded the swipe.
        gesture: the swipe.
        log_probs: [T, L + 1] log-emissions over its letters, blank last.
        ranked: every candidate the beam kept, best first.
        word: the word that was meant, in any case.
    """
    letters = "".join(typed_letters(word, frozenset(keyboard.layout.letters)))
    labels = _labels(keyboard, letters)
    if not letters or needed_frames(labels) > len(log_probs):
        return Verdict(word, "not typeable", letters=letters)
    rank = next((i for i, one in enumerate(ranked, 1) if one.word == word), None) or next(
        (i for i, one in enumerate(ranked, 1) if one.word.casefold() == word.casefold()), None
    )
    entry = _lexicon_entry(keyboard, letters, word)
    frequency = keyboard.lexicon.rare if entry is None else int(keyboard.lexicon.frequencies[entry])
    log_prob = forward(log_probs, labels)
    if rank is not None:
        score: float | None = ranked[rank - 1].score
        verdict = "first" if rank == 1 else "outscored"
    else:
        score = _score(keyboard, gesture, letters, log_prob, frequency)
        verdict = "out of lexicon" if entry is None else "pruned"
    would = None if score is None else 1 + sum(one.score > score for one in ranked)
    return Verdict(
        word, verdict, rank, rank or would, score, log_prob, frequency, letters, align(log_probs, labels)
    )  # fmt: skip


def _score(keyboard: Keyboard, gesture: Gesture, letters: str, log_prob: float, frequency: int) -> float | None:
    """What a word that is not among the candidates would have scored; None where the lexicon has no such letters."""
    node = keyboard.trie.find(letters)
    nodes = Hypotheses(np.array([[node]], dtype=np.int32), np.array([[log_prob]], dtype=np.float32))
    if keyboard.scoring.geometric and node < 0:
        return None
    far = keyboard.distances([gesture], nodes)  # [1, 1, 2]
    lengths, bytes_ = np.array([len(letters)]), np.array([frequency])
    return float(
        score_words(np.array([log_prob]), lengths, bytes_, keyboard.scoring, None if far is None else far[0])[0]
    )


def needed_frames(labels: Sequence[int]) -> int:
    """Frames that CTC needs for a word: one a letter, and a blank between equal neighbours."""
    return len(labels) + sum(a == b for a, b in pairwise(labels))


def forward(log_probs: np.ndarray, labels: Sequence[int]) -> float:
    """Log-probability of a word, all its ways summed. Shape: log_probs [T, L + 1], blank last; labels n."""
    states, may_skip = _states(labels, log_probs.shape[1] - 1)
    alpha = np.full(len(states), IMPOSSIBLE)
    alpha[:2] = log_probs[0, states[:2]]
    for frame in log_probs[1:]:
        alpha = np.logaddexp.reduce(_arrivals(alpha, may_skip), axis=0) + frame[states]
    return float(np.logaddexp(alpha[-1], alpha[-2]))


def align(log_probs: np.ndarray, labels: Sequence[int]) -> Alignment:
    """The most likely way of a word through the frames. Shape: log_probs [T, L + 1], blank last; labels n."""
    states, may_skip = _states(labels, log_probs.shape[1] - 1)
    delta = np.full(len(states), IMPOSSIBLE)
    delta[:2] = log_probs[0, states[:2]]
    steps = np.zeros((len(log_probs), len(states)), dtype=np.int64)  # how many states back each frame came from
    for t, frame in enumerate(log_probs[1:], 1):
        arrivals = _arrivals(delta, may_skip)  # [3, S]
        steps[t] = arrivals.argmax(axis=0)
        delta = arrivals.max(axis=0) + frame[states]
    state = len(states) - 1 if delta[-1] >= delta[-2] else len(states) - 2
    path = np.empty(len(log_probs), dtype=np.int64)
    for t in range(len(log_probs) - 1, -1, -1):
        path[t] = state
        state -= steps[t, state]
    costs = -log_probs[np.arange(len(log_probs)), states[path]]  # [T]
    letters = [np.flatnonzero(path == 2 * i + 1) for i in range(len(labels))]
    return Alignment(
        frames=tuple(int(frames[costs[frames].argmin()]) for frames in letters),
        costs=tuple(float(costs[frames].sum()) for frames in letters),
        gaps=float(costs[path % 2 == 0].sum()),
    )


def field(coefficients: np.ndarray, aspect: float, width: int = FIELD_WIDTH) -> np.ndarray:
    """The likelihood over the letter area from cosine coefficients (eq. 1), the best place being 1.

    Args:
        coefficients: [N * N], of cos(pi u x) cos(pi v y), v fastest.
        aspect: height over width of the letter area.
        width: samples across.

    Returns:
        [rows, width] in 0 to 1.
    """
    resolution = round(len(coefficients) ** 0.5)
    height = max(4, min(round(width * aspect), 2 * width))
    x, y = ((np.arange(size) + 0.5) / size for size in (width, height))
    order = np.pi * np.arange(resolution)
    square = coefficients.reshape(resolution, resolution).astype(np.float64)  # [u, v]
    logits = np.cos(np.outer(y, order)) @ square.T @ np.cos(np.outer(order, x))  # [rows, width]
    return np.exp(logits - logits.max())


def _field_maker(keyboard: Keyboard, coefficients: np.ndarray):  # type: ignore[no-untyped-def]
    """A function from a frame to its field as bytes, or to None where the encoder's head is not the cosine basis."""
    config = keyboard.encoder.weights.card.get("config", {})
    cosine = config.get("basis", "cosine") == "cosine"
    aspect = keyboard.layout.aspect

    def make(frame: int) -> list[list[int]] | None:
        return np.rint(255 * field(coefficients[frame], aspect)).astype(int).tolist() if cosine else None

    return make


def _states(labels: Sequence[int], blank: int) -> tuple[np.ndarray, np.ndarray]:
    """CTC's states, blank before and after every letter, and which may be entered from two states back. Shape: [S]."""
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    may_skip = np.zeros(len(states), dtype=bool)
    may_skip[3::2] = states[3::2] != states[1:-2:2]
    return states, may_skip


def _arrivals(scores: np.ndarray, may_skip: np.ndarray) -> np.ndarray:
    """Scores of staying, of coming from one state back and from two. Shape: [S] -> [3, S]."""
    arrivals = np.full((3, len(scores)), IMPOSSIBLE)
    arrivals[0] = scores
    arrivals[1, 1:] = scores[:-1]
    arrivals[2, 2:] = np.where(may_skip[2:], scores[:-2], IMPOSSIBLE)
    return arrivals


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
