"""From the store to a corpus: JSON lines in the schema of swipe.futo.org."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glissando.corpus.lines import object_writer
from glissando.corpus.pack import PackReport, pack
from glissando.corpus.readers.futo import read_futo
from glissando.web.store import Store


def corpus_rows(store: Store, *, skipped: bool = False) -> Iterator[dict[str, Any]]:
    """Yield every stored swipe as a row of swipe.futo.org, by session and sentence; skipped words only if asked for."""
    for row in store.export(skipped=skipped):
        yield {
            "word": row.word,
            "data": [{"x": x, "y": y, "t": t} for x, y, t in json.loads(row.points)],
            "canvas_width": row.canvas_width,
            "canvas_height": row.canvas_height,
            "orientation": row.orientation,
            "session": row.session,
            "sentence": row.text,
            "sentence_id": row.sentence,
            "word_index": row.word_index,
            "layout": row.layout,
            "language": row.language,
            "pointer": row.pointer,
        }


def export_corpus(store: Store, path: str | Path, *, skipped: bool = False) -> int:
    """Write the store as JSON lines, gzip where the name ends in .gz, and return the number of rows."""
    count = 0
    with object_writer(path) as write:
        for count, row in enumerate(corpus_rows(store, skipped=skipped), start=1):  # noqa: B007  # it is returned
            write(row)
    return count


def export_pack(store: Store, path: str | Path, *, layouts: str | Path | None = None) -> PackReport:
    """Write the store as an ``.npz`` that training reads; ``layouts`` is the operator's directory of layouts."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        export_corpus(store, rows)
        return pack(read_futo(rows, Counter()), path, layouts=layouts)
