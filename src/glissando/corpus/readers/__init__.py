"""Corpora of swipes in the formats they are published in, one module per format.

A row that its format marks as unusable (two fingers, no touch-down, a skipped word) is left out and counted; a
file that is not of its format is an error that names file and line.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from glissando.corpus.lines import LineError, parse_object, read_lines
from glissando.corpus.readers.futo import read_futo
from glissando.corpus.readers.how_we_swipe import read_how_we_swipe
from glissando.corpus.readers.yandex import read_yandex
from glissando.corpus.records import Swipe, read_swipes
from glissando.errors import CorpusError

FORMATS = ("glissando", "futo", "how-we-swipe", "yandex")
ENDINGS = (".jsonl", ".jsonl.gz", ".log", ".log.gz", ".json.gz", ".ndjson")


@dataclass
class Corpus:
    """Swipes of one or more files; iterate over it to read them.

    Attributes:
        sources: the files, in the order they are read, and the format of each.
        grids: the file of key grids that a Yandex corpus refers to, None for the two grids we know.
        dropped: why rows were left out and how often, as far as it has been read.
    """

    sources: tuple[tuple[Path, str], ...]
    grids: Path | None = None
    dropped: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Swipe]:
        self.dropped.clear()
        for file, format in self.sources:
            yield from self._read(file, format)

    def _read(self, file: Path, format: str) -> Iterator[Swipe]:
        """The swipes of one file."""
        if format == "futo":
            return read_futo(file, self.dropped)
        if format == "how-we-swipe":
            return read_how_we_swipe(file, self.dropped)
        if format == "yandex":
            return read_yandex(file, self.dropped, grids=self.grids)
        return read_swipes(file)


def open_corpus(
    path: str | Path | Sequence[str | Path], format: str = "auto", *, grids: str | Path | None = None
) -> Corpus:
    """Open a corpus in any format we read.

    Args:
        path: a file, plain or gzip; How We Swipe's zip; a directory of files of one format; or several of these.
        format: one of FORMATS, or "auto" to tell by the first line of each.
        grids: for Yandex, the file of key grids, where others than "default" and "extra" occur.
    """
    if format not in (*FORMATS, "auto"):
        raise CorpusError(f"no corpus format {format!r}; there are auto, {', '.join(FORMATS)}")
    sources: list[tuple[Path, str]] = []
    for one in [path] if isinstance(path, (str, Path)) else path:
        files = _files(Path(one))
        found = detect_format(files[0]) if format == "auto" else format
        sources.extend((file, found) for file in files)
    return Corpus(tuple(sources), Path(grids) if grids is not None else None)


def detect_format(file: str | Path) -> str:
    """Tell the format of a file by its first line."""
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
    """The file, or the corpus files of a directory in order of their names."""
    if not path.is_dir():
        return (path,)
    files = tuple(sorted(file for file in path.rglob("*") if file.name.endswith(ENDINGS) and file.is_file()))
    if not files:
        raise CorpusError(f"no corpus files in {path}; their names end in {', '.join(ENDINGS)}")
    return files
