"""What the API takes and gives, with an example of each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from glissando.web.settings import MAX_POINTS

# "hello" on QWERTY, roughly.
EXAMPLE_POINTS: list[Any] = [
    [0.60, 0.50, 0], [0.45, 0.35, 90], [0.25, 0.17, 190], [0.60, 0.30, 300],
    [0.95, 0.50, 420], [0.95, 0.50, 540], [0.85, 0.17, 660],
]  # fmt: skip

Coordinate = Annotated[float, Field(ge=-10, le=10, allow_inf_nan=False)]
Point = Annotated[
    list[Annotated[float, Field(ge=-10, le=10_000_000, allow_inf_nan=False)]],
    Field(min_length=3, max_length=3, description="x, y in fractions of the letter area, and t in milliseconds"),
]
Points = Annotated[list[Point], Field(min_length=1, max_length=MAX_POINTS, examples=[EXAMPLE_POINTS])]
Language = Annotated[str, Field(min_length=1, max_length=16, description="a code such as en", examples=["en"])]
Name = Annotated[str, Field(min_length=1, max_length=64)]


class Request(BaseModel):
    """A body: no field we do not know, no text taken for a number."""

    model_config = ConfigDict(strict=True, extra="forbid")


class KeyModel(Request):
    """A key: its letter, centre and half size, in fractions of the letter area."""

    letter: Annotated[str, Field(min_length=1, max_length=8)]
    cx: Coordinate
    cy: Coordinate
    rx: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    ry: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class CustomLayout(Request):
    """A keyboard of one's own: rows of letters, or keys."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"examples": [{"name": "mine", "rows": ["qwfpgjluy", "arstdhneio", "zxcvbkm"]}]},
    )

    name: Name = "custom"
    rows: Annotated[list[Annotated[str, Field(max_length=128)]], Field(min_length=1, max_length=16)] | None = None
    keys: Annotated[list[KeyModel], Field(min_length=1, max_length=64)] | None = None
    stagger: Annotated[float, Field(ge=-8, le=8, allow_inf_nan=False)] | None = None
    aspect: Annotated[float, Field(ge=0.05, le=20, allow_inf_nan=False)] | None = None
    language: Annotated[str, Field(max_length=16)] = ""


class DecodeRequest(Request):
    """A swipe to read."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={"examples": [{"points": EXAMPLE_POINTS, "layout": "qwerty", "language": "en", "k": 3}]},
    )

    points: Points
    layout: Name | CustomLayout = "qwerty"
    language: Language | None = Field(None, description="by default the layout's own")
    k: Annotated[int, Field(ge=1, le=20, description="candidates at the most")] = 5


class ExplainRequest(DecodeRequest):
    """A swipe to explain, and perhaps the word that was meant."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"points": EXAMPLE_POINTS, "layout": "qwerty", "language": "en", "word": "help"}]
        },
    )

    word: Annotated[str, Field(max_length=48, description="the word that was meant")] | None = None


class CandidateModel(BaseModel):
    """A word the swipe may mean."""

    word: str = Field(examples=["hello"])
    probability: float = Field(description="its share among the candidates, 0 to 1", examples=[0.93])
    score: float = Field(description="what the ranking sorts by (the report's equation 3)", examples=[11.2])
    log_prob: float = Field(description="log-probability of its letters", examples=[-2.4])
    letters: str = Field(description="what of it is typed", examples=["hello"])


class DecodeResponse(BaseModel):
    """Candidates, best first."""

    candidates: list[CandidateModel]
    milliseconds: float = Field(description="decoding alone, without waiting and transport", examples=[2.1])


class SeenLetter(BaseModel):
    """A letter of the best word, and what the network saw where it was swiped."""

    letter: str = Field(examples=["h"])
    frame: int = Field(description="of the emissions, from 0")
    confidence: float = Field(description="probability of the letter in that frame", examples=[0.97])
    field: list[list[int]] | None = Field(
        description="likelihood over the letter area, rows from the top, 0 to 255; none where the encoder has no field"
    )


class LetterCost(BaseModel):
    """What a letter of a word costs on the best way through the emissions."""

    letter: str = Field(examples=["h"])
    frame: int
    cost: float = Field(description="minus log-probability, in nats", examples=[0.2])


class Meant(BaseModel):
    """What became of the word that was meant."""

    word: str = Field(examples=["help"])
    verdict: Literal["first", "outscored", "pruned", "out of lexicon", "not typeable"]
    rank: int | None = Field(description="among the words the beam kept, from 1; none where it was not kept")
    would_rank: int | None = Field(description="where its score would put it")
    score: float | None
    best_score: float | None = Field(description="of the first candidate")
    log_prob: float | None = Field(description="log-probability of its letters")
    frequency: int | None = Field(description="its frequency byte, 0 to 255; a rare word's where the lexicon lacks it")
    costs: list[LetterCost] = Field(description="per letter")
    gaps: float | None = Field(description="cost of the frames between letters")
    worst: int | None = Field(description="index of the letter that cost most")
    best_costs: list[LetterCost] = Field(description="the same for the first candidate")


class ExplainResponse(BaseModel):
    """What the network saw, and why a word was not first."""

    candidates: list[CandidateModel]
    literal: str = Field(description="the letters read without a lexicon", examples=["hello"])
    gate: list[float] = Field(description="per frame, whether a letter is meant, 0 to 1")
    letters: list[SeenLetter]
    meant: Meant | None


class LayoutModel(BaseModel):
    """A layout."""

    name: str = Field(examples=["qwerty"])
    language: str = Field(examples=["en"])
    aspect: float = Field(description="height over width of the letter area", examples=[0.4])
    letters: str
    keys: list[KeyModel]


class LayoutsResponse(BaseModel):
    """Layouts and languages there are."""

    layouts: list[LayoutModel]
    languages: list[str] = Field(examples=[["en", "ru"]])


class HealthResponse(BaseModel):
    """Whether the server is well."""

    status: Literal["ok"]
    version: str
    waiting: int = Field(description="decodings under way or waiting")
    queue: int = Field(description="decodings that may wait")
    keyboards: int = Field(description="keyboards in memory")


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
        400: "not JSON", 401: "no or a wrong token", 403: "not allowed here", 404: "no such thing",
        413: "over 256 KB", 422: "not what is needed; the message says why", 429: "too many requests",
        503: "busy; come back after Retry-After seconds",
    }  # fmt: skip
    return {code: {"model": ErrorResponse, "description": texts[code]} for code in codes}
