"""A keyboard: layout, lexicon, networks and scoring bound together. Points in, candidates out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from glissando.beam import Pruning, greedy, search
from glissando.context import Context, load_context
from glissando.ctc import word_log_probs
from glissando.errors import WeightsError
from glissando.geometry import Ruler, distances
from glissando.gesture import Gesture, Points, as_gesture, resample_batch
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon, Typing, load_lexicon
from glissando.literal import LITERALS, Fluency, build_fluency, read_letters
from glissando.runtime import LONGEST, DecoderRuntime, Emissions, EncoderRuntime, MatcherRuntime, match_keys, misfit
from glissando.scoring import Candidate, Candidates, Scoring, load_scoring, shares
from glissando.sentence import Sentence, Slot, best_sequence
from glissando.stages import LEXICON, LITERAL, Finalists, Readings, Spellings, Stages
from glissando.threads import CORES, map_on_cores
from glissando.trie import NO_LETTER, Trie, build_trie
from glissando.weights import load_weights

Method = Literal["auto", "encoder", "decoder", "matcher"]
METHODS: tuple[Method, ...] = ("auto", "encoder", "decoder", "matcher")

MATCHED = 16  # finalists that a matcher compares; 24 and 48 gain nothing (docs/matcher.md)
PLAIN = -2.0  # log-probability of a sure word's letters from which on nothing is read without the lexicon
UNKNOWN, NOT_ASKED = -1, -2  # numbers of words in the context
BATCH = 64  # swipes per run of the networks; more gains nothing on a CPU


@dataclass(frozen=True, eq=False)
class Keyboard:
    """Decodes swipes on one layout with one lexicon.

    Attributes:
        layout, lexicon, encoder: what it is made of.
        scoring: the constants of search and ranking.
        width: hypotheses the beam keeps.
        decoder: the network that corrects the encoder; None where the encoder decodes alone.
        trie: the lexicon on the layout's letters; built where it is not given.
        context: which words follow which; None where every swipe stands alone.
        matcher: the network that compares the finalists of a swipe in doubt; None where it is not asked.
    """

    layout: Layout
    lexicon: Lexicon
    encoder: EncoderRuntime
    scoring: Scoring
    width: int = 100
    decoder: DecoderRuntime | None = None
    trie: Trie = field(default=None)  # type: ignore[assignment]
    context: Context | None = None
    matcher: MatcherRuntime | None = None

    def __post_init__(self) -> None:
        if self.decoder is not None and (why := misfit(self.decoder, self.layout, self.encoder)):
            raise WeightsError(f"no decoder for layout {self.layout.name!r}: {why}; use method 'encoder'")
        if self.trie is None:
            object.__setattr__(self, "trie", build_trie(self.lexicon, tuple(self.layout.keys_of)))

    def replace(self, **changes: Any) -> Keyboard:
        """A variant of this keyboard: ``keyboard.replace(width=50)``. What does not change is shared."""
        if {"layout", "lexicon"} & set(changes):
            changes = {"trie": None, **changes}
        return dataclasses.replace(self, **changes)

    @property
    def method(self) -> Method:
        """What helps the encoder: "matcher" or "decoder", or "encoder" where it is alone."""
        return "matcher" if self.matcher is not None else "encoder" if self.decoder is None else "decoder"

    def decode(self, points: Points, k: int = 5, context: str | None = None) -> Candidates:
        """The ``k`` words a swipe most likely means, best first.

        Args:
            points: (x, y, t_ms) triples over the letter area, an [n, 3] array, or a Gesture.
            k: how many candidates at the most.
            context: the text before the swipe, of which the last two words count; "" is the beginning of a text, None
                is not known and has no say.
        """
        return self.choose(self.finalists(points), k, context)

    def decode_sentence(self, swipes: Sequence[Points], k: int = 5, context: str | None = "") -> Sentence:
        """Decode swipes that follow each other together, so that a word can change the one before it.

        Args:
            swipes: one for each word.
            k: candidates of each at the most.
            context: the text before the first, "" for the beginning of a text, None where it is not known.
        """
        return self.join([self.finalists(points) for points in swipes], k, context)

    def decode_batch(
        self, gestures: Sequence[Gesture], k: int = 5, contexts: Sequence[str | None] | None = None
    ) -> list[Candidates]:
        """Decode many swipes on all cores, each after its own text as in ``decode``."""
        return self.stages(gestures, k, contexts=contexts).candidates if gestures else []

    def stages(
        self,
        gestures: Sequence[Gesture],
        k: int = 5,
        readings: Readings | None = None,
        contexts: Sequence[str | None] | None = None,
    ) -> Stages:
        """Decode many swipes on all cores and return every stage.

        Args:
            gestures: B swipes, at least one.
            k: candidates of each; 0 leaves out the ranking.
            readings: what ``read`` returned for these swipes, if the networks have run already.
            contexts: the text before each, as in ``decode``.
        """
        said = self.read(gestures) if readings is None else readings

        def decode(row: int) -> tuple[Any, ...]:
            spellings = self.find(gestures[row], said, row)
            matches = self.match(gestures[row], spellings)
            if k <= 0:
                return spellings, matches, None, Candidates()
            finalists = self.score(spellings, matches)
            return spellings, matches, finalists, self.choose(finalists, k, contexts[row] if contexts else None)

        rows = map_on_cores(decode, range(len(gestures)))
        spellings, matches, finalists, candidates = zip(*rows, strict=True)
        kept = [one for one in finalists if one is not None]
        return Stages(said, list(spellings), list(matches), kept, list(candidates))

    def finalists(self, points: Points) -> Finalists:
        """The words that a swipe may mean, scored as if it stood alone."""
        gesture = as_gesture(points)
        spellings = self.find(gesture, self.read([gesture]))
        return self.score(spellings, self.match(gesture, spellings))

    def emissions(self, points: Points) -> Emissions:
        """What the encoder saw, key by key, with B = 1."""
        return self.encoder.run(resample_batch([as_gesture(points)]), self.layout.centres)

    def read(self, gestures: Sequence[Gesture]) -> Readings:
        """Run the networks over B swipes."""
        return self.read_paths(resample_batch(gestures))

    def read_paths(self, paths: np.ndarray) -> Readings:
        """Run the networks over resampled paths, [B, 2, 64], on all cores where there are several."""
        if len(paths) <= 1:
            return self._read_batch(paths)
        size = min(BATCH, -(-len(paths) // CORES))
        parts = map_on_cores(self._read_batch, [paths[i : i + size] for i in range(0, len(paths), size)])
        corrected = [part.corrected for part in parts if part.corrected is not None]
        log_probs = np.concatenate([part.log_probs for part in parts])
        return Readings(log_probs, np.concatenate(corrected) if corrected else None)

    def find(self, gesture: Gesture, readings: Readings, row: int = 0) -> Spellings:
        """The spellings that one swipe may mean, measured: words, and literals where no word is plain to see."""
        spellings = self.measure(gesture, self.search(readings, row))
        if not self.scoring.fluency_weight or self._is_plain(spellings):
            return spellings
        literals = self.measure(gesture, self.read_literals(readings, row))
        return spellings.and_those(literals) if len(literals) else spellings

    def search(self, readings: Readings, row: int = 0) -> Spellings:
        """The words that one swipe may mean: the encoder's emissions are searched, the decoder weighs the result.

        The decoder is trained to tell words apart and finds fewer of them by itself.
        """
        found = search(readings.log_probs[row], self.trie, self.pruning)
        best = self.trie.words[self.trie.endings[found.nodes]]  # the most frequent word of each
        spellings = Spellings.of_words(LEXICON, self.trie, found.nodes, found.log_probs, self.lexicon.frequencies[best])
        return self.weigh(spellings, readings, row)

    def read_literals(self, readings: Readings, row: int = 0) -> Spellings:
        """What one swipe spells without a lexicon: the best strings of letters that the lexicon lacks."""
        found = read_letters(readings.log_probs[row], self.fluency)
        lengths = found.tree.depths[found.nodes]
        there = self.trie.locate(found.nodes, found.tree)
        listed = (there >= 0) & (self.trie.endings[there + 1] > self.trie.endings[there])
        new = np.flatnonzero(~listed & (lengths > 1) & (lengths <= LONGEST))[:LITERALS]
        literals = Spellings.of_literals(found.tree, found.nodes[new], found.log_probs[new], found.fluency[new])
        return self.weigh(literals, readings, row)

    def weigh(self, spellings: Spellings, readings: Readings, row: int = 0) -> Spellings:
        """Mix the decoder's log-probabilities into the encoder's, by ``Scoring.decoder_share``."""
        if readings.corrected is None:
            return spellings
        share, mixed = self.scoring.decoder_share, spellings.log_probs.copy()
        for tree, rows in spellings.parts():
            corrected = word_log_probs(readings.corrected[row], spellings.nodes[rows], tree)
            mixed[rows] = (1 - share) * mixed[rows] + share * corrected
        return dataclasses.replace(spellings, log_probs=mixed)

    def measure(self, gesture: Gesture, spellings: Spellings) -> Spellings:
        """Measure how well one swipe follows each spelling's keys, where the scoring asks for it."""
        if not self.scoring.geometric:
            return spellings
        trace = self.ruler.trace(gesture.x, gesture.y, gesture.t)
        far = np.empty((len(spellings), 2), dtype=np.float32)
        for tree, rows in spellings.parts():
            far[rows] = distances(trace, spellings.nodes[rows], tree, self.ruler)
        return dataclasses.replace(spellings, distances=far)

    def match(self, gesture: Gesture, spellings: Spellings) -> np.ndarray | None:
        """Ask the matcher, if the swipe is in doubt, how well it fits each of the best spellings.

        Args:
            gesture: the swipe.
            spellings: from ``find``.

        Returns:
            [N] float64 scores, the highest 0; a spelling that was not compared has the lowest. None where no matcher is
            asked: there is none, the best word is sure, or a spelling has too many letters for it.
        """
        if self.matcher is None or self.scoring.matched is None:
            return None
        scores = spellings.scores(self.scoring)
        best = np.argsort(-scores, kind="stable")[:MATCHED]
        if len(best) < 2 or shares(scores, self.scoring)[best[0]] >= self.scoring.doubt:
            return None
        compared = spellings.take(best)
        longest = int(compared.lengths.max())
        if longest > LONGEST:
            return None
        path = (gesture.path().T - 0.5) * self.key_widths  # [64, 2]
        letters = compared.letters(longest)
        keys = self._letter_keys(path).take(letters, axis=0, mode="clip")  # [M, L, 2]
        found = self.matcher.run(path[None], keys[None], (letters != NO_LETTER)[None])[0].astype(np.float64)
        matches = np.full(len(spellings), found.min() - found.max())
        matches[best] = found - found.max()
        return matches

    def score(self, spellings: Spellings, matches: np.ndarray | None = None) -> Finalists:
        """Score every word of the spellings of one swipe, by ``Scoring`` without context.

        Args:
            spellings: from ``find``.
            matches: [N] from ``match``.
        """
        listed = np.flatnonzero(spellings.source == LEXICON)
        owners, words = self.trie.words_at(spellings.nodes[listed])  # [F] each, a row for every surface form
        literal = np.flatnonzero(spellings.source == LITERAL)
        tree = spellings.trees[LITERAL]
        others = [tree.text(node) for node in spellings.nodes[literal].tolist()] if tree else []
        rows = np.concatenate([listed[owners], literal])  # [F] the spelling of each word
        frequencies = np.concatenate([self.lexicon.frequencies[words], np.zeros(len(literal))])
        constants = self.scoring if matches is None or self.scoring.matched is None else self.scoring.matched
        forms = dataclasses.replace(spellings.take(rows), frequencies=frequencies)
        scores = forms.scores(constants)
        if matches is not None:
            scores = scores + constants.matcher_weight * matches[rows]
        return Finalists(
            np.concatenate([words, -1 - np.arange(len(literal))]), others, scores, forms.log_probs.astype(np.float64),
            frequencies, rows, forms.source == LITERAL, constants,
        )  # fmt: skip

    def choose(self, finalists: Finalists, k: int = 5, context: str | None = None) -> Candidates:
        """The best ``k`` of some finalists after a text."""
        scores, constants, gains = finalists.scores, finalists.constants, self.gains(finalists, context)
        if gains is not None:
            scores = scores + constants.context_weight * gains
        return self._candidates(finalists, scores, shares(scores, constants), k)

    def gains(self, finalists: Finalists, context: str | None) -> np.ndarray | None:
        """What finalists gain by the text before them, in nats; None where it has no say. Shape: [F]."""
        if context is None or self.context is None:
            return None
        return self.context.after(context).gains(self.context_numbers(finalists))

    def join(self, swipes: Sequence[Finalists], k: int = 5, context: str | None = "") -> Sentence:
        """The best sequence of words over the finalists of swipes that follow each other after a text."""
        slots = [
            Slot(self.context_numbers(one), one.scores / heat, one.constants.context_weight / heat)
            for one in swipes
            for heat in (one.constants.temperature,)
        ]
        best, shared, sure = best_sequence(slots, self.context if context is not None else None, context or "")
        words = tuple(self.word(one, at) if at >= 0 else "" for one, at in zip(swipes, best, strict=True))
        found = [shares(one.scores, one.constants).sum() for one in swipes]  # the chance that a word found is meant
        ranked = [
            self._candidates(one, one.scores, share * sure_of_one, k)
            for one, share, sure_of_one in zip(swipes, shared, found, strict=True)
        ]
        return Sentence(words, sure, ranked)

    def word(self, finalists: Finalists, place: int) -> str:
        """The word at a place among the finalists."""
        index = int(finalists.words[place])
        return self.lexicon.words[index] if index >= 0 else finalists.others[-1 - index]

    def _candidates(self, finalists: Finalists, scores: np.ndarray, shares: np.ndarray, k: int) -> Candidates:
        """The ``k`` finalists of the highest share; scores and then bytes decide between equals. Shape: [F] each."""
        # Below the frequency floor the byte still decides between equal scores, then the order of the beam.
        best = np.lexsort((-finalists.frequencies, -scores, -shares))[: max(k, 0)]
        return Candidates(
            Candidate(word, score, log_prob, share, word.translate(self._typing), round(byte), literal)
            for word, score, log_prob, share, byte, literal in zip(
                [self.word(finalists, place) for place in best.tolist()],
                scores[best].tolist(),
                finalists.log_probs[best].tolist(),
                shares[best].tolist(),
                finalists.frequencies[best].tolist(),
                finalists.literal[best].tolist(),
                strict=True,
            )
        )

    def greedy(self, log_probs: np.ndarray) -> list[str]:
        """The letters read without a lexicon, the best of every frame. Shape: log_probs [B, T, L + 1] -> B strings."""
        return ["".join(self.trie.letters[label] for label in labels) for labels in greedy(log_probs)]

    @cached_property
    def ruler(self) -> Ruler:
        """The layout's keys in key widths."""
        return Ruler.of(self.layout)

    @cached_property
    def pruning(self) -> Pruning:
        """The constants of the search."""
        constants = self.scoring
        return Pruning(
            exponent=constants.pruning_exponent,
            bonus=constants.pruning_bonus,
            frequency=constants.pruning_frequency,
            floor=constants.pruning_floor,
            width=self.width,
        )

    @cached_property
    def decoder_columns(self) -> np.ndarray | None:
        """[K + 1] for each class of the decoder, its column in the emissions; None where the order is the same."""
        if self.decoder is None:
            return None
        columns = np.append(match_keys(self.layout, self.decoder.layout), len(self.layout.keys))  # blank is last
        return None if (columns == np.arange(len(columns))).all() else columns

    @cached_property
    def key_widths(self) -> np.ndarray:
        """From fractions of the letter area to key widths, both ways by its aspect. Shape: [2] float32."""
        width = self.layout.key_size[0]
        return np.array([1 / width, self.layout.aspect / width], dtype=np.float32)

    def context_numbers(self, finalists: Finalists) -> np.ndarray:
        """The numbers of finalists in the context, -1 where it does not know them or there is none. Shape: [F] int32.

        A word of the lexicon is looked up when it is first asked for: all would keep the first swipe waiting.
        """
        numbers = np.full(len(finalists.words), UNKNOWN, dtype=np.int32)
        if self.context is None:
            return numbers
        listed = finalists.words >= 0
        numbers[~listed] = self.context.number(finalists.others)
        numbers[listed] = self.word_numbers(finalists.words[listed])
        return numbers

    def word_numbers(self, words: np.ndarray) -> np.ndarray:
        """The numbers of the lexicon's words in the context. Shape: [n] indices into the lexicon -> [n] int32."""
        assert self.context is not None
        numbers = self._numbers
        if len(new := words[numbers[words] == NOT_ASKED]):
            numbers[new] = self.context.number([self.lexicon.words[index] for index in new.tolist()])
        return numbers[words]

    @cached_property
    def _numbers(self) -> np.ndarray:
        """[W] int32 numbers in the context, of the words that have been asked for."""
        return np.full(len(self.lexicon), NOT_ASKED, dtype=np.int32)

    def _is_plain(self, spellings: Spellings) -> bool:
        """Whether a word of the lexicon is so clearly read that a literal need not be looked for."""
        scores = spellings.scores(self.scoring)
        if not len(scores):
            return False
        best = int(scores.argmax())
        return bool(spellings.log_probs[best] >= PLAIN and shares(scores, self.scoring)[best] >= self.scoring.doubt)

    @cached_property
    def fluency(self) -> Fluency:
        """How likely letters follow each other in the lexicon's words."""
        return build_fluency(self.lexicon, self.trie.letters)

    @cached_property
    def _typing(self) -> Typing:
        return Typing(frozenset(self.layout.letters))

    def _letter_keys(self, path: np.ndarray) -> np.ndarray:
        """The key of every letter in key widths, of several the one nearest to the path. Shape: [64, 2] -> [A, 2]."""
        centres = (self.layout.centres - 0.5) * self.key_widths  # [K, 2]
        groups = list(self.layout.keys_of.values())
        if len(groups) == len(centres):
            return centres[[group[0] for group in groups]]
        gaps = np.square(centres[:, None] - path).sum(axis=-1).min(axis=1)  # [K]
        return centres[[min(group, key=gaps.__getitem__) for group in groups]]

    def _read_batch(self, paths: np.ndarray) -> Readings:
        """Run the networks once. Shape: [B, 2, 64]."""
        emissions = self.encoder.run(paths, self.layout.centres)
        log_probs = self._letter_log_probs(emissions)
        if self.decoder is None:
            return Readings(log_probs)
        return Readings(log_probs, self._letter_log_probs(self.decoder.run(emissions, self.decoder_columns)))

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
    weights: str | Path | EncoderRuntime = "encoder",
    decoder: str | Path | DecoderRuntime = "decoder",
    matcher: str | Path | MatcherRuntime = "matcher",
    method: Method = "auto",
    context: str | Path | Context | None = "auto",
    width: int = 100,
    threads: int = 1,
) -> Keyboard:
    """Make a keyboard; the only place that binds layout, words, networks and constants together.

    Args:
        layout: a built-in name, a JSON file, or a Layout.
        language: a language code; by default the layout's own.
        lexicon: a word list instead of the language's: a file, a mapping of counts, or a Lexicon.
        scoring: "auto" (the constants packaged for language and method), a name, a file, or a Scoring.
        weights: a packaged encoder, an ``.onnx`` file, or an encoder that is loaded.
        decoder: a packaged decoder, an ``.onnx`` file, or a decoder that is loaded.
        matcher: a packaged matcher, an ``.onnx`` file, or a matcher that is loaded.
        method: what helps the encoder: "matcher", on any layout; "decoder", an error on layouts that it was not made
            for; "encoder", nothing; "auto", the matcher, unless the constants given know none.
            ``Keyboard.method`` says which.
        context: which words follow which: "auto" (those packaged for the language, where there are any), a packaged
            name, a ``.context`` file, a Context, or None.
        width: hypotheses the beam keeps.
        threads: threads of the networks.

    >>> import glissando
    >>> keyboard = glissando.load("qwerty", language="en")  # doctest: +SKIP
    """
    if method not in METHODS:
        raise WeightsError(f"no method {method!r}; choose one of {', '.join(METHODS)}")
    layout = load_layout(layout)
    lexicon = load_lexicon(lexicon if lexicon is not None else language or layout.language or "en")
    language = language or lexicon.language
    encoder = weights if isinstance(weights, EncoderRuntime) else EncoderRuntime(load_weights(weights), threads=threads)
    asked = "matcher" if method == "auto" else method
    constants = load_scoring(scoring, language, asked)
    if constants.matched is None and method == "matcher":
        raise WeightsError(
            "these constants know no matcher: they lack 'matched'; see `glissando tune --method matcher`"
        )
    helpers: dict[str, Any] = {}
    if asked == "decoder":
        if not isinstance(decoder, DecoderRuntime):
            decoder = DecoderRuntime(load_weights(decoder), threads=threads)
        helpers["decoder"] = decoder
    elif asked == "matcher" and constants.matched is not None:
        if not isinstance(matcher, MatcherRuntime):
            matcher = MatcherRuntime(load_weights(matcher), threads=threads)
        helpers["matcher"] = matcher
    before = load_context(context, language)
    return Keyboard(layout, lexicon, encoder, constants, width, context=before, **helpers)
