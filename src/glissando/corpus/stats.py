"""The report's table of dataset statistics, and a few more figures, for any corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from glissando.corpus.readers.how_we_swipe import LINE_REASONS
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError

if TYPE_CHECKING:
    from rich.table import Table

FIGURES = ("duration", "points", "letters", "distance", "aspect", "interval")
DECIMALS = 4
LONGEST_GAP_MS = 1000  # sampling intervals are counted by the millisecond up to here
FOLLOWS = 2.0  # key widths: a swipe further from its keys does not follow its word


@dataclass(frozen=True)
class Spread:
    """The 5th, 50th and 95th percentile of a quantity."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class CorpusStats:
    """The contents of a corpus. The first seven figures are the report's table.

    Attributes:
        swipes: number of swipes.
        words: number of different words.
        sessions: number of different people or recording sets, None where unknown.
        sentences: number of different prompts, None where unknown.
        duration_ms: of a swipe.
        points: recorded points of a swipe.
        filtering_rate: share of the rows left out.
        letters: characters of a word.
        interval_ms: between two points.
        key_distance: greatest distance to the word's keys in key widths, None where not measured.
        follows: share of the measured swipes within FOLLOWS key widths.
        aspect: height over width of the letter area, None where unknown.
        layouts: swipes by layout.
        languages: swipes by language.
        dropped: rows (or, of a log, lines) left out, by reason.
    """

    swipes: int
    words: int
    sessions: int | None
    sentences: int | None
    duration_ms: Spread
    points: Spread
    filtering_rate: float
    letters: Spread
    interval_ms: Spread | None
    key_distance: Spread | None
    follows: float | None
    aspect: Spread | None
    layouts: dict[str, int]
    languages: dict[str, int]
    dropped: dict[str, int]


@dataclass
class Tally:
    """Counts of the swipes of a corpus. Tallies of parts add up to the tally of the whole, in any order.

    Memory grows with the different words, sessions, prompts and figures, not with the swipes. Figures are counted with
    DECIMALS decimals.
    """

    words: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    sentences: set[str] = field(default_factory=set)
    layouts: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    figures: dict[str, Counter[float]] = field(default_factory=lambda: {name: Counter() for name in FIGURES})
    dropped: Counter[str] = field(default_factory=Counter)

    def count(self, swipe: Swipe) -> None:
        """Count one swipe."""
        self.words.add(swipe.word)
        if swipe.session is not None:
            self.sessions.add(swipe.session)
        if swipe.sentence is not None:
            self.sentences.add(swipe.sentence)
        self.layouts[swipe.layout] += 1
        self.languages[swipe.language or "unknown"] += 1
        figures = {
            "duration": swipe.gesture.duration,
            "points": len(swipe.gesture),
            "letters": len(swipe.word),
            "distance": swipe.key_distance,
            "aspect": swipe.aspect,
        }
        for name, value in figures.items():
            if value is not None:
                self.figures[name][round(value, DECIMALS)] += 1
        gaps, counts = np.unique(np.clip(np.rint(np.diff(swipe.gesture.t)), 0, LONGEST_GAP_MS), return_counts=True)
        self.figures["interval"].update(dict(zip(gaps.tolist(), counts.tolist(), strict=True)))

    def add(self, other: Tally) -> None:
        """Add the counts of other swipes."""
        for name in ("words", "sessions", "sentences", "layouts", "languages", "dropped"):
            getattr(self, name).update(getattr(other, name))
        for name, counts in other.figures.items():
            self.figures[name].update(counts)

    def stats(self) -> CorpusStats:
        """What the counts say; at least one swipe must have been counted."""
        kept = self.layouts.total()
        if not kept:
            raise CorpusError(f"no swipe in the corpus (left out: {dict(self.dropped) or 'none'})")
        rejected = sum(count for reason, count in self.dropped.items() if reason not in LINE_REASONS)
        spreads = {name: _spread(counts, name != "interval") for name, counts in self.figures.items()}
        distances = self.figures["distance"]
        near = sum(count for distance, count in distances.items() if distance <= FOLLOWS)
        duration, points, letters = (spreads[name] for name in ("duration", "points", "letters"))
        assert duration is not None
        assert points is not None
        assert letters is not None
        return CorpusStats(
            swipes=kept,
            words=len(self.words),
            sessions=len(self.sessions) or None,
            sentences=len(self.sentences) or None,
            duration_ms=duration,
            points=points,
            filtering_rate=rejected / (kept + rejected),
            letters=letters,
            interval_ms=spreads["interval"],
            key_distance=spreads["distance"],
            follows=near / distances.total() if distances else None,
            aspect=spreads["aspect"],
            layouts=_by_size(self.layouts),
            languages=_by_size(self.languages),
            dropped=dict(sorted(self.dropped.items())),
        )


def corpus_stats(swipes: Iterable[Swipe], dropped: Mapping[str, int] | None = None) -> CorpusStats:
    """Read a corpus once and describe it.

    Args:
        swipes: the corpus.
        dropped: what its reader and filters leave out, by reason; read after the last swipe, when it is complete.
    """
    tally = Tally()
    for swipe in swipes:
        tally.count(swipe)
    tally.dropped.update(dropped or {})
    return tally.stats()


def stats_table(stats: CorpusStats) -> Table:
    """The figures as a table for the terminal, the report's rows first."""
    from rich.markup import escape
    from rich.table import Table

    report = {
        "Total swipes": _shown(stats.swipes),
        "Unique target words": _shown(stats.words),
        "Unique anonymized sessions": _shown(stats.sessions),
        "Unique sentences seen as stimulus": _shown(stats.sentences),
        "Median swipe duration (ms)": f"{stats.duration_ms.median:.0f}",
        "Median trajectory length (samples)": f"{stats.points.median:.0f}",
        "Filtering rate": _shown(stats.filtering_rate, ".1%"),
    }
    more = {
        "Duration, p05 / p50 / p95 (ms)": _shown(stats.duration_ms),
        "Points": _shown(stats.points),
        "Letters of a word": _shown(stats.letters),
        "Sampling interval (ms)": _shown(stats.interval_ms),
        "Key distance (key widths)": _shown(stats.key_distance, ",.2f"),
        f"Within {FOLLOWS:g} key widths": _shown(stats.follows, ".1%"),
        "Aspect of the letter area": _shown(stats.aspect, ",.2f"),
    }
    counts = {"Layout": stats.layouts, "Language": stats.languages, "Left out": stats.dropped}
    sections = [{f"{title}: {name}": _shown(n) for name, n in group.items()} for title, group in counts.items()]
    table = Table("Quantity", "Value", box=None, pad_edge=False)
    table.columns[1].justify = "right"
    for section in filter(None, (report, more, *sections)):
        for name, value in section.items():
            table.add_row(escape(name), value)
        table.add_section()
    return table


def _spread(counts: Counter[float], interpolate: bool = True) -> Spread | None:
    """The percentiles of values that occur some number of times; None where there are none.

    Between two values lies their weighted mean, as numpy has it; without ``interpolate``, the higher one.
    """
    if not counts:
        return None
    values = np.array(sorted(counts))
    ends = np.cumsum([counts[value] for value in values.tolist()])
    shares = np.array((0.05, 0.5, 0.95))
    if not interpolate:
        return Spread(*values[np.searchsorted(ends / ends[-1], shares)].tolist())
    places = shares * (ends[-1] - 1)
    low, high = (values[np.searchsorted(ends, edge, side="right")] for edge in (np.floor(places), np.ceil(places)))
    return Spread(*np.round(low + (high - low) * (places % 1), DECIMALS).tolist())


def _by_size(counts: Counter[str]) -> dict[str, int]:
    """Counts, the largest first and equal ones by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _shown(value: float | Spread | None, form: str = ",.0f") -> str:
    """A number or three percentiles as text, or a dash where there is none."""
    if value is None:
        return "-"
    values = (value.low, value.median, value.high) if isinstance(value, Spread) else (value,)
    return " / ".join(format(one, form) for one in values)
