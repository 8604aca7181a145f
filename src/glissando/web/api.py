"""``/api/decode``, ``/api/explain``, ``/api/known``, ``/api/layouts`` and ``/api/health``."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request

import glissando
from glissando.explain import Explanation
from glissando.explain import explain as explain_swipe
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.scoring import Candidates
from glissando.web.border import JsonRoute, RateLimit, address
from glissando.web.decoding import Decoded, DecodeQueue, Keyboards, layout_dict
from glissando.web.models import (
    DecodeRequest,
    ExplainRequest,
    HealthResponse,
    KnownResponse,
    LanguageCodes,
    LayoutsResponse,
    Word,
    problems,
)


def decode_router(keyboards: Keyboards, queue: DecodeQueue, requests: RateLimit, builds: RateLimit) -> APIRouter:
    """Routes that decode swipes.

    Args:
        keyboards: layouts, languages and keyboards.
        queue: what decodes.
        requests: bound on decodings per address.
        builds: bound on keyboards built per address.
    """
    router = APIRouter(prefix="/api", tags=["decoding"], route_class=JsonRoute)

    async def keyboard_for(body: DecodeRequest, request: Request) -> Keyboard:
        visitor = address(request)
        requests.take(visitor)
        layout = keyboards.layout(body.layout)
        language = keyboards.language(body.language, layout)
        return await keyboards.get(layout, language, before_build=lambda: builds.take(visitor))

    @router.post("/decode", responses=problems(400, 413, 422, 429, 503))
    async def decode(body: DecodeRequest, request: Request) -> Decoded:
        """Decode a swipe: points over the letter area in, words out. The text before it helps."""
        gesture, keyboard = Gesture.from_points(body.points), await keyboard_for(body, request)
        tapped = body.prefix, body.suffix
        keyboard.dictionary.affixes(*tapped)  # a letter that is not on the layout fails here, not in a batch
        return await queue.decode(keyboard, gesture, body.k, body.context, tapped)

    @router.post("/explain", responses=problems(400, 413, 422, 429, 503))
    async def explain(body: ExplainRequest, request: Request) -> Explanation:
        """Say what the networks saw in a swipe, and why a word was not first."""
        gesture = Gesture.from_points(body.points)
        word, keyboard = (body.word or "").strip(), await keyboard_for(body, request)
        tapped = body.prefix, body.suffix
        explanation = await queue.run(explain_swipe, keyboard, gesture, word or None, body.context, tapped)
        shown = Candidates(explanation.candidates[: body.k])
        return replace(explanation, candidates=shown, none=shown.none)

    @router.get("/known", responses=problems(422, 429, 503))
    async def known(word: Word, request: Request, language: LanguageCodes = "en") -> KnownResponse:
        """Say whether a word is in the list of a language, or of one of several, in lower case or with capitals."""
        requests.take(address(request))
        codes = keyboards.codes(language)
        return KnownResponse(known=await queue.run(keyboards.knows, word, codes))

    @router.get("/layouts")
    def layouts() -> LayoutsResponse:
        """List the layouts with their keys, and the languages that have a word list."""
        rows = [layout_dict(layout, name) for name, layout in sorted(keyboards.layouts.items())]
        return LayoutsResponse.model_validate({"layouts": rows, "languages": keyboards.languages})

    @router.get("/health")
    async def health() -> HealthResponse:
        """Say that the server is well, and how busy it is."""
        return HealthResponse(
            status="ok", version=glissando.__version__, waiting=queue.waiting, queue=queue.limit,
            keyboards=len(keyboards),
        )  # fmt: skip

    return router
