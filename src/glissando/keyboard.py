"""A keyboard: layout, lexicon, networks and scoring bound together. Points in, candidates out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glissando.beam import Hypotheses, greedy, search, search_batch
from glissando.decoders import Method, check_fit, choose_decoder, match_keys
from glissando.errors import LexiconError
from glissando.geometry import Ruler, distances
from glissando.gesture import Gesture, as_gesture, resample_batch
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon, Typing, load_lexicon
from glissando.native import address
from glissando.rescore import word_log_probs
from glissando.runtime import DecoderRuntime, Emissions, EncoderRuntime
from glissando.scoring import Candidate, Scoring, load_scoring
from glissando.scoring_kernel import RANK
from glissando.trie import Trie, build_trie
from glissando.weights import load_weights

Points = Gesture | Iterable[Sequence[float]] | np.ndarray

BATCH = 64  # swipes per run of the networks; more gains nothing on a CPU


@dataclass(frozen=True, eq=False)
class Readings:
    """What the networks say of B swipes, letter by letter, blank last.

    Attributes:
        log_probs: [B, T, L + 1] float32, the encoder's, which are searched.
        corrected: [B, T, L + 1] float32, the decoder's, which weigh what was found; None without a decoder.
    """

    log_probs: np.ndarray
    corrected: np.ndarray | None = None


class Keyboard:
    """Decodes swipes on one layout with one lexicon.

    Attributes:
        method: "decoder" where a decoder has a say in the ranking, else "encoder".
        layout, lexicon, encoder, decoder, scoring, width: what it was made of.
    """

    def __init__(
        self,
        layout: Layout,
        lexicon: Lexicon,
        encoder: EncoderRuntime,
        scoring: Scoring,
        width: int = 100,
        decoder: DecoderRuntime | None = None,
    ) -> None:
        self.layout = layout
        self.lexicon = lexicon
        self.encoder = encoder
        self.decoder = decoder
        self.scoring = scoring
        self.width = width
        self._columns: np.ndarray | None = None
        if decoder is not None:
            check_fit(decoder, layout, encoder)
            places = np.append(match_keys(layout, decoder.layout), len(layout.keys))  # blank is last in both
            self._columns = None if (places == np.arange(len(places))).all() else places

    @property
    def method(self) -> Method:
        """Which networks read the swipe."""
        return "encoder" if self.decoder is None else "decoder"

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
        hypotheses = self.hypotheses(self.read([gesture]))
        return self.rank(hypotheses, 0, k, self.distances([gesture], hypotheses))

    def decode_batch(self, gestures: Sequence[Gesture], k: int = 5) -> list[list[Candidate]]:
        """Decode many swipes on all cores."""
        hypotheses = self.hypotheses(self.read(gestures))
        distances = self.distances(gestures, hypotheses)
        return [self.rank(hypotheses, row, k, distances) for row in range(len(gestures))]

    def emissions(self, points: Points) -> Emissions:
        """What the encoder saw, key by key, with B = 1."""
        return self.encoder.run(resample_batch([as_gesture(points)]), self.layout.centres)

    def read(self, gestures: Sequence[Gesture]) -> Readings:
        """Run the networks over swipes."""
        paths = resample_batch(gestures)
        parts = [self.read_paths(paths[i : i + BATCH]) for i in range(0, len(paths), BATCH)]
        if len(parts) == 1:
            return parts[0]
        corrected = [part.corrected for part in parts if part.corrected is not None]
        log_probs = np.concatenate([part.log_probs for part in parts])
        return Readings(log_probs, np.concatenate(corrected) if corrected else None)

    def read_paths(self, paths: np.ndarray) -> Readings:
        """Run the networks over resampled paths, [B, 2, 64]."""
        emissions = self.encoder.run(paths, self.layout.centres)
        log_probs = self._letter_log_probs(emissions)
        if self.decoder is None:
            return Readings(log_probs)
        return Readings(log_probs, self._letter_log_probs(self.decoder.run(emissions, self._columns)))

    def letter_log_probs(self, gestures: Sequence[Gesture]) -> np.ndarray:
        """The encoder's log-emissions over the layout's distinct letters. Shape: [B, T, L + 1] float32, blank last."""
        return self.read(gestures).log_probs

    def hypotheses(self, readings: Readings) -> Hypotheses:
        """Beam search by the encoder, on all cores where there are many swipes; the decoder weighs what was found.

        With a decoder a hypothesis's log-probability is the encoder's and the decoder's, mixed by
        ``Scoring.decoder_share``. The decoder is trained to tell words apart, and finds fewer of them by itself.
        """
        if len(readings.log_probs) == 1:
            found = search(readings.log_probs[0], self.trie, **self._search_options)
        else:
            found = search_batch(readings.log_probs, self.trie, **self._search_options)
        return self.reweigh(found, readings)

    def reweigh(self, found: Hypotheses, readings: Readings) -> Hypotheses:
        """Hypotheses with the decoder's say; as they are without a decoder."""
        if readings.corrected is None:
            return found
        share = self.scoring.decoder_share
        judged = word_log_probs(readings.corrected, found.nodes, self.trie)
        mixed = ((1 - share) * found.log_probs + share * judged).astype(np.float32)
        return Hypotheses(found.nodes, np.where(found.nodes >= 0, mixed, found.log_probs))

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
        nodes = np.ascontiguousarray(hypotheses.nodes[row], dtype=np.int32)
        log_probs = np.ascontiguousarray(hypotheses.log_probs[row], dtype=np.float32)
        far = np.zeros((len(nodes), 2)) if distances is None else distances[row]
        far = np.ascontiguousarray(far, dtype=np.float32)
        room = len(nodes) * self.trie.most_forms
        scores, places = np.empty(room), np.empty((2, room), np.int32)
        k = min(max(k, 0), room)
        numbers, found, count = np.empty((3, k)), np.empty((2, k), np.int32), np.zeros(1, np.int64)
        RANK.call(
            address(nodes), address(log_probs), address(far), len(nodes), *self.trie.ending_addresses, len(self.trie),
            *self._word_addresses, len(self.trie.words), address(scores), *map(address, places), room,
            self.scoring.temperature, *self.scoring.ranking, address(numbers), address(found), k, address(count),
        )  # fmt: skip
        surfaces = [self.lexicon.words[word] for word in found[0, : count[0]].tolist()]
        return [
            Candidate(surface, score, log_prob, share, surface.translate(self._typing), byte)
            for surface, score, log_prob, share, byte in zip(
                surfaces, *numbers[:, : count[0]].tolist(), found[1, : count[0]].tolist(), strict=True
            )
        ]

    @cached_property
    def _word_addresses(self) -> tuple[int, int]:
        """Where the trie's words and the lexicon's bytes are."""
        words, bytes_ = self.trie.words, self.lexicon.frequencies
        if words.dtype != np.int32 or bytes_.dtype != np.uint8 or not bytes_.flags.c_contiguous:
            raise LexiconError(f"lexicon {self.lexicon.name}: frequencies must be bytes, got {bytes_.dtype}")
        return address(words), address(bytes_)

    @cached_property
    def ruler(self) -> Ruler:
        """The layout, measured for ``distances``."""
        half_sizes = np.array([(key.rx, key.ry) for key in self.layout.keys])
        return Ruler.of(self.layout.centres, half_sizes, list(self.layout.keys_of.values()))

    @cached_property
    def _typing(self) -> Typing:
        return Typing(frozenset(self.layout.letters))

    @property
    def _search_options(self) -> dict[str, Any]:
        return {"width": self.width, **self.scoring.pruning}

    def _letter_log_probs(self, emissions: Emissions) -> np.ndarray:
        """Add up the keys of each letter. Shape: [B, T, K + 1] -> [B, T, L + 1]."""
        if len(self.layout.keys_of) == len(self.layout.keys):
            return emissions.log_probs
        groups = list(self.layout.keys_of.values())
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
    decoder: str | Path = "decoder",
    method: Method | None = None,
    width: int = 100,
    threads: int = 1,
) -> Keyboard:
    """Make a keyboard.

    Args:
        layout: a built-in name, a JSON file, or a Layout.
        language: a language code; by default the layout's own.
        lexicon: a word list instead of the language's: a file, a mapping of counts, or a Lexicon.
        scoring: "auto" (the constants packaged for language and method), a name, a file, or a Scoring.
        weights: a packaged encoder or an ``.onnx`` file.
        decoder: a packaged decoder or an ``.onnx`` file.
        method: "encoder"; "decoder", an error on layouts that the decoder was not made for; by default the decoder
            where it fits layout and language, else the encoder. ``Keyboard.method`` says which.
        width: hypotheses the beam keeps.
        threads: threads of the networks.

    >>> import glissando
    >>> keyboard = glissando.load("qwerty", language="en")  # doctest: +SKIP
    """
    found = load_layout(layout)
    words = load_lexicon(lexicon if lexicon is not None else language or found.language or "en")
    encoder = EncoderRuntime(load_weights(weights), threads=threads)
    spoken = language or words.language
    chosen = choose_decoder(found, spoken, encoder, method, decoder, threads)
    constants = load_scoring(scoring, spoken, "encoder" if chosen is None else "decoder")
    return Keyboard(found, words, encoder, constants, width, chosen)
