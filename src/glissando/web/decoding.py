"""Decoding for many visitors: keyboards kept in memory, and a queue with an end that decodes swipes together."""

from __future__ import annotations

import asyncio
import time
import unicodedata
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

import numpy as np

from glissando.context import Predictor, load_context
from glissando.errors import GlissandoError, LayoutError, LexiconError
from glissando.files import cache_directory
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.languages import Contexts, Languages
from glissando.layout import ALIASES, Layout, all_layouts
from glissando.lexicon import Lexicon, available_languages, join_lexicons
from glissando.loading import load
from glissando.runtime import EncoderRuntime, MatcherRuntime
from glissando.scoring import Candidate, Candidates
from glissando.web.models import CustomLayout
from glissando.web.settings import Settings
from glissando.weights import load_weights
from glissando.words import PackedWords

MAX_BUILDS = 8  # keyboards that may be in the making; each takes about a second
MAX_CACHED = {"trie": 100, "fluency": 100, "lexicon": 100}  # files on the disk; they take about 3, 0.5 and 2 MB each
MAX_LANGUAGES = 3  # of one keyboard; each adds some 5 MB of memory
MAX_BATCH = 16  # swipes decoded together; more gain little and make the first wait

P = ParamSpec("P")
R = TypeVar("R")


class QueueFullError(GlissandoError):
    """More work is waiting than the server accepts; the same request may succeed later."""


@dataclass(frozen=True)
class Decoded:
    """What a swipe may mean.

    Attributes:
        candidates: the words, best first.
        milliseconds: how long its batch took, without waiting and transport.
        none: how likely none of them is meant.
    """

    candidates: list[Candidate]
    milliseconds: float
    none: float


class Keyboards:
    """Layouts by name and the keyboards built from them; the least recently used keyboards are dropped first.

    Names in requests are looked up, never opened: a name that looks like a path must not make us read a file.
    """

    def __init__(self, settings: Settings) -> None:
        self.layouts = all_layouts(settings.layouts or None)
        self.languages = available_languages()
        self.encoder = EncoderRuntime(load_weights(settings.weights), threads=settings.threads)
        self.matcher = MatcherRuntime(load_weights(settings.matcher), threads=settings.threads)
        self._lexicon = lru_cache(maxsize=settings.keyboards)(Lexicon.from_language)
        self._context = lru_cache(maxsize=settings.keyboards)(lambda language: load_context("auto", language))
        self.lexicons: dict[str, Lexicon] = {}  # of languages that have no list
        self._room = settings.keyboards
        # Futures, so that visitors who want the same new keyboard share its making.
        self._keyboards: OrderedDict[tuple[str | Layout, str], asyncio.Future[Keyboard]] = OrderedDict()
        self._builder = ThreadPoolExecutor(1, thread_name_prefix="build")

    def __len__(self) -> int:
        return sum(future.done() for future in self._keyboards.values())

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
        """The language or languages asked for ("de,en"), else the layout's, else English."""
        return ",".join(self.codes(asked or layout.language or "en"))

    def codes(self, languages: str) -> list[str]:
        """The languages of a list such as "de,en"; an error where there is no such language, or there are too many."""
        codes = [code.strip() for code in languages.split(",")]
        for code in codes:
            if code not in self.languages:
                raise LexiconError(f"no language {code!r}; there are {', '.join(self.languages)}")
        if len(set(codes)) < len(codes) or len(codes) > MAX_LANGUAGES:
            raise LexiconError(f"languages are up to {MAX_LANGUAGES} different ones, got {','.join(codes)}")
        return codes

    def knows(self, word: str, codes: Iterable[str]) -> bool:
        """Whether a word is in the list of one of some languages, as it is written, in lower case or with capitals."""
        whole = unicodedata.normalize("NFC", word.strip()).replace("’", "'")
        forms = {whole, whole.lower(), whole.upper(), whole[:1].upper() + whole[1:].lower()}
        return any((PackedWords.of(self._lexicon(code).words).find(forms) >= 0).any() for code in codes)

    async def get(self, layout: Layout, language: str, before_build: Callable[[], None] = lambda: None) -> Keyboard:
        """The keyboard of a layout and language.

        Args:
            layout: the layout.
            language: the language of its words, or several, as ``language`` returns them.
            before_build: called if the keyboard must be built for this visitor; may raise.
        """
        # A layout of ours goes by its name, which is quicker to look up than its keys.
        key = (layout.name if self.layouts.get(layout.name) is layout else layout, language)
        if key not in self._keyboards:
            before_build()
            if len(self._keyboards) - len(self) >= MAX_BUILDS:
                raise QueueFullError(f"{MAX_BUILDS} keyboards are being built already; try again soon")
            build = asyncio.get_running_loop().run_in_executor(self._builder, self._build, layout, language)
            self._keyboards[key] = build
            build.add_done_callback(lambda future: self._settle(key, future))
        self._keyboards.move_to_end(key)
        return await asyncio.shield(self._keyboards[key])

    def close(self) -> None:
        """End the thread."""
        self._builder.shutdown(cancel_futures=True)

    def _settle(self, key: tuple[str | Layout, str], build: asyncio.Future[Keyboard]) -> None:
        """Forget a keyboard that could not be built; make room after one that was."""
        if build.cancelled() or build.exception():
            self._keyboards.pop(key, None)
        while len(self) > self._room:
            self._keyboards.popitem(last=False)

    def _build(self, layout: Layout, language: str) -> Keyboard:
        """Build a keyboard and warm it up: the first swipe would wait for its trie, its context and compiled code."""
        lexicon = join_lexicons([self.lexicons.get(code) or self._lexicon(code) for code in language.split(",")])
        keyboard = load(
            layout, lexicon=lexicon, weights=self.encoder, matcher=self.matcher, context=self._predictor(lexicon)
        )
        swipe = Gesture(np.array([0.2, 0.8]), np.array([0.5, 0.5]), np.array([0.0, 200.0]))
        keyboard.decode(swipe, k=1, context="")
        keyboard.decode_batch([swipe, swipe], k=1)
        _trim_cache()
        return keyboard

    def _predictor(self, lexicon: Lexicon) -> Predictor | None:
        """Which words follow which in the languages of a lexicon; keyboards share the context of a language."""
        contexts = tuple(self._context(code) for code in lexicon.languages)
        if len(contexts) == 1:
            return contexts[0]
        return Contexts(Languages(lexicon), contexts) if any(one is not None for one in contexts) else None


@dataclass(frozen=True, eq=False)
class _Job:
    """A swipe that waits, the text before it, letters that were tapped, and the future of its answer."""

    keyboard: Keyboard
    gesture: Gesture
    k: int
    context: str | None
    tapped: tuple[str, str]
    answer: asyncio.Future[Decoded]


class DecodeQueue:
    """Decodes off the event loop; at most ``limit`` jobs wait or run at a time.

    One thread takes all swipes that wait for the same keyboard, up to a batch, and decodes them together on all cores.
    That spares most of the hand-over between threads, and a lone swipe still goes at once.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.waiting = limit, 0
        self._jobs: deque[_Job] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="decode")
        self._others = ThreadPoolExecutor(1, thread_name_prefix="explain")  # must not hold up those who want a word

    async def decode(
        self,
        keyboard: Keyboard,
        gesture: Gesture,
        k: int,
        context: str | None = None,
        tapped: tuple[str, str] = ("", ""),
    ) -> Decoded:
        """Decode a swipe after a text and between letters that were tapped, or raise QueueFullError at once."""
        with self._place():
            answer: asyncio.Future[Decoded] = asyncio.get_running_loop().create_future()
            self._jobs.append(_Job(keyboard, gesture, k, context, tapped, answer))
            if self._worker is None:
                self._worker = asyncio.create_task(self._work())
            return await answer

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run other work in a thread, or raise QueueFullError at once."""
        with self._place():
            return await asyncio.get_running_loop().run_in_executor(self._others, lambda: work(*args, **kwargs))

    def close(self) -> None:
        """Let the threads finish what they do, and end."""
        self._thread.shutdown(cancel_futures=True)
        self._others.shutdown(cancel_futures=True)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """A place in the queue, if there is one."""
        if self.waiting >= self.limit:
            raise QueueFullError(f"{self.limit} swipes are waiting already; try again soon")
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1

    async def _work(self) -> None:
        """Decode batches until nobody waits."""
        loop = asyncio.get_running_loop()
        while self._jobs:
            batch = _take_batch(self._jobs)
            answers: list[Decoded] | Exception
            try:
                answers = await loop.run_in_executor(self._thread, _decode, batch)
            except Exception as error:  # a bug: everyone in the batch gets it, and the next batch is decoded
                answers = error
            for i, job in enumerate(batch):
                if job.answer.done():  # its visitor has left
                    continue
                if isinstance(answers, Exception):
                    job.answer.set_exception(answers)
                else:
                    job.answer.set_result(answers[i])
        self._worker = None


def _take_batch(jobs: deque[_Job]) -> list[_Job]:
    """Take the oldest job and those for the same keyboard."""
    first = jobs[0]
    batch = [job for job in jobs if job.keyboard is first.keyboard and not any(job.tapped)][:MAX_BATCH]
    if any(first.tapped):  # it is decoded alone: the others search all words
        batch = [first]
    for job in batch:
        jobs.remove(job)
    return batch


def _decode(batch: list[_Job]) -> list[Decoded]:
    """Decode swipes made on one keyboard."""
    start = time.perf_counter()
    first, keyboard = batch[0], batch[0].keyboard
    if len(batch) == 1:
        rows = [keyboard.decode(first.gesture, first.k, first.context, *first.tapped)]
    else:
        gestures, contexts = [job.gesture for job in batch], [job.context for job in batch]
        rows = keyboard.decode_batch(gestures, max(job.k for job in batch), contexts)
    milliseconds = round((time.perf_counter() - start) * 1000, 3)
    shown = [Candidates(found[: job.k]) for job, found in zip(batch, rows, strict=True)]
    return [Decoded(candidates, milliseconds, candidates.none) for candidates in shown]


def _trim_cache() -> None:
    """Delete the oldest files of each kind: strangers bring layouts and join languages, and each leaves some."""
    for kind, most in MAX_CACHED.items():
        files = sorted(cache_directory().glob(f"{kind}-*.npz"), key=lambda file: file.stat().st_mtime)
        for file in files[:-most]:
            file.unlink(missing_ok=True)


def layout_dict(layout: Layout, name: str) -> dict[str, Any]:
    """A layout as the API shows it, under the name it is asked for by."""
    return {**layout.to_dict(), "name": name}
