"""What a donor agrees to: the operator's words from a TOML file, and what is the same for every collection."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from glissando.errors import GlissandoError

MAX_TEXT = 2000  # characters of one of the operator's texts

# What is stored, in the donor's words, and the columns of the store that hold it; a test finds every column here.
STORED = {
    "where your finger was on the letters, and when, in milliseconds from touch-down": ("points",),
    "the word, its sentence and its place in it; the words you skipped": ("word", "sentence", "word_index", "skipped"),
    "the layout and the language": ("layout", "language"),
    "the size of the letter area in pixels, the pixel ratio of the screen, the width of a key in millimetres where it "
    "is known, and whether the screen was upright or sideways": (
        "canvas_width", "canvas_height", "pixel_ratio", "key_width_mm", "orientation",
    ),
    "whether you used a finger, a pen or a mouse; how your browser reports points, and how many a second": (
        "pointer", "sampling", "rate",
    ),
    "the number of the attempt, and how often you tried the word": ("attempt", "tries"),
    "what our software read in the swipe, how sure it was, how far the swipe is from the word, and whether it seems "
    "not to follow it": ("read", "sure", "right", "cost", "key_distance", "flagged"),
    "the hour in which it arrived, not the minute": ("received",),
    "the hand and the posture, if you choose to say them": ("hand", "posture"),
    "a random number for your session, the hours in which it begins and ends, and which text you agreed to": (
        "session", "id", "receipt", "created", "expires", "consent",
    ),
}  # fmt: skip
NOT_STORED = (
    "No name, no address, no account, no cookie, nothing about your browser. Nothing links a session with you or with "
    "your other sessions."
)
WITHDRAWAL = (
    "You can withdraw at any time: “Delete everything I gave” on this page removes all that this browser gave. With "
    "the receipt you can do it from another device. What remains is a note that the session was withdrawn, so that "
    "nothing of it comes back."
)
PUBLISHED = "The swipes may be published under this licence. Copies that were published already cannot be called back."


class ConsentError(GlissandoError):
    """A consent file that cannot be used."""


@dataclass(frozen=True)
class Consent:
    """Everything that a donor is told before agreeing.

    Attributes:
        operator: who collects.
        contact: whom a donor can ask.
        licence: under which the swipes are published.
        purpose: what they are collected for.
        kept: how long they are kept.
        stored: what is stored.
        not_stored: what is not.
        withdrawal: how to withdraw.
        published: what becomes of published copies.
    """

    operator: str
    contact: str
    licence: str
    purpose: str
    kept: str
    stored: tuple[str, ...] = tuple(STORED)
    not_stored: str = NOT_STORED
    withdrawal: str = WITHDRAWAL
    published: str = PUBLISHED

    @property
    def version(self) -> str:
        """A hash of all of it: a donor agrees to this text and to no other."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that ``from_dict`` reads."""
        return {**asdict(self), "stored": list(self.stored)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Consent:
        """A consent that was stored."""
        return cls(**{**data, "stored": tuple(data["stored"])})


OPERATORS = ("operator", "contact", "licence", "purpose", "kept")  # what the operator says


def load_consent(path: str | Path) -> Consent:
    """Read the operator's consent file."""
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConsentError(f"cannot read consent file {path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConsentError(f"consent file {path} is not TOML: {error}") from None
    unknown = ", ".join(sorted(data.keys() - set(OPERATORS)))
    if unknown:
        raise ConsentError(f"consent file {path}: unknown {unknown}; it has {', '.join(OPERATORS)}")
    for name in OPERATORS:
        text = data.get(name)
        if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_TEXT:
            got = "nothing" if name not in data else repr(text)[:40]
            raise ConsentError(f"consent file {path}: {name} must be text of 1 to {MAX_TEXT} characters, got {got}")
    return Consent(**{name: data[name].strip() for name in OPERATORS})
