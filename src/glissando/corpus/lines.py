"""JSON lines on disk, plain or gzip: read as a stream, written whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from glissando.errors import CorpusError

MAX_LINE_BYTES = 16 * 2**20  # twice what MAX_POINTS points take in the wordiest of the formats
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LineError(CorpusError):
    """What is wrong with one line; the reader puts file and line number before it."""


def open_bytes(path: str | Path) -> IO[bytes]:
    """Open a file for reading, unpacking it where it is gzip, whatever its name."""
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


def parse_object(line: bytes) -> dict[str, Any]:
    """Read one line as a JSON object."""
    try:
        data = json.loads(line.decode("utf-8").strip())
    except UnicodeDecodeError as error:
        raise LineError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise LineError("not JSON we read: nested too deeply") from None
    except ValueError as error:
        raise LineError(f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise LineError(f"a line holds one JSON object, got {type(data).__name__}")
    return data


@contextmanager
def text_for_writing(file: Path, *, compress: bool) -> Iterator[IO[str]]:
    """Open a text file for writing, gzip where asked; the same text always gives the same bytes."""
    with file.open("wb") as raw:
        if not compress:
            with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as text:
                yield text
            return
        packed = gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0)
        with packed, io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text:
            yield text
