"""What must be known of a whole corpus before its swipes are decoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from glissando.corpus.lines import read_rows
from glissando.corpus.records import Swipe, text_field
from glissando.corpus.sources import all_files
from glissando.layout import Layout

SEVERAL = None  # in place of a person: the prompt was given to more than one


@dataclass
class Survey:
    """Counts of the usable swipes of a corpus. Surveys of parts add up to the survey of the whole, in any order.

    Memory grows with the different words, prompts and sizes of keyboards, not with the swipes.

    Attributes:
        swipes: by layout, how many there are.
        aspects: by layout, swipes by the aspect of their letter area, where it is known.
        words: by layout, the words that are meant.
        prompts: the person whom each prompt was given to, or SEVERAL.
    """

    swipes: Counter[str] = field(default_factory=Counter)
    aspects: dict[str, Counter[float]] = field(default_factory=dict)
    words: dict[str, set[str]] = field(default_factory=dict)
    prompts: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, swipes: Iterable[Swipe]) -> Survey:
        """Count some swipes."""
        survey = cls()
        for swipe in swipes:
            survey.count(swipe)
        return survey

    def count(self, swipe: Swipe) -> None:
        """Count one swipe."""
        self.swipes[swipe.layout] += 1
        if swipe.aspect:
            self.aspects.setdefault(swipe.layout, Counter())[swipe.aspect] += 1
        self.words.setdefault(swipe.layout, set()).add(swipe.word)
        if swipe.sentence is not None:
            self.give_prompt(swipe.sentence, swipe.session or "")

    def give_prompt(self, prompt: str, person: str | None) -> None:
        """Note that a prompt was given to a person, or to SEVERAL."""
        if self.prompts.setdefault(prompt, person) != person:
            self.prompts[prompt] = SEVERAL

    def read_prompts(self, sources: Iterable[str | Path]) -> None:
        """Note the prompts of other sources of the same study."""
        for file in all_files(sources):
            for prompt, person in read_rows(file, _prompt):
                if prompt is not None:
                    self.give_prompt(prompt, person or "")

    def add(self, other: Survey) -> None:
        """Add the counts of other swipes."""
        self.swipes.update(other.swipes)
        for layout, aspects in other.aspects.items():
            self.aspects.setdefault(layout, Counter()).update(aspects)
        for layout, words in other.words.items():
            self.words.setdefault(layout, set()).update(words)
        for prompt, person in other.prompts.items():
            self.give_prompt(prompt, person)

    def seen(self, layout: Layout, name: str) -> Layout:
        """A layout with the median aspect of the letter areas it was swiped on, where those are known."""
        return with_median_aspect(layout, self.aspects.get(name, {}))

    def is_sentence(self, prompt: str) -> bool:
        """Whether several people were given a prompt: studies draw sentences from a list, and make up random words."""
        return self.prompts.get(prompt, "") is SEVERAL


def _prompt(row: dict[str, Any]) -> tuple[str | None, str | None]:
    """The prompt of a row, and the person it was given to."""
    return text_field(row, "sentence"), text_field(row, "session")


def with_median_aspect(layout: Layout, aspects: Mapping[float, int]) -> Layout:
    """A layout with the median of some aspects, each with the number of its swipes; unchanged where there are none."""
    return replace(layout, aspect=median(aspects)) if aspects else layout


def median(counts: Mapping[float, int]) -> float:
    """The median of values that occur some number of times, at least one; between two it is their mean."""
    total = sum(counts.values())
    reached, middle = 0, []
    for value in sorted(counts):
        before, reached = reached, reached + counts[value]
        middle += [value for place in ((total - 1) // 2, total // 2) if before <= place < reached]
    return sum(middle) / 2
