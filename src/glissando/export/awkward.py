"""The swipes of the golden vectors: most as people make them, the others as ports get them wrong."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from glissando.context import Context
from glissando.errors import BundleError
from glissando.export.fluency import has_literals
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.synth import swipe

COMMON = 20_000  # ordinary swipes are of one of this many most frequent words
JOINS = 24  # words that are made up before the most fluent of them is taken
SHORTEST, LONGEST = 4, 12  # letters of a word that is made up
DOUBLED = "in no list, a doubled letter"

Bend = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # [n, 3] -> [m, 3]
Text = Callable[[str, str], str]  # of two words that the context knows in this order
Taps = Callable[[str], tuple[str, str]]  # the letters of a word to a tapped beginning and end
Owner = Callable[[str], dict[str, int]]  # a word to the person's own words, each with its uses


@dataclass(frozen=True, eq=False)
class Golden:
    """A swipe to compare with.

    Attributes:
        kind: "swipe", or what is awkward about it.
        word: the word it was made for.
        gesture: its points, rounded to decimals that JSON holds exactly.
        context: the text before it; None where that is not known.
        prefix, suffix: letters that were tapped before and after it.
        own: the person's own words, each with the number of its uses, all of them today.
    """

    kind: str
    word: str
    gesture: Gesture
    context: str | None = None
    prefix: str = ""
    suffix: str = ""
    own: Mapping[str, int] = field(default_factory=dict)


def single_context(keyboard: Keyboard) -> Context | None:
    """The context of a keyboard; an error where it has several languages, which a bundle cannot hold."""
    if keyboard.context is None or isinstance(keyboard.context, Context):
        return keyboard.context
    names = ", ".join(keyboard.lexicon.languages)
    raise BundleError(
        f"a bundle holds the context of one language, and this keyboard has {names}; load it without context"
    )


@dataclass(frozen=True, eq=False)
class Source:
    """Where the swipes for one keyboard come from."""

    keyboard: Keyboard

    @property
    def kinds(self) -> list[str]:
        """The awkward kinds that this keyboard can tell right from wrong."""
        unlisted = UNLISTED if has_literals(self.keyboard) else ()
        return [*BENDS, *WORDS, *TAPPED, *OWN, *unlisted, *(TEXTS if self.keyboard.context is not None else ())]

    def draw(self, kind: str, rng: np.random.Generator) -> Golden:
        """One swipe of a kind."""
        index = int(rng.choice(self._words.get(kind, self._words["swipe"])))
        word, letters = self.keyboard.lexicon.words[index], self._typed[index]
        if kind in UNLISTED or kind == "an own word":
            word = letters = self._make_up(rng)
        if kind == DOUBLED:
            at = int(rng.integers(1, len(letters)))
            word = letters = letters[:at] + letters[at - 1 :]
        exact = swipe(word, self.keyboard.layout, rng, rng.uniform(0.2, 1.2))
        points = np.column_stack([exact.x, exact.y, exact.t])
        points = BENDS[kind](points, rng) if kind in BENDS else points
        text = None
        if (context := single_context(self.keyboard)) is not None and kind in TEXTS:
            text = TEXTS[kind](*_words_before(context, word, rng))
        prefix, suffix = (TAPPED | UNLISTED).get(kind, _no_taps)(letters)
        own = OWN[kind](word) if kind in OWN else {}
        return Golden(kind, word, Gesture.from_points(np.round(points, 5)), text, prefix, suffix, own)

    def _make_up(self, rng: np.random.Generator) -> str:
        """A word that is in no list: the beginning of one and the end of another, joined as fluently as may be."""
        made = []
        for _ in range(JOINS):
            first, last = (self._typed[index] for index in rng.choice(self._words["swipe"], 2))
            joined = first[: 1 + len(first) // 2] + last[len(last) // 2 :]
            if SHORTEST <= len(joined) <= LONGEST and not self._is_listed(joined):
                made.append(joined)
        if not made:  # a lexicon of a few words
            return "".join(rng.choice(list(self.keyboard.trie.letters), LONGEST))
        return max(made, key=self._fluency) if has_literals(self.keyboard) else made[0]

    def _is_listed(self, letters: str) -> bool:
        trie = self.keyboard.trie
        node = trie.find(letters)
        return node >= 0 and bool(trie.endings[node + 1] > trie.endings[node])

    def _fluency(self, letters: str) -> float:
        """The log-probability of a letter, on average."""
        return self.keyboard.dictionary.fluency.of(self.keyboard.trie.labels_of(letters)) / len(letters)

    @cached_property
    def _typed(self) -> list[str]:
        """What is typed of every word of the lexicon."""
        return list(self.keyboard.lexicon.spell(frozenset(self.keyboard.layout.letters)))

    @cached_property
    def _words(self) -> dict[str, np.ndarray]:
        """Indices of the common words that suit a kind, and of those of ordinary swipes; of all where none suits."""
        keyboard, typed = self.keyboard, self._typed
        by_frequency = np.argsort(-keyboard.lexicon.frequencies.astype(int), kind="stable")
        common = [index for index in by_frequency if typed[index]][:COMMON]
        suits = {**WORDS, "swipe": lambda letters: len(letters) > 1}
        words = {
            kind: np.array([index for index in common if suit(typed[index])] or common) for kind, suit in suits.items()
        }
        if (context := single_context(keyboard)) is None:
            return words
        # After a text, words that some pair of words predicts.
        predicted = words["swipe"][np.isin(keyboard.dictionary.listed_numbers(words["swipe"]), context.pair_nexts)]
        return words | dict.fromkeys(TEXTS, predicted if len(predicted) else words["swipe"])


def _words_before(context: Context, word: str, rng: np.random.Generator) -> tuple[str, str]:
    """Two words that the context has seen before a word; where it has none, two that follow each other.

    The beginning of a sentence is no word, and a context without pairs has none.
    """
    seen = np.flatnonzero(context.pair_nexts == context.number([word])[0])  # [n] places of triples
    if len(seen):
        place = context.pairs[np.searchsorted(context.pair_starts, rng.choice(seen), "right") - 1]
    elif len(context.nexts):
        place = rng.integers(len(context.nexts))
    else:
        return "", ""
    first = int(np.searchsorted(context.starts, place, "right")) - 1
    return "" if first == 0 else context.words[first], context.words[int(context.nexts[place])]


def _no_taps(_: str) -> tuple[str, str]:
    return "", ""


def _timed(points: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The points at other times. Shape: [n, 3], [n] -> [n, 3]."""
    return np.column_stack([points[:, :2], t])


def _stretched(points: np.ndarray, factor: float) -> np.ndarray:
    """The points drawn away from the middle of the keyboard."""
    return np.column_stack([(points[:, :2] - 0.5) * factor + 0.5, points[:, 2]])


def _dense(points: np.ndarray) -> np.ndarray:
    """The points at a thousand a second, as a stylus may bring them."""
    t = np.arange(0.0, points[-1, 2])
    return np.column_stack([*(np.interp(t, points[:, 2], points[:, axis]) for axis in (0, 1)), t])


def _scribbled(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """No word at all: a random walk for as long as the swipe took."""
    return _timed(0.5 + np.cumsum(rng.normal(0, 0.08, (len(points), 2)), axis=0), points[:, 2])


# What is done to an ordinary swipe. Its first point is at 0 ms.
BENDS: dict[str, Bend] = {
    "one point": lambda p, _: p[:1],
    "two points": lambda p, _: p[[0, -1]],
    "points at one instant": lambda p, _: _timed(p, np.zeros(len(p))),
    "pairs of points at one instant": lambda p, _: _timed(p, p[np.arange(len(p)) // 2 * 2, 2]),
    "a finger that rests": lambda p, _: np.column_stack([np.tile(p[0, :2], (len(p), 1)), p[:, 2]]),
    "a rest at the end": lambda p, _: np.append(p, [[*p[-1, :2], p[-1, 2] + 1500]], axis=0),
    "outside the keyboard": lambda p, _: _stretched(p, 1.7),
    "far outside": lambda p, _: _stretched(p, 1e6),
    # 4.5 frames of 60 Hz: the even number of them counts.
    "half a frame": lambda p, _: _timed(p, p[:, 2] * 75 / p[-1, 2]),
    "in a blink": lambda p, _: _timed(p, p[:, 2] / 500),
    "very slow": lambda p, _: _timed(p, p[:, 2] * 40),
    "since 1970": lambda p, _: _timed(p, np.round(p[:, 2]) + 1_800_000_000_000),
    "a thousand a second": lambda p, _: _dense(p),
    "backwards": lambda p, _: _timed(p[::-1], p[:, 2]),
    "scribble": lambda p, rng: _scribbled(p, rng),
}
# Ordinary swipes of awkward words.
WORDS: dict[str, Callable[[str], bool]] = {
    "doubled letters": lambda letters: any(a == b for a, b in pairwise(letters)),
    "one letter": lambda letters: len(letters) == 1,
    "long word": lambda letters: len(letters) >= 12,
}
# What stands before a swipe, made of two words that may precede it.
TEXTS: dict[str, Text] = {
    "at the beginning of a text": lambda _, __: "",
    "after a word": lambda _, last: last.capitalize(),
    "after two words": lambda first, last: f"{first} {last} ",
    "after a sentence": lambda first, last: f"{first} {last}.",
    "after a sentence and two words": lambda first, last: f"{last}! {first.capitalize()} {last}",
    "after punctuation": lambda first, last: f"“{first},” ({last.upper()}",
    "after an unknown word": lambda first, last: f"{first} {last} qqzzqq",
    "after an unknown word and a known one": lambda _, last: f"qqzzqq {last}",
    "after another script": lambda _, last: f"{last} 日本語 हिन्दी",
    "after a number": lambda first, last: f"{first} {last} 3.14",
    "after control characters": lambda first, last: f"{last}.\x1f{first}\0{last}",
    "after a long text": lambda first, last: f"{first} {last} " * 100,
    "after one long word": lambda _, last: last * 300,
    # Some 210 code points, which are more than 256 units of UTF-16.
    "after emoji": lambda first, last: f"{'😀' * 200} {first} {last}",
    "after an accent in two parts": lambda first, _: unicodedata.normalize("NFD", f"{first} café"),
    "after an elision": lambda first, last: f"{first} l’{last}",
}
# Letters that were tapped, of the letters of the word.
TAPPED: dict[str, Taps] = {
    "a tapped beginning": lambda letters: (letters[:2], ""),
    "a tapped capital": lambda letters: (letters[:1].upper(), ""),
    "a tapped end": lambda letters: ("", letters[-2:]),
    "both ends tapped": lambda letters: (letters[:1], letters[-1:]),
    "tapped letters that overlap": lambda letters: (letters[:-1], letters[1:]),
}
# Words that are in no list, which a keyboard with a fluency reads letter by letter.
UNLISTED: dict[str, Taps] = {
    "in no list": _no_taps,
    DOUBLED: _no_taps,
    "in no list, a tapped beginning": lambda letters: (letters[:2], ""),
    "in no list, a tapped end": lambda letters: ("", letters[-2:]),
    "in no list, all letters tapped": lambda letters: (letters, ""),
}
# The person's own words.
OWN: dict[str, Owner] = {
    "an own word": lambda word: {word: 3, word.upper(): 1},
    "an own word that is listed": lambda word: {word: 40},
    "an own word typed as a listed one": lambda word: {word.swapcase() + "'": 7, word: 2},
}
