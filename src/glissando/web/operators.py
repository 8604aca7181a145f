"""What the operator may do, behind the token: see, export and remove what was collected."""

from __future__ import annotations

import hmac
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from glissando.errors import GlissandoError
from glissando.web.border import JsonRoute, RateLimit, address
from glissando.web.collect import Collection
from glissando.web.database import StoreBusyError
from glissando.web.decoding import layout_dict
from glissando.web.export import write_export
from glissando.web.models import (
    ExportQuery,
    RemovalRequest,
    RemovalResponse,
    SelectionModel,
    SummaryResponse,
    problems,
)
from glissando.web.overview import overview
from glissando.web.selection import Selection

FILES = {"jsonl": "swipes.jsonl.gz", "npz": "swipes.npz", "parquet": "swipes.zip"}  # names of exports


class TokenError(GlissandoError):
    """No operator's token, or a wrong one."""


class SelectionError(GlissandoError):
    """A selection that is not meant for what was asked."""


def operator_router(site: Collection, attempts: RateLimit) -> APIRouter:
    """Routes for the operator, behind the token."""

    def authorised(request: Request, authorization: Annotated[str, Header()] = "") -> None:
        attempts.take(address(request))
        check_token(authorization, site.settings.token)

    router = APIRouter(
        prefix="/api/operator", tags=["operator"], route_class=JsonRoute, dependencies=[Depends(authorised)]
    )
    exporting = threading.Lock()

    @router.get("/summary", response_model=SummaryResponse, responses=problems(401, 422, 429, 503))
    def summary(asked: Annotated[SelectionModel, Query()]) -> dict[str, Any]:
        """Count what was collected, and show the latest of it."""
        shown = overview(site.store, selection_of(asked))
        names = sorted({row.layout for row in shown["recent"]} & site.keyboards.layouts.keys())
        return {**shown, "layouts": [layout_dict(site.keyboards.layouts[name], name) for name in names]}

    @router.get(
        "/export",
        response_class=FileResponse,
        responses={200: {"content": {"application/octet-stream": {}}}, **problems(401, 422, 429, 503)},
    )
    def export(asked: Annotated[ExportQuery, Query()]) -> Response:
        """Write what was collected as a file."""
        if not exporting.acquire(blocking=False):
            raise StoreBusyError("another export is being written; try again soon")
        with ExitStack() as files:
            file = Path(files.enter_context(tempfile.TemporaryDirectory())) / FILES[asked.format]
            selection = selection_of(asked)
            try:
                write_export(site.store, file, selection, skipped=asked.skipped, layouts=site.settings.layouts)
            finally:
                exporting.release()
            sent = BackgroundTask(files.pop_all().close)  # the file goes when it was sent
        return FileResponse(file, media_type="application/octet-stream", filename=file.name, background=sent)

    @router.post("/removal", responses=problems(400, 401, 409, 413, 422, 429, 503))
    def removal(body: RemovalRequest) -> RemovalResponse:
        """Count a selection or, with that count as confirmation, remove it for good."""
        selection = selection_of(body.selection)
        if selection.empty:
            raise SelectionError("a selection to remove needs a condition, such as session or flagged")
        if body.confirm is None:
            return RemovalResponse(found=site.store.count(selection), removed=0)
        removed = site.store.remove(selection, body.confirm)
        return RemovalResponse(found=removed, removed=removed)

    return router


def check_token(authorization: str, token: str) -> None:
    """Refuse a header other than ``Bearer`` and the token; the time it takes tells nothing about the token."""
    scheme, _, given = authorization.partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    if not (token and scheme.lower() == "bearer" and right):
        raise TokenError("the operator's token is needed, as 'Authorization: Bearer TOKEN'")


def selection_of(asked: SelectionModel) -> Selection:
    """The selection that a request describes."""
    names = Selection.__dataclass_fields__
    return Selection(**{name: value for name, value in asked.model_dump().items() if name in names})
