"""glissando corpus fetch: through the command line, from a stand-in for OSF."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from typer.testing import CliRunner

from glissando.cli.corpus import app
from glissando.errors import GlissandoError

LOGS = b"sentence timestamp ..."


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        attributes = {
            "kind": "file",
            "name": "swipelogs.zip",
            "size": len(LOGS),
            "extra": {"hashes": {"sha256": hashlib.sha256(LOGS).hexdigest()}},
        }
        link = f"http://{self.headers['Host']}/logs"
        listing = {"data": [{"attributes": attributes, "links": {"download": link}}], "links": {"next": None}}
        body = LOGS if self.path == "/logs" else json.dumps(listing).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_how_we_swipe(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        api = f"http://127.0.0.1:{server.server_port}"
        result = CliRunner().invoke(app, ["fetch", "how-we-swipe", str(tmp_path), "--api", api])
        server.shutdown()
    assert result.exit_code == 0, result.exception
    assert "swipelogs.zip, checksums right" in result.stdout
    assert (tmp_path / "swipelogs.zip").read_bytes() == LOGS


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["how-we-swipe", "--api", "http://127.0.0.1:9"], "cannot reach http://127.0.0.1:9/"),
        (["futo", "--runs", "swipe-7"], "no runs swipe-7; there are swipe-1"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, arguments: list[str], says: str) -> None:
    result = CliRunner().invoke(app, ["fetch", *arguments, str(tmp_path / "out")])
    assert isinstance(result.exception, GlissandoError)
    assert says in str(result.exception)
    assert not (tmp_path / "out").exists()
