"""Formats told by their first line, and corpora of several files."""

import gzip
import json
import zipfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from glissando.corpus.readers import detect_format, read_corpus, swipe_maker
from glissando.errors import CorpusError

OURS = {"word": "ab", "x": [0.1], "y": [0.1], "t": [0], "layout": "qwerty"}
FUTO = {"word": "cd", "data": [{"x": 0.1, "y": 0.1, "t": 5}], "session": "s"}
YANDEX = {"word": "еж", "curve": {"x": [1], "y": [2], "t": [3], "grid_name": "default"}}
HEADER = "sentence timestamp keyb_width keyb_height event x_pos y_pos x_radius y_radius angle word is_err"
LOG = (
    f"{HEADER}\na_b 1 100 74 touchstart 1 1 0 0 0 ef 0\n"
    "a_b 2 100 74 touchmove 2 2 0 0 0 ef 0\na_b 3 100 74 touchend 3 3 0 0 0 ef 0\n"
)


def _words(*source: Any) -> list[str]:
    return [swipe.word for swipe in read_corpus(*source)]


def _write(folder: Path, name: str, *rows: dict[str, object] | str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("row", "format", "word"),
    [(OURS, "glissando", "ab"), (FUTO, "futo", "cd"), (YANDEX, "yandex", "еж"), (LOG, "how-we-swipe", "ef")],
)
def test_formats_are_told_apart(tmp_path: Path, row: dict[str, object] | str, format: str, word: str) -> None:
    file = _write(tmp_path, "a.jsonl", "", row)
    assert detect_format(file) == format
    assert _words(file, Counter()) == _words(str(file), Counter(), format) == [word]


def test_a_log_without_its_header(tmp_path: Path) -> None:
    assert detect_format(_write(tmp_path, "a.log", LOG.split("\n", 1)[1])) == "how-we-swipe"


@pytest.mark.parametrize(
    ("row", "says"), [('{"a": 1}', "a row has the fields a"), ("hello", "not JSON"), ("", "not JSON")]
)
def test_unknown_formats(tmp_path: Path, row: str, says: str) -> None:
    with pytest.raises(CorpusError, match=rf"no corpus format we know.*{says}"):
        _words(_write(tmp_path, "a.jsonl", row), Counter())


def test_directories_and_several_sources(tmp_path: Path) -> None:
    _write(tmp_path, "runs/b.jsonl", FUTO | {"word": "two"}, FUTO | {"dual_finger": 1})
    _write(tmp_path, "runs/a.jsonl", FUTO | {"word": "one"})
    _write(tmp_path, "runs/layouts/qwerty.json", "{}")
    ours = _write(tmp_path, "ours.jsonl", OURS)
    dropped: Counter[str] = Counter()
    assert _words([tmp_path / "runs", ours], dropped) == ["one", "two", "ab"]
    assert dropped == {"two fingers": 1}


@pytest.mark.parametrize(("row", "format"), [(OURS, "glissando"), (FUTO, "futo"), (YANDEX, "yandex")])
def test_rows_of_parquet_have_the_same_formats(tmp_path: Path, row: dict[str, Any], format: str) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.Table.from_pylist([row, row])
    (tmp_path / "rows").mkdir()
    parquet.write_table(table.slice(0, 0), tmp_path / "rows" / "0.parquet")  # the columns show the format, not a row
    parquet.write_table(table, tmp_path / "rows" / "1.parquet")
    assert detect_format(tmp_path / "rows" / "0.parquet") == format
    assert _words(tmp_path / "rows", Counter()) == [row["word"]] * 2
    assert _words((tmp_path / "rows").as_uri(), Counter()) == [row["word"]] * 2
    assert swipe_maker(format)(row).word == row["word"]
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(CorpusError, match=r"other\.parquet:1: no corpus format we know; a row has the fields a"):
        _words(tmp_path / "other.parquet", Counter())


def test_a_log_has_no_rows_to_make_swipes_of() -> None:
    with pytest.raises(CorpusError, match=r"convert them first: glissando corpus convert LOGS -o swipes\.jsonl\.gz"):
        swipe_maker("how-we-swipe")
    with pytest.raises(CorpusError, match="no corpus format 'csv'"):
        swipe_maker("csv")


def test_looking_for_a_zip_does_not_unpack_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress((json.dumps(OURS) + "\n").encode()))
    monkeypatch.setattr(zipfile, "is_zipfile", lambda file: pytest.fail("the whole file is unpacked"))
    assert detect_format(tmp_path / "a.jsonl.gz") == "glissando"


def test_the_zip_of_logs(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "swipelogs.zip", "w") as archive:
        archive.writestr("swipelogs/p1.log", LOG)
        archive.writestr("swipelogs/p1.json", "{}")
        archive.writestr("swipelogs/p2.log", LOG.replace(" ef ", " gh "))
    sources = [tmp_path / "swipelogs.zip", f"{tmp_path}/*.zip"]
    if find_spec("pyarrow"):
        sources.append((tmp_path / "swipelogs.zip").as_uri())
    for source in sources:
        swipes = read_corpus(source, Counter())
        assert [(swipe.session, swipe.word) for swipe in swipes] == [("p1", "ef"), ("p2", "gh")]


def test_nothing_there(tmp_path: Path) -> None:
    for source, format, says in (
        (tmp_path, "auto", "no corpus files in"),
        (tmp_path / "none.jsonl", "auto", "No such file"),
        (tmp_path, "csv", "no corpus format 'csv'; there are auto, glissando"),
    ):
        with pytest.raises(CorpusError, match=says):
            _words(source, Counter(), format)
