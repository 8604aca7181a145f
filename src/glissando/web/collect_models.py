"""What the API of the collection takes and gives."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from glissando.web.models import EXAMPLE_POINTS, LayoutModel, Name, Point, Request
from glissando.web.settings import MAX_POINTS


class CollectionResponse(BaseModel):
    """What can be collected here."""

    languages: list[str]
    any_pointer: bool = Field(description="whether swipes by mouse or pen are taken")
    session_hours: float


class SessionRequest(Request):
    """A donor's consent."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [{"consent": True}]})

    consent: Literal[True]


class SessionResponse(BaseModel):
    """A session; whoever knows its secret may add to it and delete it."""

    session: str = Field(description="a secret; the store keeps only a hash")
    expires: int = Field(description="seconds since 1970")


class DeletedResponse(BaseModel):
    """What was deleted."""

    deleted: int = Field(description="swipes")


class WordModel(BaseModel):
    """A word of a sentence, and what of it is typed on the layout; nothing where it cannot be."""

    text: str = Field(examples=["Don't"])
    typed: str = Field(examples=["dont"])


class SentenceModel(BaseModel):
    """A sentence to swipe."""

    id: str
    language: str
    words: list[WordModel]


class SentencesResponse(BaseModel):
    """Sentences, in random order."""

    sentences: list[SentenceModel]


class SwipeRequest(Request):
    """One attempt at a word; without points it was skipped."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "session": "the session's secret", "sentence": "0123456789abcdef", "word_index": 0, "word": "Hello",
                    "layout": "qwerty", "points": EXAMPLE_POINTS, "canvas_width": 390, "canvas_height": 156,
                    "orientation": "portrait", "pointer": "touch", "attempt": 0,
                }
            ]
        },
    )  # fmt: skip

    session: Annotated[str, Field(min_length=1, max_length=64)]
    sentence: Annotated[str, Field(min_length=1, max_length=16)]
    word_index: Annotated[int, Field(ge=0, le=999)]
    word: Annotated[str, Field(min_length=1, max_length=128)]
    layout: Name
    points: Annotated[list[Point], Field(max_length=MAX_POINTS)]
    canvas_width: Annotated[float, Field(gt=0, le=20_000, allow_inf_nan=False, description="pixels")]
    canvas_height: Annotated[float, Field(gt=0, le=20_000, allow_inf_nan=False, description="pixels")]
    orientation: Literal["portrait", "landscape"]
    pointer: Literal["touch", "pen", "mouse"] = "touch"
    attempt: Annotated[int, Field(ge=0, le=1_000_000, description="counts up in a session")] = 0


class SwipeResponse(BaseModel):
    """The swipe is on the disk."""

    stored: bool = Field(description="false where a later attempt at the word was stored before")


class GroupModel(BaseModel):
    """Counts of one layout and language."""

    layout: str
    language: str
    swipes: int
    skipped: int
    sessions: int


class HourModel(BaseModel):
    """Swipes of one hour."""

    hour: int = Field(description="seconds since 1970")
    swipes: int


class RecentModel(BaseModel):
    """A swipe, to be drawn."""

    word: str
    layout: str
    language: str
    points: list[list[float]]


class SummaryResponse(BaseModel):
    """What the operator sees."""

    groups: list[GroupModel]
    hours: list[HourModel]
    recent: list[RecentModel]
    layouts: list[LayoutModel] = Field(description="those the recent swipes were made on")
