"""A local HTTP server that plays a host of downloads: whole, broken off, failing, or silent."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


class StandIn(ThreadingHTTPServer):
    """Serves ``answers`` by path; what is not bytes is sent as JSON.

    ``cut_after`` breaks connections off after this many bytes; with ``silence`` they hang until that is set.
    ``failures`` is how often it answers 503 first.
    """

    answers: dict[str, Any]
    requests: list[str | None]
    ranges = True
    cut_after: int | None = None
    silence: Event | None = None
    failures = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.requests.append(wanted)
        answer = self.server.answers.get(self.path.partition("?")[0])
        if answer is None or self.server.failures:
            self.server.failures -= answer is not None
            self.send_error(503 if answer is not None else 404)
            return
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.ranges else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start:][: self.server.cut_after])
        if self.server.silence is not None:
            self.wfile.flush()
            self.server.silence.wait(300)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def standing_in(answers: Mapping[str, Any]) -> Iterator[StandIn]:
    """A host with these answers."""
    host = StandIn(("127.0.0.1", 0), _Handler)
    host.answers, host.requests = dict(answers), []
    Thread(target=host.serve_forever, args=(0.01,), daemon=True).start()
    yield host
    if host.silence is not None:
        host.silence.set()
    host.stop()
