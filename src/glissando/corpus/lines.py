"""Rows of a corpus as objects: JSON lines (plain or gzip) and Parquet, read as a stream; JSON lines written."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any, TypeVar

from glissando.corpus.parquet import is_parquet, read_parquet
from glissando.corpus.sources import conceal, open_bytes, shown
from glissando.errors import CorpusError
from glissando.files import replacing

MAX_LINE_BYTES = 16 * 2**20  # twice what a swipe of records.MAX_POINTS points takes in the wordiest format
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

T = TypeVar("T")
Lines = IO[bytes] | gzip.GzipFile


class LineError(CorpusError):
    """What is wrong with one line; the reader puts file and line number before it."""


class UnusableRowError(Exception):
    """A well-formed row that holds no swipe of a word; the text is the reason under which it is counted."""


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) for every line that is not blank, counting from 1, in bounded memory."""
    with open_bytes(path) as file:
        yield from with_numbers(raw_lines(file, path))


def raw_lines(file: Lines, path: str | Path) -> Iterator[bytes]:
    """Yield every line of an open file as it is, blank ones too; an error names file and line.

    Args:
        file: the open file.
        path: its name or address.
    """
    for number in count(1):
        try:
            line = file.readline(MAX_LINE_BYTES + 1)
        except EOFError:
            raise CorpusError(f"{shown(path)}:{number}: the gzip file is cut off here") from None
        except (OSError, zlib.error) as error:
            raise CorpusError(f"{shown(path)}:{number}: cannot be read: {conceal(path, str(error))}") from None
        if not line:
            return
        if len(line) > MAX_LINE_BYTES:
            raise CorpusError(f"{shown(path)}:{number}: longer than {MAX_LINE_BYTES:,} bytes; a line holds one swipe")
        yield line


def with_numbers(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) for every line that is not blank; the first of the given lines has the number ``first``."""
    for number, line in enumerate(lines, first):
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if line and not line.isspace():
            yield number, line


def read_objects(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number, object) of a file of JSON lines, plain or gzip, or of Parquet; an error names file and number.

    The number is that of the line or of the Parquet row, from 1.
    """
    with open_bytes(path) as file:
        if not is_parquet(file):
            yield from parse_lines(with_numbers(raw_lines(file, path)), path)
            return
    yield from read_parquet(path)


def parse_lines(lines: Iterable[tuple[int, bytes]], path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number, object) of numbered lines; an error names file and line."""
    for number, line in lines:
        try:
            yield number, parse_object(line)
        except LineError as error:
            raise CorpusError(f"{shown(path)}:{number}: {error}") from None


def read_rows(
    path: str | Path, make: Callable[[dict[str, Any]], T], dropped: Counter[str] | None = None
) -> Iterator[T]:
    """Yield ``make(object)`` for every object of a file, as ``make_rows`` does."""
    return make_rows(read_objects(path), path, make, dropped)


def make_rows(
    objects: Iterable[tuple[int, dict[str, Any]]],
    path: str | Path,
    make: Callable[[dict[str, Any]], T],
    dropped: Counter[str] | None = None,
) -> Iterator[T]:
    """Yield ``make(object)`` for every numbered object of a file; an error names file and line.

    A row for which ``make`` raises UnusableRowError is left out and counted in ``dropped`` by its reason.
    """
    for number, data in objects:
        try:
            row = make(data)
        except LineError as error:
            raise CorpusError(f"{shown(path)}:{number}: {error}") from None
        except UnusableRowError as reason:
            if dropped is not None:
                dropped[str(reason)] += 1
        else:
            yield row


def parse_object(line: bytes) -> dict[str, Any]:
    """Read one line as a JSON object."""
    try:
        data = json.loads(line.decode("utf-8").strip())
    except UnicodeDecodeError as error:
        raise LineError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise LineError("JSON nested too deeply") from None
    except ValueError as error:
        raise LineError(f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise LineError(f"a line holds one JSON object, got {type(data).__name__}")
    return data


@contextmanager
def object_writer(path: str | Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Give a function that writes objects to a file of JSON lines, gzip where the name ends in .gz.

    The file appears when the body ends well; after a failure the old file is untouched. The same objects always
    give the same bytes.
    """
    with replacing(path) as temporary, temporary.open("wb") as raw:
        packed = str(path).endswith(".gz")
        # No name and no time in the gzip header: they would change the bytes.
        binary = gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) if packed else raw
        with binary, io.TextIOWrapper(binary, encoding="utf-8", newline="\n") as file:
            yield lambda data: print(json.dumps(data, ensure_ascii=False, separators=(",", ":")), file=file)
