"""Collecting swipes: consent, sentences, one upsert per word with its check, and a way to take it all back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool

from glissando.corpus.filters import typeable
from glissando.errors import GestureError, GlissandoError
from glissando.gesture import Gesture
from glissando.layout import ALIASES
from glissando.web.address import page_address, phone_address, qr_rows
from glissando.web.border import JsonRoute, RateLimit, address
from glissando.web.checking import Check, check_swipe
from glissando.web.consent import Consent
from glissando.web.decoding import DecodeQueue, Keyboards
from glissando.web.models import (
    CheckModel,
    CollectionResponse,
    ConsentModel,
    SentencesResponse,
    SessionRequest,
    SessionResponse,
    SwipeRequest,
    SwipeResponse,
    WithdrawalRequest,
    WithdrawalResponse,
    WithdrawnModel,
    problems,
)
from glissando.web.sentences import Pool, words_of
from glissando.web.settings import Settings
from glissando.web.store import Donation, Sentence, Store

FAR = 10.0  # letter areas from its corner: no finger gets there


class NotCollectingError(GlissandoError):
    """The operator has not said what donors agree to."""


class ConsentChangedError(GlissandoError):
    """The donor agreed to a text that is not the present one."""


class PointerError(GlissandoError):
    """A swipe made with something that is not collected here."""


class DonationError(GlissandoError):
    """A swipe that does not fit the sentence it says it belongs to."""


@dataclass(frozen=True)
class Collection:
    """What the routes share; ``consent`` is None where nothing is collected."""

    settings: Settings
    store: Store
    pool: Pool
    consent: Consent | None
    keyboards: Keyboards
    queue: DecodeQueue
    by_session: RateLimit
    by_address: RateLimit


def collect_router(site: Collection) -> APIRouter:
    """Routes for donors."""
    router = APIRouter(prefix="/api", tags=["collection"], route_class=JsonRoute)

    @router.get("/collection")
    def collection(request: Request) -> CollectionResponse:
        """Say what is collected here, on which layouts, and what a donor agrees to."""
        found = phone_address(request, site.settings.address)
        layouts = {language: names for language, names in site.pool.layouts.items() if names}
        return CollectionResponse(
            consent=ConsentModel(version=site.consent.version, **asdict(site.consent)) if site.consent else None,
            languages=list(layouts), layouts=layouts, any_pointer=site.settings.any_pointer,
            session_hours=site.settings.session_hours,
            address=found and f"{found}/collect", qr=qr_rows(f"{found}/collect") if found else [],
        )  # fmt: skip

    @router.post("/sessions", status_code=201, responses=problems(400, 403, 409, 413, 422, 429, 503))
    def open_session(body: SessionRequest, request: Request) -> SessionResponse:
        """Consent, and get a random session that nothing links to a person."""
        site.by_address.take(address(request))
        consent = present_consent(site)
        if body.version != consent.version:
            raise ConsentChangedError("the text that donors agree to has changed; please read it again")
        session = site.store.open_session(site.settings.session_hours, consent)
        link = f"{page_address(request) or ''}/collect#withdraw={session.receipt}"
        return SessionResponse(
            session=session.secret, receipt=session.receipt, expires=session.expires, link=link, qr=qr_rows(link)
        )

    @router.post("/withdrawals", responses=problems(400, 413, 422, 429, 503))
    def withdraw(body: WithdrawalRequest, request: Request) -> WithdrawalResponse:
        """Remove sessions and every swipe in them, at once and for good; the same again gives the same answer."""
        site.by_address.take(address(request))
        done = [site.store.withdraw(code) for code in body.codes]
        rows = [WithdrawnModel(known=one.session is not None, removed=one.removed) for one in done]
        # A session's secret and its receipt count once.
        return WithdrawalResponse(removed=sum({one.session: one.removed for one in done}.values()), sessions=rows)

    @router.get("/sentences", responses=problems(403, 422, 429, 503))
    def sentences(
        request: Request,
        language: Annotated[str, Query(max_length=16, examples=["en"])] = "en",
        layout: Annotated[str, Query(max_length=64, examples=["qwerty"])] = "qwerty",
        count: Annotated[int, Query(ge=1, le=50)] = 10,
    ) -> SentencesResponse:
        """Draw sentences at random that the layout can type, split into words."""
        site.by_address.take(address(request))
        present_consent(site)
        keys = site.keyboards.layout(layout)
        drawn = [Sentence.of(language, text) for text in site.pool.draw(language, ALIASES.get(layout, layout), count)]
        site.store.remember(drawn)
        rows = []
        for one in drawn:
            words = [{"text": text, "typed": typed} for text, typed in words_of(one.text, keys)]
            rows.append({"id": one.id, "language": one.language, "words": words})
        return SentencesResponse.model_validate({"sentences": rows})

    @router.post("/swipes", responses=problems(400, 403, 404, 410, 413, 422, 429, 503))
    async def save_swipe(body: SwipeRequest, request: Request) -> SwipeResponse:
        """Check one attempt at a word and store it; the answer comes when it is on the disk."""
        site.by_address.take(address(request))
        site.by_session.take(body.session)
        donation = await run_in_threadpool(checked_donation, site, body)
        check = await checked(site, donation) if donation.points else None
        saved = await run_in_threadpool(site.store.save, body.session, donation, check)
        return SwipeResponse(
            stored=saved.stored,
            again=check is not None and check.flagged and saved.tries == 1,
            check=CheckModel(**asdict(check)) if check else None,
        )

    return router


def present_consent(site: Collection) -> Consent:
    """What donors agree to, or an error where nothing is collected."""
    if site.consent is None:
        raise NotCollectingError(
            "this server does not collect swipes: its operator has not said what donors agree to (--consent FILE)"
        )
    return site.consent


def checked_donation(site: Collection, body: SwipeRequest) -> Donation:
    """What a request gives, checked against the sentence that was handed out."""
    if body.pointer != "touch" and not site.settings.any_pointer:
        raise PointerError(f"only swipes by a finger are collected here, got one by {body.pointer}")
    keys, layout = site.keyboards.layout(body.layout), ALIASES.get(body.layout, body.layout)
    sentence = site.store.sentence(body.sentence)
    words = sentence.text.split()
    if body.word_index >= len(words) or words[body.word_index] != body.word:
        raise DonationError(f"word {body.word_index} of sentence {body.sentence!r} is not {body.word[:40]!r}")
    if not typeable(body.word, frozenset(keys.letters)):
        raise DonationError(f"{body.word[:40]!r} cannot be typed on layout {layout!r}")
    return Donation(
        **body.model_dump(exclude={"session", "points", "layout"}),
        layout=layout,
        language=sentence.language,
        points=_stored_points(body.points),
    )


async def checked(site: Collection, donation: Donation) -> Check:
    """Check a swipe, off the event loop."""
    keyboard = await site.keyboards.get(site.keyboards.layouts[donation.layout], donation.language)
    gesture = Gesture.from_points(donation.points)
    aspect = donation.canvas_height / donation.canvas_width
    return await site.queue.run(check_swipe, keyboard, gesture, donation.word, aspect)


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
