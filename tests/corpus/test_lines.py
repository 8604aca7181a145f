"""JSON lines: every broken file is one clear error; files appear whole or not at all."""

import gzip
import json
from pathlib import Path

import pytest

from glissando.corpus import lines
from glissando.corpus.lines import read_objects, text_for_writing
from glissando.errors import CorpusError, FileError
from glissando.files import replacing


def _write(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_numbers_count_blank_lines(tmp_path: Path) -> None:
    file = _write(tmp_path / "a.jsonl", '{"a": 1}', "", "   ", '{"a": 2}')
    assert list(read_objects(file)) == [(1, {"a": 1}), (4, {"a": 2})]


def test_gzip_is_told_by_content_not_name(tmp_path: Path) -> None:
    file = tmp_path / "named.jsonl"
    file.write_bytes(gzip.compress(b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n'))
    assert [row for _, row in read_objects(file)] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "one JSON object, got list"),
        ("7", "one JSON object, got int"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 50_000, "nested too deeply"),
        ('{"a": ' + "9" * 10_000 + "}", "not JSON"),
        ("nan", "not JSON"),
    ],
)
def test_a_bad_line_seven_is_named(tmp_path: Path, line: str, says: str) -> None:
    file = _write(tmp_path / "swipes.jsonl", *['{"a": 1}'] * 6, line)
    with pytest.raises(CorpusError, match=r"swipes\.jsonl:7: ") as caught:
        list(read_objects(file))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(CorpusError, match=r"a\.jsonl:1: not UTF-8: invalid start byte at byte 7"):
        list(read_objects(tmp_path / "a.jsonl"))


def test_truncated_and_corrupt_gzip(tmp_path: Path) -> None:
    text = "\n".join(json.dumps({"n": n, "s": str(n) * 50}) for n in range(2000)).encode()
    whole = gzip.compress(text)
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match=r"cut\.gz:\d+: the gzip file is cut off here"):
        list(read_objects(tmp_path / "cut.gz"))
    (tmp_path / "bad.gz").write_bytes(whole[:200] + bytes(300) + whole[500:])
    with pytest.raises(CorpusError, match=r"bad\.gz:\d+: "):
        list(read_objects(tmp_path / "bad.gz"))


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 100)
    file = _write(tmp_path / "a.jsonl", '{"a": 1}', "x" * 101)
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: longer than 100 bytes"):
        list(read_objects(file))


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="No such file"):
        list(read_objects(tmp_path / "none.jsonl"))
    with pytest.raises(CorpusError, match="directory"):
        list(read_objects(tmp_path))


def test_replacing_keeps_the_old_file_after_a_failure(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail_half_way() -> None:
        with replacing(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        fail_half_way()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    with replacing(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_replacing_says_where_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot write"), replacing(tmp_path / "file" / "a.txt"):
        pass


def test_the_same_text_gives_the_same_gzip(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with text_for_writing(tmp_path / name, compress=True) as file:
            file.write("все\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).decode() == "все\n"
