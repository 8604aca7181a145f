"""What the API takes, with an example of each, and what it gives besides Decoded and Explanation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Json

MAX_POINTS = 4096
MAX_CONTEXT = 4096  # characters; of them the last two words count

# "hello" on QWERTY, roughly.
EXAMPLE_POINTS: list[Any] = [
    [0.60, 0.50, 0], [0.45, 0.35, 90], [0.25, 0.17, 190], [0.60, 0.30, 300],
    [0.95, 0.50, 420], [0.95, 0.50, 540], [0.85, 0.17, 660],
]  # fmt: skip

Coordinate = Annotated[float, Field(ge=-10, le=10, allow_inf_nan=False)]
HalfSize = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Pixels = Annotated[float, Field(gt=0, le=20_000, allow_inf_nan=False, description="pixels")]
Point = Annotated[
    list[Annotated[float, Field(ge=-10, le=10_000_000, allow_inf_nan=False)]],
    Field(min_length=3, max_length=3, description="x, y in fractions of the letter area, and t in milliseconds"),
]
Tapped = Annotated[str, Field(max_length=48)]
Word = Annotated[str, Field(min_length=1, max_length=48, examples=["hello"])]
Name = Annotated[str, Field(min_length=1, max_length=64)]
LanguageCodes = Annotated[
    str,
    Field(
        min_length=1,
        max_length=32,
        description="a code such as en, or several, the main one first: de,en",
        examples=["en", "de,en"],
    ),
]


def example(**fields: Any) -> ConfigDict:
    """The configuration of a body with an example."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class Body(BaseModel):
    """A body of a request: unknown fields are errors, and text is not taken for a number."""

    model_config = ConfigDict(strict=True, extra="forbid")


class KeyModel(Body):
    """A key: its letter, centre and half size, in fractions of the letter area."""

    letter: Annotated[str, Field(min_length=1, max_length=8)]
    cx: Coordinate
    cy: Coordinate
    rx: HalfSize
    ry: HalfSize


class CustomLayout(Body):
    """A keyboard of one's own: rows of letters, or keys."""

    model_config = example(name="mine", rows=["qwfpgjluy", "arstdhneio", "zxcvbkm"])

    name: Name = "custom"
    rows: Annotated[list[Annotated[str, Field(max_length=128)]], Field(min_length=1, max_length=16)] | None = None
    keys: Annotated[list[KeyModel], Field(min_length=1, max_length=64)] | None = None
    stagger: Annotated[float, Field(ge=-8, le=8, allow_inf_nan=False)] | None = None
    aspect: Annotated[float, Field(ge=0.05, le=20, allow_inf_nan=False)] | None = None
    language: Annotated[str, Field(max_length=16)] = ""


class DecodeRequest(Body):
    """A swipe to decode."""

    model_config = example(points=EXAMPLE_POINTS, layout="qwerty", language="en,de", context="She said", k=3)

    points: Annotated[list[Point], Field(min_length=1, max_length=MAX_POINTS, examples=[EXAMPLE_POINTS])]
    layout: Name | CustomLayout = "qwerty"
    language: LanguageCodes | None = Field(None, description="by default the layout's own")
    k: Annotated[int, Field(ge=1, le=20, description="candidates at the most")] = 5
    context: Annotated[str, Field(max_length=MAX_CONTEXT, examples=["She said"])] | None = Field(
        None, description="the text before the swipe; empty at the beginning of a text, null where it is not known"
    )
    prefix: Tapped = Field("", description="letters that were tapped: only words that begin so")
    suffix: Tapped = Field("", description="letters that were tapped: only words that end so")


class ExplainRequest(DecodeRequest):
    """A swipe to explain, and perhaps the word that was meant."""

    model_config = example(points=EXAMPLE_POINTS, layout="qwerty", language="en", context="She said", word="help")

    word: Annotated[str, Field(max_length=48, description="the word that was meant")] | None = None


class KnownResponse(BaseModel):
    """Whether a word is in a list."""

    known: bool


class LayoutModel(BaseModel):
    """A layout."""

    name: str = Field(examples=["qwerty"])
    language: str = Field(examples=["en"])
    aspect: float = Field(description="height over width of the letter area", examples=[0.4])
    letters: str
    keys: list[KeyModel]


class LayoutsResponse(BaseModel):
    """The layouts and languages that can be asked for."""

    layouts: list[LayoutModel]
    languages: list[str] = Field(examples=[["en", "ru"]])


class HealthResponse(BaseModel):
    """Whether the server is well."""

    status: Literal["ok"]
    version: str
    waiting: int = Field(description="decodings under way or waiting")
    queue: int = Field(description="decodings that may wait")
    keyboards: int = Field(description="keyboards in memory")


class CollectionResponse(BaseModel):
    """What is collected here."""

    languages: list[str]
    any_pointer: bool = Field(description="whether swipes by mouse or pen are taken")
    session_hours: float


class SessionRequest(Body):
    """A donor's consent."""

    model_config = example(consent=True)

    consent: Literal[True]


class SessionResponse(BaseModel):
    """A session; whoever knows its secret may add to it and delete it."""

    session: str = Field(description="a secret; the store keeps only a hash")
    expires: int = Field(description="seconds since 1970")


class DeletedResponse(BaseModel):
    """How much was deleted."""

    deleted: int = Field(description="swipes")


class WordModel(BaseModel):
    """A word of a sentence, and what of it is typed on the layout."""

    text: str = Field(examples=["Don't"])
    typed: str = Field(examples=["dont"], description="empty where the layout has none of its letters")


class SentenceModel(BaseModel):
    """A sentence to swipe."""

    id: str
    language: str
    words: list[WordModel]


class SentencesResponse(BaseModel):
    """Sentences, in random order."""

    sentences: list[SentenceModel]


class SwipeRequest(Body):
    """One attempt at a word; it has no points if the word was skipped."""

    model_config = example(
        session="the session's secret", sentence="0123456789abcdef", word_index=0, word="Hello", layout="qwerty",
        points=EXAMPLE_POINTS, canvas_width=390, canvas_height=156, orientation="portrait", pointer="touch", attempt=0,
    )  # fmt: skip

    session: Name
    sentence: Annotated[str, Field(min_length=1, max_length=16)]
    word_index: Annotated[int, Field(ge=0, le=999)]
    word: Annotated[str, Field(min_length=1, max_length=128)]
    layout: Name
    points: Annotated[list[Point], Field(max_length=MAX_POINTS)]
    canvas_width: Pixels
    canvas_height: Pixels
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


class RecentSwipeModel(BaseModel):
    """A swipe, to be drawn."""

    word: str
    layout: str
    language: str
    points: Json[list[list[float]]]


class SummaryResponse(BaseModel):
    """What the operator sees."""

    groups: list[GroupModel]
    hours: list[HourModel]
    recent: list[RecentSwipeModel]
    layouts: list[LayoutModel] = Field(description="those the recent swipes were made on")


class ErrorDetail(BaseModel):
    """What is wrong."""

    kind: str = Field(examples=["LayoutError"])
    message: str = Field(examples=["no layout 'qwertz2'; there are azerty, clearflow"])


class ErrorResponse(BaseModel):
    """Every answer that is not a success."""

    error: ErrorDetail


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that may fail with these statuses."""
    texts = {
        400: "not JSON", 401: "no token or a wrong one", 403: "not allowed here", 404: "no such thing",
        413: "over 256 KB", 422: "not what is needed; the message says why", 429: "too many requests",
        503: "busy; come back after Retry-After seconds",
    }  # fmt: skip
    return {code: {"model": ErrorResponse, "description": texts[code]} for code in codes}
