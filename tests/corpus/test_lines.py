"""JSON lines: every broken file is one clear error; the same objects give the same file."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from glissando.corpus import lines
from glissando.corpus.lines import UnusableRowError, object_writer, read_objects, read_rows
from glissando.errors import CorpusError


def _write(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_numbers_count_blank_lines_and_gzip_is_told_by_content(tmp_path: Path) -> None:
    file = _write(tmp_path / "a.jsonl", '{"a": 1}', "", "   ", '{"a": 2}')
    assert list(read_objects(file)) == [(1, {"a": 1}), (4, {"a": 2})]
    file.write_bytes(gzip.compress(b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n'))
    assert [row for _, row in read_objects(file)] == [{"a": 1}, {"a": 2}]


def test_unusable_rows_are_counted(tmp_path: Path) -> None:
    def make(data: dict[str, Any]) -> int:
        if data["a"] == 2:
            raise UnusableRowError("two")
        return data["a"]

    dropped: Counter[str] = Counter()
    file = _write(tmp_path / "a.jsonl", '{"a": 1}', '{"a": 2}', '{"a": 3}')
    assert list(read_rows(file, make, dropped)) == list(read_rows(file, make)) == [1, 3]
    assert dropped == {"two": 1}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{", "not JSON"),
        (b"[1, 2]", "one JSON object, got list"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "not JSON"),
        (b"nan", "not JSON"),
        (b'{"a": "\xff"}', "not UTF-8: invalid start byte at byte 7"),
        (b"x" * 200_001, "longer than 200,000 bytes"),
    ],
)
def test_a_bad_line_seven_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes, says: str) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 200_000)
    (tmp_path / "swipes.jsonl").write_bytes(b'{"a": 1}\n' * 6 + line)
    with pytest.raises(CorpusError, match=rf"swipes\.jsonl:7: .*{says}") as caught:
        list(read_objects(tmp_path / "swipes.jsonl"))
    assert "\n" not in str(caught.value)


def test_truncated_corrupt_and_missing_files(tmp_path: Path) -> None:
    whole = gzip.compress("\n".join(json.dumps({"n": n, "s": str(n) * 50}) for n in range(2000)).encode())
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "bad.gz").write_bytes(whole[:200] + bytes(300) + whole[500:])
    for path, says in (
        (tmp_path / "cut.gz", r"cut\.gz:\d+: the gzip file is cut off here"),
        (tmp_path / "bad.gz", r"bad\.gz:\d+: "),
        (tmp_path / "none.jsonl", "No such file"),
        (tmp_path, "directory"),
    ):
        with pytest.raises(CorpusError, match=says):
            list(read_objects(path))


def test_the_same_objects_give_the_same_gzip(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with object_writer(tmp_path / name) as write:
            write({"word": "все"})
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).decode() == '{"word":"все"}\n'
