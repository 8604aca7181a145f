"""The report's table of dataset statistics, and a few more figures, for any corpus."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from glissando.corpus.readers.how_we_swipe import LINE_REASONS
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError

if TYPE_CHECKING:
    from rich.table import Table

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
        """Percentiles of the sampling interval, from its histogram; None where every swipe is a single point."""
        total = self.intervals.sum()
        if not total:
            return None
        share = np.cumsum(self.intervals) / total
        return Spread(*(float(np.searchsorted(share, quantile)) for quantile in (0.05, 0.5, 0.95)))


def corpus_stats(swipes: Iterable[Swipe], dropped: Mapping[str, int] | None = None) -> CorpusStats:
    """Read a corpus once and describe it.

    Args:
        swipes: the corpus.
        dropped: what its reader and filters leave out, by reason; read after the last swipe, when it is complete.
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


def _spread(values: np.ndarray | array[float]) -> Spread:
    """The percentiles of some values."""
    return Spread(*np.round(np.quantile(np.asarray(values), (0.05, 0.5, 0.95)), 4).tolist())


def _shown(value: float | Spread | None, form: str = ",.0f") -> str:
    """A number or three percentiles as text, or a dash where there is none."""
    if value is None:
        return "-"
    values = (value.low, value.median, value.high) if isinstance(value, Spread) else (value,)
    return " / ".join(format(one, form) for one in values)
