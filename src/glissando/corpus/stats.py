"""The report's table of dataset statistics, and a few more figures, for any corpus."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glissando.corpus.readers.rows import LINE_REASONS
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError

if TYPE_CHECKING:
    from rich.table import Table

LONGEST_GAP_MS = 1000  # sampling intervals are counted by the millisecond up to here
FOLLOWS = 2.0  # key widths: what strays further does not follow its word


@dataclass(frozen=True)
class Spread:
    """The 5th, 50th and 95th percentile of a quantity."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class CorpusStats:
    """What a corpus holds. The first seven are the report's table.

    Attributes:
        swipes: how many there are.
        words: different words.
        sessions: different people or recording sets, None where nothing says.
        sentences: different prompts, None where nothing says.
        duration_ms: of a swipe.
        points: recorded points of a swipe.
        filtering_rate: share of the rows that was left out.
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

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)


class _Tally:
    """Running counts; memory grows with words, sessions and 40 bytes a swipe."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.sessions: set[str] = set()
        self.sentences: set[str] = set()
        self.layouts: Counter[str] = Counter()
        self.languages: Counter[str] = Counter()
        self.columns = {name: array("d") for name in ("duration", "points", "letters", "distance", "aspect")}
        self.intervals = np.zeros(LONGEST_GAP_MS + 1, dtype=np.int64)

    def add(self, swipe: Swipe) -> None:
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
                self.columns[name].append(value)
        gaps = np.clip(np.rint(np.diff(swipe.gesture.t)), 0, LONGEST_GAP_MS).astype(np.int64)
        self.intervals += np.bincount(gaps, minlength=LONGEST_GAP_MS + 1)

    def interval_spread(self) -> Spread | None:
        """Percentiles of the sampling interval, from its histogram."""
        total = self.intervals.sum()
        if not total:
            return None
        share = np.cumsum(self.intervals) / total
        return Spread(*(float(np.searchsorted(share, quantile)) for quantile in (0.05, 0.5, 0.95)))


def corpus_stats(swipes: Iterable[Swipe], dropped: Mapping[str, int] | None = None) -> CorpusStats:
    """Read a corpus once and describe it.

    Args:
        swipes: the corpus.
        dropped: what its reader and filters left out; read after the last swipe, so it may still be filling.
    """
    tally = _Tally()
    for swipe in swipes:
        tally.add(swipe)
    left_out = dict(dropped or {})
    if not tally.columns["duration"]:
        raise CorpusError(f"no swipe in the corpus (left out: {left_out or 'none'})")
    kept = len(tally.columns["duration"])
    rejected = sum(count for reason, count in left_out.items() if reason not in LINE_REASONS)
    distances = np.array(tally.columns["distance"])
    return CorpusStats(
        swipes=kept,
        words=len(tally.words),
        sessions=len(tally.sessions) or None,
        sentences=len(tally.sentences) or None,
        duration_ms=_spread(tally.columns["duration"]),
        points=_spread(tally.columns["points"]),
        filtering_rate=rejected / (kept + rejected),
        letters=_spread(tally.columns["letters"]),
        interval_ms=tally.interval_spread(),
        key_distance=_spread(distances) if len(distances) else None,
        follows=float((distances <= FOLLOWS).mean()) if len(distances) else None,
        aspect=_spread(tally.columns["aspect"]) if tally.columns["aspect"] else None,
        layouts=dict(tally.layouts.most_common()),
        languages=dict(tally.languages.most_common()),
        dropped=dict(sorted(left_out.items())),
    )


def stats_table(stats: CorpusStats) -> Table:
    """The figures as a table for the terminal, the report's rows first."""
    from rich.markup import escape
    from rich.table import Table

    table = Table("Quantity", "Value", box=None, pad_edge=False)
    table.columns[1].justify = "right"
    table.add_row("Total swipes", f"{stats.swipes:,}")
    table.add_row("Unique target words", f"{stats.words:,}")
    table.add_row("Unique anonymized sessions", _count(stats.sessions))
    table.add_row("Unique sentences seen as stimulus", _count(stats.sentences))
    table.add_row("Median swipe duration (ms)", f"{stats.duration_ms.median:.0f}")
    table.add_row("Median trajectory length (samples)", f"{stats.points.median:.0f}")
    table.add_row("Filtering rate", f"{stats.filtering_rate:.1%}")
    table.add_section()
    table.add_row("Duration, p05 / p50 / p95 (ms)", _three(stats.duration_ms, 0))
    table.add_row("Points", _three(stats.points, 0))
    table.add_row("Letters of a word", _three(stats.letters, 0))
    table.add_row("Sampling interval (ms)", _three(stats.interval_ms, 0))
    table.add_row("Key distance (key widths)", _three(stats.key_distance, 2))
    table.add_row(f"Within {FOLLOWS:g} key widths", "-" if stats.follows is None else f"{stats.follows:.1%}")
    table.add_row("Aspect of the letter area", _three(stats.aspect, 2))
    for title, counts in (("Layout", stats.layouts), ("Language", stats.languages), ("Left out", stats.dropped)):
        if counts:
            table.add_section()
        for name, count in counts.items():
            table.add_row(escape(f"{title}: {name}"), f"{count:,}")
    return table


def _spread(values: np.ndarray | array[float]) -> Spread:
    """The percentiles of some values."""
    return Spread(*np.round(np.quantile(np.asarray(values), (0.05, 0.5, 0.95)), 4).tolist())


def _count(value: int | None) -> str:
    """A count, or a dash."""
    return "-" if value is None else f"{value:,}"


def _three(spread: Spread | None, decimals: int) -> str:
    """Three percentiles, or a dash."""
    if spread is None:
        return "-"
    return " / ".join(f"{value:,.{decimals}f}" for value in (spread.low, spread.median, spread.high))
