"""Parquet beside JSON lines: the same rows, the same numbers, damage is one clear line."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from glissando.corpus import parquet as ours
from glissando.corpus.lines import read_objects
from glissando.corpus.parquet import COLUMNS, column_names, read_batches, row_writer, schema
from glissando.corpus.records import read_swipes, swipe_from_dict, swipe_to_dict, write_swipes
from glissando.errors import CorpusError, FileError, MissingExtraError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROW: dict[str, Any] = {
    "word": "all", "x": [0.1889, 0.5, 1 / 3], "y": [0.2316, -0.1, 0.5], "t": [0, 133, 150.5], "layout": "qwerty",
    "session": "p1", "canvas_width": 360.0, "canvas_height": 159.7, "sentence": "всё it", "key_dist_mean": 0.3,
    "key_dist_max": 0.5, "source": "here", "language": "en",
}  # fmt: skip


def _numbered(folder: Path, count: int, group: int, name: str = "rows.parquet") -> Path:
    """A file of rows {"n": 1}, {"n": 2}, ... in groups."""
    with pq.ParquetWriter(folder / name, pa.schema([("n", pa.int64())])) as file:
        for start in range(0, count, group):
            file.write_table(pa.table({"n": range(start + 1, min(start + group, count) + 1)}))
    return folder / name


def test_what_is_written_reads_back_to_the_last_digit(tmp_path: Path) -> None:
    swipes = [swipe_from_dict(ROW), swipe_from_dict({name: ROW[name] for name in ("word", "x", "y", "t", "layout")})]
    for name in ("a.parquet", "a.jsonl"):
        assert write_swipes(tmp_path / name, swipes) == 2
    assert column_names(tmp_path / "a.parquet") == list(COLUMNS)
    read = [[swipe_to_dict(swipe) for swipe in read_swipes(tmp_path / name)] for name in ("a.parquet", "a.jsonl")]
    assert read[0] == read[1] == [swipe_to_dict(swipe) for swipe in swipes]
    (_, first), (number, second) = read_objects(tmp_path / "a.parquet")
    assert first["x"] == [0.1889, 0.5, 0.3333]
    assert (number, second["session"], second["key_dist_max"]) == (2, None, None)
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0).column(0).compression == "ZSTD"


def test_the_columns_are_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    assert "\n".join(f"| `{name}` | {kind} | {what} |" for name, (kind, what) in COLUMNS.items()) in text


def test_a_file_is_recognised_by_content(tmp_path: Path) -> None:
    file = _numbered(tmp_path, 1300, 500, "rows.jsonl")
    assert list(read_objects(file)) == [(n, {"n": n}) for n in range(1, 1301)]
    assert list(read_objects(file.as_uri())) == list(read_objects(file))


def test_blocks_cross_row_groups_and_skipped_groups_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _numbered(tmp_path, 23, 4)
    blocks = {
        number: [row for part in parts for row in part["n"].to_pylist()] for number, parts in read_batches(file, 5)
    }
    assert blocks == {n: list(range(5 * n + 1, min(5 * n + 5, 23) + 1)) for n in range(5)}
    groups = []
    read = pq.ParquetFile.iter_batches
    monkeypatch.setattr(
        pq.ParquetFile, "iter_batches", lambda self, *args, **more: groups.append(args[1]) or read(self, *args, **more)
    )
    left = [number for number, _ in read_batches(file, 5, skip={0, 1, 2, 4})]
    assert (left, groups) == ([3], [[3], [4]])


def test_a_large_row_group_is_read_in_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "BATCH", 10)
    file = _numbered(tmp_path, 95, 95)
    assert [sum(map(len, parts)) for _, parts in read_batches(file, 10)] == [10] * 9 + [5]
    assert {len(part) for _, parts in read_batches(file, 50) for part in parts} == {10, 5}


def test_the_writer_makes_groups_and_ends_them_early_where_swipes_are_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("BATCH", 4), ("GROUP", 8), ("VALUES", 100), ("MAX_GROUP", 3000)):
        monkeypatch.setattr(ours, name, value)
    for points, groups in ((1, [8, 8, 4]), (50, [3, 3, 3, 3, 3, 3, 2])):
        with row_writer(tmp_path / "a.parquet") as write:
            for _ in range(20):
                write(ROW | {axis: [0.5] * points for axis in "xyt"})
        metadata = pq.ParquetFile(tmp_path / "a.parquet").metadata
        sizes = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
        assert sizes == groups


def test_nothing_is_written_where_a_row_does_not_fit_or_the_body_fails(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    file.write_text("old")
    for row, says in (({"colour": 1}, "no column 'colour'; there are word, x"), ({"x": "text"}, "a row does not fit")):
        with pytest.raises(CorpusError, match=says), row_writer(file) as write:
            write(row)
    with pytest.raises(RuntimeError, match="stopped"), row_writer(file) as write:  # noqa: PT012
        write(ROW)
        raise RuntimeError("stopped")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("old", [file])
    with pytest.raises(FileError, match="cannot write"), row_writer(file / "below.parquet") as write:
        write(ROW)


def test_damage_is_one_clear_line(tmp_path: Path) -> None:
    write_swipes(tmp_path / "a.parquet", [swipe_from_dict(ROW | {"word": f"w{n}"}) for n in range(2000)])
    whole = (tmp_path / "a.parquet").read_bytes()
    damaged = {
        "cut": whole[: len(whole) // 2],
        "no footer": whole[:-8],
        "magic alone": whole[:4],
        "noise": whole[:200] + bytes(byte ^ 255 for byte in whole[200:400]) + whole[400:],
        "encrypted": whole[:-4] + b"PARE",
    }
    for name, data in damaged.items():
        file = tmp_path / f"{name}.parquet"
        file.write_bytes(data)
        with pytest.raises(CorpusError, match=f"{name}.parquet.*: unreadable Parquet: ") as caught:
            list(read_objects(file))
        assert "\n" not in str(caught.value)


def test_a_row_that_cannot_be_read_is_named_after_those_before_it(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(pa.string(), 3, pa.array([b"a", b"b", b"\xff"]).buffers())
    pq.write_table(pa.table({"word": broken}), tmp_path / "a.parquet")
    read = []
    with pytest.raises(CorpusError, match=r"a\.parquet:3: cannot be read: 'utf-8'"):
        read.extend(one["word"] for _, one in read_objects(tmp_path / "a.parquet"))
    rows = read_objects(tmp_path / "a.parquet")
    assert [next(rows)[1]["word"] for _ in range(2)] == ["a", "b"]


def test_an_unusable_row_of_parquet_is_named_by_its_number(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([ROW, ROW | {"t": [0, 20, 10]}], schema(COLUMNS))
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match=r"a\.parquet:2: time runs backwards"):
        list(read_swipes(tmp_path / "a.parquet"))


def test_columns_of_other_writers(tmp_path: Path) -> None:
    """Nested points, categories, times, no rows at all."""
    data = [{"x": 0.5, "y": 0.25, "t": 1}]
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    table = pa.table({
        "word": pa.array(["hi"]).dictionary_encode(),
        "data": pa.array([data]),
        "at": pa.array([moment], pa.timestamp("ns", "UTC")),
        "took": pa.array([7], pa.duration("ns")),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    ((_, row),) = read_objects(tmp_path / "a.parquet")
    assert row["word"] == "hi"
    assert row["data"] == data
    json.dumps(row)
    assert row["at"].startswith("2026-11-01 00:00:00")
    pq.write_table(table.slice(0, 0), tmp_path / "none.parquet")
    assert list(read_objects(tmp_path / "none.parquet")) == []


def test_what_parquet_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _numbered(tmp_path, 1, 1)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"Parquet needs pyarrow: pip install 'glissando\[parquet\]'"):
        list(read_objects(file))
    with pytest.raises(MissingExtraError, match="Parquet needs pyarrow"), row_writer(tmp_path / "b.parquet") as write:
        write(ROW)
