"""A text being written: swipes, taps and corrections in, text out, with the spaces and capitals that people expect.

A space goes before a swiped word, not after it, so that punctuation follows the word at once. The next swipe can show
that an earlier word was read wrongly: ``Draft.swipe`` says so, and ``Draft.choose`` changes it. When the text is
done, ``Draft.learn`` teaches the keyboard the words that stand in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from glissando.context import BEGIN, last_words
from glissando.gesture import Points
from glissando.keyboard import Keyboard
from glissando.lexicon import is_word, typed_letters
from glissando.scoring import Candidate, Candidates
from glissando.stages import Finalists

WINDOW = 3  # swiped words in a row that are decoded together; a word further back is not changed any more
OPENING = "([{<«„“‘¿¡"  # no space after these, but before
JOINING = "'’-_@/#&+~"  # no space on either side
FIRST_PERSON = {"i": "I", "i'm": "I'm", "i'll": "I'll", "i'd": "I'd", "i've": "I've"}  # in English


@dataclass(frozen=True)
class Revision:
    """An earlier word that should change.

    Attributes:
        place: which of the swiped words, for ``Draft.choose``.
        before: what it is now.
        word: what it should be.
        probability: how sure that is, given all swipes around it.
    """

    place: int
    before: str
    word: str
    probability: float


@dataclass(frozen=True)
class Answer:
    """What a swipe did to a draft.

    Attributes:
        word: what was written.
        candidates: the words that the swipe may mean, likeliest first; ``candidates.none`` is the chance that none is.
        revisions: earlier words that should change, in the order of the text.
    """

    word: str
    candidates: Candidates
    revisions: tuple[Revision, ...]


@dataclass(frozen=True)
class _Swiped:
    """A swiped word in the text.

    Attributes:
        start, end: where it stands.
        word: as the keyboard writes it, without the capital of a sentence's beginning.
        points: the swipe.
        finalists: what it may mean.
        chosen: whether a person chose the word.
        taught: whether the keyboard has learned from it.
    """

    start: int
    end: int
    word: str
    points: Points
    finalists: Finalists
    chosen: bool = False
    taught: bool = False


class Draft:
    """A text being written with a keyboard.

    >>> draft = Draft(keyboard)  # doctest: +SKIP
    >>> draft.swipe(points).word  # doctest: +SKIP
    'Hello'
    >>> draft.tap("!")  # doctest: +SKIP
    >>> draft.text  # doctest: +SKIP
    'Hello!'
    """

    def __init__(self, keyboard: Keyboard, text: str = "") -> None:
        self.keyboard = keyboard
        self.text = text
        self._words: list[_Swiped] = []
        self._space = False  # whether a letter that is tapped next begins a new word

    def swipe(self, points: Points, k: int = 5, prefix: str = "", suffix: str = "") -> Answer:
        """Write the word that a swipe most likely means, and say which words before it should change.

        Args:
            points: the swipe.
            k: how many candidates at the most.
            prefix: letters that the word begins with. Letters that were tapped into the text are not meant by that.
            suffix: letters that it ends with.
        """
        finalists = self.keyboard.finalists(points, prefix, suffix)
        window = self._window()
        before = self.text[: window[0].start] if window else self.text
        sentence = self.keyboard.join([*(one.finalists for one in window), finalists], k, before)
        candidates = sentence.candidates[-1]
        if not candidates:
            return Answer("", candidates, ())
        self._finish_tapped()
        start = len(self.text) + (1 if needs_space(self.text) else 0)
        word = capitalise(candidates[0].word, self.text, candidates[0].language)
        self.text = f"{self.text}{' ' if start > len(self.text) else ''}{word}"
        self._words.append(_Swiped(start, len(self.text), candidates[0].word, points, finalists))
        self._space = True
        revisions = self._revisions(window, [ranked[0] for ranked in sentence.candidates[:-1]])
        return Answer(word, candidates, revisions)

    def choose(self, word: str, place: int = -1) -> None:
        """Write another word in place of a swiped one, by default the last; it is not questioned again."""
        old = self._words[place]
        place %= len(self._words)
        before = self.text[: old.start]
        language = self._language(before)
        written = capitalise(word, before, language)
        shift = len(written) - (old.end - old.start)
        self.text = before + written + self.text[old.end :]
        listed = self._listed(old.finalists, word, lambda one: capitalise(one, before, language))
        self._words[place] = replace(old, end=old.end + shift, word=listed, chosen=True, taught=False)
        later = self._words[place + 1 :]
        self._words[place + 1 :] = [replace(one, start=one.start + shift, end=one.end + shift) for one in later]

    def tap(self, characters: str) -> None:
        """Write characters as they are, but for a space before a new word and a capital where a sentence begins."""
        for character in characters:
            starts = character.isalnum() or character in OPENING
            if starts and self._space and needs_space(self.text):
                self.text += " "
            if not character.isalnum():
                self._finish_tapped()
            elif not self.text or self.text[-1].isspace() or self.text[-1] in OPENING:
                character = capitalise(character, self.text, "")
            self.text += character
            # A mark after a swiped word leaves the next word to begin; a letter or a joint does not.
            self._space = self._space and not starts and not character.isspace() and character not in JOINING

    def backspace(self) -> None:
        """Remove the last character, or the whole word if it was just swiped."""
        if self._space and self._words and self._words[-1].end == len(self.text):
            start = self._words.pop().start
            self.text = self.text[:start].removesuffix(" ")
        else:
            self.text = self.text[:-1]
        self._words = [one for one in self._words if one.end <= len(self.text)]
        self._space = bool(self._words) and self._words[-1].end == len(self.text)

    def learn(self) -> int:
        """Teach the keyboard every swiped word that stands in the text and was not taught yet; how many there were.

        Call it when the person is done with the text: what stands there then is what was meant.
        """
        taught = 0
        for place, one in enumerate(self._words):
            stands = self.text[one.start : one.end].casefold() == one.word.casefold()
            if not one.taught and stands and self._is_word(one.word):
                self.keyboard.accept(one.points, one.word)
                self._words[place] = replace(one, taught=True)
                taught += 1
        return taught

    @property
    def words(self) -> tuple[str, ...]:
        """The swiped words as they stand in the text."""
        return tuple(self.text[one.start : one.end] for one in self._words)

    def _window(self) -> list[_Swiped]:
        """The last swiped words that nothing but a space divides and that nobody chose, in the order of the text."""
        window: list[_Swiped] = []
        end = len(self.text.rstrip(" "))
        for one in reversed(self._words[1 - WINDOW :]):
            if one.end != end or one.chosen:
                break
            window.insert(0, one)
            end = len(self.text[: one.start].rstrip(" "))
        return window

    def _revisions(self, window: list[_Swiped], best: list[Candidate]) -> tuple[Revision, ...]:
        """The words of the window that are no longer the best."""
        changed = []
        for at, (one, candidate) in enumerate(zip(window, best, strict=True)):
            place = len(self._words) - 1 - len(window) + at
            now = self.text[one.start : one.end]
            new = capitalise(candidate.word, self.text[: one.start], candidate.language)
            if new != now:
                changed.append(Revision(place, now, new, candidate.probability))
        return tuple(changed)

    def _finish_tapped(self) -> None:
        """Write a lone i that was tapped as English writes it."""
        alone = self.text.endswith("i") and not self.text[-2:-1].isalnum()
        if alone and self._language(self.text[:-1]) == "en":
            self.text = self.text[:-1] + "I"

    def _language(self, text: str) -> str:
        """The language that a word after a text most likely is in."""
        languages = self.keyboard.dictionary.languages
        return languages.names[int(languages.posterior(text).argmax())]

    def _listed(self, finalists: Finalists, word: str, write: Callable[[str], str]) -> str:
        """A word that a person chose as the keyboard writes it: "hello" for "Hello" at the beginning of a sentence."""
        words = [self.keyboard.dictionary.word(finalists, place) for place in range(len(finalists.words))]
        return word if word in words else next((one for one in words if write(one) == word), word)

    def _is_word(self, word: str) -> bool:
        """Whether a keyboard can learn a word: a person may choose any text in place of a swiped word."""
        return is_word(word) and bool(typed_letters(word, frozenset(self.keyboard.layout.letters)))


def needs_space(text: str) -> bool:
    """Whether a space goes between a text and a word.

    >>> needs_space("on"), needs_space("on "), needs_space("("), needs_space("l'"), needs_space("")
    (True, False, False, False, False)
    """
    return bool(text) and not text[-1].isspace() and text[-1] not in OPENING + JOINING


def capitalise(word: str, text: str, language: str) -> str:
    """A word as it is written after a text: with a capital where a sentence begins, else as the lexicon has it.

    >>> capitalise("hello", "", "en"), capitalise("i'm", "well", "en"), capitalise("berlin", "in", "en")
    ('Hello', "I'm", 'berlin')
    >>> capitalise("iPhone", "Done. ", "en")
    'iPhone'
    """
    if language == "en":
        word = FIRST_PERSON.get(word, word)
    begins = last_words(text) == [BEGIN]
    return word[:1].upper() + word[1:] if begins and word.islower() else word
