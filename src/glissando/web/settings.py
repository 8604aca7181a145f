"""What an operator may set, in one value that travels to every server process."""

from __future__ import annotations

import os

from pydantic import BaseModel, PositiveFloat, PositiveInt

ENVIRONMENT = "GLISSANDO_WEB_SETTINGS"  # how the settings reach server processes, as JSON


class Settings(BaseModel, frozen=True, extra="forbid"):
    """How the server runs."""

    store: str = "sqlite:///glissando-swipes.db"  # SQLAlchemy URL of the collected swipes
    weights: str = "encoder"  # a packaged encoder, or an .onnx file
    matcher: str = "matcher"  # a packaged matcher, or an .onnx file
    layouts: str = ""  # directory of further layouts; empty for none
    runtime: str = ""  # onnxruntime-web: empty for the one fetched into the cache, a directory, or "none"
    sentences: str = ""  # file of sentences to collect, one per line; empty for the built-in ones
    language: str = "en"  # of that file
    consent: str = ""  # TOML file of what donors agree to; without one nothing is collected
    address: str = ""  # of this server for phones, e.g. https://192.168.1.5:8000; empty if the page's own will do
    token: str = ""  # what the operator page asks for; without one there is no such page
    any_pointer: bool = False  # collect swipes of mice and pens too, not of fingers alone
    threads: PositiveInt = 1  # of the networks; the beam takes all cores
    queue: PositiveInt = 64  # decodings that may wait; the next one gets 503
    keyboards: PositiveInt = 8  # kept in memory, per process
    session_hours: PositiveFloat = 12.0  # how long a donor's session takes new words
    rate_decode: PositiveFloat = 40.0  # decodings per second and address; bursts of five times that
    rate_swipes: PositiveFloat = 4.0  # donations per second and session; bursts of ten times that
    rate_address: PositiveFloat = 20.0  # donations and sessions per second and address; bursts of ten times that

    def save(self) -> None:
        """Put the settings where ``load`` finds them, in this process and in those it starts."""
        os.environ[ENVIRONMENT] = self.model_dump_json()

    @classmethod
    def load(cls) -> Settings:
        """The settings that ``save`` left, else the defaults."""
        return cls.model_validate_json(os.environ.get(ENVIRONMENT) or "{}")
