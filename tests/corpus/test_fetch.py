"""Downloads from a local server that plays Hugging Face and OSF: whole, resumed, broken off, wrong."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from standin import StandIn, standing_in
from typer.testing import CliRunner

from glissando.cli.corpus import app
from glissando.corpus import fetch
from glissando.corpus.fetch import RemoteFile, download, fetch_futo, fetch_how_we_swipe, file_digest, safe_name
from glissando.corpus.readers import read_corpus
from glissando.errors import CorpusError, GlissandoError

BODY = bytes(range(256)) * 40
TRAIN = json.dumps({"word": "Hi", "data": [{"x": 0.1, "y": 0.2, "t": 3}], "session": "s"}).encode()
FILES = {"swipe-1/train.jsonl": TRAIN, "swipe-5/layouts/dvorak.json": b"{}", "README.md": b"hello\n"}
COMMIT = "d71bf5fd7f45b3e7c2ed2d76a21b0dbd3b4ba566"
OSF_ROOT = "/v2/nodes/sj67f/files/osfstorage/"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr(fetch, "PAUSE_S", 0.0)
    with standing_in({"/file": BODY}) as stand_in:
        yield stand_in


def _remote(server: StandIn, path: str = "/file", **change: object) -> RemoteFile:
    fields = {"size": len(BODY), "sha256": hashlib.sha256(BODY).hexdigest()} | change
    return RemoteFile("runs/train.bin", server.url + path, **fields)  # type: ignore[arg-type]


def test_a_whole_file_is_fetched_once_and_shows_its_progress(server: StandIn, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    path = download(_remote(server), tmp_path, lambda *news: seen.append(news))
    assert path == tmp_path / "runs" / "train.bin"
    assert path.read_bytes() == BODY
    assert seen[-1] == ("runs/train.bin", len(BODY), len(BODY))
    assert list(path.parent.iterdir()) == [path]
    download(_remote(server), tmp_path)
    assert server.requests == [None]
    (tmp_path / "hello").write_bytes(b"hello\n")
    assert file_digest(tmp_path / "hello", git=True) == "ce013625030ba8dba906f756967f9e9ca394464a"  # what git says
    wide = hashlib.sha512(BODY).hexdigest()
    assert download(_remote(server, sha256=None, sha512=wide), tmp_path / "b").read_bytes() == BODY
    with pytest.raises(CorpusError, match="does not match its checksum"):
        download(_remote(server, sha256=None, sha512=wide[::-1]), tmp_path / "c")
    blob = file_digest(path, git=True)
    assert download(_remote(server, sha256=None, git_sha1=blob, size=None), tmp_path / "a").read_bytes() == BODY


@pytest.mark.parametrize("ranges", [True, False])
def test_an_earlier_call_is_resumed_or_starts_over_without_ranges(
    server: StandIn, tmp_path: Path, ranges: bool
) -> None:
    server.ranges = ranges
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "train.bin.partial").write_bytes(BODY[:1000])
    assert download(_remote(server), tmp_path).read_bytes() == BODY
    assert server.requests == ["bytes=1000-"]


def test_connections_that_break_off_are_resumed_and_keep_what_came(server: StandIn, tmp_path: Path) -> None:
    server.cut_after = 3000
    assert download(_remote(server), tmp_path / "a").read_bytes() == BODY
    assert server.requests == [None, "bytes=3000-", "bytes=6000-", "bytes=9000-"]
    server.cut_after = 1000
    with pytest.raises(CorpusError, match="broke off at 5,000 of 10,240 bytes; run it again"):
        download(_remote(server), tmp_path / "b")
    server.cut_after = None
    assert download(_remote(server), tmp_path / "b").read_bytes() == BODY
    assert server.requests[-1] == "bytes=5000-"


def test_servers_that_fail(server: StandIn, tmp_path: Path) -> None:
    server.failures = 2
    assert download(_remote(server), tmp_path / "a").read_bytes() == BODY
    server.failures = 99
    with pytest.raises(CorpusError, match="503 Service Unavailable; run it again"):
        download(_remote(server), tmp_path / "b")
    with pytest.raises(CorpusError, match=r"404 Not Found$"):
        download(_remote(server, "/missing"), tmp_path / "c")
    server.stop()
    with pytest.raises(CorpusError, match=r"cannot fetch .*; run it again to resume"):
        download(_remote(server), tmp_path / "d")


def test_a_wrong_checksum_leaves_nothing_and_touches_nothing(server: StandIn, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    old = tmp_path / "runs" / "train.bin"
    old.write_bytes(b"old")
    for checksum in ({"sha256": "0" * 64}, {"sha256": None, "git_sha1": "0" * 40}):
        with pytest.raises(CorpusError, match="does not match its checksum"):
            download(_remote(server, **checksum), tmp_path)
    assert old.read_bytes() == b"old"
    assert list(old.parent.iterdir()) == [old]


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up", "", "a\\..\\b"])
def test_a_host_cannot_choose_where_we_write_or_what_we_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="refused a file named"):
        safe_name(name)
    with pytest.raises(CorpusError, match="not a web address"):
        download(RemoteFile("a", "file:///etc/passwd"), tmp_path)


def _serve_futo(server: StandIn) -> None:
    siblings = []
    for name, body in FILES.items():
        blob = hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()
        entry: dict[str, Any] = {"rfilename": name, "size": len(body), "blobId": blob}
        if name.endswith(".jsonl"):
            entry["lfs"] = {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 130}
        siblings.append(entry)
        server.answers[f"/datasets/futo-org/swipe.futo.org/resolve/{COMMIT}/{name}"] = body
    info = {"id": "futo-org/swipe.futo.org", "sha": COMMIT, "siblings": siblings}
    server.answers["/api/datasets/futo-org/swipe.futo.org/revision/main"] = info


def test_futo(server: StandIn, tmp_path: Path) -> None:
    _serve_futo(server)
    seen: list[str] = []
    files = fetch_futo(tmp_path, endpoint=server.url, progress=lambda name, *_: seen.append(name))
    assert sorted(str(file.relative_to(tmp_path)) for file in files) == sorted(set(seen)) == sorted(FILES)[1:]
    assert [swipe.word for swipe in read_corpus(tmp_path / "swipe-1", Counter())] == ["hi"]
    manifest = json.loads((tmp_path / "fetched.json").read_text())
    assert COMMIT in manifest["source"]
    assert manifest["sha256"]["swipe-1/train.jsonl"] == hashlib.sha256(TRAIN).hexdigest()
    seen.clear()
    fetch_futo(tmp_path, endpoint=server.url, runs=("swipe-1",), progress=lambda name, *_: seen.append(name))
    assert seen == []  # all files are there and right


def test_futo_that_cannot_be_fetched(server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    with pytest.raises(CorpusError, match="no runs swipe-9; there are swipe-1"):
        fetch_futo(tmp_path, runs=("swipe-9",))
    with pytest.raises(CorpusError, match=r"cannot read .*swipe\.futo\.org/revision/main\?blobs=true: 404 Not Found"):
        fetch_futo(tmp_path)
    _serve_futo(server)
    with pytest.raises(CorpusError, match="has no files of swipe-3; it has README"):
        fetch_futo(tmp_path, runs=("swipe-3",))
    server.answers[f"/datasets/futo-org/swipe.futo.org/resolve/{COMMIT}/swipe-1/train.jsonl"] = TRAIN.upper()
    with pytest.raises(CorpusError, match=r"swipe-1/train\.jsonl: what arrived does not match its checksum"):
        fetch_futo(tmp_path, runs=("swipe-1",))
    assert not (tmp_path / "swipe-1" / "train.jsonl").exists()
    server.answers["/api/datasets/futo-org/swipe.futo.org/revision/main"] = {"sha": COMMIT, "siblings": [{}]}
    with pytest.raises(CorpusError, match="not an answer of Hugging Face's API"):
        fetch_futo(tmp_path)


def _osf_file(server: StandIn, name: str, body: bytes) -> dict[str, Any]:
    server.answers[f"/download/{name}"] = body
    extra = {"hashes": {"md5": "x", "sha256": hashlib.sha256(body).hexdigest()}}
    attributes = {"kind": "file", "name": name, "size": len(body), "extra": extra}
    return {"attributes": attributes, "links": {"download": f"{server.url}/download/{name}"}}


def _serve_osf(server: StandIn) -> None:
    inside = {"files": {"links": {"related": {"href": f"{server.url}{OSF_ROOT}folder/"}}}}
    folder = {"attributes": {"kind": "folder", "name": "raw"}, "relationships": inside}
    server.answers |= {
        OSF_ROOT: {"data": [_osf_file(server, "README.txt", b"hi")], "links": {"next": f"{server.url}/page2"}},
        "/page2": {"data": [folder], "links": {"next": None}},
        f"{OSF_ROOT}folder/": {"data": [_osf_file(server, "swipelogs.zip", b"a zip")], "links": {"next": None}},
    }


def test_how_we_swipe(server: StandIn, tmp_path: Path) -> None:
    _serve_osf(server)
    result = CliRunner().invoke(app, ["fetch", "how-we-swipe", str(tmp_path), "--api", f"{server.url}/v2"])
    assert result.exit_code == 0, result.exception
    assert "swipelogs.zip, checksums right" in result.stdout
    assert (tmp_path / "raw" / "swipelogs.zip").read_bytes() == b"a zip"
    both = fetch_how_we_swipe(tmp_path, api=f"{server.url}/v2/", pattern="*")
    assert [path.name for path in both] == ["README.txt", "swipelogs.zip"]


def test_how_we_swipe_that_cannot_be_fetched(server: StandIn, tmp_path: Path) -> None:
    api = f"{server.url}/v2"
    _serve_osf(server)
    with pytest.raises(CorpusError, match=r"no file of OSF project sj67f matches '\*\.csv'; it has README"):
        fetch_how_we_swipe(tmp_path, api=api, pattern="*.csv")
    server.answers["/download/swipelogs.zip"] = b"a Zip"
    with pytest.raises(CorpusError, match="checksum"):
        fetch_how_we_swipe(tmp_path, api=api)
    for answer in ([], {"data": [{}]}, {"data": 5}):
        server.answers[OSF_ROOT] = answer
        with pytest.raises(CorpusError, match="not an answer of OSF's API"):
            fetch_how_we_swipe(tmp_path, api=api)
    server.answers[OSF_ROOT] = b"<html>"
    with pytest.raises(CorpusError, match="not JSON"):
        fetch_how_we_swipe(tmp_path, api=api)
    server.stop()
    result = CliRunner().invoke(app, ["fetch", "how-we-swipe", str(tmp_path), "--api", api])
    assert isinstance(result.exception, GlissandoError)
    assert f"cannot read {api}" in str(result.exception)
