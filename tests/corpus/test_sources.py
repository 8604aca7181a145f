"""Files, directories, globs and addresses: what is found, in which order, and that no error shows a password."""

import gzip
import sys
from pathlib import Path

import pytest

from glissando.corpus import sources
from glissando.corpus.sources import (
    all_files,
    conceal,
    file_names,
    file_size,
    find_files,
    join,
    open_bytes,
    read_file,
    shown,
    source_name,
    write_file,
)
from glissando.errors import CorpusError, GlissandoError, MissingExtraError

NAMES = (
    "2026-01/a.jsonl", "2026-01/b c.parquet", "2026-01/notes.txt", "2026-02/deep/x.jsonl.gz", "2026-02/y.log",
    ".b.jsonl.9.partial/b.jsonl", "2026-02/.hidden.jsonl", "day=3/z.jsonl",
)  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("2026-01/a.jsonl", ["2026-01/a.jsonl"]),
        ("2026-01/notes.txt", ["2026-01/notes.txt"]),
        ("", [NAMES[0], NAMES[1], NAMES[3], NAMES[4], NAMES[7]]),
        ("2026-02/", [NAMES[3], NAMES[4]]),
        ("*/*.jsonl", [NAMES[0], NAMES[7]]),
        ("2026-*/*.parquet", [NAMES[1]]),
        ("**/*.jsonl*", [NAMES[0], NAMES[3], NAMES[7]]),
        ("2026-02/**/x*", [NAMES[3]]),
        ("2026-0[2-9]", [NAMES[3], NAMES[4]]),
        ("2026-01/*", list(NAMES[:3])),
    ],
)
def test_the_same_files_are_found_here_and_at_an_address(tree: Path, pattern: str, found: list[str]) -> None:
    assert find_files(f"{tree}/{pattern}") == [str(tree / name) for name in found]
    pytest.importorskip("pyarrow")
    addresses = find_files(f"{tree.as_uri()}/{pattern}")
    assert addresses == [f"{tree.as_uri()}/{name.replace(' ', '%20')}" for name in found]
    for address, name in zip(addresses, found, strict=True):
        with open_bytes(address) as file:
            assert file.read().decode() == name
    assert [file for address in addresses for file in find_files(address)] == addresses


def test_a_name_that_looks_like_a_glob_and_several_sources(tree: Path) -> None:
    odd = tree / "a[1]*.jsonl"
    odd.write_text("odd")
    assert find_files(odd) == [str(odd)]
    assert all_files([odd, tree / "day=3"]) == [str(odd), str(tree / "day=3/z.jsonl")]


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("none.jsonl", "cannot read .*none.jsonl: No such file"),
        ("2026-*/*.csv", r"no file matches .*2026-\*/\*\.csv"),
        ("empty", r"no corpus files in .*empty; their names end in \.jsonl, "),
        ("empty/*", r"no file matches .*empty/\*"),
    ],
)
def test_nothing_found_says_what_was_looked_for(tree: Path, pattern: str, says: str) -> None:
    (tree / "empty").mkdir()
    with pytest.raises(CorpusError, match=says):
        find_files(f"{tree}/{pattern}")
    pytest.importorskip("pyarrow")
    with pytest.raises(CorpusError, match=says.replace("No such file", "nothing is there")):
        find_files(f"{tree.as_uri()}/{pattern}")


def test_gzip_is_recognised_by_content_at_an_address_too(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.jsonl").write_bytes(gzip.compress(b"one\ntwo\n"))
    with open_bytes((tmp_path / "a.jsonl").as_uri()) as file:
        assert file.readline(100) == b"one\n"
        assert file.read() == b"two\n"


@pytest.mark.parametrize(
    "address",
    [
        "s3://AKIAKEY:hushhush@bucket/a.jsonl?region=eu&nonsense=1",
        "ftp://AKIAKEY:hushhush@bucket/a.jsonl?token=hushhush",
        "s3://AKIAKEY:hush%20hush@bucket/a[.jsonl?nonsense=hush hush",
    ],
)
def test_no_error_shows_credentials(address: str) -> None:
    pytest.importorskip("pyarrow")
    for use in (find_files, open_bytes):
        with pytest.raises(CorpusError) as caught:
            use(address)
        message = str(caught.value)
        assert "://bucket/a" in message
        assert not any(secret in message for secret in ("hush", "AKIAKEY", "\n"))


def test_names_for_people() -> None:
    assert shown("s3://key:secret@bucket/swipes/a.jsonl?region=eu") == "s3://bucket/swipes/a.jsonl"
    assert shown("here/a.jsonl") == "here/a.jsonl"
    assert source_name("s3://bucket/swipes/?region=eu") == "swipes"
    assert source_name(Path("here/a.jsonl")) == "a.jsonl"
    said = conceal("s3://key:se%2Fcret@b/x?client_secret=abcdef", "cannot\n use 'se/cret', abcdef of s3://k:p@b/x?a=b")
    assert said == "cannot use '***', *** of s3://b/x"


def test_what_an_address_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for use in (sources.find_files, sources.open_bytes):
        with pytest.raises(MissingExtraError, match=r"s3:// needs pyarrow: pip install 'glissando\[parquet\]'"):
            use("s3://bucket/a.jsonl")


def test_files_are_written_and_listed_here_and_at_an_address(tmp_path: Path) -> None:
    for folder in (str(tmp_path / "here"), f"file://{tmp_path}/there"):
        assert file_names(folder) == set()
        write_file(join(folder, "a b.txt"), b"text")
        assert file_names(folder) == {"a b.txt"}
        assert (read_file(join(folder, "a b.txt")), file_size(join(folder, "a b.txt"))) == (b"text", 4)
    assert (tmp_path / "there" / "a b.txt").read_bytes() == b"text"
    (tmp_path / "file").touch()
    with pytest.raises(GlissandoError, match="cannot write"):
        write_file(str(tmp_path / "file" / "below"), b"")
