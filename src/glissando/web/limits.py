"""Bounds on what a stranger may ask: size of bodies, requests per second; and the headers that keep pages closed."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from glissando.errors import GlissandoError
from glissando.web.settings import MAX_BODY

MAX_BUCKETS = 50_000  # visitors remembered; the least recent are forgotten first

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class RateError(GlissandoError):
    """Too many requests; ``wait`` is how many seconds to wait."""

    def __init__(self, what: str, wait: float) -> None:
        super().__init__(f"too many {what}; wait {wait:.1f} s")
        self.wait = wait


class RateLimit:
    """Token buckets, one per visitor: ``rate`` requests a second on average, ``burst`` at once.

    Visitors are kept as hashes salted anew at every start, in memory only.
    """

    def __init__(self, what: str, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.what, self.rate, self.burst, self.clock = what, rate, max(burst, 1.0), clock
        self._salt = secrets.token_bytes(16)
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, visitor: str) -> None:
        """Count a request of a visitor, or raise RateError."""
        key = hashlib.blake2b(visitor.encode(), digest_size=16, key=self._salt).digest()
        now = self.clock()
        with self._lock:
            tokens, before = self._buckets.pop(key, (self.burst, now))
            tokens = min(self.burst, tokens + (now - before) * self.rate)
            allowed = tokens >= 1
            self._buckets[key] = (tokens - allowed, now)
            if len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)
        if not allowed:
            raise RateError(self.what, (1 - tokens) / self.rate)


class Border:
    """ASGI middleware: refuses bodies over 256 KB without reading on, and adds the security headers."""

    def __init__(self, app: ASGIApp, too_large: ASGIApp) -> None:
        self.app = app
        self.too_large = too_large

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_headers(scope["path"])]}
            await send(message)

        small = scope["method"] in ("GET", "HEAD") or await _fits(scope, receive)
        if not small:
            await self.too_large(scope, receive, send_with_headers)
            return
        replay = receive if small is True else _replayed(small, receive)
        await self.app(scope, replay, send_with_headers)


async def _fits(scope: Scope, receive: Receive) -> list[Message] | None:
    """The messages of a body, or None as soon as they hold more than a body may."""
    declared = _declared_size(scope)
    if declared is not None and declared > MAX_BODY:
        return None
    messages, total, more = [], 0, True
    while more:
        message = await receive()
        total += len(message.get("body", b""))
        if total > MAX_BODY:
            return None
        messages.append(message)
        more = message.get("more_body", False)
    return messages


def _replayed(messages: list[Message], receive: Receive) -> Receive:
    """What gives the messages once more, then what comes after them."""
    waiting = iter(messages)

    async def replayed() -> Message:
        return next(waiting, None) or await receive()

    return replayed


def _declared_size(scope: Scope) -> int | None:
    """The Content-Length, if there is a sound one."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return None


def _headers(path: str) -> list[tuple[bytes, bytes]]:
    """Headers of every answer; what the API says is never to be kept by anyone on the way."""
    found = dict(HEADERS)
    found["cache-control"] = "no-store" if path.startswith("/api/") else "no-cache"
    return [(name.encode(), value.encode()) for name, value in found.items()]
