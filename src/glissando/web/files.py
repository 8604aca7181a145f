"""Files: the pages and their modules, the JavaScript package, and the kit with which the keyboard page decodes."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route

from glissando.export.kit import Kit
from glissando.export.site import js_directory, page_contents, service_worker, static_directory
from glissando.export.wasm import WasmRuntime
from glissando.web.border import RateLimit, address
from glissando.web.decoding import Keyboards
from glissando.web.settings import Settings

PAGES = {
    "/": "index.html", "/collect": "collect.html", "/operator": "operator.html", "/docs": "docs.html",
    "/manifest.webmanifest": "manifest.webmanifest",
}  # fmt: skip
# A system's own table may lack these or have them wrong, and then a browser refuses the file.
TYPES = {
    ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json",
    ".webmanifest": "application/manifest+json", ".css": "text/css", ".svg": "image/svg+xml", ".gz": "application/gzip",
}  # fmt: skip
FOR_EVER = "public, max-age=31536000, immutable"


class ServedKit:
    """The kit of a server. The runtime of the networks joins it when it has been fetched."""

    def __init__(self, settings: Settings, keyboards: Keyboards) -> None:
        self._awaits = settings.runtime == ""
        given = settings.runtime not in ("", "none")
        runtime = WasmRuntime.from_directory(settings.runtime) if given else None
        networks = keyboards.encoder.weights, keyboards.matcher.weights
        self._kit = Kit(keyboards.layouts, keyboards.languages, *networks, runtime=runtime, server=True)

    def current(self) -> Kit:
        """The kit as it is now."""
        if self._awaits and (runtime := WasmRuntime.cached()):
            self._kit, self._awaits = replace(self._kit, runtime=runtime), False
        return self._kit


def add_files(app: FastAPI, kit: ServedKit, builds: RateLimit) -> Callable[[], None]:
    """Add the routes of all files to an app.

    Args:
        app: the app.
        kit: what the keyboard page decodes with.
        builds: bound on files that must be made first, per address.

    Returns:
        What to call when the app ends.
    """
    for suffix, kind in TYPES.items():
        mimetypes.add_type(kind, suffix)
    static, js = StaticFiles(directory=static_directory()), StaticFiles(directory=js_directory())
    maker = ThreadPoolExecutor(1, thread_name_prefix="kit")
    answer, compress = _kit_route(kit, builds, maker), [Middleware(GZipMiddleware)]
    app.router.routes += [
        *(Route(path, partial(_page, static, name), middleware=compress) for path, name in PAGES.items()),
        *(Route(f"{path}/", _without_slash) for path, name in PAGES.items() if path != "/" and name.endswith(".html")),
        Route("/sw.js", _service_worker, middleware=compress),
        Mount("/static", static, middleware=compress),
        Mount("/js", js, middleware=compress),
        Route("/kit/{name}.gz", answer),
        Route("/kit/{name}", answer, middleware=compress),
    ]
    return partial(maker.shutdown, cancel_futures=True)


async def _page(static: StaticFiles, name: str, request: Request) -> Response:
    """Serve one page."""
    return await static.get_response(name, request.scope)


async def _service_worker(_: Request) -> Response:
    """Serve the service worker; a browser looks for a newer one whenever the page is opened."""
    return Response(await run_in_threadpool(lambda: service_worker(page_contents())), media_type=TYPES[".js"])


async def _without_slash(request: Request) -> Response:
    """Lead to the page whose address somebody typed with a slash too many."""
    return RedirectResponse(request.url.path.rstrip("/"), 308)


def _kit_route(
    served: ServedKit, builds: RateLimit, maker: ThreadPoolExecutor
) -> Callable[[Request], Awaitable[Response]]:
    """What answers a request for a file of the kit, never on the event loop."""

    async def answer(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        kit = await run_in_threadpool(served.current)
        if name not in await run_in_threadpool(lambda: kit.names):
            raise HTTPException(404, f"no file {name[:80]!r} in the kit")
        tag = f'"{kit.tag(name)}"'
        asked = request.query_params.get("v") == kit.build
        headers = {"etag": tag, "cache-control": FOR_EVER if asked else "no-cache"}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        # What must be made first waits in one row: visitors who want the same file share its making.
        ready = kit.is_ready(name)
        if not ready:
            builds.take(address(request))
        data = await asyncio.get_running_loop().run_in_executor(None if ready else maker, kit.file, name)
        return Response(data, media_type=TYPES[Path(name).suffix], headers=headers)

    return answer
