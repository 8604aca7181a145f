"""Swipes as Parquet: the columns of our format, rows read batch by batch, and files written whole or not at all.

A row is the object that a JSON line would hold; what is null in Parquet is None in it.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glissando.corpus.sources import conceal, import_pyarrow, open_arrow, shown
from glissando.errors import CorpusError
from glissando.files import replacing

if TYPE_CHECKING:
    import pyarrow

MAGIC = b"PAR1"
BATCH = 512  # rows decoded together
BUFFER = 2**20  # bytes read ahead of each column, so that a large row group is never held whole

GROUP = 16_384  # rows of a row group that is written
MAX_GROUP = 64 * 2**20  # bytes after which it ends early
VALUES = 2**20  # numbers gathered before they are made Arrow arrays: some 32 MB as Python objects

# The columns of our format: their types, and what they hold.
COLUMNS = {
    "word": ("string", "the word that was meant"),
    "x": ("list<double>", "the finger's path over the letter area: 0 is its left edge, 1 its right edge"),
    "y": ("list<double>", "the same from top to bottom"),
    "t": ("list<double>", "milliseconds from touch-down"),
    "layout": ("string", "name of the layout"),
    "session": ("string", "a person or a recording set"),
    "canvas_width": ("double", "width of the letter area in pixels"),
    "canvas_height": ("double", "its height"),
    "sentence": ("string", "the prompt"),
    "key_dist_mean": ("double", "mean distance of the path to the word's keys, in key widths"),
    "key_dist_max": ("double", "the greatest distance"),
    "source": ("string", "the corpus it is from"),
    "language": ("string", "code of the language"),
}


def is_parquet(stream: io.BufferedReader | gzip.GzipFile) -> bool:
    """Whether a file that ``open_bytes`` opened begins as Parquet does; nothing is taken from it."""
    return isinstance(stream, io.BufferedReader) and stream.peek(len(MAGIC)).startswith(MAGIC)


def column_names(file: str | Path) -> list[str]:
    """The names of the columns of a Parquet file."""
    with _opened(file) as table:
        return table.schema_arrow.names


def row_count(file: str | Path) -> int:
    """The number of rows of a Parquet file."""
    with _opened(file) as table:
        return int(table.metadata.num_rows)


def read_parquet(file: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row number, object) of a Parquet file, counting from 1, in bounded memory."""
    for block, batches in read_batches(file, BATCH):
        yield from batch_objects(batches, file, 1 + block * BATCH)


def read_batches(
    file: str | Path, rows: int, skip: Container[int] = ()
) -> Iterator[tuple[int, list[pyarrow.RecordBatch]]]:
    """Yield (number, batches) of every block of ``rows`` rows, numbered from 0.

    Args:
        file: a Parquet file or the address of one.
        rows: rows of a block; the last one may have fewer.
        skip: blocks to leave out. Row groups that lie in them entirely are not read.
    """
    with _opened(file) as table:
        at, parts = 0, []
        for group in range(table.num_row_groups):
            end = at + table.metadata.row_group(group).num_rows
            if all(block in skip for block in range(at // rows, -(-end // rows))):
                at = end
                continue
            for batch in table.iter_batches(min(rows, BATCH), [group], use_threads=False):
                for part in _cut(batch, rows - at % rows, rows):
                    if at // rows not in skip:
                        parts.append(part)
                    at += len(part)
                    if parts and at % rows == 0:
                        yield at // rows - 1, parts
                        parts = []
            if at != end:
                raise CorpusError(f"{shown(file)}: unreadable Parquet: it ends after row {at:,}, not {end:,}")
        if parts:
            yield at // rows, parts


def batch_objects(
    batches: Iterable[pyarrow.RecordBatch], file: str | Path, first: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (row number, object) of batches whose first row has the number ``first``."""
    number = first
    try:
        for batch in batches:
            for row in _objects(batch):
                yield number, row
                number += 1
    except (ValueError, OverflowError) as error:
        raise CorpusError(f"{shown(file)}:{number}: cannot be read: {error}") from None


def schema(columns: Mapping[str, tuple[str, str]]) -> pyarrow.Schema:
    """The Arrow schema of columns that are described as COLUMNS are."""
    arrow = import_pyarrow("Parquet")
    types = {
        "string": arrow.string(), "float": arrow.float32(), "double": arrow.float64(), "int32": arrow.int32(),
        "bool": arrow.bool_(), "list<double>": arrow.list_(arrow.float64()),
    }  # fmt: skip
    return arrow.schema([(name, types[kind]) for name, (kind, _) in columns.items()])


@contextmanager
def row_writer(
    path: str | Path, columns: Mapping[str, tuple[str, str]] = COLUMNS
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Give a function that writes objects as rows of a Parquet file; the file appears when the body ends well.

    Memory holds one row group. A field that an object lacks is null, one without a column is an error.

    Args:
        path: the file.
        columns: the columns, as COLUMNS.
    """
    wanted = schema(columns)
    from pyarrow import parquet

    with replacing(path) as temporary:
        options = {"compression": "zstd", "write_page_checksum": True}
        with parquet.ParquetWriter(str(temporary), wanted, **options) as file:
            group = _Group(file, wanted)
            yield group.add
            group.write()


class _Group:
    """The rows of a row group that is not written yet: the last ones as objects, those before as Arrow batches."""

    def __init__(self, file: Any, schema: pyarrow.Schema) -> None:
        self._file, self._schema = file, schema
        self._rows: list[Mapping[str, Any]] = []
        self._values = 0
        self._batches: list[pyarrow.RecordBatch] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row, and write the group when it is full."""
        if unknown := row.keys() - set(self._schema.names):
            raise CorpusError(f"no column {min(unknown)!r}; there are {', '.join(self._schema.names)}")
        self._rows.append(row)
        self._values += sum(len(value) for value in row.values() if isinstance(value, list))
        if len(self._rows) == BATCH or self._values > VALUES:
            self._pack()
            if sum(map(len, self._batches)) >= GROUP or sum(batch.nbytes for batch in self._batches) > MAX_GROUP:
                self.write()

    def write(self) -> None:
        """Write the group."""
        arrow = import_pyarrow("Parquet")
        self._pack()
        if self._batches:
            self._file.write_table(arrow.Table.from_batches(self._batches), row_group_size=2 * GROUP)
        self._batches = []

    def _pack(self) -> None:
        """Make a batch of the objects."""
        arrow = import_pyarrow("Parquet")
        columns = {name: [row.get(name) for row in self._rows] for name in self._schema.names}
        try:
            if self._rows:
                self._batches.append(arrow.RecordBatch.from_pydict(columns, self._schema))
        except (ValueError, TypeError, OverflowError) as error:
            raise CorpusError(f"a row does not fit its columns: {error}") from None
        self._rows, self._values = [], 0


def _cut(batch: pyarrow.RecordBatch, first: int, others: int) -> Iterator[pyarrow.RecordBatch]:
    """A batch in parts: the first has at most ``first`` rows, the others at most ``others``."""
    start, end = 0, first
    while start < len(batch):
        part = batch.slice(start, end - start)
        yield part
        start, end = end, end + others


def _objects(batch: pyarrow.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch; where one cannot be read, those before it come first."""
    try:
        rows = _rows(batch)
    except (ValueError, OverflowError):
        if len(batch) == 1:
            raise
        for at in range(len(batch)):
            yield from _rows(batch.slice(at, 1))
    else:
        yield from rows


def _rows(batch: pyarrow.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a batch. Times are text: Python has no nanoseconds."""
    arrow = import_pyarrow("Parquet")
    rows: list[dict[str, Any]] = [{} for _ in range(len(batch))]
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        values = column.cast(arrow.string()) if arrow.types.is_temporal(column.type) else column
        for row, value in zip(rows, values.to_pylist(), strict=True):
            row[name] = value
    return rows


@contextmanager
def _opened(file: str | Path) -> Iterator[Any]:
    """Give an open ``ParquetFile``; damage or a lost connection becomes one line."""
    import_pyarrow("Parquet")
    from pyarrow import ArrowException, parquet

    try:
        with open_arrow(file) as stream:
            yield parquet.ParquetFile(stream, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True)
    except (OSError, ArrowException) as error:
        raise CorpusError(f"{shown(file)}: unreadable Parquet: {conceal(file, str(error))}") from None
