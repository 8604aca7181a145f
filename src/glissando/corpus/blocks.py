"""Blocks of rows that are not parsed yet: one process reads a file, many others parse and decode it."""

from __future__ import annotations

import io
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from glissando.corpus.lines import parse_lines, raw_lines, with_numbers
from glissando.corpus.parquet import batch_objects, is_parquet, read_batches
from glissando.corpus.sources import import_pyarrow, open_bytes

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
    """

    file: str
    number: int
    first: int
    data: bytes
    arrow: bool = False

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (number, object) as ``read_objects`` does for these rows: same numbers, same errors."""
        if not self.arrow:
            return parse_lines(with_numbers(io.BytesIO(self.data), self.first), self.file)
        return batch_objects(import_pyarrow("Parquet").ipc.open_stream(self.data), self.file, self.first)


def read_blocks(file: str, rows: int = ROWS, skip: Container[int] = ()) -> Iterator[Block]:
    """Yield the blocks of a file; the same file always has the same blocks.

    Args:
        file: JSON lines, plain or gzip, or Parquet; or the address of such a file.
        rows: lines (blank ones count) or Parquet rows of a block.
        skip: numbers of blocks to leave out; they are not parsed, and of Parquet mostly not read.
    """
    with open_bytes(file) as stream:
        if not is_parquet(stream):
            yield from _line_blocks(raw_lines(stream, file), file, rows, skip)
            return
    for number, batches in read_batches(file, rows, skip):
        yield Block(file, number, 1 + number * rows, _ipc(batches), arrow=True)


def _line_blocks(lines: Iterator[bytes], file: str, rows: int, skip: Container[int]) -> Iterator[Block]:
    """Blocks of lines."""
    first = 1
    for number in count():
        block, size = [], 0
        for line in islice(lines, rows):
            block.append(line)
            size += len(line)
            if size >= MAX_BYTES:
                break
        if not block:
            return
        if number not in skip:
            yield Block(file, number, first, b"".join(block))
        first += len(block)


def _ipc(batches: list[Any]) -> bytes:
    """An Arrow IPC stream of some batches."""
    arrow = import_pyarrow("Parquet")
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return sink.getvalue().to_pybytes()
