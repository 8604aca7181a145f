"""The ASGI app: pages, API, and one form for all errors."""

from __future__ import annotations

import asyncio
import gc
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

import glissando
from glissando.errors import GlissandoError
from glissando.web.api import decode_router
from glissando.web.border import BodyError, Border, RateError, RateLimit
from glissando.web.collect import (
    Collection,
    ConsentChangedError,
    NotCollectingError,
    PointerError,
    collect_router,
)
from glissando.web.consent import load_consent
from glissando.web.database import StoreBusyError
from glissando.web.decoding import DecodeQueue, Keyboards, QueueFullError
from glissando.web.files import ServedKit, add_files
from glissando.web.operators import TokenError, operator_router
from glissando.web.sentences import Pool, load_sentences
from glissando.web.settings import Settings
from glissando.web.store import ConfirmationError, Store, UnknownSentenceError, UnknownSessionError, WithdrawnError

# Everything else that a caller can fix is 422.
STATUS: dict[type[GlissandoError], int] = {
    TokenError: 401, PointerError: 403, NotCollectingError: 403, UnknownSessionError: 404, UnknownSentenceError: 404,
    ConsentChangedError: 409, ConfirmationError: 409, WithdrawnError: 410, RateError: 429, QueueFullError: 503,
    StoreBusyError: 503,
}  # fmt: skip


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the app; without settings it takes those left in the environment."""
    settings = settings or Settings.load()
    consent = load_consent(settings.consent) if settings.consent else None
    keyboards, queue = Keyboards(settings), DecodeQueue(settings.queue)
    pool = Pool(load_sentences(settings), keyboards.layouts)
    keyboards.lexicons |= {code: pool.lexicon(code) for code in pool.sentences if code not in keyboards.languages}
    store = Store(settings.store)
    site = Collection(
        settings, store, pool, consent, keyboards, queue,
        RateLimit("swipes from this session", settings.rate_swipes, 10 * settings.rate_swipes),
        RateLimit("requests from this address", settings.rate_address, 10 * settings.rate_address),
    )  # fmt: skip

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        first = asyncio.create_task(keyboards.get(keyboards.layout("qwerty"), "en"))
        gc.freeze()  # what is there now stays; the collector need not look at it again and again
        yield
        first.cancel()
        close_files()
        keyboards.close()
        queue.close()
        store.close()

    app = FastAPI(
        title="glissando", version=glissando.__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        description="Decode a finger's path across any keyboard, and collect such paths.", redirect_slashes=False,
    )  # fmt: skip
    decodings = RateLimit("swipes from this address", settings.rate_decode, 5 * settings.rate_decode)
    builds = RateLimit("new keyboards from this address", 0.5, 30)
    app.include_router(decode_router(keyboards, queue, decodings, builds))
    app.include_router(collect_router(site))
    if settings.token:
        app.include_router(operator_router(site, RateLimit("requests from this address", 2.0, 30)))
    close_files = add_files(app, ServedKit(settings, keyboards), builds)
    _add_errors(app)
    app.add_middleware(Border)
    app.state.queue, app.state.store = queue, store
    return app


def _add_errors(app: FastAPI) -> None:
    """Answer every error with the same JSON form, never with a trace."""

    @app.exception_handler(GlissandoError)
    async def from_library(_: Request, error: GlissandoError) -> Response:
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 422)
        headers = {}
        if status in (429, 503):
            headers["retry-after"] = str(math.ceil(error.wait) if isinstance(error, RateError) else 1)
        if status == 401:
            headers["www-authenticate"] = "Bearer"
        return _error(status, type(error).__name__, str(error), headers)

    @app.exception_handler(RequestValidationError)
    async def from_validation(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "body"
        return _error(422, "RequestError", f"{place[:80]}: {str(first['msg'])[:200]}")

    @app.exception_handler(HTTPException)
    async def from_http(_: Request, error: HTTPException) -> Response:
        kind = "BodyError" if isinstance(error, BodyError) else "HTTPError"
        return _error(error.status_code, kind, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def from_bug(_: Request, error: Exception) -> Response:
        return _error(500, "ServerError", "something went wrong on the server; it has been logged")


def _error(status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": {"kind": kind, "message": message}}, status, headers)
