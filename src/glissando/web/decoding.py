"""Decoding for many visitors: keyboards kept in memory, threads off the event loop, and a queue with an end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from glissando.errors import GlissandoError, LayoutError, LexiconError
from glissando.files import cache_directory
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard, load
from glissando.layout import ALIASES, Layout, builtin_layouts, load_layout
from glissando.lexicon import Lexicon
from glissando.runtime import DecoderRuntime, EncoderRuntime
from glissando.scoring import Candidate
from glissando.web.models import CustomLayout
from glissando.web.settings import Settings
from glissando.weights import load_weights

MAX_BUILDS = 8  # keyboards that may wait to be made; each takes about a second

MAX_TRIES = 100  # kept on the disk; each takes about 3 MB
MAX_BATCH = 16  # swipes decoded together; more gain little and make the first wait

STOPPING = "the server is stopping; try again soon"

P = ParamSpec("P")
R = TypeVar("R")


class QueueFullError(GlissandoError):
    """More work is waiting than there may; come back later."""


class Decoded(NamedTuple):
    """Candidates of a swipe, best first, and how long its batch took."""

    candidates: list[Candidate]
    milliseconds: float


class Shelf:
    """Layouts by name and the keyboards made of them, the least recently used given up first.

    Names from the outside are looked up, never opened: a name that looks like a path must not make us read it.
    """

    def __init__(self, settings: Settings) -> None:
        self.layouts = {name: load_layout(name) for name in builtin_layouts()}
        if settings.layouts:
            self.layouts |= _read_layouts(Path(settings.layouts))
        self.languages = _languages()
        self._encoder = EncoderRuntime(load_weights(settings.weights), threads=settings.threads)
        self._decoder = DecoderRuntime(load_weights("decoder"), threads=settings.threads)
        self._lexicon = lru_cache(maxsize=settings.keyboards)(Lexicon.from_language)
        self._keyboards: OrderedDict[tuple[str | Layout, str], Keyboard] = OrderedDict()
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
        key = self._key(layout, language)
        with self._lock:
            keyboard = self._keyboards.get(key)
            if keyboard is not None:
                self._keyboards.move_to_end(key)
            return keyboard

    def build(self, layout: Layout, language: str) -> Keyboard:
        """Make a keyboard, with all that its first swipe would otherwise wait for, and keep it."""
        lexicon = self._lexicon(language)
        keyboard = load(layout, language, lexicon=lexicon, weights=self._encoder, decoder=self._decoder)
        swipe = Gesture([0.2, 0.8], [0.5, 0.5], [0, 200])  # type: ignore[arg-type]  # it makes arrays of them
        keyboard.decode(swipe, k=1)
        keyboard.decode_batch([swipe, swipe], k=1)
        _trim_cache()
        with self._lock:
            self._keyboards[self._key(layout, language)] = keyboard
            while len(self._keyboards) > self._room:
                self._keyboards.popitem(last=False)
        return keyboard

    def _key(self, layout: Layout, language: str) -> tuple[str | Layout, str]:
        """What a keyboard is kept under: a layout of ours by its name, which is quicker to look up than its keys."""
        return (layout.name if self.layouts.get(layout.name) is layout else layout, language)


@dataclass(frozen=True, eq=False)
class _Job:
    """A swipe that waits, and who waits for it."""

    keyboard: Keyboard
    gesture: Gesture
    k: int
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Decoded]


class Decoding:
    """What decodes, off the event loop; at most ``queue`` jobs wait or run at a time.

    One thread takes all swipes that wait for the same keyboard, up to a batch, and decodes them together on all
    cores: that spares most of the hand-over between threads, and a lone swipe still goes at once.
    """

    def __init__(self, shelf: Shelf, queue: int) -> None:
        self.shelf, self.queue, self.waiting = shelf, queue, 0
        self._jobs: deque[_Job] = deque()
        self._news = threading.Condition()
        self._open = True
        self._thread = threading.Thread(target=self._work, name="decode", daemon=True)
        self._thread.start()
        # One builder and one thread for the rest: neither must hold up those who only want a word.
        self._builder = ThreadPoolExecutor(1, thread_name_prefix="build")
        self._others = ThreadPoolExecutor(1, thread_name_prefix="explain")
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

    async def decode(self, keyboard: Keyboard, gesture: Gesture, k: int) -> Decoded:
        """Decode a swipe, or raise QueueFullError at once."""
        loop = asyncio.get_running_loop()
        job = _Job(keyboard, gesture, k, loop, loop.create_future())
        with self._place():
            with self._news:
                if not self._open:
                    raise QueueFullError(STOPPING)
                self._jobs.append(job)
                self._news.notify()
            return await job.answer

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run other work in a thread, or raise QueueFullError at once."""
        with self._place():
            return await asyncio.get_running_loop().run_in_executor(self._others, lambda: work(*args, **kwargs))

    def close(self) -> None:
        """Let the threads finish and end."""
        with self._news:
            self._open = False
            self._news.notify()
        self._thread.join()
        self._builder.shutdown(wait=True, cancel_futures=True)
        self._others.shutdown(wait=True, cancel_futures=True)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """A place in the queue, if there is one."""
        if self.waiting >= self.queue:
            raise QueueFullError(f"{self.queue} swipes are waiting already; try again soon")
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    def _work(self) -> None:
        """Decode batches until closed."""
        while True:
            with self._news:
                self._news.wait_for(lambda: self._jobs or not self._open)
                if not self._jobs:
                    return
                batch = _take_batch(self._jobs)
            try:
                answers: list[Decoded] | Exception = _decode(batch) if self._open else QueueFullError(STOPPING)
            except Exception as error:  # a bug: whoever waits gets it, and the thread lives on
                answers = error
            batch[0].loop.call_soon_threadsafe(_deliver, batch, answers)


def _take_batch(jobs: deque[_Job]) -> list[_Job]:
    """Take the oldest job and those for the same keyboard."""
    batch = [job for job in jobs if job.keyboard is jobs[0].keyboard][:MAX_BATCH]
    for job in batch:
        jobs.remove(job)
    return batch


def _decode(batch: list[_Job]) -> list[Decoded]:
    """Decode swipes made on one keyboard."""
    start = time.perf_counter()
    keyboard = batch[0].keyboard
    if len(batch) == 1:
        found = [keyboard.decode(batch[0].gesture, batch[0].k)]
    else:
        found = keyboard.decode_batch([job.gesture for job in batch], max(job.k for job in batch))
    milliseconds = round((time.perf_counter() - start) * 1000, 3)
    return [Decoded(candidates[: job.k], milliseconds) for job, candidates in zip(batch, found, strict=True)]


def _deliver(batch: list[_Job], answers: list[Decoded] | Exception) -> None:
    """Hand answers to those who still wait; runs in their event loop."""
    for i, job in enumerate(batch):
        if job.answer.done():
            continue
        if isinstance(answers, Exception):
            job.answer.set_exception(answers)
        else:
            job.answer.set_result(answers[i])


def _trim_cache() -> None:
    """Forget the tries on the disk that were made first: strangers bring layouts, and each leaves a file."""
    files = sorted(cache_directory().glob("trie-*.npz"), key=lambda file: file.stat().st_mtime)
    for file in files[:-MAX_TRIES]:
        file.unlink(missing_ok=True)


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
