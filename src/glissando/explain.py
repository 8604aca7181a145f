"""What the networks saw in a swipe, and why a word was not its first candidate. Numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from glissando.ctc import align, needed_frames, word_costs
from glissando.gesture import Gesture, Points, as_gesture
from glissando.keyboard import Keyboard
from glissando.lexicon import ADDED, typed_letters
from glissando.scoring import Candidate, Candidates
from glissando.stages import LEXICON, OWN, Finalists, Readings, Spellings
from glissando.trie import Tree, Trie

FIELD_WIDTH = 40  # samples of the likelihood field across the letter area
ALL = 1_000_000  # more candidates than any beam holds
NOTABLE = 0.05  # nats; a letter that costs less is not to blame, and shows as 0.0

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
class Opinion:
    """What the matcher and the text before say of a word, by themselves and in units of the word's score.

    Attributes:
        match: the matcher's score, comparable within the swipe; None where it was not asked.
        match_points: what that adds to the word's score.
        gain: what the text before adds, in nats; None where no text was given or no context is known.
        gain_points: what that adds to the word's score.
    """

    match: float | None = None
    match_points: float = 0.0
    gain: float | None = None
    gain_points: float = 0.0


@dataclass(frozen=True)
class MeantWord:
    """What became of the word that was meant.

    Attributes:
        word: the word.
        verdict: what became of it; a pruned word is in the lexicon or one of the person's own, and the beam gave it up.
        best_score, best_costs: score and letters of the first candidate, to compare with.
        rank: its place among the candidates, from 1; None where the beam did not keep it.
        would_rank: the place that its score would give it.
        score, log_prob, frequency: as in Candidate; where the lexicon lacks it, as if it were added.
        costs: what each of its letters costs.
        gaps: what the frames between its letters cost.
        worst: the index of the letter that costs most; None where no letter costs as much as ``NOTABLE``.
        opinion: what the matcher and the text before say of it; None where it has no score.
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
    opinion: Opinion | None = None


@dataclass(frozen=True)
class Explanation:
    """A swipe, explained.

    Attributes:
        candidates: every word the beam kept, best first.
        literal: the letters read without a lexicon.
        gate: for each frame, the probability that a letter is meant.
        letters: the letters of the first candidate as the network saw them.
        asked: whether the swipe was in doubt and the matcher compared its finalists.
        best: what the matcher and the text before say of the first candidate; None where there is none.
        meant: what became of the word that was meant; None where none was named.
        none: how likely none of the candidates is meant.
    """

    candidates: list[Candidate]
    literal: str
    gate: list[float]
    letters: list[SeenLetter]
    asked: bool
    best: Opinion | None
    meant: MeantWord | None
    none: float


@dataclass(frozen=True, eq=False)
class _Swipe:
    """A swipe on a keyboard, what the networks say of it, and the text before it, None where that is not known."""

    keyboard: Keyboard
    gesture: Gesture
    readings: Readings
    context: str | None

    @property
    def log_probs(self) -> np.ndarray:
        """[T, L + 1] the encoder's log-emissions."""
        return self.readings.log_probs[0]  # type: ignore[no-any-return]

    def rank(self, spellings: Spellings) -> _Ranking:
        """Rank spellings, [N], as the keyboard does."""
        keyboard = self.keyboard
        matches = keyboard.match(self.gesture, spellings)
        finalists = keyboard.score(spellings, matches)
        return _Ranking(
            spellings,
            finalists,
            keyboard.choose(finalists, ALL, self.context),
            [keyboard.dictionary.word(finalists, place) for place in range(len(finalists.words))],
            None if matches is None else matches[finalists.rows],
            keyboard.gains(finalists, self.context),
        )


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The finalists of a swipe, ranked. F words.

    Attributes:
        spellings: what was found, [N].
        finalists: their words, scored without context.
        candidates: every word, best first.
        words: F words in the order of the finalists.
        matches: [F] the matcher's scores; None where it was not asked.
        gains: [F] what the text before adds, in nats; None where it has no say.
    """

    spellings: Spellings
    finalists: Finalists
    candidates: Candidates
    words: list[str]
    matches: np.ndarray | None
    gains: np.ndarray | None

    def opinion(self, word: str) -> Opinion:
        """What was said of one of the words."""
        place, constants = self.words.index(word), self.finalists.constants
        match = None if self.matches is None else float(self.matches[place])
        gain = None if self.gains is None else float(self.gains[place])
        return Opinion(match, constants.matcher_weight * (match or 0.0), gain, constants.context_weight * (gain or 0.0))


def explain(
    keyboard: Keyboard,
    points: Points,
    word: str | None = None,
    context: str | None = None,
    tapped: tuple[str, str] = ("", ""),
) -> Explanation:
    """Explain a swipe.

    Args:
        keyboard: what decodes it.
        points: the swipe, as ``decode`` takes it.
        word: the word that was meant, if it is known.
        context: the text before.
        tapped: letters that were tapped at the beginning and at the end. A word that does not fit them was pruned.
    """
    gesture, affixes = as_gesture(points), keyboard.dictionary.affixes(*tapped)
    emissions = keyboard.emissions(gesture)
    swipe = _Swipe(keyboard, gesture, keyboard.read_one(gesture), context)
    ranking = swipe.rank(keyboard.find(gesture, swipe.readings, affixes=affixes))
    first = ranking.candidates[0] if ranking.candidates else None
    letters = letter_costs(keyboard, swipe.log_probs, first.letters)[0] if first else []
    gate = 1 / (1 + np.exp(-emissions.gate[0].astype(np.float64)))
    return Explanation(
        candidates=ranking.candidates,
        literal=keyboard.greedy(swipe.readings.log_probs)[0],
        gate=gate.round(4).tolist(),
        letters=[_seen(keyboard, one, swipe.log_probs, emissions.coefficients[0]) for one in letters],
        asked=ranking.matches is not None,
        best=ranking.opinion(first.word) if first else None,
        meant=_judge(swipe, ranking, word) if word else None,
        none=ranking.candidates.none,
    )


def _judge(swipe: _Swipe, ranking: _Ranking, word: str) -> MeantWord:
    """Say what became of a word, in any case."""
    keyboard, best = swipe.keyboard, ranking.candidates[0] if ranking.candidates else None
    best_costs = letter_costs(keyboard, swipe.log_probs, best.letters)[0] if best else []
    meant = MeantWord(word, "not typeable", best.score if best else None, best_costs)
    letters = "".join(typed_letters(word, frozenset(keyboard.layout.letters)))
    if not letters or needed_frames(_labels(keyboard, letters)) > len(swipe.log_probs):
        return meant
    costs, gaps = letter_costs(keyboard, swipe.log_probs, letters)
    source, frequency = _listed(keyboard, letters, word)
    log_prob = -float(word_costs(swipe.readings.log_probs[:1], [_labels(keyboard, letters)])[0])
    meant = replace(meant, log_prob=log_prob, frequency=frequency, costs=costs, gaps=gaps, worst=_worst(costs))
    place = _position([one.word for one in ranking.candidates], word)
    if place is not None:
        verdict: WordVerdict = "first" if place == 0 else "outscored"
        return replace(_placed(meant, ranking, place), verdict=verdict, rank=place + 1)
    tree = Tree.of_word(_labels(keyboard, letters), keyboard.trie.letters)
    node = len(letters)
    if source is not None:
        listed = ranking.spellings.trees[source]
        assert isinstance(listed, Trie)
        node, tree = listed.find(letters), listed
        if node < 0 or listed.endings[node] == listed.endings[node + 1]:  # other letters were tapped
            return replace(meant, verdict="pruned")
    added = Spellings.of_words(
        OWN if source is None else source,
        tree,
        np.array([node], np.int32),
        np.array([log_prob], np.float32),
        np.array([frequency]),
    )
    added = keyboard.measure(swipe.gesture, keyboard.weigh(added, swipe.readings))
    if source is None:
        score = _score_if_added(swipe, ranking.spellings, added)
        would_rank = 1 + sum(one.score > score for one in ranking.candidates)
        return replace(meant, verdict="out of lexicon", would_rank=would_rank, score=score)
    longer = swipe.rank(ranking.spellings.and_those(added))
    place = _position([one.word for one in longer.candidates], word)
    assert place is not None
    return replace(_placed(meant, longer, place), verdict="pruned")


def _listed(keyboard: Keyboard, letters: str, word: str) -> tuple[int | None, int]:
    """Where a word is listed, in any case, and its byte: in the lexicon, among the person's own, or nowhere."""
    node = keyboard.trie.find(letters)
    entries = keyboard.trie.words_at(np.array([max(node, 0)]))[1]
    entry = _position([keyboard.lexicon.words[index] for index in entries.tolist()], word)
    if entry is not None:
        return LEXICON, int(keyboard.lexicon.frequencies[entries[entry]])
    own = _position(keyboard.vocabulary.words, word)
    return (None, ADDED) if own is None else (OWN, round(float(keyboard.vocabulary.bytes()[own])))


def _worst(costs: Sequence[LetterCost]) -> int | None:
    """The letter that costs most, if that is anything to speak of."""
    worst = max(range(len(costs)), key=lambda i: costs[i].cost)
    return worst if costs[worst].cost >= NOTABLE else None


def _score_if_added(swipe: _Swipe, spellings: Spellings, word: Spellings) -> float:
    """What a word that the lexicon lacks would score if the person added it."""
    keyboard = swipe.keyboard
    # The person's own words make room: only one tree of a kind can be joined.
    others = replace(spellings.take(spellings.source != OWN), trees=(spellings.trees[0], None, spellings.trees[2]))
    longer = others.and_those(word)
    matches, constants = keyboard.match(swipe.gesture, longer), keyboard.constants
    if matches is None or constants.matched is None:
        return float(longer.scores(constants)[-1])
    constants = constants.matched
    return float(longer.scores(constants)[-1] + constants.matcher_weight * matches[-1])


def _placed(meant: MeantWord, ranking: _Ranking, place: int) -> MeantWord:
    """A word with its place in a ranking, counted from 0, and what goes with it."""
    one = ranking.candidates[place]
    return replace(meant, would_rank=place + 1, score=one.score, opinion=ranking.opinion(one.word))


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


def _labels(keyboard: Keyboard, letters: str) -> list[int]:
    """Indices of letters in the emissions."""
    return [keyboard.trie.letters.index(letter) for letter in letters]


def _position(words: Sequence[str], word: str) -> int | None:
    """The index of a word as written, else in another case; None where it is missing."""
    places = [i for i, one in enumerate(words) if one.casefold() == word.casefold()]
    return next((i for i in places if words[i] == word), places[0] if places else None)
