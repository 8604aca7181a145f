"""The ASGI app: pages, API, and what every answer has in common."""

from __future__ import annotations

import asyncio
import gc
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

import glissando
from glissando.errors import GlissandoError
from glissando.web.api import decode_router
from glissando.web.collect import Collection, PointerError, collect_router, operator_router
from glissando.web.decoding import Decoding, QueueFullError, Shelf
from glissando.web.limits import Border, RateError, RateLimit
from glissando.web.sentences import load_pool
from glissando.web.settings import MAX_BODY, Settings
from glissando.web.store import Store, StoreBusyError, UnknownSentenceError, UnknownSessionError
from glissando.web.visitors import TokenError

PAGES = {"/": "index.html", "/collect": "collect.html", "/operator": "operator.html", "/docs": "docs.html"}

# Everything a caller can fix is 422, but for these.
STATUS: dict[type[GlissandoError], int] = {
    TokenError: 401, PointerError: 403, UnknownSessionError: 404, UnknownSentenceError: 404, RateError: 429,
    QueueFullError: 503, StoreBusyError: 503,
}  # fmt: skip


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the app; without settings it takes those left in the environment."""
    settings = settings or Settings.load()
    shelf = Shelf(settings)
    store = Store(settings.store)
    decoding = Decoding(shelf, settings.queue)
    site = Collection(
        settings, store, load_pool(settings), shelf,
        RateLimit("swipes from this session", settings.rate_swipes, 10 * settings.rate_swipes),
        RateLimit("requests from this address", settings.rate_address, 10 * settings.rate_address),
    )  # fmt: skip

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        first = asyncio.ensure_future(decoding.keyboard(shelf.layout("qwerty"), "en", lambda: None))
        gc.freeze()  # what is there now stays; the collector need not look at it again and again
        yield
        first.cancel()
        decoding.close()
        store.close()

    app = FastAPI(
        title="glissando", version=glissando.__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        description="A finger's path across any keyboard, and the word it says.", redirect_slashes=False,
    )  # fmt: skip
    decodings = RateLimit("swipes from this address", settings.rate_decode, 5 * settings.rate_decode)
    builds = RateLimit("new keyboards from this address", 0.5, 30)
    app.include_router(decode_router(decoding, decodings, builds))
    app.include_router(collect_router(site))
    if settings.token:
        app.include_router(operator_router(site, RateLimit("requests from this address", 2.0, 30)))
    _add_pages(app)
    _add_errors(app)
    app.add_middleware(Border, too_large=_error(413, "BodyError", f"the body is over {MAX_BODY:,} bytes"))
    app.state.decoding, app.state.store = decoding, store
    return app


def _add_pages(app: FastAPI) -> None:
    """The pages and what they load; all from the package."""
    folder = Path(str(resources.files("glissando") / "web" / "static"))
    for path, name in PAGES.items():
        app.add_api_route(path, _page(folder / name), include_in_schema=False, methods=["GET"])
    app.mount("/static", StaticFiles(directory=folder), name="static")


def _page(file: Path):  # type: ignore[no-untyped-def]
    """A route that gives one page."""

    async def page() -> FileResponse:
        return FileResponse(file)

    return page


def _add_errors(app: FastAPI) -> None:
    """One JSON form for everything that goes wrong; never a trace."""

    @app.exception_handler(GlissandoError)
    async def from_library(_: Request, error: GlissandoError) -> Response:
        return _response(error)

    @app.exception_handler(RequestValidationError)
    async def from_validation(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "body"
        return _error(422, "RequestError", f"{place[:80]}: {str(first['msg'])[:200]}")

    @app.exception_handler(HTTPException)
    async def from_http(_: Request, error: HTTPException) -> Response:
        return _error(error.status_code, "HTTPError", str(error.detail), dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def from_bug(_: Request, error: Exception) -> Response:
        return _error(500, "ServerError", "something went wrong on the server; it has been logged")


def _response(error: GlissandoError) -> JSONResponse:
    """The answer to an error that a caller can fix or wait out."""
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 422)
    headers = {}
    if status in (429, 503):
        headers["retry-after"] = str(math.ceil(error.wait) if isinstance(error, RateError) else 1)
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    return _error(status, type(error).__name__, str(error), headers)


def _error(status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": {"kind": kind, "message": message}}, status, headers)
