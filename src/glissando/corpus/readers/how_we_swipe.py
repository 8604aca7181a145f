"""How We Swipe (Leiva et al., MobileHCI 2021): one space-separated log per person, or the zip of them all.

    sentence timestamp keyb_width keyb_height event x_pos y_pos x_radius y_radius angle word is_err

Pixels cover the whole canvas, three letter rows and a bottom row of dummy keys 0.7 of a row high.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from glissando.corpus.lines import MAX_LINE_BYTES, UnusableRowError, read_lines
from glissando.corpus.records import Swipe, bare_word, usable_gesture
from glissando.corpus.sources import conceal, open_bytes, shown
from glissando.errors import CorpusError

CANVAS_ROWS = 3.7  # height of the canvas in letter rows (luileito/swipetest, js/keyboard-impl.js)
LETTER_ROWS = 3
COLUMNS = 12
EVENTS = ("touchstart", "touchmove", "touchend")
# Reasons that count lines, not swipes.
LINE_REASONS = frozenset({"ill-formed line", "line stored twice"})


class _Event(NamedTuple):
    """One line of a log."""

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
    """Yield the swipes of one log, or of the zip of all logs, and count what is left out in ``dropped``.

    A swipe is kept if it has a touchstart and a touchend and is marked correct. The file's name is the session.
    """
    if not is_zip(path):
        yield from _read_log((line for _, line in read_lines(path)), shown(path), shown(path), dropped)
        return
    try:
        with open_bytes(path) as file, zipfile.ZipFile(file) as archive:
            for name in sorted(name for name in archive.namelist() if name.endswith(".log")):
                with archive.open(name) as member:
                    # A line is cut at the limit, so that memory stays bounded; what is cut is ill-formed.
                    lines = iter(lambda file=member: file.readline(MAX_LINE_BYTES), b"")  # type: ignore[misc]
                    yield from _read_log(lines, name, f"{shown(path)}/{name}", dropped)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
        raise CorpusError(f"cannot read {shown(path)}: {conceal(path, str(error))}") from None


def is_zip(path: str | Path) -> bool:
    """Whether a file or an address is a zip; gzip is none, and looking at its end would unpack it all."""
    with open_bytes(path) as file:
        return isinstance(file, io.BufferedReader) and file.seekable() and zipfile.is_zipfile(file)


def _read_log(lines: Iterable[bytes], name: str, source: str, dropped: Counter[str]) -> Iterator[Swipe]:
    """The swipes of one person's log; the person's id is the log's name."""
    session = Path(name).name.removesuffix(".gz").removesuffix(".log")
    bad_lines = Counter[str]()
    touches = 0
    for touches, touch in enumerate(_touches(_events(lines, bad_lines)), start=1):  # noqa: B007
        try:
            yield _swipe(touch, session)
        except UnusableRowError as reason:
            dropped[str(reason)] += 1
    if not touches and bad_lines["ill-formed line"]:
        raise CorpusError(f"{source}: not a log of How We Swipe; no line has its {COLUMNS} columns")
    dropped.update(+bad_lines)


def _events(lines: Iterable[bytes], bad_lines: Counter[str]) -> Iterator[_Event]:
    """The lines of a log, each once: the study's server stored some twice."""
    seen = set()
    for line in lines:
        if line.startswith(b"sentence ") or line.isspace():
            continue
        event = _event(line)
        if event is None:
            bad_lines["ill-formed line"] += 1
        elif event in seen:
            bad_lines["line stored twice"] += 1
        else:
            seen.add(event)
            yield event


def _event(line: bytes) -> _Event | None:
    """One line, or None where it is ill-formed; some have more columns than the header."""
    try:
        parts = line.decode("utf-8").split()
        sentence, time, width, height, kind, x, y, _, _, _, word, wrong = parts[:COLUMNS]
        event = _Event(
            sentence, float(time), float(width), float(height), kind, float(x), float(y), word, float(wrong) != 0
        )
    except ValueError:
        return None
    well_formed = event.kind in EVENTS and 0 < event.width < 1e5 and 0 < event.height < 1e5
    return event if well_formed else None


def _touches(events: Iterable[_Event]) -> Iterator[list[_Event]]:
    """Group events into touches: a touchstart begins one, a touchend or another word ends it."""
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
