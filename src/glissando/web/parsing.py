"""Reading JSON bodies with pydantic's parser, several times as fast as the standard library's."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json


class JsonRequest(Request):
    """A request whose body is parsed by pydantic."""

    async def json(self) -> Any:
        """The body, parsed, or a 400 that says where it is no JSON."""
        if not hasattr(self, "_json"):
            try:
                self._json = from_json(await self.body())
            except ValueError as error:
                raise HTTPException(400, f"the body is not JSON: {error}") from None
        return self._json


class JsonRoute(APIRoute):
    """A route that reads its body so."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, given a JsonRequest."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json
