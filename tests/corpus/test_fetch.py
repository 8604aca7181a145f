"""Both corpora fetched from stand-ins for Hugging Face and OSF, through the real code."""

import hashlib
import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from glissando.corpus.fetch import fetch_futo, fetch_how_we_swipe
from glissando.corpus.readers import open_corpus
from glissando.errors import CorpusError, MissingExtraError

TRAIN = json.dumps({"word": "Hi", "data": [{"x": 0.1, "y": 0.2, "t": 3}], "session": "s"}).encode()
FILES = {"swipe-1/train.jsonl": TRAIN, "swipe-5/layouts/dvorak.json": b"{}", "README.md": b"hello\n"}
COMMIT = "d71bf5fd7f45b3e7c2ed2d76a21b0dbd3b4ba566"


class StandIn(ThreadingHTTPServer):
    """Answers by path; an answer that is no bytes is sent as JSON."""

    answers: dict[str, Any]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_GET(self) -> None:
        answer = self.server.answers.get(self.path.partition("?")[0])
        if answer is None:
            self.send_error(404)
            return
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[StandIn]:
    stand_in = StandIn(("127.0.0.1", 0), _Handler)
    stand_in.answers = {}
    Thread(target=stand_in.serve_forever, daemon=True).start()
    yield stand_in
    stand_in.shutdown()
    stand_in.server_close()


def _serve_futo(server: StandIn) -> None:
    siblings = []
    for name, body in FILES.items():
        entry: dict[str, Any] = {
            "rfilename": name,
            "size": len(body),
            "blobId": hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest(),
        }
        if name.endswith(".jsonl"):
            entry["lfs"] = {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 130}
        siblings.append(entry)
        server.answers[f"/datasets/futo-org/swipe.futo.org/resolve/{COMMIT}/{name}"] = body
    info = {"id": "futo-org/swipe.futo.org", "sha": COMMIT, "siblings": siblings, "private": False, "tags": []}
    server.answers["/api/datasets/futo-org/swipe.futo.org/revision/main"] = info


def test_futo(server: StandIn, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    _serve_futo(server)
    seen: list[str] = []
    files = fetch_futo(tmp_path, endpoint=server.url, progress=lambda name, *_: seen.append(name))
    assert sorted(str(file.relative_to(tmp_path)) for file in files) == sorted(FILES)[1:]
    assert sorted(set(seen)) == sorted(FILES)[1:]
    assert [swipe.word for swipe in open_corpus(tmp_path / "swipe-1")] == ["hi"]
    manifest = json.loads((tmp_path / "fetched.json").read_text())
    assert COMMIT in manifest["source"]
    assert manifest["sha256"]["swipe-1/train.jsonl"] == hashlib.sha256(TRAIN).hexdigest()
    seen.clear()
    fetch_futo(tmp_path, endpoint=server.url, runs=("swipe-1",), progress=lambda name, *_: seen.append(name))
    assert seen == []  # all there and sound


def test_futo_that_was_tampered_with(server: StandIn, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    _serve_futo(server)
    server.answers[f"/datasets/futo-org/swipe.futo.org/resolve/{COMMIT}/swipe-1/train.jsonl"] = TRAIN.replace(
        b"Hi", b"Ho"
    )
    with pytest.raises(CorpusError, match=r"swipe-1/train\.jsonl: what arrived does not match its checksum"):
        fetch_futo(tmp_path, endpoint=server.url, runs=("swipe-1",))
    assert not (tmp_path / "swipe-1" / "train.jsonl").exists()


def test_futo_that_cannot_be_had(server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    with pytest.raises(CorpusError, match="no runs swipe-9; there are swipe-1"):
        fetch_futo(tmp_path, runs=("swipe-9",), endpoint=server.url)
    with pytest.raises(CorpusError, match=r"cannot list futo-org/swipe\.futo\.org") as caught:
        fetch_futo(tmp_path, endpoint=server.url)
    assert "\n" not in str(caught.value)
    _serve_futo(server)
    with pytest.raises(CorpusError, match="has no files of swipe-3; it has README"):
        fetch_futo(tmp_path, runs=("swipe-3",), endpoint=server.url)
    server.shutdown()
    server.server_close()
    with pytest.raises(CorpusError, match=r"cannot (reach|list)"):
        fetch_futo(tmp_path, endpoint=server.url)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"glissando\[fetch\]"):
        fetch_futo(tmp_path)


def _osf_file(server: StandIn, name: str, body: bytes) -> dict[str, Any]:
    server.answers[f"/download/{name}"] = body
    extra = {"hashes": {"md5": "x", "sha256": hashlib.sha256(body).hexdigest()}}
    attributes = {"kind": "file", "name": name, "size": len(body), "extra": extra}
    return {"attributes": attributes, "links": {"download": f"{server.url}/download/{name}"}}


def _serve_osf(server: StandIn) -> None:
    root = "/v2/nodes/sj67f/files/osfstorage/"
    inside = {"files": {"links": {"related": {"href": f"{server.url}{root}folder/"}}}}
    folder = {"attributes": {"kind": "folder", "name": "raw"}, "relationships": inside}
    server.answers |= {
        root: {"data": [_osf_file(server, "README.txt", b"hi")], "links": {"next": f"{server.url}/page2"}},
        "/page2": {"data": [folder], "links": {"next": None}},
        f"{root}folder/": {"data": [_osf_file(server, "swipelogs.zip", b"a zip")], "links": {"next": None}},
    }


def test_how_we_swipe(server: StandIn, tmp_path: Path) -> None:
    _serve_osf(server)
    (file,) = fetch_how_we_swipe(tmp_path, api=f"{server.url}/v2")
    assert file == tmp_path / "raw" / "swipelogs.zip"
    assert file.read_bytes() == b"a zip"
    both = fetch_how_we_swipe(tmp_path, api=f"{server.url}/v2/", pattern="*")
    assert [path.name for path in both] == ["README.txt", "swipelogs.zip"]


def test_how_we_swipe_that_cannot_be_had(server: StandIn, tmp_path: Path) -> None:
    api = f"{server.url}/v2"
    with pytest.raises(CorpusError, match="404 Not Found"):
        fetch_how_we_swipe(tmp_path, api=api)
    _serve_osf(server)
    with pytest.raises(CorpusError, match=r"no file of OSF project sj67f matches '\*\.csv'; it has README"):
        fetch_how_we_swipe(tmp_path, api=api, pattern="*.csv")
    server.answers["/download/swipelogs.zip"] = b"a Zip"
    with pytest.raises(CorpusError, match="checksum"):
        fetch_how_we_swipe(tmp_path, api=api)
    for answer in ([], {"data": [{}]}, {"data": 5}):
        server.answers["/v2/nodes/sj67f/files/osfstorage/"] = answer
        with pytest.raises(CorpusError, match="not an answer of OSF's API"):
            fetch_how_we_swipe(tmp_path, api=api)
    server.answers["/v2/nodes/sj67f/files/osfstorage/"] = b"<html>"
    with pytest.raises(CorpusError, match="not JSON"):
        fetch_how_we_swipe(tmp_path, api=api)
    server.shutdown()
    server.server_close()
    with pytest.raises(CorpusError, match="cannot reach"):
        fetch_how_we_swipe(tmp_path, api=api)
