"""A keyboard: layout, lexicon, encoder and scoring bound together. Points in, candidates out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glissando.beam import Hypotheses, greedy, search, search_batch
from glissando.geometry import Ruler, distances
from glissando.gesture import Gesture, as_gesture, resample_batch
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon, load_lexicon
from glissando.runtime import Emissions, EncoderRuntime
from glissando.scoring import Candidate, Scoring, load_scoring, score_words, softmax
from glissando.trie import Trie, build_trie
from glissando.weights import load_weights

Points = Gesture | Iterable[Sequence[float]] | np.ndarray

BATCH = 64  # swipes per run of the encoder; more gains nothing on a CPU


class Keyboard:
    """Decodes swipes on one layout with one lexicon.

    Attributes:
        method: "encoder".
        layout, lexicon, scoring, width: what it was made of.
    """

    method = "encoder"

    def __init__(
        self, layout: Layout, lexicon: Lexicon, encoder: EncoderRuntime, scoring: Scoring, width: int = 100
    ) -> None:
        self.layout = layout
        self.lexicon = lexicon
        self.encoder = encoder
        self.scoring = scoring
        self.width = width

    @cached_property
    def trie(self) -> Trie:
        """The lexicon on this layout's letters."""
        return build_trie(self.lexicon, tuple(self.layout.keys_of))

    def decode(self, points: Points, k: int = 5) -> list[Candidate]:
        """The ``k`` words a swipe most likely means, best first.

        Args:
            points: (x, y, t_ms) triples over the letter area, an [n, 3] array, or a Gesture.
            k: how many candidates at the most.
        """
        gesture = as_gesture(points)
        emissions = self._encode(resample_batch([gesture]))
        hypotheses = search(self._letter_log_probs(emissions)[0], self.trie, **self._search_options)
        return self.rank(hypotheses, 0, k, self.distances([gesture], hypotheses))

    def decode_batch(self, gestures: Sequence[Gesture], k: int = 5) -> list[list[Candidate]]:
        """Decode many swipes on all cores."""
        hypotheses = self.hypotheses(self.letter_log_probs(gestures))
        distances = self.distances(gestures, hypotheses)
        return [self.rank(hypotheses, row, k, distances) for row in range(len(gestures))]

    def emissions(self, points: Points) -> Emissions:
        """What the encoder saw, key by key, with B = 1."""
        return self._encode(resample_batch([as_gesture(points)]))

    def letter_log_probs(self, gestures: Sequence[Gesture]) -> np.ndarray:
        """Log-emissions over the layout's distinct letters. Shape: [B, T, L + 1] float32, blank last."""
        paths = resample_batch(gestures)
        parts = [self._letter_log_probs(self._encode(paths[i : i + BATCH])) for i in range(0, len(paths), BATCH)]
        return np.concatenate(parts)

    def hypotheses(self, log_probs: np.ndarray) -> Hypotheses:
        """Beam search on all cores. Shape: log_probs [B, T, L + 1]."""
        return search_batch(log_probs, self.trie, **self._search_options)

    def literal(self, log_probs: np.ndarray) -> list[str]:
        """The letters read without a lexicon, greedily. Shape: log_probs [B, T, L + 1] -> B strings."""
        return ["".join(self.trie.letters[label] for label in labels) for labels in greedy(log_probs)]

    def distances(self, gestures: Sequence[Gesture], hypotheses: Hypotheses) -> np.ndarray | None:
        """How well the swipes follow each hypothesis's keys, where the scoring asks for it. Shape: [B, W, 2]."""
        if not self.scoring.geometric:
            return None
        traces = np.stack([self.ruler.trace(gesture.x, gesture.y, gesture.t) for gesture in gestures])
        return distances(traces, hypotheses.nodes, self.trie, self.ruler)

    def rank(self, hypotheses: Hypotheses, row: int, k: int, distances: np.ndarray | None = None) -> list[Candidate]:
        """The best ``k`` words among the hypotheses of one swipe, by ``Scoring``.

        Args:
            hypotheses: the beams of B swipes.
            row: which of them.
            k: how many words at the most.
            distances: [B, W, 2] from ``distances``.
        """
        found = hypotheses.nodes[row] >= 0
        nodes, log_probs = hypotheses.nodes[row][found], hypotheses.log_probs[row][found]
        counts = self.trie.endings[nodes + 1] - self.trie.endings[nodes]  # surface forms that end at each node
        owner = np.repeat(np.arange(len(nodes)), counts)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        words = self.trie.words[self.trie.endings[nodes][owner] + within]
        frequency = self.lexicon.frequencies[words]
        far = None if distances is None else distances[row][found][owner]
        scores = score_words(log_probs[owner], self.trie.depths[nodes][owner], frequency, self.scoring, far)
        shares = softmax(scores, self.scoring.temperature)
        best = np.lexsort((-frequency.astype(int), -scores))[: max(k, 0)]  # below the floor the byte still decides
        return [
            Candidate(
                self.lexicon.words[words[i]], float(scores[i]), float(log_probs[owner[i]]), float(shares[i]),
                self._spellings[words[i]], int(frequency[i]),
            )
            for i in best
        ]  # fmt: skip

    @cached_property
    def ruler(self) -> Ruler:
        """The layout, measured for ``distances``."""
        half_sizes = np.array([(key.rx, key.ry) for key in self.layout.keys])
        return Ruler.of(self.layout.centres, half_sizes, list(self.layout.keys_of.values()))

    @cached_property
    def _spellings(self) -> list[str]:
        return self.lexicon.spell(frozenset(self.layout.letters))

    @property
    def _search_options(self) -> dict[str, Any]:
        return {
            "width": self.width,
            "pruning_exponent": self.scoring.pruning_exponent,
            "pruning_bonus": self.scoring.pruning_bonus,
        }

    def _encode(self, paths: np.ndarray) -> Emissions:
        return self.encoder.run(paths, self.layout.centres)

    def _letter_log_probs(self, emissions: Emissions) -> np.ndarray:
        """Add up the keys of each letter. Shape: [B, T, K + 1] -> [B, T, L + 1]."""
        groups = list(self.layout.keys_of.values())
        if all(len(group) == 1 for group in groups):
            return emissions.log_probs
        order = [index for group in groups for index in group] + [len(self.layout.keys)]
        starts = np.cumsum([0] + [len(group) for group in groups])
        return np.logaddexp.reduceat(emissions.log_probs[..., order], starts, axis=-1)


def load(
    layout: str | Path | Layout = "qwerty",
    language: str | None = None,
    *,
    lexicon: str | Path | Mapping[str, float] | Lexicon | None = None,
    scoring: str | Path | Mapping[str, Any] | Scoring = "auto",
    weights: str | Path = "encoder",
    width: int = 100,
    threads: int = 1,
) -> Keyboard:
    """Make a keyboard.

    Args:
        layout: a built-in name, a JSON file, or a Layout.
        language: a language code; by default the layout's own.
        lexicon: a word list instead of the language's: a file, a mapping of counts, or a Lexicon.
        scoring: "auto" (the constants packaged for the language), a name, a file, or a Scoring.
        weights: a packaged encoder or an ``.onnx`` file.
        width: hypotheses the beam keeps.
        threads: threads of the encoder.

    >>> import glissando
    >>> keyboard = glissando.load("qwerty", language="en")  # doctest: +SKIP
    """
    found = load_layout(layout)
    words = load_lexicon(lexicon if lexicon is not None else language or found.language or "en")
    encoder = EncoderRuntime(load_weights(weights), threads=threads)
    return Keyboard(found, words, encoder, load_scoring(scoring, language or words.language), width)
