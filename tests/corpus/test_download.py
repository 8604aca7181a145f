"""Downloads from a stand-in server: whole, resumed, broken off, wrong."""

import hashlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from glissando.corpus import download as download_module
from glissando.corpus.download import RemoteFile, download, file_digest, safe_name
from glissando.errors import CorpusError

BODY = bytes(range(256)) * 40


class StandIn(ThreadingHTTPServer):
    """Serves BODY with ranges; ``cut_after`` breaks connections off, ``failures`` answers 503 so many times."""

    ranges = True
    cut_after: int | None = None
    failures = 0
    requests: list[str | None]


class _Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append(wanted)
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.server.failures:
            self.server.failures -= 1
            self.send_error(503)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.ranges else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(BODY) - start))
        self.end_headers()
        end = len(BODY) if self.server.cut_after is None else start + self.server.cut_after
        self.wfile.write(BODY[start:end])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr(download_module, "PAUSE_S", 0.0)
    stand_in = StandIn(("127.0.0.1", 0), _Handler)
    stand_in.requests = []
    thread = Thread(target=stand_in.serve_forever, daemon=True)
    thread.start()
    yield stand_in
    stand_in.shutdown()
    stand_in.server_close()


def _remote(server: StandIn, path: str = "/file", **change: object) -> RemoteFile:
    url = f"http://127.0.0.1:{server.server_port}{path}"
    fields = {"size": len(BODY), "sha256": hashlib.sha256(BODY).hexdigest()} | change
    return RemoteFile("runs/train.bin", url, **fields)  # type: ignore[arg-type]


def test_a_whole_file_and_its_progress(server: StandIn, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    path = download(_remote(server), tmp_path, lambda *news: seen.append(news))
    assert path == tmp_path / "runs" / "train.bin"
    assert path.read_bytes() == BODY
    assert seen[-1] == ("runs/train.bin", len(BODY), len(BODY))
    assert list(path.parent.iterdir()) == [path]
    download(_remote(server), tmp_path)
    assert server.requests == [None]  # the second call found it whole


def test_an_earlier_call_is_taken_up(server: StandIn, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "train.bin.partial").write_bytes(BODY[:1000])
    assert download(_remote(server), tmp_path).read_bytes() == BODY
    assert server.requests == ["bytes=1000-"]


def test_connections_that_break_off(server: StandIn, tmp_path: Path) -> None:
    server.cut_after = 3000
    assert download(_remote(server), tmp_path).read_bytes() == BODY
    assert server.requests == [None, "bytes=3000-", "bytes=6000-", "bytes=9000-"]


def test_one_that_breaks_too_often_keeps_what_came(server: StandIn, tmp_path: Path) -> None:
    server.cut_after = 1000
    with pytest.raises(CorpusError, match="broke off at 5,000 of 10,240 bytes; call again"):
        download(_remote(server), tmp_path)
    server.cut_after = None
    assert download(_remote(server), tmp_path).read_bytes() == BODY
    assert server.requests[-1] == "bytes=5000-"


def test_a_server_without_ranges_starts_over(server: StandIn, tmp_path: Path) -> None:
    server.ranges = False
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "train.bin.partial").write_bytes(b"x" * 1000)
    assert download(_remote(server), tmp_path).read_bytes() == BODY


def test_a_server_that_is_busy_and_one_that_says_no(server: StandIn, tmp_path: Path) -> None:
    server.failures = 2
    assert download(_remote(server), tmp_path / "a").read_bytes() == BODY
    server.failures = 99
    with pytest.raises(CorpusError, match="503 Service Unavailable"):
        download(_remote(server), tmp_path / "b")
    server.failures = 0
    with pytest.raises(CorpusError, match="404 Not Found"):
        download(_remote(server, "/missing"), tmp_path / "c")
    server.shutdown()
    server.server_close()
    with pytest.raises(CorpusError, match=r"cannot fetch .*; call again to go on"):
        download(_remote(server), tmp_path / "d")


def test_a_wrong_checksum_leaves_nothing_and_touches_nothing(server: StandIn, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    old = tmp_path / "runs" / "train.bin"
    old.write_bytes(b"old")
    with pytest.raises(CorpusError, match="does not match its checksum"):
        download(_remote(server, sha256="0" * 64), tmp_path)
    assert old.read_bytes() == b"old"
    assert list(old.parent.iterdir()) == [old]


def test_git_names_and_unknown_sizes(server: StandIn, tmp_path: Path) -> None:
    # What `git hash-object` says of a file that holds "hello\n".
    (tmp_path / "hello").write_bytes(b"hello\n")
    assert file_digest(tmp_path / "hello", git=True) == "ce013625030ba8dba906f756967f9e9ca394464a"
    blob = hashlib.sha1(b"blob %d\0" % len(BODY) + BODY).hexdigest()
    assert download(_remote(server, sha256=None, git_sha1=blob, size=None), tmp_path / "a").read_bytes() == BODY
    with pytest.raises(CorpusError, match="checksum"):
        download(_remote(server, sha256=None, git_sha1="0" * 40), tmp_path / "b")


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up", "", "a\\..\\b"])
def test_a_host_cannot_choose_where_we_write(name: str) -> None:
    with pytest.raises(CorpusError, match="refused a file named"):
        safe_name(name)


def test_only_web_addresses(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    with pytest.raises(CorpusError, match="not a web address"):
        download(RemoteFile("a", f"file://{tmp_path}/secret"), tmp_path)
