"""From the store to a corpus: JSON lines in the schema of swipe.futo.org, a pack, or a dataset with its card."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glissando.corpus.lines import object_writer
from glissando.corpus.pack import PackReport, pack
from glissando.corpus.parquet import row_writer
from glissando.corpus.readers import read_corpus
from glissando.errors import CorpusError
from glissando.web.dataset import COLUMNS, donated_row, write_dataset
from glissando.web.selection import Selection
from glissando.web.store import Store

# Columns of the store that an export has under the same name. The hour is left out: a corpus needs no times.
SAME = (
    "word", "canvas_width", "canvas_height", "orientation", "session", "word_index", "layout", "language", "pointer",
    "tries", "sampling", "rate", "pixel_ratio", "key_width_mm", "hand", "posture", "read", "sure", "right", "cost",
    "flagged", "consent",
)  # fmt: skip


def corpus_rows(store: Store, selection: Selection, *, skipped: bool = False) -> Iterator[dict[str, Any]]:
    """Yield swipes as rows of swipe.futo.org, by session and sentence; skipped words only if asked for."""
    for row in store.rows(selection, skipped=skipped):
        yield {
            **{name: getattr(row, name) for name in SAME},
            "data": [{"x": x, "y": y, "t": t} for x, y, t in json.loads(row.points)],
            "sentence": row.text,
            "sentence_id": row.sentence,
            "key_dist_max": row.key_distance,
        }


def write_export(
    store: Store,
    path: str | Path,
    selection: Selection | None = None,
    *,
    skipped: bool = False,
    layouts: str | Path | None = None,
) -> int:
    """Write a selection in the form that the name asks for, whole or not at all, and return the number of swipes.

    Args:
        store: where the swipes are.
        path: ``.npz`` for a pack, ``.zip`` or a name without an ending for a dataset with its card, ``.parquet`` for
            its rows alone, else JSON lines.
        selection: what to write; everything by default.
        skipped: write skipped words too, but not to a pack.
        layouts: the operator's directory of layouts.
    """
    path, selection = Path(path), selection or Selection()
    if path.suffix == ".npz":
        return export_pack(store, path, selection, layouts=layouts).rows
    if path.suffix == "":
        return write_dataset(store.consents(), corpus_rows(store, selection, skipped=skipped), path, layouts=layouts)
    if path.suffix == ".zip":
        with tempfile.TemporaryDirectory() as folder:
            count = write_export(store, Path(folder) / path.stem, selection, skipped=skipped, layouts=layouts)
            _zip(Path(folder), path)
        return count
    return export_rows(store, path, selection, skipped=skipped)


def export_rows(store: Store, path: str | Path, selection: Selection, *, skipped: bool = False) -> int:
    """Write a selection as Parquet or JSON lines, by the ending of the name, and return the number of rows."""
    count, parquet = 0, str(path).endswith(".parquet")
    with row_writer(path, COLUMNS) if parquet else object_writer(path) as write:
        for count, row in enumerate(corpus_rows(store, selection, skipped=skipped), start=1):  # noqa: B007
            write(donated_row(row) if parquet else row)
        if not count:
            raise CorpusError("no swipe to write: the selection is empty")
    return count


def export_pack(
    store: Store, path: str | Path, selection: Selection, *, layouts: str | Path | None = None
) -> PackReport:
    """Write a selection as an ``.npz`` that training reads."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        export_rows(store, rows, selection)
        return pack(read_corpus(rows, Counter(), "futo"), path, layouts=layouts or None)


def _zip(folder: Path, path: Path) -> None:
    """Put a folder's files into a zip, uncompressed: Parquet is compressed already."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
