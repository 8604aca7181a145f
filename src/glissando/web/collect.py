"""Collecting swipes: consent, sentences, one upsert per word, and a way to take it all back."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request

from glissando.errors import GestureError, GlissandoError
from glissando.gesture import Gesture
from glissando.web.border import JsonRoute, RateLimit, address
from glissando.web.decoding import Keyboards, layout_dict
from glissando.web.models import (
    CollectionResponse,
    DeletedResponse,
    SentencesResponse,
    SessionRequest,
    SessionResponse,
    SummaryResponse,
    SwipeRequest,
    SwipeResponse,
    problems,
)
from glissando.web.sentences import Sentences, draw_sentences, words_of
from glissando.web.settings import Settings
from glissando.web.store import Donation, Sentence, Store

RECENT = 24  # swipes drawn for the operator
FAR = 10.0  # letter areas from its corner: no finger gets there


class PointerError(GlissandoError):
    """A swipe made with something that is not collected here."""


class DonationError(GlissandoError):
    """A swipe that does not fit the sentence it says it belongs to."""


class TokenError(GlissandoError):
    """No operator's token, or a wrong one."""


@dataclass(frozen=True)
class Collection:
    """What the routes share."""

    settings: Settings
    store: Store
    sentences: Sentences
    keyboards: Keyboards
    by_session: RateLimit
    by_address: RateLimit


def collect_router(site: Collection) -> APIRouter:
    """Routes for donors."""
    router = APIRouter(prefix="/api", tags=["collection"], route_class=JsonRoute)

    @router.get("/collection")
    def collection() -> CollectionResponse:
        """Say what is collected here."""
        return CollectionResponse(
            languages=sorted(site.sentences), any_pointer=site.settings.any_pointer,
            session_hours=site.settings.session_hours,
        )  # fmt: skip

    @router.post("/sessions", status_code=201, responses=problems(400, 413, 422, 429, 503))
    def open_session(body: SessionRequest, request: Request) -> SessionResponse:
        """Consent, and get a random session that nothing links to a person."""
        site.by_address.take(address(request))
        secret, expires = site.store.open_session(site.settings.session_hours)
        return SessionResponse(session=secret, expires=expires)

    @router.delete("/sessions", responses=problems(404, 413, 422, 429, 503))
    def delete_session(
        request: Request, x_session: Annotated[str, Header(min_length=1, max_length=64, description="the secret")]
    ) -> DeletedResponse:
        """Delete a session and every swipe in it, at once and for good."""
        site.by_address.take(address(request))
        return DeletedResponse(deleted=site.store.delete_session(x_session))

    @router.get("/sentences", responses=problems(422, 429, 503))
    def sentences(
        request: Request,
        language: Annotated[str, Query(max_length=16, examples=["en"])] = "en",
        layout: Annotated[str, Query(max_length=64, examples=["qwerty"])] = "qwerty",
        count: Annotated[int, Query(ge=1, le=50)] = 10,
    ) -> SentencesResponse:
        """Draw sentences at random, split into words."""
        site.by_address.take(address(request))
        keys = site.keyboards.layout(layout)
        drawn = [Sentence.of(language, text) for text in draw_sentences(site.sentences, language, count)]
        site.store.remember(drawn)
        rows = []
        for one in drawn:
            words = [{"text": text, "typed": typed} for text, typed in words_of(one.text, keys)]
            rows.append({"id": one.id, "language": one.language, "words": words})
        return SentencesResponse.model_validate({"sentences": rows})

    @router.post("/swipes", responses=problems(400, 403, 404, 413, 422, 429, 503))
    def save_swipe(body: SwipeRequest, request: Request) -> SwipeResponse:
        """Store one attempt at a word; the answer comes when it is on the disk."""
        site.by_address.take(address(request))
        site.by_session.take(body.session)
        return SwipeResponse(stored=site.store.save(body.session, checked_donation(site, body)))

    return router


def operator_router(site: Collection, attempts: RateLimit) -> APIRouter:
    """Routes for the operator, behind the token."""
    router = APIRouter(prefix="/api/operator", tags=["operator"])

    @router.get("/summary", response_model=SummaryResponse, responses=problems(401, 429, 503))
    def summary(request: Request, authorization: Annotated[str, Header()] = "") -> dict[str, Any]:
        """Count what was collected, and show the latest of it."""
        attempts.take(address(request))
        check_token(authorization, site.settings.token)
        groups, hours = site.store.summary()
        recent = site.store.recent(RECENT)
        names = sorted({row.layout for row in recent} & site.keyboards.layouts.keys())
        layouts = [layout_dict(site.keyboards.layouts[name], name) for name in names]
        return {"groups": groups, "hours": hours, "recent": recent, "layouts": layouts}

    return router


def check_token(authorization: str, token: str) -> None:
    """Refuse a header other than ``Bearer`` and the token; the time it takes tells nothing about the token."""
    scheme, _, given = authorization.partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    if not (token and scheme.lower() == "bearer" and right):
        raise TokenError("the operator's token is needed, as 'Authorization: Bearer TOKEN'")


def checked_donation(site: Collection, body: SwipeRequest) -> Donation:
    """What a request gives, checked against the sentence that was handed out."""
    if body.pointer != "touch" and not site.settings.any_pointer:
        raise PointerError(f"only swipes by a finger are collected here, got one by {body.pointer}")
    site.keyboards.layout(body.layout)
    sentence = site.store.sentence(body.sentence)
    words = sentence.text.split()
    if body.word_index >= len(words) or words[body.word_index] != body.word:
        raise DonationError(f"word {body.word_index} of sentence {body.sentence!r} is not {body.word[:40]!r}")
    return Donation(
        **body.model_dump(exclude={"session", "points"}),
        language=sentence.language,
        points=_stored_points(body.points),
    )


def _stored_points(points: list[list[float]]) -> tuple[tuple[float, ...], ...]:
    """Points as they are stored: time from the first, a tenth of a millisecond and of a pixel at the finest."""
    if not points:
        return ()
    gesture = Gesture.from_points(points)
    if max(abs(gesture.x).max(), abs(gesture.y).max()) > FAR:
        raise GestureError(
            f"a point lies more than {FAR:g} letter areas away; x and y are fractions of the letter area"
        )
    times = gesture.t - gesture.t[0]
    rows = zip(gesture.x.tolist(), gesture.y.tolist(), times.tolist(), strict=True)
    return tuple((round(x, 5), round(y, 5), round(t, 1)) for x, y, t in rows)
