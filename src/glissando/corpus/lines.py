"""JSON lines on disk, plain or gzip: read as a stream, written whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from glissando.errors import CorpusError
from glissando.files import replacing

MAX_LINE_BYTES = 16 * 2**20  # twice what a swipe of records.MAX_POINTS points takes in the wordiest format
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

T = TypeVar("T")


class LineError(CorpusError):
    """What is wrong with one line; the reader puts file and line number before it."""


class UnusableRowError(Exception):
    """A well-formed row that holds no swipe of a word; the text is the reason under which it is counted."""


def open_bytes(path: str | Path) -> IO[bytes]:
    """Open a file for reading; gzip is recognised by its content, whatever the file's name."""
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == _GZIP_MAGIC
        return gzip.open(path, "rb") if packed else open(path, "rb")  # type: ignore[return-value]
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from None


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line) for every line that is not blank, counting from 1, in bounded memory."""
    with open_bytes(path) as file:
        number = 0
        while True:
            number += 1
            try:
                line = file.readline(MAX_LINE_BYTES + 1)
            except EOFError:
                raise CorpusError(f"{path}:{number}: the gzip file is cut off here") from None
            except (OSError, zlib.error) as error:
                raise CorpusError(f"{path}:{number}: cannot be read: {error}") from None
            if not line:
                return
            if len(line) > MAX_LINE_BYTES:
                raise CorpusError(f"{path}:{number}: longer than {MAX_LINE_BYTES:,} bytes; a line holds one swipe")
            if number == 1:
                line = line.removeprefix(_BYTE_ORDER_MARK)
            if not line.isspace():
                yield number, line


def read_objects(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of a file of JSON objects; an error names file and line."""
    for number, line in read_lines(path):
        try:
            yield number, parse_object(line)
        except LineError as error:
            raise CorpusError(f"{path}:{number}: {error}") from None


def read_rows(
    path: str | Path, make: Callable[[dict[str, Any]], T], dropped: Counter[str] | None = None
) -> Iterator[T]:
    """Yield ``make(object)`` for every object of a file; an error names file and line.

    A row for which ``make`` raises UnusableRowError is left out and counted in ``dropped`` by its reason.
    """
    for number, data in read_objects(path):
        try:
            row = make(data)
        except LineError as error:
            raise CorpusError(f"{path}:{number}: {error}") from None
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
