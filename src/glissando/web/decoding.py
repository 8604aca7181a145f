"""Decoding for many visitors: keyboards kept in memory, threads off the event loop, and a queue with an end."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from glissando.errors import GlissandoError, LayoutError, LexiconError
from glissando.keyboard import Keyboard
from glissando.layout import ALIASES, Layout, builtin_layouts, load_layout
from glissando.lexicon import Lexicon
from glissando.runtime import EncoderRuntime
from glissando.scoring import load_scoring
from glissando.web.models import CustomLayout
from glissando.web.settings import Settings
from glissando.weights import load_weights

MAX_BUILDS = 8  # keyboards that may wait to be made; each takes about a second

P = ParamSpec("P")
R = TypeVar("R")


class QueueFullError(GlissandoError):
    """More work is waiting than there may; come back later."""


class Shelf:
    """Layouts by name and the keyboards made of them, the least recently used given up first.

    Names from the outside are looked up, never opened: a name that looks like a path must not make us read it.
    """

    def __init__(self, settings: Settings) -> None:
        self.layouts = {name: load_layout(name) for name in builtin_layouts()}
        if settings.layouts:
            self.layouts |= _read_layouts(Path(settings.layouts))
        self.languages = _languages()
        self._encoder = EncoderRuntime(load_weights(settings.weights))
        self._lexicon = lru_cache(maxsize=settings.keyboards)(Lexicon.from_language)
        self._keyboards: OrderedDict[tuple[Layout, str], Keyboard] = OrderedDict()
        self._room = settings.keyboards
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._keyboards)

    def layout(self, asked: str | CustomLayout) -> Layout:
        """The layout asked for by name or described in a request."""
        if isinstance(asked, CustomLayout):
            described = Layout.from_dict(asked.model_dump(exclude_none=True), asked.name)
            # In one order of keys, all arrangements of the same letters share one trie.
            return Layout(described.name, tuple(sorted(described.keys, key=lambda key: (key.letter, key.cx, key.cy))),
                          described.language, described.aspect)  # fmt: skip
        name = ALIASES.get(asked, asked)
        if name not in self.layouts:
            raise LayoutError(f"no layout {asked!r}; there are {', '.join(sorted(self.layouts))}")
        return self.layouts[name]

    def language(self, asked: str | None, layout: Layout) -> str:
        """The language asked for, else the layout's, else English."""
        code = asked or layout.language or "en"
        if code not in self.languages:
            raise LexiconError(f"no language {code!r}; there are {', '.join(self.languages)}")
        return code

    def get(self, layout: Layout, language: str) -> Keyboard | None:
        """A keyboard that is in memory, or None."""
        with self._lock:
            keyboard = self._keyboards.get((layout, language))
            if keyboard is not None:
                self._keyboards.move_to_end((layout, language))
            return keyboard

    def build(self, layout: Layout, language: str) -> Keyboard:
        """Make a keyboard, with all that its first swipe would otherwise wait for, and keep it."""
        keyboard = Keyboard(layout, self._lexicon(language), self._encoder, load_scoring("auto", language))
        keyboard.decode([(0.2, 0.5, 0), (0.8, 0.5, 200)], k=1)
        with self._lock:
            self._keyboards[(layout, language)] = keyboard
            while len(self._keyboards) > self._room:
                self._keyboards.popitem(last=False)
        return keyboard


class Decoding:
    """The threads that decode; at most ``queue`` jobs wait or run at a time."""

    def __init__(self, shelf: Shelf, threads: int, queue: int) -> None:
        self.shelf, self.queue, self.waiting = shelf, queue, 0
        self._decoders = ThreadPoolExecutor(threads, thread_name_prefix="decode")
        # One builder: making keyboards must never take all threads from those who only want a word.
        self._builder = ThreadPoolExecutor(1, thread_name_prefix="build")
        self._builds: dict[tuple[Layout, str], asyncio.Future[Keyboard]] = {}

    async def keyboard(self, layout: Layout, language: str, before_build: Callable[[], None]) -> Keyboard:
        """The keyboard of a layout and language; visitors who want the same new one share its making.

        Args:
            layout: the layout.
            language: the language of its words.
            before_build: called where a keyboard has to be made for this visitor; may raise.
        """
        found = self.shelf.get(layout, language)
        if found is not None:
            return found
        key = (layout, language)
        if key not in self._builds:
            before_build()
            if len(self._builds) >= MAX_BUILDS:
                raise QueueFullError(f"{MAX_BUILDS} keyboards are being made already; try again soon")
            loop = asyncio.get_running_loop()
            build = loop.run_in_executor(self._builder, self.shelf.build, layout, language)
            self._builds[key] = build
            build.add_done_callback(lambda _: self._builds.pop(key, None))
        return await asyncio.shield(self._builds[key])

    async def run(self, job: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a job in a decoding thread, or raise QueueFullError at once."""
        if self.waiting >= self.queue:
            raise QueueFullError(f"{self.queue} swipes are waiting already; try again soon")
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._decoders, lambda: job(*args, **kwargs))
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Let the threads finish and end."""
        self._decoders.shutdown(wait=True, cancel_futures=True)
        self._builder.shutdown(wait=True, cancel_futures=True)


def _languages() -> tuple[str, ...]:
    """Languages there is a word list for."""
    import wordfreq

    return tuple(sorted(wordfreq.available_languages("best")))


def _read_layouts(directory: Path) -> dict[str, Layout]:
    """The operator's own layouts, by file name."""
    if not directory.is_dir():
        raise LayoutError(f"no directory of layouts {directory}")
    return {file.stem: Layout.from_json(file) for file in sorted(directory.glob("*.json"))}


def layout_dict(layout: Layout, name: str | None = None) -> dict[str, Any]:
    """A layout as the API shows it; ``name`` is what it is asked for by."""
    return {**layout.to_dict(), "name": name or layout.name}
