"""The words that a keyboard can write: those of its lexicon, the person's own, and any string of letters.

Three trees are searched for a swipe. A word of the lexicon that the person uses too is found in the lexicon, and the
higher of its two frequencies counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from glissando.beam import Pruning, search
from glissando.context import Predictor
from glissando.languages import Languages
from glissando.lexicon import Lexicon
from glissando.literal import LITERALS, Fluency, build_fluency, read_letters
from glissando.runtime import LONGEST
from glissando.stages import LEXICON, LITERAL, OWN, Finalists, Spellings
from glissando.trie import NO_AFFIXES, Affixes, Trie
from glissando.vocabulary import Vocabulary

UNKNOWN, NOT_ASKED = -1, -2  # numbers of words in a context
OWN_WIDTH = 32  # hypotheses that the beam keeps among the person's own words, which are few
RESTRICTED = 16  # tries of tapped beginnings and ends that are kept


@lru_cache
def _narrowed(pruning: Pruning) -> Pruning:
    """The constants of the search among the person's own words."""
    return replace(pruning, width=min(pruning.width, OWN_WIDTH))


class Forms(NamedTuple):
    """The words of some spellings, F of them.

    Attributes:
        rows: [F] the spelling of each.
        words: [F] indices into the lexicon; -1 - i for word i of ``others``.
        others: words that the lexicon lacks: the person's own, then literals.
        frequencies: [F] float64 bytes; 0 for a literal.
    """

    rows: np.ndarray
    words: np.ndarray
    others: list[str]
    frequencies: np.ndarray


class _Own(NamedTuple):
    """The person's words at one time, V of them, and which of them the lexicon has too."""

    trie: Trie
    words: tuple[str, ...]
    frequencies: np.ndarray  # [V] float64 bytes
    new: np.ndarray  # [V] bool, whether the lexicon lacks it
    shared: np.ndarray  # ascending indices into the lexicon of the others
    raised: np.ndarray  # the bytes of these


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The words of a keyboard.

    Attributes:
        lexicon: W words.
        trie: the lexicon on the layout's letters.
        vocabulary: the person's own words.
        context: which words follow which; None where that is not known.
        counted: the n-gram of the lexicon's letters; None where it is to be counted when it is first needed.
    """

    lexicon: Lexicon
    trie: Trie
    vocabulary: Vocabulary
    context: Predictor | None = None
    counted: Fluency | None = None
    _twins: dict[str, int] = field(default_factory=dict)  # of the person's words, their index in the lexicon or -1

    def affixes(self, prefix: str, suffix: str) -> Affixes:
        """Letters that were tapped, as labels; an error where a letter is not on the layout."""
        return Affixes(self.trie.labels_of(prefix), self.trie.labels_of(suffix)) if prefix or suffix else NO_AFFIXES

    def search(self, log_probs: np.ndarray, pruning: Pruning, affixes: Affixes = NO_AFFIXES) -> Spellings:
        """The words that one swipe may mean, those of the lexicon first. Shape: [T, L + 1] log-emissions."""
        trie = self._restricted(affixes)
        found = search(log_probs, trie, pruning)
        best = trie.words[trie.endings[found.nodes]]  # the most frequent word of each
        listed = Spellings.of_words(LEXICON, trie, found.nodes, found.log_probs, self.lexicon.frequencies[best])
        own = self._own()
        if own is None or not own.new.any():
            return listed
        trie = own.trie.restricted(affixes, np.rint(own.frequencies).astype(np.uint8))
        found = search(log_probs, trie, _narrowed(pruning))
        owners, words = trie.words_at(found.nodes)
        highest = np.full(len(found.nodes), -1.0)
        np.maximum.at(highest, owners, np.where(own.new[words], own.frequencies[words], -1.0))
        some = highest >= 0
        return listed.and_those(Spellings.of_words(OWN, trie, found.nodes[some], found.log_probs[some], highest[some]))

    def read(self, log_probs: np.ndarray, affixes: Affixes = NO_AFFIXES) -> Spellings:
        """What one swipe spells without a lexicon: the best strings of letters that are no words."""
        found = read_letters(log_probs, self.fluency, affixes)
        lengths = found.tree.depths[found.nodes]
        new = (lengths > 1) & (lengths <= LONGEST) & ~self.trie.holds(found.nodes, found.tree)
        own = self._own()
        if own is not None:
            new &= ~own.trie.holds(found.nodes, found.tree)
        rows = np.flatnonzero(new)[:LITERALS]
        return Spellings.of_literals(found.tree, found.nodes[rows], found.log_probs[rows], found.fluency[rows])

    def forms(self, spellings: Spellings) -> Forms:
        """Every word of some spellings: the lexicon's, then the person's, then literals."""
        rows, words = self._words_of(spellings, LEXICON)
        own_rows, own_words = self._words_of(spellings, OWN)
        literal_rows = np.flatnonzero(spellings.source == LITERAL)
        own, tree = self._own(), spellings.trees[LITERAL]
        others, bytes_ = [], np.zeros(0)
        if own is not None:
            new = own.new[own_words]
            own_rows, own_words = own_rows[new], own_words[new]
            others, bytes_ = [own.words[index] for index in own_words.tolist()], own.frequencies[own_words]
        if tree is not None:
            others += [tree.text(node) for node in spellings.nodes[literal_rows].tolist()]
        return Forms(
            np.concatenate([rows, own_rows, literal_rows]),
            np.concatenate([words, -1 - np.arange(len(others))]),
            others,
            np.concatenate([self._frequencies(words), bytes_, np.zeros(len(literal_rows))]),
        )

    def word(self, finalists: Finalists, place: int) -> str:
        """The word at a place among the finalists."""
        index = int(finalists.words[place])
        return self.lexicon.words[index] if index >= 0 else finalists.others[-1 - index]

    def has(self, word: str) -> bool:
        """Whether the lexicon has a word as it is written."""
        return bool(self.languages.find([word])[0] >= 0)

    def numbers(self, finalists: Finalists) -> np.ndarray:
        """The numbers of finalists in the context, -1 where it knows none. Shape: [F] int32."""
        numbers = np.full(len(finalists.words), UNKNOWN, dtype=np.int32)
        if self.context is not None:
            listed = finalists.words >= 0
            numbers[~listed] = self.context.number(finalists.others)
            numbers[listed] = self.listed_numbers(finalists.words[listed])
        return numbers

    def listed_numbers(self, words: np.ndarray) -> np.ndarray:
        """The numbers of the lexicon's words in the context. Shape: [n] indices into the lexicon -> [n] int32.

        A word is looked up when it is first asked for: all would keep the first swipe waiting.
        """
        assert self.context is not None
        numbers = self._numbers
        if len(new := words[numbers[words] == NOT_ASKED]):
            numbers[new] = self.context.number([self.lexicon.words[index] for index in new.tolist()])
        return numbers[words]

    def shift(self, finalists: Finalists, posterior: np.ndarray) -> np.ndarray:
        """What the posterior of several languages adds to the bytes of finalists. Shape: [F] -> [F] float64."""
        added = np.zeros(len(finalists.words))
        listed, floor = finalists.words >= 0, finalists.constants.frequency_floor
        words = finalists.words[listed]
        plain = np.maximum(self.lexicon.frequencies[words], floor)
        added[listed] = self.languages.frequencies(words, posterior, floor) - plain
        return added

    def languages_of(self, finalists: Finalists, places: np.ndarray, posterior: np.ndarray) -> list[str]:
        """The language of some finalists; of a word that is in no list, that of the text. Shape: [m] -> m codes."""
        codes = [self.languages.names[int(posterior.argmax())]] * len(places)
        listed = np.flatnonzero(finalists.words[places] >= 0)
        found = self.languages.language_of(finalists.words[places[listed]], posterior)
        for at, code in zip(listed.tolist(), found, strict=True):
            codes[at] = code
        return codes

    @cached_property
    def languages(self) -> Languages:
        """The languages of the lexicon, one or several."""
        return Languages(self.lexicon)

    @property
    def fluency(self) -> Fluency:
        """How likely letters follow each other in the lexicon's words."""
        if self.counted is None:
            object.__setattr__(self, "counted", build_fluency(self.lexicon, self.trie.letters))
        assert self.counted is not None
        return self.counted

    @cached_property
    def _numbers(self) -> np.ndarray:
        """[W] int32 numbers in the context, of the words that have been asked for."""
        return np.full(len(self.lexicon), NOT_ASKED, dtype=np.int32)

    @cached_property
    def _restricted(self) -> Callable[[Affixes], Trie]:
        """The lexicon's trie between tapped letters; the last few are kept."""
        return lru_cache(maxsize=RESTRICTED)(lambda affixes: self.trie.restricted(affixes, self.lexicon.frequencies))

    def _words_of(self, spellings: Spellings, source: int) -> tuple[np.ndarray, np.ndarray]:
        """The words of the spellings from one trie: the spelling of each, and its index there. Shape: [f], [f]."""
        rows, tree = np.flatnonzero(spellings.source == source), spellings.trees[source]
        if not isinstance(tree, Trie):
            return rows[:0], rows[:0]
        owners, words = tree.words_at(spellings.nodes[rows])
        return rows[owners], words

    def _frequencies(self, words: np.ndarray) -> np.ndarray:
        """The bytes of the lexicon's words, raised for those that the person uses. Shape: [n] -> [n] float64."""
        bytes_ = self.lexicon.frequencies[words].astype(np.float64)
        own = self._own()
        if own is None or not len(own.shared):
            return bytes_
        at = np.searchsorted(own.shared, words).clip(max=len(own.shared) - 1)
        return np.where(own.shared[at] == words, np.maximum(own.raised[at], bytes_), bytes_)

    def _own(self) -> _Own | None:
        """The person's words; None where there are none. They are looked up again only after a change."""
        if not len(self.vocabulary):
            return None
        trie = self.vocabulary.trie(self.trie.letters)
        kept: _Own | None = self.__dict__.get("_kept")
        if kept is None or kept.trie is not trie:
            kept = self.__dict__["_kept"] = self._look_up(trie)
        return kept

    def _look_up(self, trie: Trie) -> _Own:
        words, bytes_ = self.vocabulary.words, self.vocabulary.bytes()
        unknown = [word for word in words if word not in self._twins]
        self._twins.update(zip(unknown, self.languages.find(unknown).tolist(), strict=True))
        twins = np.array([self._twins[word] for word in words])
        shared = np.flatnonzero(twins >= 0)
        shared = shared[np.argsort(twins[shared])]
        return _Own(trie, words, bytes_, twins < 0, twins[shared], bytes_[shared])
