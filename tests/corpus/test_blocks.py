"""Blocks: together they are the file, whatever their size; what is skipped is not parsed."""

import gzip
import json
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glissando.corpus import blocks, lines
from glissando.corpus.blocks import read_blocks
from glissando.corpus.lines import read_objects
from glissando.corpus.records import swipe_from_dict, write_swipes
from glissando.errors import CorpusError

SWIPE = {"word": "ab", "x": [0.1, 0.25], "y": [0.1, 0.5], "t": [0, 7], "layout": "qwerty"}


def _read(pairs: Iterable[tuple[int, dict[str, Any]]]) -> tuple[list[Any], str]:
    """What comes, and the error after it."""
    read = []
    try:
        for pair in pairs:
            read.append(pair)
    except CorpusError as error:
        return read, str(error)
    return read, ""


def _of_blocks(file: str, rows: int) -> Iterable[tuple[int, dict[str, Any]]]:
    for block in read_blocks(file, rows):
        yield from pickle.loads(pickle.dumps(block)).objects()


_line = st.sampled_from(
    [b'{"a": 1}', b'{"b": "\xd0\xb6"}', b"", b"  ", b"{", b"[1]", b"\xff\xff\xff\xff", b"\xef\xbb\xbf{}"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    content=st.lists(_line, max_size=12),
    end=st.sampled_from([b"", b"\n"]),
    rows=st.integers(1, 14),
    packed=st.booleans(),
)
def test_blocks_together_are_the_file(
    tmp_path: Path, content: list[bytes], end: bytes, rows: int, packed: bool
) -> None:
    file = tmp_path / "a.jsonl"
    data = b"\n".join(content) + end
    file.write_bytes(gzip.compress(data) if packed else data)
    assert _read(_of_blocks(str(file), rows)) == _read(read_objects(file))
    assert b"".join(block.data for block in read_blocks(str(file), rows)) == data


@pytest.mark.parametrize("rows", [1, 3, 7, 512, 5000])
def test_blocks_of_parquet_together_are_the_file(tmp_path: Path, rows: int) -> None:
    pytest.importorskip("pyarrow")
    file = str(tmp_path / "a.parquet")
    write_swipes(file, [swipe_from_dict(SWIPE | {"word": f"w{n}"}) for n in range(1100)])
    read = list(_of_blocks(file, rows))
    assert read == list(read_objects(file))
    assert [number for number, _ in read] == list(range(1, 1101))


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_skipped_blocks_do_not_come_and_the_others_are_the_same(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    file = str(tmp_path / f"a.{ending}")
    write_swipes(file, [swipe_from_dict(SWIPE)] * 23)
    whole = list(read_blocks(file, 5))
    assert [(block.file, block.number, block.first) for block in whole] == [(file, n, 5 * n + 1) for n in range(5)]
    assert list(read_blocks(file, 5, skip={0, 3})) == [whole[number] for number in (1, 2, 4)]
    assert list(read_blocks(file, 5, skip=range(9))) == []


def test_lines_are_not_parsed_until_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\nno\n{"a": 3}\n')
    first, second = read_blocks(str(tmp_path / "a.jsonl"), 2)
    assert (first.number, first.first, first.data) == (0, 1, b'{"a": 1}\nno\n')
    assert list(second.objects()) == [(3, {"a": 3})]
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: not JSON"):
        list(first.objects())


def test_errors_of_reading_are_those_of_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)
    (tmp_path / "long.jsonl").write_text('{"a": 1}\n' * 6 + "x" * 1001)
    whole = gzip.compress("\n".join(json.dumps({"n": n, "s": str(n) * 50}) for n in range(2000)).encode())
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    for name in ("long.jsonl", "cut.gz", "none.jsonl"):
        with pytest.raises(CorpusError) as of_blocks:
            list(read_blocks(str(tmp_path / name)))
        with pytest.raises(CorpusError) as of_lines:
            list(read_objects(tmp_path / name))
        assert str(of_blocks.value) == str(of_lines.value)


def test_a_block_of_long_lines_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_BYTES", 25)
    (tmp_path / "a.jsonl").write_text('{"a": 111}\n' * 7)
    assert [(block.number, block.first) for block in read_blocks(str(tmp_path / "a.jsonl"))] == [(0, 1), (1, 4), (2, 7)]
    assert list(_of_blocks(str(tmp_path / "a.jsonl"), 512)) == list(read_objects(tmp_path / "a.jsonl"))


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_a_block_knows_how_much_of_its_file_is_read_and_can_be_cut(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"swipes.{ending}"
    write_swipes(file, [swipe_from_dict({**SWIPE, "word": f"w{number}"}) for number in range(10)])
    found = list(read_blocks(str(file), 4))
    shares = [block.share for block in found]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    if ending != "jsonl.gz":  # a small gzip file is read at once
        assert shares[0] == pytest.approx(0.4, abs=0.1)
    assert [row["word"] for _, row in found[1].until(6).objects()] == ["w4", "w5"]
    assert list(found[1].until(8).objects()) == list(found[1].objects())


def test_rows_that_cannot_be_read_come_as_errors(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}\n{\n{"a": 2}\n')
    (block,) = read_blocks(str(tmp_path / "a.jsonl"))
    assert [(number, str(row)[:8]) for number, row in block.rows()] == [
        (1, "{'a': 1}"),
        (2, "not JSON"),
        (3, "{'a': 2}"),
    ]
