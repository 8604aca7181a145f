"""What every request passes: limits on size and rate, strict JSON; and the headers that every answer carries."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from glissando.errors import GlissandoError

MAX_BODY = 256 * 1024  # bytes
MAX_BUCKETS = 50_000  # visitors remembered; the least recent are forgotten first

HEADERS = {
    "content-security-policy": (
        # Without wasm-unsafe-eval a page may not compile WebAssembly, which its networks run in.
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; "
        "img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class BodyError(HTTPException):
    """A body that is too large; an HTTPException, because FastAPI turns any other into a 400."""


class RateError(GlissandoError):
    """Too many requests; ``wait`` is how many seconds to wait."""

    def __init__(self, what: str, wait: float) -> None:
        super().__init__(f"too many {what}; wait {wait:.1f} s")
        self.wait = wait


class RateLimit:
    """Token buckets, one per visitor: ``rate`` requests a second on average, ``burst`` at once.

    Visitors are kept in memory only, as hashes with a new salt at every start.
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


def address(request: Request) -> str:
    """The visitor's address, to count requests by; of IPv6 the /64, which is what one subscriber has."""
    host = request.client.host if request.client else ""
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host
    return str(ipaddress.ip_network((ip, 64), strict=False)) if ip.version == 6 else host


class Border:
    """ASGI middleware: stops reading a body at 256 KB, and adds the security headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        size = 0

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MAX_BODY:
                raise BodyError(413, f"the body is over {MAX_BODY:,} bytes")
            return message

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Nobody on the way may keep an answer of the API; a file may say for itself.
                cache = "no-store" if scope["path"].startswith("/api/") else "no-cache"
                stated = b"cache-control" in dict(message["headers"])
                added = HEADERS if stated else {**HEADERS, "cache-control": cache}
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in added.items())]
            await send(message)

        await self.app(scope, receive_limited, send_with_headers)


class JsonRequest(Request):
    """A request whose body pydantic parses: several times as fast as the standard library, and half characters fail."""

    async def json(self) -> Any:
        """The parsed body, or a 400 that says where it is not JSON."""
        body = await self.body()
        try:
            return from_json(body)
        except ValueError as error:
            raise HTTPException(400, f"the body is not JSON: {error}") from None


class JsonRoute(APIRoute):
    """A route that reads its body as a JsonRequest."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, called with a JsonRequest."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json
