"""People who teach their keyboards: each word is judged first and learned then."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from glissando.corpus.records import Swipe
from glissando.habits import Habits
from glissando.keyboard import Keyboard
from glissando.stages import Finalists, Readings
from glissando.trie import NO_AFFIXES, Affixes


@dataclass(frozen=True, eq=False)
class _Person:
    """A person's keyboard, and the same without habits: what is learned is what the packaged constants say."""

    keyboard: Keyboard
    packaged: Keyboard


class People:
    """The keyboards of the people of a corpus. Own words and habits belong to one person, and start anew for the next.

    A person is a session. All swipes without a session count as those of one person.
    """

    def __init__(self, board: Keyboard, learn: bool, adapt: bool) -> None:
        """Start with nothing learned.

        Args:
            board: the keyboard that everybody begins with; its own words are those of everybody.
            learn: make each word an own word of its person.
            adapt: fit the ranking constants to each person.
        """
        self.board, self.learn, self.adapt = board, learn, adapt
        self._people: dict[str | None, _Person] = {}

    def finalists(self, swipe: Swipe, readings: Readings, row: int, affixes: Affixes = NO_AFFIXES) -> Finalists:
        """What a swipe may mean on its person's keyboard, after all that the person has taught it so far.

        Args:
            swipe: the swipe.
            readings: what the networks say of it and others.
            row: its row there.
            affixes: letters that were tapped.
        """
        return finalists(self._person(swipe).keyboard, swipe, readings, row, affixes)

    def teach(self, swipe: Swipe, readings: Readings, row: int) -> None:
        """Learn the word of a swipe, as ``Keyboard.accept`` does, without running the networks again."""
        person = self._person(swipe)
        if self.adapt:
            spellings = person.packaged.find(swipe.gesture, readings, row)
            matches = person.packaged.match(swipe.gesture, spellings, swipe.aspect or None)
            person.keyboard.observe(spellings, matches, swipe.word)
        if self.learn:
            person.keyboard.learn(swipe.word)

    def _person(self, swipe: Swipe) -> _Person:
        if swipe.session not in self._people:
            own = copy.deepcopy(self.board.vocabulary) if self.learn else self.board.vocabulary
            packaged = self.board.replace(vocabulary=own, habits=Habits())
            self._people[swipe.session] = _Person(packaged.replace(habits=Habits()), packaged)
        return self._people[swipe.session]


def finalists(board: Keyboard, swipe: Swipe, readings: Readings, row: int, affixes: Affixes = NO_AFFIXES) -> Finalists:
    """What a swipe may mean; the arguments are those of ``People.finalists``."""
    spellings = board.find(swipe.gesture, readings, row, affixes)
    return board.score(spellings, board.match(swipe.gesture, spellings, swipe.aspect or None))
