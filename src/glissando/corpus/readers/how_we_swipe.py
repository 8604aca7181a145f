"""How We Swipe (Leiva et al., MobileHCI 2021): one space-separated log per person, or the zip of them all.

    sentence timestamp keyb_width keyb_height event x_pos y_pos x_radius y_radius angle word is_err

Pixels cover the whole canvas, three letter rows and a bottom row of dummy keys 0.7 of a row high.
"""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO

from glissando.corpus.lines import MAX_LINE_BYTES, read_lines
from glissando.corpus.readers.rows import UnusableRowError, bare_word, usable_gesture
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError

CANVAS_ROWS = 3.7  # height of the canvas in letter rows (luileito/swipetest, js/keyboard-impl.js)
LETTER_ROWS = 3
COLUMNS = 12
EVENTS = ("touchstart", "touchmove", "touchend")


@dataclass(frozen=True)
class _Event:
    """One row of a log."""

    sentence: str
    time: float
    width: float
    height: float
    kind: str
    x: float
    y: float
    word: str
    wrong: bool


def read_how_we_swipe(path: str | Path, dropped: Counter[str]) -> Iterator[Swipe]:
    """Yield the swipes of one log, or of the zip of all logs, counting in ``dropped`` what is left out.

    Kept is what has a touchstart and a touchend and is marked correct. The file's name is the session.
    """
    if not zipfile.is_zipfile(path):
        lines = (line for _, line in read_lines(path))
        yield from _read_log(lines, str(path), _session(str(path)), dropped)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(name for name in archive.namelist() if name.endswith(".log")):
                with archive.open(name) as member:
                    yield from _read_log(_bounded_lines(member), f"{path}/{name}", _session(name), dropped)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from None


def _bounded_lines(member: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file in a zip; an endless one is cut, and then ill-formed."""
    while line := member.readline(MAX_LINE_BYTES):
        yield line


def _session(name: str) -> str:
    """The person's id in a log's name."""
    return Path(name).name.removesuffix(".gz").removesuffix(".log")


def _read_log(lines: Iterable[bytes], source: str, session: str, dropped: Counter[str]) -> Iterator[Swipe]:
    """The swipes of one person's log."""
    found = Counter[str]()
    for touch in _touches(_events(lines, found)):
        try:
            found["touches"] += 1
            yield _swipe(touch, session)
        except UnusableRowError as reason:
            dropped[str(reason)] += 1
    if not found["touches"] and found["ill-formed line"]:
        raise CorpusError(f"{source}: not a log of How We Swipe; no line has its {COLUMNS} columns")
    dropped.update({reason: count for reason, count in found.items() if reason != "touches" and count})


def _events(lines: Iterable[bytes], found: Counter[str]) -> Iterator[_Event]:
    """The rows of a log, each once: the study's server stored some twice."""
    seen = set()
    for line in lines:
        if line.startswith(b"sentence ") or line.isspace():
            continue
        event = _event(line)
        if event is None:
            found["ill-formed line"] += 1
        elif event in seen:
            found["line stored twice"] += 1
        else:
            seen.add(event)
            yield event


def _event(line: bytes) -> _Event | None:
    """One row, or None where it is ill-formed; some carry more columns than the header."""
    try:
        parts = line.decode("utf-8").split()
        sentence, time, width, height, kind, x, y, _, _, _, word, wrong = parts[:COLUMNS]
        event = _Event(
            sentence, float(time), float(width), float(height), kind, float(x), float(y), word, float(wrong) != 0
        )
    except ValueError:
        return None
    sound = event.kind in EVENTS and 0 < event.width < 1e5 and 0 < event.height < 1e5
    return event if sound else None


def _touches(events: Iterable[_Event]) -> Iterator[list[_Event]]:
    """Group rows into touches: a touchstart begins one, a touchend or another word ends it."""
    for _, group in groupby(events, key=lambda event: (event.sentence, event.word)):
        touch: list[_Event] = []
        for event in group:
            if event.kind == "touchstart" and touch:
                yield touch
                touch = []
            touch.append(event)
            if event.kind == "touchend":
                yield touch
                touch = []
        if touch:
            yield touch


def _swipe(touch: list[_Event], session: str) -> Swipe:
    """One touch as a Swipe."""
    first = touch[0]
    if first.kind != "touchstart":
        raise UnusableRowError("no touchstart")
    if touch[-1].kind != "touchend":
        raise UnusableRowError("no touchend")
    if any(event.wrong for event in touch):
        raise UnusableRowError("marked wrong")
    letter_height = first.height * LETTER_ROWS / CANVAS_ROWS
    return Swipe(
        word=bare_word(first.word),
        gesture=usable_gesture(
            [event.x / first.width for event in touch],
            [event.y / letter_height for event in touch],
            [event.time for event in touch],
        ),
        layout="qwerty",
        session=session,
        canvas_width=first.width,
        canvas_height=round(letter_height, 1),
        sentence=first.sentence.replace("_", " "),
        source="how-we-swipe",
        language="en",
    )
