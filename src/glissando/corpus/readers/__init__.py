"""Corpora of swipes in the formats in which they are published, one module per format.

A row that its format marks as unusable (two fingers, no touch-down, a skipped word) is left out and counted. A file
that does not have the format is an error that names file and line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from glissando.corpus.lines import LineError, parse_object, read_lines, read_rows
from glissando.corpus.parquet import column_names, is_parquet
from glissando.corpus.readers.futo import futo_swipe
from glissando.corpus.readers.how_we_swipe import is_zip, read_how_we_swipe
from glissando.corpus.readers.yandex import yandex_maker
from glissando.corpus.records import Swipe, swipe_from_dict
from glissando.corpus.sources import find_files, open_bytes, shown
from glissando.errors import CorpusError

FORMATS = ("glissando", "futo", "how-we-swipe", "yandex")


def read_corpus(
    sources: str | Path | Sequence[str | Path],
    dropped: Counter[str],
    format: str = "auto",
    *,
    grids: str | Path | None = None,
) -> Iterator[Swipe]:
    """Yield the swipes of a corpus in any format we read, and count the rows left out in ``dropped``, by reason.

    Args:
        sources: what ``find_files`` takes, with files of one format each; or several of these.
        dropped: how many rows were left out so far, by reason.
        format: one of FORMATS, or "auto" to detect it by the first line of each source.
        grids: for Yandex, the file of key grids, where the corpus has others than "default" and "extra".
    """
    for file, detected in corpus_files([sources] if isinstance(sources, (str, Path)) else sources, format):
        if detected == "how-we-swipe":
            yield from read_how_we_swipe(file, dropped)
        else:
            yield from read_rows(file, swipe_maker(detected, grids=grids), dropped)


def corpus_files(sources: Iterable[str | Path], format: str = "auto") -> list[tuple[str, str]]:
    """The files of some sources, each with its format; the arguments are those of ``read_corpus``."""
    _check_format(format)
    found: list[tuple[str, str]] = []
    for source in sources:
        files = find_files(source)
        detected = detect_format(files[0]) if format == "auto" else format
        found += [(file, detected) for file in files]
    return found


def swipe_maker(format: str, *, grids: str | Path | None = None) -> Callable[[dict[str, Any]], Swipe]:
    """The function that makes one row of a format a Swipe, or raises LineError or UnusableRowError.

    Args:
        format: one of FORMATS whose rows are objects: all but How We Swipe's.
        grids: as in ``read_corpus``.
    """
    _check_format(format)
    if format == "how-we-swipe":
        raise CorpusError(
            "the logs of How We Swipe have no row for each swipe; convert them first: "
            "glissando corpus convert LOGS -o swipes.jsonl.gz"
        )
    if format == "yandex":
        return yandex_maker(grids)
    return futo_swipe if format == "futo" else swipe_from_dict


def _check_format(format: str) -> None:
    if format not in (*FORMATS, "auto"):
        raise CorpusError(f"no corpus format {format!r}; there are auto, {', '.join(FORMATS)}")


def detect_format(file: str | Path) -> str:
    """Detect the format of a file by its first line, or by its columns where it is Parquet."""
    if is_zip(file):
        return "how-we-swipe"
    with open_bytes(file) as stream:
        parquet = is_parquet(stream)
    number, line = (1, b"") if parquet else next(read_lines(file), (1, b""))
    if line.startswith(b"sentence timestamp") or (not line.startswith(b"{") and len(line.split()) >= 12):
        return "how-we-swipe"
    try:
        fields = column_names(file) if parquet else list(parse_object(line))
    except LineError as error:
        raise CorpusError(f"{shown(file)}:{number}: no corpus format we know ({error})") from None
    for field, name in (("curve", "yandex"), ("data", "futo"), ("x", "glissando")):
        if field in fields:
            return name
    listed = ", ".join(sorted(fields)[:8])
    raise CorpusError(f"{shown(file)}:{number}: no corpus format we know; a row has the fields {listed}")
