"""``/api/decode``, ``/api/explain``, ``/api/layouts`` and ``/api/health``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request

import glissando
from glissando import explain as explaining
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.scoring import Candidate
from glissando.web.decoding import Decoding, layout_dict
from glissando.web.limits import RateLimit
from glissando.web.models import (
    CandidateModel,
    DecodeRequest,
    DecodeResponse,
    ExplainRequest,
    ExplainResponse,
    HealthResponse,
    LayoutsResponse,
    problems,
)  # fmt: skip
from glissando.web.parsing import JsonRoute
from glissando.web.visitors import address


def decode_router(decoding: Decoding, requests: RateLimit, builds: RateLimit) -> APIRouter:
    """Routes that read swipes.

    Args:
        decoding: keyboards and threads.
        requests: bound on decodings per address.
        builds: bound on keyboards made per address.
    """
    router = APIRouter(prefix="/api", tags=["decoding"], route_class=JsonRoute)
    shelf = decoding.shelf

    async def keyboard(body: DecodeRequest, request: Request) -> Keyboard:
        visitor = address(request)
        requests.take(visitor)
        layout = shelf.layout(body.layout)
        return await decoding.keyboard(layout, shelf.language(body.language, layout), lambda: builds.take(visitor))

    @router.post("/decode", responses=problems(400, 413, 422, 429, 503))
    async def decode(body: DecodeRequest, request: Request) -> DecodeResponse:
        """Read a swipe: points over the letter area in, words out."""
        gesture = Gesture.from_points(body.points)
        board = await keyboard(body, request)
        found = await decoding.decode(board, gesture, body.k)
        candidates = [CandidateModel(**candidate_dict(one)) for one in found.candidates]
        return DecodeResponse(candidates=candidates, milliseconds=found.milliseconds)

    @router.post("/explain", responses=problems(400, 413, 422, 429, 503))
    async def explain(body: ExplainRequest, request: Request) -> ExplainResponse:
        """Say what the network saw in a swipe, and why a word was not first."""
        gesture = Gesture.from_points(body.points)
        board = await keyboard(body, request)
        word = (body.word or "").strip()
        found = await decoding.run(explaining.explain, board, gesture, word or None)
        return ExplainResponse.model_validate(explanation_dict(found, body.k))

    @router.get("/layouts")
    def layouts() -> LayoutsResponse:
        """List the layouts with their keys, and the languages there are words for."""
        return LayoutsResponse.model_validate(
            {
                "layouts": [layout_dict(layout, name) for name, layout in sorted(shelf.layouts.items())],
                "languages": shelf.languages,
            }
        )

    @router.get("/health")
    async def health() -> HealthResponse:
        """Say that the server is well, and how busy it is."""
        return HealthResponse(
            status="ok", version=glissando.__version__, waiting=decoding.waiting, queue=decoding.queue,
            keyboards=len(shelf),
        )  # fmt: skip

    return router


def candidate_dict(candidate: Candidate) -> dict[str, Any]:
    """A candidate as the API shows it."""
    return {name: getattr(candidate, name) for name in ("word", "probability", "score", "log_prob", "letters")}


def explanation_dict(found: explaining.Explanation, k: int) -> dict[str, Any]:
    """An explanation as the API shows it, with ``k`` candidates."""
    return {
        "candidates": [candidate_dict(one) for one in found.candidates[:k]],
        "literal": found.literal,
        "gate": [round(value, 4) for value in found.gate],
        "letters": [asdict(one) for one in found.sights],
        "meant": None if found.meant is None else _meant_dict(found.meant, found),
    }


def _meant_dict(meant: explaining.Verdict, found: explaining.Explanation) -> dict[str, Any]:
    """A verdict as the API shows it."""
    first = found.candidates[0] if found.candidates else None
    costs = meant.alignment.costs if meant.alignment else ()
    return {
        **{name: getattr(meant, name) for name in ("word", "verdict", "rank", "would_rank", "score", "log_prob")},
        "frequency": meant.frequency,
        "best_score": first.score if first else None,
        "costs": _costs(meant.letters, meant.alignment),
        "gaps": meant.alignment.gaps if meant.alignment else None,
        "worst": max(range(len(costs)), key=costs.__getitem__) if costs else None,
        "best_costs": _costs(first.letters, found.best) if first else [],
    }


def _costs(letters: str, alignment: explaining.Alignment | None) -> list[dict[str, Any]]:
    """What each letter cost."""
    if alignment is None:
        return []
    rows = zip(letters, alignment.frames, alignment.costs, strict=True)
    return [{"letter": letter, "frame": frame, "cost": cost} for letter, frame, cost in rows]
