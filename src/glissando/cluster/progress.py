"""How far a job is: rows a second, rows left, rows that failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from glissando.corpus.sources import file_size


@dataclass(frozen=True)
class Progress:
    """The state of a job.

    Attributes:
        what: what is being done.
        rows: rows answered by this start.
        failed: rows of them that could not be answered.
        share: how much of the input is done, 0 to 1; an estimate by the size of the files.
        seconds: since the first answer was asked for.
    """

    what: str
    rows: int
    failed: int
    share: float
    seconds: float

    def __str__(self) -> str:
        rate = self.rows / max(self.seconds, 1e-9)
        left = ""
        if 0 < self.share < 1:
            left = f", {self.rows * (1 / self.share - 1):,.0f} left, {_clock(self.seconds * (1 / self.share - 1))}"
        return f"{self.what}: {self.rows:,} rows, {rate:,.0f} a second{left}, {self.failed:,} failed"


Show = Callable[[Progress], None]


@dataclass
class Meter:
    """Counts answers and tells how far the job is.

    Attributes:
        what: what is being done.
        files: the input.
        show: called after every answer, None where nobody looks.
    """

    what: str
    files: Sequence[str]
    show: Show | None = None
    rows: int = 0
    failed: int = 0

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        self._sizes = [file_size(file) for file in self.files] if self.show else []
        self._reached: dict[int, float] = {}  # by file, the furthest share of an answer

    def count(self, file: int, share: float, rows: int, failed: int = 0) -> None:
        """Count an answer."""
        self.rows += rows
        self.failed += failed
        if self.show is None:
            return
        self._reached[file] = max(self._reached.get(file, 0.0), share)
        self.show(Progress(self.what, self.rows, self.failed, self._share(), time.monotonic() - self.began))

    def _share(self) -> float:
        """How much of the input is done, by bytes."""
        total = sum(self._sizes) or 1
        return sum(self._sizes[file] * share for file, share in self._reached.items()) / total


def _clock(seconds: float) -> str:
    """A duration for people."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s"
