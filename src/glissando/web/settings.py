"""What an operator may set, in one value that travels to every server process."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from typing import Any

from glissando.errors import GlissandoError

ENVIRONMENT = "GLISSANDO_WEB_SETTINGS"  # how the settings reach server processes, as JSON

MAX_BODY = 256 * 1024  # bytes
MAX_POINTS = 4096


@dataclass(frozen=True)
class Settings:
    """How the server runs.

    Attributes:
        store: SQLAlchemy URL of the collected swipes.
        weights: a packaged encoder, or an ``.onnx`` file.
        layouts: directory of further layouts, "" for none.
        sentences: file of sentences to collect, a line each, "" for the built-in pools.
        language: language of that file.
        token: what the operator page asks for; "" shuts it.
        any_pointer: collect from mice and pens too, not from fingers alone.
        threads: threads of the encoder; the beam takes all cores.
        queue: decodings that may wait; the next one gets 503.
        keyboards: keyboards kept in memory, per process.
        session_hours: how long a donor's session takes new words.
        rate_decode: decodings per second and address; bursts of five times that.
        rate_swipes: donated swipes per second and session; bursts of ten times that.
        rate_address: donated swipes and sessions per second and address; bursts of ten times that.
    """

    store: str = "sqlite:///glissando-swipes.db"
    weights: str = "encoder"
    layouts: str = ""
    sentences: str = ""
    language: str = "en"
    token: str = ""
    any_pointer: bool = False
    threads: int = 1
    queue: int = 64
    keyboards: int = 8
    session_hours: float = 12.0
    rate_decode: float = 40.0
    rate_swipes: float = 4.0
    rate_address: float = 20.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value <= 0:
                raise GlissandoError(f"server setting {field.name} must be positive, got {value}")

    def save(self) -> None:
        """Put the settings where ``load`` finds them, in this process and those it starts."""
        os.environ[ENVIRONMENT] = json.dumps(asdict(self))

    @classmethod
    def load(cls) -> Settings:
        """Settings left by ``save``, else the defaults."""
        values: dict[str, Any] = json.loads(os.environ.get(ENVIRONMENT) or "{}")
        return cls(**values)
