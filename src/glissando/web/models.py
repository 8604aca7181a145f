"""What the API takes, with an example of each, and what it gives besides Decoded and Explanation."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Json

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


class ConsentModel(BaseModel):
    """What a donor agrees to."""

    version: str = Field(description="a hash of the text")
    operator: str
    contact: str
    licence: str
    purpose: str
    kept: str = Field(description="how long")
    stored: list[str]
    not_stored: str
    withdrawal: str
    published: str


QrCode = Annotated[
    list[str], Field(description="rows of a QR code, 1 is dark, without a margin", examples=[["101", "010"]])
]


class CollectionResponse(BaseModel):
    """What is collected here."""

    consent: ConsentModel | None = Field(description="null where nothing is collected")
    languages: list[str]
    layouts: dict[str, list[str]] = Field(description="for each language the layouts that can type its sentences")
    any_pointer: bool = Field(description="whether swipes by mouse or pen are taken")
    session_hours: float
    address: str | None = Field(description="where phones find the collection; null where they cannot")
    qr: QrCode


def _agreed(consent: bool) -> bool:
    if not consent:
        raise ValueError("only true is consent")
    return consent


class SessionRequest(Body):
    """A donor's consent to the text of one version."""

    model_config = example(consent=True, version="0123456789abcdef")

    consent: Annotated[bool, AfterValidator(_agreed), Field(json_schema_extra={"const": True})]
    version: Annotated[str, Field(min_length=1, max_length=16)]


class SessionResponse(BaseModel):
    """A session; whoever knows its secret may add to it and withdraw it."""

    session: str = Field(description="a secret; the store keeps only a hash")
    receipt: str = Field(description="a code that withdraws the session", examples=["7K3M-Q0ZD-VX2H-4TNE"])
    expires: int = Field(description="a full hour, in seconds since 1970")
    link: str = Field(description="opens the page that withdraws the session")
    qr: QrCode


class WithdrawalRequest(Body):
    """Secrets and receipts of sessions to withdraw."""

    model_config = example(codes=["7K3M-Q0ZD-VX2H-4TNE"])

    codes: Annotated[list[Name], Field(min_length=1, max_length=50)]


class WithdrawnModel(BaseModel):
    """What became of one code."""

    known: bool = Field(description="false where nothing is stored under the code")
    removed: int = Field(description="swipes and skipped words, by this withdrawal or an earlier one")


class WithdrawalResponse(BaseModel):
    """How much was removed."""

    removed: int = Field(description="swipes and skipped words in all")
    sessions: list[WithdrawnModel] = Field(description="in the order of the codes")


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
    sampling: Literal["coalesced", "frame"] | None = Field(None, description="how the points were got")
    pixel_ratio: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] | None = None
    key_width_mm: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] | None = None
    hand: Literal["left", "right"] | None = Field(None, description="the hand that swipes")
    posture: Literal["thumb", "finger", "table"] | None = Field(None, description="how the device is held")


class CheckModel(BaseModel):
    """What was found out about a swipe."""

    read: str | None = Field(description="the word read; null where there is none")
    sure: float | None = Field(description="its probability")
    right: bool = Field(description="whether it is the word asked for, apart from case and accents")
    cost: float | None = Field(description="of the word asked for, nats per letter")
    key_distance: float | None = Field(description="greatest distance to the word's keys, key widths")
    flagged: bool = Field(description="whether the swipe does not follow its word")


class SwipeResponse(BaseModel):
    """The swipe is on the disk."""

    stored: bool = Field(description="false where a later attempt at the word was stored before")
    again: bool = Field(description="whether the donor is to be asked for the word once more")
    check: CheckModel | None = Field(description="null for a skipped word")


class SelectionModel(BaseModel):
    """A part of what was collected; every condition may be left out."""

    model_config = ConfigDict(extra="forbid")

    language: Annotated[str, Field(min_length=1, max_length=16)] | None = None
    layout: Name | None = None
    session: Annotated[str, Field(min_length=1, max_length=32)] | None = Field(None, description="a donor's hash")
    since: date | None = Field(None, description="the first day, in UTC", examples=["2026-11-16"])
    until: date | None = Field(None, description="the last day")
    flagged: bool | None = Field(None, description="true: only flagged ones; false: only checked ones that are not")
    max_key_distance: Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)] | None = None


class ExportQuery(SelectionModel):
    """A selection, and the form in which it is wanted."""

    format: Literal["jsonl", "npz", "parquet"] = "jsonl"
    skipped: bool = Field(False, description="skipped words too, in JSON lines and Parquet")


class RemovalRequest(BaseModel):
    """A selection to remove; without a confirmation it is only counted."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"selection": {"flagged": True}}]})

    selection: SelectionModel
    confirm: Annotated[int, Field(strict=True, ge=0, le=2**53)] | None = Field(None, description="the number found")


class RemovalResponse(BaseModel):
    """How many swipes and skipped words a selection had, and how many were removed."""

    found: int
    removed: int


class TotalsModel(BaseModel):
    """Counts of a selection."""

    donors: int = Field(description="sessions")
    swipes: int
    skipped: int
    words: int = Field(description="different ones")
    checked: int
    right: int = Field(description="read as asked")
    flagged: int
    withdrawn: int = Field(description="sessions, of the whole store")


class GroupModel(BaseModel):
    """Counts of one layout and language."""

    layout: str
    language: str
    swipes: int
    skipped: int
    flagged: int
    sessions: int


class BarModel(BaseModel):
    """A bar of a histogram."""

    least: float
    below: float | None = Field(description="null for the last bar")
    swipes: int


class DonorModel(BaseModel):
    """Counts of one session."""

    session: str
    hour: int = Field(description="of the latest swipe, in seconds since 1970")
    swipes: int
    skipped: int
    flagged: int


class HourModel(BaseModel):
    """Swipes of one hour."""

    hour: int = Field(description="seconds since 1970")
    swipes: int


class RecentSwipeModel(BaseModel):
    """A swipe, to be drawn."""

    session: str
    word: str
    layout: str
    language: str
    points: Json[list[list[float]]]
    read: str | None
    key_distance: float | None
    flagged: bool | None = Field(description="null where it was not checked")


class SummaryResponse(BaseModel):
    """What the operator sees."""

    totals: TotalsModel
    groups: list[GroupModel]
    hours: list[HourModel]
    key_distances: list[BarModel] = Field(description="key widths")
    rates: list[BarModel] = Field(description="points per second")
    donors: list[DonorModel] = Field(description="the latest")
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
        409: "no longer as it was shown", 410: "withdrawn", 413: "over 256 KB",
        422: "not what is needed; the message says why", 429: "too many requests",
        503: "busy; come back after Retry-After seconds",
    }  # fmt: skip
    return {code: {"model": ErrorResponse, "description": texts[code]} for code in codes}
