"""What decoding hands from step to step: readings, spellings, finalists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from glissando.scoring import Candidates, Scoring, literal_terms, score_words
from glissando.trie import NO_LETTER, Tree

LEXICON, OWN, LITERAL = 0, 1, 2  # where a spelling comes from


@dataclass(frozen=True, eq=False)
class Readings:
    """What the networks say of B swipes, letter by letter, blank last.

    Attributes:
        log_probs: [B, T, L + 1] float32 log-emissions of the encoder, which are searched.
        corrected: [B, T, L + 1] float32 those of the decoder, which weigh the spellings; None without a decoder.
    """

    log_probs: np.ndarray
    corrected: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Spellings:
    """The strings of letters that one swipe may mean, N of them.

    They come from up to three trees: the lexicon's, that of the person's own words, and that of a reading without any.

    Attributes:
        trees: by source, ``LEXICON``, ``OWN`` and ``LITERAL``; None for one that was not searched.
        source: [N] uint8 where each comes from.
        nodes: [N] int32 its node there.
        lengths: [N] int64 its letters.
        log_probs: [N] float32 log-probability of its letters.
        frequencies: [N] float64 byte of its most frequent word; 0 for a literal, which has none.
        fluency: [N] float64 log-probability of a literal in the language; 0 for words.
        distances: [N, 2] float32 how well the swipe follows its keys; None where the scoring has no use for it.
    """

    trees: tuple[Tree | None, Tree | None, Tree | None]
    source: np.ndarray
    nodes: np.ndarray
    lengths: np.ndarray
    log_probs: np.ndarray
    frequencies: np.ndarray
    fluency: np.ndarray
    distances: np.ndarray | None = None

    @classmethod
    def of_words(
        cls, source: int, tree: Tree, nodes: np.ndarray, log_probs: np.ndarray, frequencies: np.ndarray
    ) -> Spellings:
        """Words of the lexicon or of the person, by their nodes. Shape: [N] each."""
        trees: list[Tree | None] = [None, None, None]
        trees[source] = tree
        return cls(
            (trees[0], trees[1], trees[2]),
            np.full(len(nodes), source, dtype=np.uint8),
            nodes,
            tree.depths[nodes].astype(np.int64),
            log_probs,
            frequencies.astype(np.float64),
            np.zeros(len(nodes)),
        )

    @classmethod
    def of_literals(cls, tree: Tree, nodes: np.ndarray, log_probs: np.ndarray, fluency: np.ndarray) -> Spellings:
        """Strings that were read without a lexicon. Shape: [N] each."""
        words = cls.of_words(LITERAL, tree, nodes, log_probs, np.zeros(len(nodes)))
        return replace(words, fluency=fluency.astype(np.float64))

    def __len__(self) -> int:
        return len(self.nodes)

    def and_those(self, others: Spellings) -> Spellings:
        """These spellings, followed by those of another tree; both are measured, or neither is."""
        trees = tuple(ours or theirs for ours, theirs in zip(self.trees, others.trees, strict=True))
        arrays = {
            name: np.concatenate([getattr(self, name), getattr(others, name)])
            for name in ("source", "nodes", "lengths", "log_probs", "frequencies", "fluency")
        }
        if self.distances is not None and others.distances is not None:
            arrays["distances"] = np.concatenate([self.distances, others.distances])
        return replace(self, trees=trees, **arrays)  # type: ignore[arg-type]

    def take(self, rows: np.ndarray) -> Spellings:
        """Some of the spellings. Shape: [m] indices or an [N] mask."""
        arrays = {
            name: getattr(self, name)[rows]
            for name in ("source", "nodes", "lengths", "log_probs", "frequencies", "fluency")
        }
        return replace(self, **arrays, distances=None if self.distances is None else self.distances[rows])

    def parts(self) -> list[tuple[Tree, np.ndarray]]:
        """Every tree with the rows that come from it."""
        rows = ((tree, np.flatnonzero(self.source == source)) for source, tree in enumerate(self.trees))
        return [(tree, found) for tree, found in rows if tree is not None and len(found)]

    def texts(self) -> list[str]:
        """The letters of each as a string."""
        texts = [""] * len(self)
        for tree, rows in self.parts():
            for row in rows.tolist():
                texts[row] = tree.text(int(self.nodes[row]))
        return texts

    def letters(self, longest: int) -> np.ndarray:
        """The letters of all, none longer than ``longest``. Shape: [N, longest] uint8, NO_LETTER beyond an end."""
        spelled = np.full((len(self), longest), NO_LETTER, dtype=np.uint8)
        for tree, rows in self.parts():
            spelled[rows] = tree.spell(self.nodes[rows], longest)
        return spelled

    def scores(self, scoring: Scoring) -> np.ndarray:
        """The score of each by its most frequent word, without matcher and context. Shape: [N] float64."""
        log_probs = self.log_probs.astype(np.float64)
        far = None if self.distances is None else self.distances.astype(np.float64)
        scores = score_words(log_probs, self.lengths, self.frequencies, scoring, far)
        if self.trees[LITERAL] is not None:
            scores = scores + literal_terms(self.fluency, scoring)
        return scores  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Finalists:
    """The words that one swipe may mean, scored as if it stood alone. F surface forms, in the order of the spellings.

    Attributes:
        words: [F] indices into the lexicon; -1 - i for word i of ``others``.
        others: words that the lexicon lacks: the person's own, then literals.
        scores: [F] float64, without context.
        log_probs: [F] float64 log-probability of each word's letters.
        frequencies: [F] float64 bytes.
        rows: [F] the spelling of each.
        literal: [F] bool, whether it was read letter by letter and is in no list.
        constants: what they were scored by.
    """

    words: np.ndarray
    others: Sequence[str]
    scores: np.ndarray
    log_probs: np.ndarray
    frequencies: np.ndarray
    rows: np.ndarray
    literal: np.ndarray
    constants: Scoring


@dataclass(frozen=True, eq=False)
class Stages:
    """Every stage of decoding B swipes.

    Attributes:
        readings: what the networks say.
        spellings: for each swipe what was found and measured.
        matches: for each swipe [N] how well the matcher finds that it fits each spelling; None where it was not asked.
        finalists: for each swipe the words of its spellings, scored; none where no candidates are asked for.
        candidates: for each swipe the best words, best first.
    """

    readings: Readings
    spellings: list[Spellings]
    matches: list[np.ndarray | None]
    finalists: list[Finalists]
    candidates: list[Candidates]
