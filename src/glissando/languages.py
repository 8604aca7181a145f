"""Several languages on one keyboard: which of them a text is in, and what that says of a word.

A joined lexicon (``lexicon.join_lexicons``) knows how frequent a word is in each language. The last words of a text say
which language it is in: a hidden Markov model whose state is the language, in which every word is drawn from the
language's list and the language may change before each word. With its posterior a word's probability is

    P(w) = sum over g of posterior_g P_g(w)

and a word's share of language g is posterior_g P_g(w) / P(w). What follows from the words before is asked of each
language's own context and mixed by these shares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from glissando.context import Context, Predictor, Prospect, load_context, written_words
from glissando.errors import ContextError, LexiconError
from glissando.lexicon import LOG_RANGE, Lexicon
from glissando.trie import Trie
from glissando.words import PackedWords

DECADE = 255 / LOG_RANGE  # bytes for ten times the frequency
TAIL = 256  # characters of a text that are looked at
MEMORY = 12  # words of it that count
SWITCH = 0.05  # probability that the next word is in a language drawn anew from the prior
MAIN = 0.7  # prior of the language that is named first; the others share the rest (docs/languages.md)
LACKING = 36.0  # bytes: a word that a language lacks counts as a decade rarer than the rarest of its list
REMEMBERED = 1024  # words whose bytes are kept at hand
TYPED = 0.5  # share of a language's words that must have a letter on the layout
NOT_ASKED = -2  # number of a word that was not looked up in a context yet

State = tuple[tuple[float, ...], tuple[tuple[int, ...] | None, ...]]  # a posterior, and the state of each context


@dataclass(frozen=True, eq=False)
class Languages:
    """The languages of a lexicon: G of them, W words.

    Attributes:
        lexicon: the words; one of a single language will do.
        prior: [G] the probability of each language before any word is known; by default the first is the main one.
    """

    lexicon: Lexicon
    prior: np.ndarray = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        count = len(self)
        default = [MAIN, *[(1 - MAIN) / (count - 1)] * (count - 1)] if count > 1 else [1.0]
        prior = np.array(default if self.prior is None else self.prior, dtype=np.float64)
        if prior.shape != (count,) or not (np.isfinite(prior).all() and (prior > 0).all()):
            raise LexiconError(f"the prior of {', '.join(self.names)} is {count} positive numbers, got {self.prior}")
        prior /= prior.sum()
        prior.flags.writeable = False
        object.__setattr__(self, "prior", prior)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The codes of the languages."""
        return self.lexicon.languages

    @cached_property
    def bytes(self) -> np.ndarray:
        """The byte of each word in each language, 0 where it lacks the word. Shape: [G, W] uint8."""
        rows = self.lexicon.by_language
        return self.lexicon.frequencies[None].clip(1) if rows is None else rows

    def posterior(self, text: str | None) -> np.ndarray:
        """The probability of each language for the word after a text; the prior where no text is known.

        It takes 0.03 ms where most of the words were met before. Shape: [G] float64.
        """
        if not text or len(self) == 1:
            return self.prior
        words = written_words(text[-TAIL:].replace("’", "'"))
        words = words[1 if len(text) > TAIL else 0 :][-MEMORY:]  # the first may be cut in half
        prior = self.prior.tolist()
        after = prior  # the posterior for the word after those seen so far
        for evidence in filter(None, map(self._evidence, words)):
            joint = [old * seen for old, seen in zip(after, evidence, strict=True)]
            total = sum(joint)
            after = [(1 - SWITCH) * one / total + SWITCH * old for one, old in zip(joint, prior, strict=True)]
        return np.array(after)

    def frequencies(self, words: np.ndarray, posterior: np.ndarray, floor: float = 0.0) -> np.ndarray:
        """The bytes of words in a text of these languages: those of P(w), divided by the highest posterior.

        So words of the likeliest language keep their bytes, and constants that were tuned on one language hold. A word
        that several languages have gains: it is likelier.

        Args:
            words: [n] indices into the lexicon.
            posterior: [G].
            floor: rarer words of a language count as this frequent in it. A word of an unlikely language falls below.

        Returns:
            [n] float64; it can be negative.
        """
        mixed = self._weights(words, posterior, floor).sum(axis=0) / posterior.max()
        return DECADE * np.log10(mixed)

    def shares(self, words: np.ndarray, posterior: np.ndarray) -> np.ndarray:
        """The probability of each language for each of some words. Shape: [n] indices, [G] -> [G, n]."""
        weights = self._weights(words, posterior)
        return weights / weights.sum(axis=0)

    def language_of(self, words: np.ndarray, posterior: np.ndarray) -> list[str]:
        """The language that each of some words most likely is in. Shape: [n] indices, [G] -> n codes."""
        return [self.names[at] for at in self._weights(words, posterior).argmax(axis=0).tolist()]

    def find(self, words: Iterable[str]) -> np.ndarray:
        """The indices of words in the lexicon, -1 where it lacks one. Shape: n -> [n] int32."""
        return PackedWords.of(self.lexicon.words).find(words)

    def require_typed(self, trie: Trie) -> None:
        """Refuse a trie on whose letters one of the languages cannot be typed."""
        typed = np.count_nonzero(self.bytes[:, trie.words], axis=1)
        known = np.count_nonzero(self.bytes, axis=1)
        for name, some, everything in zip(self.names, typed.tolist(), known.tolist(), strict=True):
            if some < TYPED * everything:
                raise LexiconError(
                    f"language {name!r} cannot be typed with the letters {''.join(trie.letters)[:40]}: "
                    f"of its {everything:,} words {some:,} have a letter there"
                )

    def _weights(self, words: np.ndarray, posterior: np.ndarray, floor: float = 0.0) -> np.ndarray:
        """posterior_g P_g(w), with the P of byte 0 as the unit. Shape: [n], [G] -> [G, n]."""
        found = self.bytes[:, words]
        return posterior[:, None] * np.where(found > 0, 10 ** (np.maximum(found, floor) / DECADE), 0.0)

    @cached_property
    def _evidence(self) -> Callable[[str], tuple[float, ...]]:
        return lru_cache(maxsize=REMEMBERED)(self._look_up)

    def _look_up(self, word: str) -> tuple[float, ...]:
        """A word's probability in each language, up to a factor; none where no language has it. Shape: G or nothing."""
        # As it is written, in lower case, and as wordfreq writes it ("gross" for "groß").
        found = self.find(dict.fromkeys((word, word.lower(), word.casefold())))
        bytes_ = self.bytes[:, found[found >= 0]].max(axis=1, initial=0)
        if not bytes_.any():
            return ()
        levels = np.where(bytes_ > 0, bytes_, self._lacking)
        return tuple((10 ** ((levels - levels.max()) / DECADE)).tolist())

    @cached_property
    def _lacking(self) -> np.ndarray:
        """The byte that stands for a word that a language lacks. Shape: [G]."""
        return np.array([float(row[row > 0].min(initial=255)) - LACKING for row in self.bytes])


@dataclass(frozen=True, eq=False)
class Contexts:
    """Which words follow which in several languages, with the interface of one ``Context``.

    A word's number is its index in the lexicon. A state keeps the posterior of the text it began with: the words of a
    sentence that is still open do not change it.

    Attributes:
        languages: G languages.
        contexts: [G] the context of each, None where there is none: its words gain nothing.
    """

    languages: Languages
    contexts: tuple[Context | None, ...]

    def __post_init__(self) -> None:
        if len(self.contexts) != len(self.languages):
            raise ContextError(f"{len(self.contexts)} contexts for the languages {', '.join(self.languages.names)}")

    @property
    def language(self) -> str:
        """The codes of the languages."""
        return ",".join(self.languages.names)

    @property
    def header(self) -> dict[str, Any]:
        """The headers of the contexts, by language."""
        pairs = zip(self.languages.names, self.contexts, strict=True)
        return {"language": self.language, "contexts": {name: one.header for name, one in pairs if one is not None}}

    def number(self, words: Iterable[str]) -> np.ndarray:
        """The indices of words in the lexicon. Shape: n -> [n] int32, -1 where it lacks one."""
        return self.languages.find(words)

    def state(self, text: str) -> State:
        """The posterior after a text, and each context's state."""
        states = tuple(None if one is None else one.state(text) for one in self.contexts)
        return tuple(self.languages.posterior(text).tolist()), states

    def advance(self, state: State, word: int) -> State:
        """The state after one more word."""
        numbers = self._numbers_of(np.array([word], dtype=np.int32))[:, 0].tolist()
        triples = zip(self.contexts, state[1], numbers, strict=True)
        return state[0], tuple(
            None if one is None or old is None else one.advance(old, number) for one, old, number in triples
        )

    def follow(self, state: State) -> Outlooks:
        """What may follow a state."""
        pairs = zip(self.contexts, state[1], strict=True)
        outlooks = tuple(None if one is None or old is None else one.follow(old) for one, old in pairs)
        return Outlooks(self, np.array(state[0]), outlooks)

    def after(self, text: str) -> Outlooks:
        """What may follow a text."""
        return self.follow(self.state(text))

    def _numbers_of(self, words: np.ndarray) -> np.ndarray:
        """The numbers of words in each context, looked up when first asked for. Shape: [n] indices -> [G, n] int32."""
        table = self._numbers
        known = words[words >= 0]
        if len(new := known[(table[:, known] == NOT_ASKED).any(axis=0)]):
            spelled = [self.languages.lexicon.words[index] for index in new.tolist()]
            for row, one in zip(table, self.contexts, strict=True):
                row[new] = -1 if one is None else one.number(spelled)
        return np.where(words >= 0, table[:, words], -1).astype(np.int32)

    @cached_property
    def _numbers(self) -> np.ndarray:
        """[G, W] int32 numbers in the contexts, of the words that have been asked for."""
        return np.full((len(self.languages), len(self.languages.lexicon)), NOT_ASKED, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Outlooks:
    """What may follow in one place of a text in several languages.

    Attributes:
        contexts: of all languages.
        posterior: [G] how likely the next word is in each.
        outlooks: [G] what each context says, None where a language has none.
    """

    contexts: Contexts
    posterior: np.ndarray
    outlooks: tuple[Prospect | None, ...]

    @property
    def unseen(self) -> float:
        """ln of what a word's probability is multiplied by if it was never seen here, over all languages."""
        factors = [1.0 if one is None else math.exp(one.unseen) for one in self.outlooks]
        return math.log(float(self.posterior @ factors))

    def gains(self, words: np.ndarray) -> np.ndarray:
        """What words gain over one never seen here: ln of the mean of exp(gain), by the word's shares of languages.

        A word that the lexicon lacks gains nothing. Shape: [n] int32 indices -> [n] float64 nats.
        """
        gained = np.zeros(len(words))
        known = words[words >= 0]
        if not len(known) or all(one is None for one in self.outlooks):
            return gained
        numbers = self.contexts._numbers_of(known)  # [G, n]
        factors = np.ones(numbers.shape)
        for row, one, found in zip(factors, self.outlooks, numbers, strict=True):
            if one is not None:
                row[:] = np.exp(one.gains(found))
        shares = self.contexts.languages.shares(known, self.posterior)
        gained[words >= 0] = np.log((shares * factors).sum(axis=0))
        return gained


def load_contexts(languages: Languages, context: str | Path | Predictor | None = "auto") -> Predictor | None:
    """Find what follows what in the languages of a keyboard.

    Args:
        languages: one language, or several.
        context: "auto" (the packaged contexts of the languages, None where there are none), a packaged name, a file or
            a Context, which then serves its own language, something that predicts already, or None.
    """
    if context is None or not isinstance(context, str | Path | Context):
        return context
    names = languages.names
    if len(names) == 1:
        return load_context(context, names[0])
    if context == "auto":
        found: Sequence[Context | None] = [load_context("auto", name) for name in names]
    else:
        given = load_context(context)
        found = [given if given is not None and given.language == name else None for name in names]
        if given is not None and given.language not in names:
            raise ContextError(f"context {given.name} is of language {given.language!r}, not of {', '.join(names)}")
    return Contexts(languages, tuple(found)) if any(one is not None for one in found) else None
