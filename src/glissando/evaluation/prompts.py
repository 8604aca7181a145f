"""Swipes in their prompts: where each word stands, and what was written before it."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from glissando.context import plain
from glissando.corpus.records import Swipe
from glissando.keyboard import Keyboard
from glissando.languages import TAIL
from glissando.scoring import Candidate
from glissando.stages import Finalists

Mode = Literal["none", "prompt", "decoded"]
MODES: tuple[Mode, ...] = ("none", "prompt", "decoded")

AROUND = "".join(set(string.punctuation) - set("'-"))  # what may stand around a word of a prompt


def places(swipes: Iterable[Swipe]) -> list[int | None]:
    """The place of each swipe's word in its prompt: the next one after the person's last there, None where it has none.

    A person's swipes for one prompt are in the order of the file.
    """
    reached: dict[tuple[str | None, str], int] = defaultdict(int)
    found: list[int | None] = []
    for swipe in swipes:
        if swipe.sentence is None:
            found.append(None)
            continue
        words = [plain(word).strip(AROUND) for word in swipe.sentence.split()]
        start = reached[swipe.session, swipe.sentence]
        # A prompt that was given to a person again begins again.
        at = next((i for i in (*range(start, len(words)), *range(start)) if words[i] == plain(swipe.word)), None)
        found.append(at)
        if at is not None:
            reached[swipe.session, swipe.sentence] = at + 1
    return found


def prompt_texts(swipes: Sequence[Swipe]) -> list[str | None]:
    """The text before each swipe's word in its prompt, None where it is not known."""
    found = zip(swipes, places(swipes), strict=True)
    return [None if at is None else " ".join((swipe.sentence or "").split()[:at]) for swipe, at in found]


@dataclass(eq=False)
class Writing:
    """People's texts while their swipes are decoded one after the other.

    With several languages, a swipe whose text is not known is decoded in the languages of the person's last words.

    Attributes:
        board: decodes them.
        swipes: in the order of the corpus.
        mode: what stands before a swipe.
        revise: whether a swipe may change the one right before it in the corpus.
        depth: candidates of each swipe.
        numbers: the place of each swipe in the corpus, where these are not all of its swipes.
    """

    board: Keyboard
    swipes: Sequence[Swipe]
    mode: Mode
    revise: bool
    depth: int
    numbers: Sequence[int] = ()

    def __post_init__(self) -> None:
        self.numbers = self.numbers or range(len(self.swipes))
        self.places = places(self.swipes)
        self._alone = self.board.replace(context=None)  # which words follow which has no say without a text
        several = len(self.board.lexicon.languages) > 1
        self._spoken: dict[str | None, str] | None = defaultdict(str) if several else None
        self._written: dict[tuple[str | None, str], dict[int, str]] = defaultdict(dict)
        self._last: tuple[int, Finalists] | None = None  # which the next may change

    def rank(self, finalists: Finalists) -> Iterator[tuple[int, list[Candidate]]]:
        """Rank the next swipe's finalists; yields the candidates of its row, before them those of a row it changes."""
        before, row = self._last, 0 if self._last is None else self._last[0] + 1
        self._last = row, finalists
        if self.mode == "none" or self.places[row] is None:
            candidates = self._alone.choose(finalists, self.depth, self._last_words(row))
            self._speak(row, candidates)
            yield row, candidates
            return
        if self.revise and before and self._follows(before[0], row):
            sentence = self.board.join([before[1], finalists], self.depth, self._text(before[0]))
            rows, ranked = [before[0], row], sentence.candidates
        else:
            rows, ranked = [row], [self.board.choose(finalists, self.depth, self._text(row))]
        self._speak(row, ranked[-1])
        for at, candidates in zip(rows, ranked, strict=True):
            self._write(at, candidates[0].word if candidates else "")
            yield at, candidates

    def _last_words(self, row: int) -> str | None:
        """The last words decoded for a row's person, None with one language, where they do not count."""
        return None if self._spoken is None else self._spoken[self.swipes[row].session]

    def _speak(self, row: int, candidates: Sequence[Candidate]) -> None:
        """Add the best word of a row to its person's last words."""
        if self._spoken is not None and candidates:
            session = self.swipes[row].session
            self._spoken[session] = f"{self._spoken[session]} {candidates[0].word}"[-2 * TAIL :]

    def _key(self, row: int) -> tuple[str | None, str]:
        return self.swipes[row].session, self.swipes[row].sentence or ""

    def _follows(self, first: int, second: int) -> bool:
        """Whether a row's word stands right after another's, in the prompt and in the corpus."""
        place, following = self.places[first], self.places[second]
        near = self.numbers[second] == self.numbers[first] + 1
        return near and self._key(first) == self._key(second) and place is not None and following == place + 1

    def _write(self, row: int, word: str) -> None:
        place = self.places[row]
        if place is not None:
            self._written[self._key(row)][place] = word

    def _text(self, row: int) -> str:
        """What stands before a row's word: the prompt, or what was decoded there.

        A word without a usable swipe counts as tapped: words of one letter are, and no text has a hole where somebody
        failed to swipe.
        """
        prompt = (self.swipes[row].sentence or "").split()[: self.places[row] or 0]
        if self.mode == "prompt":
            return " ".join(prompt)
        written = self._written[self._key(row)]
        return " ".join(written.get(at, word) for at, word in enumerate(prompt))
