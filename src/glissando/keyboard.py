"""A keyboard: layout, lexicon, networks and scoring bound together. Points in, candidates out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from glissando.beam import Pruning, greedy
from glissando.context import Predictor
from glissando.ctc import word_log_probs
from glissando.dictionary import Dictionary
from glissando.errors import VocabularyError, WeightsError
from glissando.geometry import Ruler, distances
from glissando.gesture import Gesture, Points, as_gesture, resample_batch
from glissando.habits import Features, Habits, contributions
from glissando.layout import Layout
from glissando.lexicon import Lexicon, Typing
from glissando.literal import Fluency
from glissando.runtime import LONGEST, DecoderRuntime, Emissions, EncoderRuntime, MatcherRuntime, match_keys, misfit
from glissando.scoring import Candidate, Candidates, Scoring, shares
from glissando.sentence import Sentence, Slot, best_sequence
from glissando.stages import LITERAL, Finalists, Readings, Spellings, Stages
from glissando.threads import cores, map_on_cores
from glissando.trie import NO_AFFIXES, NO_LETTER, Affixes, Trie, build_trie
from glissando.vocabulary import Vocabulary

Method = Literal["auto", "encoder", "decoder", "matcher"]
METHODS: tuple[Method, ...] = ("auto", "encoder", "decoder", "matcher")

MATCHED = 16  # finalists that a matcher compares; 24 and 48 gain nothing (docs/matcher.md)
PLAIN = -2.0  # log-probability of a sure word's letters from which on nothing is read without the lexicon
BATCH = 64  # swipes per run of the networks; more gains nothing on a CPU
# Batches are filled up to a multiple of this: otherwise the kernels treat the last swipes differently, and what they
# read would depend, in the last bits, on how many swipes are read together.
FULL = 8


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
        vocabulary: the person's own words.
        habits: what the person's swipes say of the constants.
        fluency: how likely letters follow each other, for literals; counted from the lexicon where it is not given.
    """

    layout: Layout
    lexicon: Lexicon
    encoder: EncoderRuntime
    scoring: Scoring
    width: int = 100
    decoder: DecoderRuntime | None = None
    trie: Trie = field(default=None)  # type: ignore[assignment]
    context: Predictor | None = None
    matcher: MatcherRuntime | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    habits: Habits = field(default_factory=Habits)
    fluency: Fluency | None = None

    def __post_init__(self) -> None:
        if self.decoder is not None and (why := misfit(self.decoder, self.layout, self.encoder)):
            raise WeightsError(f"no decoder for layout {self.layout.name!r}: {why}; use method 'encoder'")
        if self.trie is None:
            object.__setattr__(self, "trie", build_trie(self.lexicon, tuple(self.layout.keys_of)))
        if len(self.lexicon.languages) > 1:
            self.dictionary.languages.require_typed(self.trie)

    def replace(self, **changes: Any) -> Keyboard:
        """A variant of this keyboard: ``keyboard.replace(width=50)``. What does not change is shared."""
        if {"layout", "lexicon"} & set(changes):
            changes = {"trie": None, "fluency": None, **changes}
        else:
            changes = {"fluency": self.dictionary.counted, **changes}
        return dataclasses.replace(self, **changes)

    @property
    def method(self) -> Method:
        """What helps the encoder: "matcher" or "decoder", or "encoder" where it is alone."""
        return "matcher" if self.matcher is not None else "encoder" if self.decoder is None else "decoder"

    def decode(
        self, points: Points, k: int = 5, context: str | None = None, prefix: str = "", suffix: str = ""
    ) -> Candidates:
        """The ``k`` words a swipe most likely means, best first.

        Args:
            points: (x, y, t_ms) triples over the letter area, an [n, 3] array, or a Gesture.
            k: how many candidates at the most.
            context: the text before the swipe, of which the last two words count; "" is the beginning of a text, None
                is not known and has no say.
            prefix: letters that were tapped: only words that begin so.
            suffix: the same of the end.
        """
        return self.choose(self.finalists(points, prefix, suffix), k, context)

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

    def finalists(self, points: Points, prefix: str = "", suffix: str = "") -> Finalists:
        """The words that a swipe may mean, scored as if it stood alone; tapped letters are as in ``decode``."""
        gesture = as_gesture(points)
        spellings = self.find(gesture, self.read_one(gesture), affixes=self.dictionary.affixes(prefix, suffix))
        return self.score(spellings, self.match(gesture, spellings))

    def emissions(self, points: Points) -> Emissions:
        """What the encoder saw, key by key, with B = 1."""
        return self.encoder.run(resample_batch([as_gesture(points)]), self.layout.centres)

    def read_one(self, gesture: Gesture) -> Readings:
        """Run the networks over one swipe, without the filling of ``read``: the quickest, with other rounding."""
        return self._read_batch(resample_batch([gesture]))

    def read(self, gestures: Sequence[Gesture]) -> Readings:
        """Run the networks over B swipes."""
        return self.read_paths(resample_batch(gestures))

    def read_paths(self, paths: np.ndarray) -> Readings:
        """Run the networks over resampled paths, [B, 2, 64], on all cores; the other swipes do not matter to one."""
        size = min(BATCH, FULL * -(-len(paths) // (FULL * cores())))
        filled = np.concatenate([paths, np.zeros((-len(paths) % FULL, *paths.shape[1:]), paths.dtype)])
        parts = map_on_cores(self._read_batch, [filled[i : i + size] for i in range(0, len(filled), size)])
        corrected = [part.corrected for part in parts if part.corrected is not None]
        log_probs = np.concatenate([part.log_probs for part in parts])[: len(paths)]
        return Readings(log_probs, np.concatenate(corrected)[: len(paths)] if corrected else None)

    def find(self, gesture: Gesture, readings: Readings, row: int = 0, affixes: Affixes = NO_AFFIXES) -> Spellings:
        """The spellings that one swipe may mean, measured: words, and literals where no word is plain to see.

        Args:
            gesture: the swipe.
            readings: what the networks say of it and others.
            row: its row there.
            affixes: letters that all spellings begin and end with.
        """
        spellings = self.measure(gesture, self.search(readings, row, affixes))
        if not self.scoring.fluency_weight or self._is_plain(spellings):
            return spellings
        literals = self.weigh(self.dictionary.read(readings.log_probs[row], affixes), readings, row)
        return spellings.and_those(self.measure(gesture, literals)) if len(literals) else spellings

    def search(self, readings: Readings, row: int = 0, affixes: Affixes = NO_AFFIXES) -> Spellings:
        """The words that one swipe may mean: the encoder's emissions are searched, the decoder weighs the result.

        The decoder is trained to tell words apart and finds fewer of them by itself.
        """
        return self.weigh(self.dictionary.search(readings.log_probs[row], self.pruning, affixes), readings, row)

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

    def match(self, gesture: Gesture, spellings: Spellings, aspect: float | None = None) -> np.ndarray | None:
        """Ask the matcher, if the swipe is in doubt, how well it fits each of the best spellings.

        Args:
            gesture: the swipe.
            spellings: from ``find``.
            aspect: height over width of the letter area where the swipe was made; by default the layout's own.

        Returns:
            [N] float64 scores, the highest 0; a spelling that was not compared has the lowest. None where no matcher is
            asked: there is none, the best word is sure, or a spelling has too many letters for it.
        """
        constants = self.constants
        if self.matcher is None or constants.matched is None:
            return None
        scores = spellings.scores(constants)
        best = np.argsort(-scores, kind="stable")[:MATCHED]
        if len(best) < 2 or shares(scores, constants)[best[0]] >= constants.doubt:
            return None
        compared = spellings.take(best)
        longest = int(compared.lengths.max())
        if longest > LONGEST:
            return None
        scale = self.key_widths if aspect is None else self._scale(aspect)
        path = (gesture.path().T - 0.5) * scale  # [64, 2]
        letters = compared.letters(longest)
        keys = self._letter_keys(path, scale).take(letters, axis=0, mode="clip")  # [M, L, 2]
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
        forms, constants = self.dictionary.forms(spellings), self.constants
        if matches is not None and constants.matched is not None:
            constants = constants.matched
        spelled = dataclasses.replace(spellings.take(forms.rows), frequencies=forms.frequencies)
        scores = spelled.scores(constants)
        if matches is not None:
            scores = scores + constants.matcher_weight * matches[forms.rows]
        return Finalists(
            forms.words, forms.others, scores, spelled.log_probs.astype(np.float64), forms.frequencies, forms.rows,
            spelled.source == LITERAL, constants,
        )  # fmt: skip

    def choose(self, finalists: Finalists, k: int = 5, context: str | None = None) -> Candidates:
        """The best ``k`` of some finalists after a text."""
        posterior = self.dictionary.languages.posterior(context)
        scores, gains = self._in_language(finalists, posterior), self.gains(finalists, context)
        if gains is not None:
            scores = scores + finalists.constants.context_weight * gains
        return self._candidates(finalists, scores, shares(scores, finalists.constants), k, posterior)

    def gains(self, finalists: Finalists, context: str | None) -> np.ndarray | None:
        """What finalists gain by the text before them, in nats; None where it has no say. Shape: [F]."""
        if context is None or self.context is None:
            return None
        return self.context.after(context).gains(self.dictionary.numbers(finalists))

    def join(self, swipes: Sequence[Finalists], k: int = 5, context: str | None = "") -> Sentence:
        """The best sequence of words over the finalists of swipes that follow each other after a text."""
        posterior = self.dictionary.languages.posterior(context)
        alone = [self._in_language(one, posterior) for one in swipes]
        slots = []
        for one, scores in zip(swipes, alone, strict=True):
            heat = one.constants.temperature
            slots.append(Slot(self.dictionary.numbers(one), scores / heat, one.constants.context_weight / heat))
        best, shared, sure = best_sequence(slots, self.context if context is not None else None, context or "")
        words = tuple(self.dictionary.word(one, at) if at >= 0 else "" for one, at in zip(swipes, best, strict=True))
        ranked = []
        for one, scores, share in zip(swipes, alone, shared, strict=True):
            found = shares(scores, one.constants).sum()  # the chance that a word found is meant
            ranked.append(self._candidates(one, scores, share * found, k, posterior))
        return Sentence(words, sure, ranked)

    def learn(self, word: str) -> None:
        """Add a word to the person's own, or count it up; it can be written at once."""
        if not word.translate(self._typing):
            letters = "".join(self.trie.letters)[:40]
            raise VocabularyError(f"{word[:40]!a} has no letter of layout {self.layout.name!r} ({letters})")
        self.vocabulary.learn(word)

    def forget(self, word: str) -> bool:
        """Remove a word from the person's own; whether it was there. Words of the lexicon stay."""
        return self.vocabulary.forget(word)

    def accept(self, points: Points, word: str) -> None:
        """Learn from a word that a person accepted or corrected: the ranking adapts, and a word of his own counts up.

        Only what the ranking knew of the swipe's candidates is kept, of the last 500 swipes.
        """
        gesture = as_gesture(points)
        packaged = self.replace(habits=Habits())
        spellings = packaged.find(gesture, packaged.read([gesture]))
        self.observe(spellings, packaged.match(gesture, spellings), word)
        if word in self.vocabulary or not self.dictionary.has(word):
            self.learn(word)

    def observe(self, spellings: Spellings, matches: np.ndarray | None, word: str) -> None:
        """Record in the habits which word one swipe meant, if that was found. Literals do not count: few are meant.

        Args:
            spellings: from ``find``, on this keyboard without habits.
            matches: [N] from ``match``, likewise.
            word: the word meant.
        """
        rows = np.flatnonzero(spellings.source != LITERAL)
        words, found = spellings.take(rows), None if matches is None else matches[rows]
        texts, typed = words.texts(), word.translate(self._typing)
        if typed not in texts:
            return
        known = Features(words.log_probs, words.lengths, words.frequencies, words.distances, found)
        constants = self.scoring if matches is None or self.scoring.matched is None else self.scoring.matched
        self.habits.record(contributions(known, constants), texts.index(typed))

    def greedy(self, log_probs: np.ndarray) -> list[str]:
        """The letters read without a lexicon, the best of every frame. Shape: log_probs [B, T, L + 1] -> B strings."""
        return ["".join(self.trie.letters[label] for label in labels) for labels in greedy(log_probs)]

    def _in_language(self, finalists: Finalists, posterior: np.ndarray) -> np.ndarray:
        """The scores of finalists in a text whose languages have this posterior. Shape: [F]."""
        if len(posterior) == 1:
            return finalists.scores
        return finalists.scores + finalists.constants.frequency_weight * self.dictionary.shift(finalists, posterior)

    def _candidates(
        self, finalists: Finalists, scores: np.ndarray, shares: np.ndarray, k: int, posterior: np.ndarray
    ) -> Candidates:
        """The ``k`` finalists of the highest share; scores and then bytes decide between equals. Shape: [F] each."""
        # Below the frequency floor the byte still decides between equal scores, then the order of the beam.
        best = np.lexsort((-finalists.frequencies, -scores, -shares))[: max(k, 0)]
        words = [self.dictionary.word(finalists, place) for place in best.tolist()]
        return Candidates(
            Candidate(word, score, log_prob, share, word.translate(self._typing), round(byte), literal, language)
            for word, score, log_prob, share, byte, literal, language in zip(
                words,
                scores[best].tolist(),
                finalists.log_probs[best].tolist(),
                shares[best].tolist(),
                finalists.frequencies[best].tolist(),
                finalists.literal[best].tolist(),
                self.dictionary.languages_of(finalists, best, posterior),
                strict=True,
            )
        )

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
        return self._scale(self.layout.aspect)

    def _is_plain(self, spellings: Spellings) -> bool:
        """Whether a word of the lexicon is so clearly read that a literal need not be looked for."""
        constants = self.constants
        scores = spellings.scores(constants)
        if not len(scores):
            return False
        best = int(scores.argmax())
        return bool(spellings.log_probs[best] >= PLAIN and shares(scores, constants)[best] >= constants.doubt)

    @property
    def constants(self) -> Scoring:
        """The constants as the person's habits have changed them."""
        return self.habits.apply(self.scoring)

    @cached_property
    def dictionary(self) -> Dictionary:
        """The words that can be written."""
        return Dictionary(self.lexicon, self.trie, self.vocabulary, self.context, self.fluency)

    @cached_property
    def _typing(self) -> Typing:
        return Typing(frozenset(self.layout.letters))

    def _scale(self, aspect: float) -> np.ndarray:
        """``key_widths`` on a letter area of another aspect. Shape: [2] float32."""
        width = self.layout.key_size[0]
        return np.array([1 / width, aspect / width], dtype=np.float32)

    def _letter_keys(self, path: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The key of every letter in key widths, of several the one nearest to the path.

        Shape: [64, 2] in key widths, [2] -> [A, 2].
        """
        centres = (self.layout.centres - 0.5) * scale  # [K, 2]
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
