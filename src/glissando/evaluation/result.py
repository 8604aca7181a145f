"""What an evaluation found: tallies while swipes are decoded, metrics at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glissando.corpus.records import Swipe
from glissando.errors import CorpusError
from glissando.evaluation.metrics import Bin, Metrics, Outcome, Tally
from glissando.evaluation.survey import Survey

KINDS = ("sentences", "words", "known", "unknown")


@dataclass(frozen=True)
class Evaluation:
    """Metrics of some swipes.

    Attributes:
        overall: all of them.
        by_layout: those on each layout.
        sentences: those whose prompt several people were given, None where there are none: studies draw sentences
            from a list.
        words: those whose prompt one person was given, None where there are none: studies make up random words.
        known: those whose word the lexicon has, None where there are none.
        unknown: those whose word it lacks, None where there are none; added targets are unknown words, too.
        reliability: by layout, the probability of the best candidates beside the share that is right.
        outcomes: by layout, every decoded swipe in the order read; empty where they were not kept.
    """

    overall: Metrics
    by_layout: dict[str, Metrics]
    sentences: Metrics | None
    words: Metrics | None
    known: Metrics | None
    unknown: Metrics | None
    reliability: dict[str, list[Bin]]
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)

    @property
    def parts(self) -> dict[str, Metrics]:
        """The metrics of kinds of swipes that are there: known and unknown words if both are, sentences and words."""
        kinds = {"sentences": self.sentences, "words": self.words}
        if self.unknown is not None:
            kinds |= {"known": self.known, "unknown": self.unknown}
        return {name: metrics for name, metrics in kinds.items() if metrics is not None}

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, without the outcomes."""
        by_layout = {name: metrics.to_dict() for name, metrics in self.by_layout.items()}
        parts = {name: metrics.to_dict() for name, metrics in self.parts.items()}
        return {"overall": self.overall.to_dict(), "by_layout": by_layout, **parts}


@dataclass
class Tallies:
    """Tallies of decoded swipes by layout and by kind; those of parts add up to those of the whole, in any order."""

    layouts: dict[str, Tally] = field(default_factory=dict)
    kinds: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in KINDS})

    def count(self, layout: str, swipes: Sequence[Swipe], outcomes: Sequence[Outcome], survey: Survey) -> None:
        """Count decoded swipes on one layout. The survey knows which prompts are sentences."""
        whole = self.layouts.setdefault(layout, Tally())
        for swipe, outcome in zip(swipes, outcomes, strict=True):
            whole.count(outcome)
            self.kinds["known" if outcome.known else "unknown"].count(outcome)
            if swipe.sentence is not None:
                self.kinds["sentences" if survey.is_sentence(swipe.sentence) else "words"].count(outcome)

    def add(self, other: Tallies) -> None:
        """Add the counts of other swipes."""
        for layout, tally in other.layouts.items():
            self.layouts.setdefault(layout, Tally()).add(tally)
        for kind, tally in other.kinds.items():
            self.kinds[kind].add(tally)

    def evaluation(
        self,
        latencies: Mapping[str, Sequence[float]] | None = None,
        outcomes: dict[str, list[Outcome]] | None = None,
    ) -> Evaluation:
        """The metrics of all that was counted.

        Args:
            latencies: by layout, milliseconds that swipes took one at a time, where they were measured.
            outcomes: by layout, every decoded swipe, where they are kept.
        """
        if not self.layouts:
            raise CorpusError("no swipe to evaluate: the files are empty or every swipe was filtered out")
        spent = latencies or {}
        overall = Tally()
        for tally in self.layouts.values():
            overall.add(tally)
        by_layout = {name: tally.metrics(_median(spent.get(name, ()))) for name, tally in self.layouts.items()}
        kinds = {name: tally.metrics() if tally.n else None for name, tally in self.kinds.items()}
        reliability = {name: tally.reliability() for name, tally in self.layouts.items()}
        everything = [one for part in spent.values() for one in part]
        return Evaluation(
            overall.metrics(_median(everything)), by_layout, **kinds, reliability=reliability, outcomes=outcomes or {}
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        layouts = {name: tally.to_dict() for name, tally in self.layouts.items()}
        return {"layouts": layouts, "kinds": {name: tally.to_dict() for name, tally in self.kinds.items()}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tallies:
        """Read what ``to_dict`` gave."""
        parts = ({name: Tally.from_dict(one) for name, one in data[part].items()} for part in ("layouts", "kinds"))
        return cls(*parts)


def _median(values: Sequence[float]) -> float | None:
    """The median, None where there is nothing."""
    return float(np.median(values)) if len(values) else None
