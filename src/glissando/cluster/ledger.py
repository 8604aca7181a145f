"""Rows that kill workers: found, and left out.

A worker that dies is started again, and so is its block. A row on which the process itself dies would be tried without
end. So from the second attempt on a worker says which row it begins, and a row on which two attempts died is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from glissando.errors import ClusterError

DEATHS = 2  # on one row: a single one can have come from outside
ATTEMPTS = 8  # at one block, before the job ends
DEADLY = "two workers died on this row"  # the answer to such a row

Numbered = TypeVar("Numbered", bound=tuple[int, Any])


class Ledger:
    """The attempts at every block that is not answered yet; one process of the cluster keeps it."""

    def __init__(self) -> None:
        self.attempts: Counter[str] = Counter()
        self.rows: dict[str, int] = {}  # the row that the last attempt had begun
        self.deaths: dict[str, Counter[int]] = {}

    def begin(self, block: str) -> tuple[int, frozenset[int]]:
        """Note that a block is begun; returns how often it was, and the rows to leave out."""
        self.attempts[block] += 1
        if block in self.rows:
            self.deaths.setdefault(block, Counter())[self.rows.pop(block)] += 1
        deadly = frozenset(row for row, deaths in self.deaths.get(block, Counter()).items() if deaths >= DEATHS)
        return self.attempts[block], deadly

    def row(self, block: str, row: int) -> None:
        """Note that a row is begun."""
        self.rows[block] = row

    def end(self, block: str) -> None:
        """Forget a block that was answered."""
        for notes in (self.attempts, self.rows, self.deaths):
            notes.pop(block, None)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Watch:
    """One attempt at a block.

    Attributes:
        ledger: the process that keeps the ledger.
        block: the name of the block.
        attempt: which it is, from 1; from the second on, rows are noted.
        deadly: rows to leave out: two workers died on each.
    """

    ledger: Any
    block: str
    attempt: int
    deadly: frozenset[int]

    @classmethod
    def begin(cls, ledger: Any, block: str) -> Watch:
        """Note the beginning of an attempt. After too many, the job ends: something else than single rows is wrong."""
        watch = cls(ledger, block, *_ask(ledger.begin, block))
        if watch.attempt > ATTEMPTS:
            raise ClusterError(f"{ATTEMPTS} workers died on block {block}; do they have enough memory?")
        return watch

    def rows(self, numbered: Iterable[Numbered]) -> Iterator[Numbered]:
        """Pass on (number, row) pairs, and note each row before it is worked on where the block was begun before."""
        for pair in numbered:
            if self.attempt > 1 and pair[0] not in self.deadly:
                _ask(self.ledger.row, self.block, pair[0])
            yield pair


def _ask(method: Any, *arguments: Any) -> Any:
    """Call a method of the process that keeps the ledger, and wait."""
    import ray

    return ray.get(method.remote(*arguments))
