"""From the store to a corpus: JSON lines in the schema of swipe.futo.org."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glissando.corpus.lines import text_for_writing
from glissando.corpus.pack import PackReport, pack_file
from glissando.corpus.readers import open_corpus
from glissando.files import replacing
from glissando.web.store import Store


def corpus_rows(store: Store, *, skipped: bool = False) -> Iterator[dict[str, Any]]:
    """Every stored swipe as a row of swipe.futo.org, by session and sentence; skipped words only where asked for."""
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
    """Write the store as JSON lines, gzip where the name ends in .gz, whole or not at all; returns how many rows."""
    count = 0
    with replacing(path) as temporary, text_for_writing(temporary, compress=str(path).endswith(".gz")) as file:
        for count, row in enumerate(corpus_rows(store, skipped=skipped), start=1):  # noqa: B007  # it is returned
            print(json.dumps(row, ensure_ascii=False, separators=(",", ":")), file=file)
    return count


def export_pack(store: Store, path: str | Path, *, layouts: str | Path | None = None) -> PackReport:
    """Write the store as an ``.npz`` that training reads as it is; ``layouts`` is the operator's directory of them."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        export_corpus(store, rows)
        return pack_file(open_corpus(rows, "futo"), Path(path), layouts=layouts)
