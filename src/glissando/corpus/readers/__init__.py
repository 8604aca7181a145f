"""Corpora of swipes in the formats in which they are published, one module per format.

A row that its format marks as unusable (two fingers, no touch-down, a skipped word) is left out and counted. A file
that does not have the format is an error that names file and line.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from glissando.corpus.lines import LineError, parse_object, read_lines
from glissando.corpus.readers.futo import read_futo
from glissando.corpus.readers.how_we_swipe import read_how_we_swipe
from glissando.corpus.readers.yandex import read_yandex
from glissando.corpus.records import Swipe, read_swipes
from glissando.errors import CorpusError

FORMATS = ("glissando", "futo", "how-we-swipe", "yandex")
ENDINGS = (".jsonl", ".jsonl.gz", ".log", ".log.gz", ".json.gz", ".ndjson")


def read_corpus(
    path: str | Path | Sequence[str | Path],
    dropped: Counter[str],
    format: str = "auto",
    *,
    grids: str | Path | None = None,
) -> Iterator[Swipe]:
    """Yield the swipes of a corpus in any format we read, and count the rows left out in ``dropped``, by reason.

    Args:
        path: a file, plain or gzip; How We Swipe's zip; a directory of files of one format; or several of these.
        dropped: how many rows were left out so far, by reason.
        format: one of FORMATS, or "auto" to detect it by the first line of each source.
        grids: for Yandex, the file of key grids, where the corpus has others than "default" and "extra".
    """
    if format not in (*FORMATS, "auto"):
        raise CorpusError(f"no corpus format {format!r}; there are auto, {', '.join(FORMATS)}")
    for source in [path] if isinstance(path, (str, Path)) else path:
        files = _files(Path(source))
        detected = detect_format(files[0]) if format == "auto" else format
        for file in files:
            if detected == "futo":
                yield from read_futo(file, dropped)
            elif detected == "how-we-swipe":
                yield from read_how_we_swipe(file, dropped)
            elif detected == "yandex":
                yield from read_yandex(file, dropped, grids=grids)
            else:
                yield from read_swipes(file)


def detect_format(file: str | Path) -> str:
    """Detect the format of a file by its first line."""
    if zipfile.is_zipfile(file):
        return "how-we-swipe"
    number, line = next(read_lines(file), (1, b""))
    if line.startswith(b"sentence timestamp") or (not line.startswith(b"{") and len(line.split()) >= 12):
        return "how-we-swipe"
    try:
        row = parse_object(line)
    except LineError as error:
        raise CorpusError(f"{file}:{number}: no corpus format we know ({error})") from None
    for key, name in (("curve", "yandex"), ("data", "futo"), ("x", "glissando")):
        if key in row:
            return name
    raise CorpusError(f"{file}:{number}: no corpus format we know; a row has the fields {', '.join(sorted(row)[:8])}")


def _files(path: Path) -> tuple[Path, ...]:
    """The file itself, or the corpus files of a directory in order of their names."""
    if not path.is_dir():
        return (path,)
    files = tuple(sorted(file for file in path.rglob("*") if file.name.endswith(ENDINGS) and file.is_file()))
    if not files:
        raise CorpusError(f"no corpus files in {path}; their names end in {', '.join(ENDINGS)}")
    return files
