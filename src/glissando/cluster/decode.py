"""Decode rows on a cluster: every row of the input has one row in the results, with its candidates or its error."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from glissando.cluster.connection import with_full_paths
from glissando.cluster.ledger import DEADLY, Watch
from glissando.cluster.parts import Parts, describe_files
from glissando.cluster.progress import Meter
from glissando.cluster.stream import Run, Task, Work, run_blocks
from glissando.corpus.sources import import_pyarrow, shown
from glissando.errors import GlissandoError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.rows import RowDecoder, RowOptions

FORMATS = ("jsonl", "parquet")


@dataclass(frozen=True)
class DecodeSummary:
    """What a job did: rows answered by this start, those of them that failed, its blocks, and blocks done before."""

    rows: int
    failed: int
    blocks: int
    blocks_before: int

    def __str__(self) -> str:
        before = f"; {self.blocks_before:,} blocks were done before" if self.blocks_before else ""
        return f"{self.rows:,} rows in {self.blocks:,} blocks, {self.failed:,} rows failed{before}"


@dataclass(frozen=True)
class _DecodeJob:
    """Decode every row of a block and write the answers."""

    options: EvaluationOptions
    wishes: RowOptions
    parts: Parts

    def start(self) -> Work:
        """Make a decoder, which keeps its keyboards."""
        decoder = RowDecoder(self.options, self.wishes)
        decoder.keyboard("")  # what is wrong with the options ends the job, not every row

        def work(task: Task, watch: Watch) -> tuple[int, int]:
            rows = [
                {"file": shown(task.content.file), "row": number, **_answer(decoder, row, number in watch.deadly)}
                for number, row in watch.rows(task.content.rows())
            ]
            self.parts.write(task.file, task.number, _encode(rows, self.parts.ending))
            return len(rows), sum("error" in row for row in rows)

        return work


def decode_files(run: Run, parts: Parts, options: EvaluationOptions, wishes: RowOptions) -> DecodeSummary:
    """Decode every row of some files; a row that cannot be decoded is answered with its error.

    Args:
        run: where and what.
        parts: where the results go, one file for each block.
        options: how to decode.
        wishes: what is wanted of every row.
    """
    if parts.ending not in FORMATS:
        raise GlissandoError(f"no format {parts.ending!r} for results; there are {', '.join(FORMATS)}")
    if wishes.sentence:
        raise GlissandoError("--sentence needs the rows in order; on a cluster, give each row its context")
    options, wishes = with_full_paths(options), with_full_paths(wishes)
    done = parts.begin({
        "job": "decode", "files": describe_files(run.files), "rows": run.rows, "format": parts.ending,
        "options": asdict(options), "wishes": asdict(wishes),
    })  # fmt: skip
    meter = Meter("decoding", run.files, run.show)
    blocks = [(file, block) for file, some in done.items() for block in some]
    before = len(blocks)
    for answer in run_blocks(run, _DecodeJob(options, wishes, parts), done):
        meter.count(answer.file, answer.share, *answer.result)
        blocks.append((answer.file, answer.number))
    parts.check(blocks)
    return DecodeSummary(meter.rows, meter.failed, len(blocks) - before, before)


def _answer(decoder: RowDecoder, row: Any, deadly: bool) -> dict[str, Any]:
    """The answer to a row: what it may mean, or why it cannot be decoded."""
    if deadly:
        return {"error": DEADLY}
    if isinstance(row, GlissandoError):
        return {"error": str(row)}
    try:
        return decoder.decode(row).to_dict()
    except GlissandoError as error:
        return {"error": str(error)}


def _encode(rows: Sequence[dict[str, Any]], ending: str) -> bytes:
    """Answers as the bytes of a file."""
    if ending == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    arrow = import_pyarrow("Parquet")
    from pyarrow import parquet

    text, real = arrow.string(), arrow.float64()
    candidate = arrow.struct({
        "word": text, "score": real, "log_prob": real, "probability": real, "letters": text,
        "frequency": arrow.int32(), "literal": arrow.bool_(), "language": text,
    })  # fmt: skip
    schema = arrow.schema({
        "file": text, "row": arrow.int64(), "candidates": arrow.list_(candidate), "none": real, "error": text,
    })  # fmt: skip
    sink = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(list(rows), schema), sink, compression="zstd")
    return sink.getvalue()
