"""Blocks of rows that are not parsed yet: one process reads a file, many others parse and decode it."""

from __future__ import annotations

import io
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any

from glissando.corpus.lines import LineError, parse_object, raw_lines, with_numbers
from glissando.corpus.parquet import batch_objects, is_parquet, read_batches, row_count
from glissando.corpus.sources import bytes_read, file_size, import_pyarrow, open_bytes, shown
from glissando.errors import CorpusError

ROWS = 512  # of a block
MAX_BYTES = 64 * 2**20  # a block of lines ends early where it reaches this; 512 swipes take about 1 MB


@dataclass(frozen=True)
class Block:
    """Some consecutive rows of a file, not parsed yet.

    Attributes:
        file: where they are from, as ``find_files`` names it.
        number: which block of its file, from 0.
        first: line (or Parquet row) number of its first row, from 1.
        data: JSON lines as they stand in the file, or an Arrow IPC stream of the rows.
        arrow: whether it is the latter.
        share: how much of the file is read when the block ends, 0 to 1, by bytes or Parquet rows.
    """

    file: str
    number: int
    first: int
    data: bytes
    arrow: bool = False
    share: float = 1.0

    def rows(self) -> Iterator[tuple[int, dict[str, Any] | LineError]]:
        """Yield (number, object) of every row, or what is wrong with it in place of the object."""
        if self.arrow:
            yield from batch_objects(self._batches(), self.file, self.first)
            return
        for number, line in self._lines():
            try:
                yield number, parse_object(line)
            except LineError as error:
                yield number, error

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (number, object) as ``read_objects`` does for these rows: same numbers, same errors."""
        for number, row in self.rows():
            if isinstance(row, LineError):
                raise CorpusError(f"{shown(self.file)}:{number}: {row}")
            yield number, row

    def until(self, number: int) -> Block:
        """The block without the rows after the one with this number."""
        if not self.arrow:
            kept = islice(io.BytesIO(self.data), number - self.first + 1)
            return replace(self, data=b"".join(kept))
        return replace(self, data=_ipc(_first(self._batches(), number - self.first + 1)))

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        return with_numbers(io.BytesIO(self.data), self.first)

    def _batches(self) -> Any:
        return import_pyarrow("Parquet").ipc.open_stream(self.data)


def read_blocks(file: str, rows: int = ROWS, skip: Container[int] = ()) -> Iterator[Block]:
    """Yield the blocks of a file; the same file always has the same blocks.

    Args:
        file: JSON lines, plain or gzip, or Parquet; or the address of such a file.
        rows: lines (blank ones count) or Parquet rows of a block.
        skip: numbers of blocks to leave out; they are not parsed, and of Parquet mostly not read.
    """
    with open_bytes(file) as stream:
        if not is_parquet(stream):
            yield from _line_blocks(stream, file, rows, skip)
            return
    total = row_count(file)
    for number, batches in read_batches(file, rows, skip):
        share = min(1.0, (number + 1) * rows / total)
        yield Block(file, number, 1 + number * rows, _ipc(batches), arrow=True, share=share)


def _line_blocks(stream: Any, file: str, rows: int, skip: Container[int]) -> Iterator[Block]:
    """Blocks of the lines of a stream that ``open_bytes`` opened."""
    lines, size, first = raw_lines(stream, file), file_size(file), 1
    for number in count():
        block = _next_lines(lines, rows)
        if not block:
            return
        if number not in skip:
            yield Block(file, number, first, b"".join(block), share=min(1.0, bytes_read(stream) / max(size, 1)))
        first += len(block)


def _next_lines(lines: Iterator[bytes], rows: int) -> list[bytes]:
    """The next lines, fewer than ``rows`` where they are long."""
    block, size = [], 0
    for line in islice(lines, rows):
        block.append(line)
        size += len(line)
        if size >= MAX_BYTES:
            break
    return block


def _first(batches: Iterable[Any], rows: int) -> list[Any]:
    """The first rows of some batches."""
    kept = []
    for batch in batches:
        kept.append(batch.slice(0, rows))
        rows -= len(kept[-1])
        if not rows:
            break
    return kept


def _ipc(batches: list[Any]) -> bytes:
    """An Arrow IPC stream of some batches."""
    arrow = import_pyarrow("Parquet")
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return sink.getvalue().to_pybytes()
