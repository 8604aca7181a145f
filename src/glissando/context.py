"""What the words before a swipe say of its finalists.

A context file holds, for a word h or a pair of words before, how much likelier some words become after them:
ln P(w | before) / P(w), a byte each. All other words share the context's *back-off*, the ratio of a word that was never
seen there. A text can also be a list of words, a name or a password, in which no word follows from another: the words
before are evidence of that too. With T, the probability that the text goes on as language does, a finalist gains

    ln (T R + 1 - T) - ln (T B + 1 - T),    R its ratio, B the back-off

so that a word never seen after these words, or not known at all, gains nothing and loses nothing. In an unknown
context every word gains nothing.
"""

from __future__ import annotations

import json
import math
import mmap
import re
import struct
import unicodedata
import zlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numba import njit

from glissando.errors import ContextError
from glissando.files import write_whole
from glissando.words import PackedWords

BEGIN = "<s>"  # the beginning of a sentence; it stands among the words, always first
STEP = 1 / 16  # of a stored byte, in nats
MAX_WORDS = 65_535  # words are stored as two bytes
TAIL = 256  # characters of a text that are looked at: more than two words of any language

# Whether a text goes on as language does, as log-odds: even before any word is seen, and how far words can move them.
# Chosen on real sentences and lists of random words (docs/log.md).
TRUST = 0.0
MAX_TRUST = 3.0
MIN_TRUST = -4.0

ELISIONS = {"fr": ("c", "d", "j", "l", "m", "n", "qu", "s", "t")}  # words of their own: l'heure is l and heure

MAGIC = b"glissctx"
ARRAYS = {  # in the order of the file
    "text": "u1", "offsets": "<i4", "backoffs": "i1", "starts": "<i4", "nexts": "<u2", "ratios": "i1",
    "pairs": "<i4", "pair_backoffs": "i1", "pair_starts": "<i4", "pair_nexts": "<u2", "pair_ratios": "i1",
}  # fmt: skip


class Prospect(Protocol):
    """What may follow in one place of a text, as ``Outlook`` says it for one language."""

    @property
    def unseen(self) -> float:
        """ln of what a word's probability is multiplied by if it was never seen here."""

    def gains(self, words: np.ndarray) -> np.ndarray:
        """What words gain over one that was never seen here, in nats. Shape: [n] int32 numbers -> [n] float64."""


class Predictor(Protocol):
    """Says which words follow which: a ``Context``, or the contexts of several languages.

    Words have numbers, -1 where a word is not known. A state stands for what counts of the text before.
    """

    @property
    def header(self) -> dict[str, Any]:
        """Language, sources and licences, counts."""

    def number(self, words: Iterable[str]) -> np.ndarray:
        """The numbers of words as a lexicon writes them. Shape: n -> [n] int32, -1 where unknown."""

    def state(self, text: str) -> Any:
        """The state after a text."""

    def advance(self, state: Any, word: int) -> Hashable:
        """The state after one more word, given by its number."""

    def follow(self, state: Any) -> Prospect:
        """What may follow a state."""

    def after(self, text: str) -> Prospect:
        """What may follow a text."""


@dataclass(frozen=True, eq=False)
class Context:
    """Which words follow which. V words, B pairs, P pairs that predict a third word, T triples.

    Words are numbered from the most frequent; number 0 is the beginning of a sentence, -1 a word that is not known.

    Attributes:
        name: a packaged name such as "en", or where it comes from.
        header: language, sources and licences, counts.
        words: [V] in lower case; kept as PackedWords.
        backoffs: [V] int8 the back-off after each word, in steps.
        starts: [V + 1] int32; the words seen after word i are nexts[starts[i]:starts[i + 1]].
        nexts: [B] uint16 numbers of words, ascending after each word.
        ratios: [B] int8 in steps.
        pairs: [P] int32 places among the B of the pairs that predict a third word, ascending.
        pair_backoffs: [P] int8 the back-off after each of them, on top of the last word's.
        pair_starts: [P + 1] int32, pair_nexts: [T] uint16, pair_ratios: [T] int8: as for single words.
    """

    name: str
    header: dict[str, Any]
    words: PackedWords
    backoffs: np.ndarray
    starts: np.ndarray
    nexts: np.ndarray
    ratios: np.ndarray
    pairs: np.ndarray
    pair_backoffs: np.ndarray
    pair_starts: np.ndarray
    pair_nexts: np.ndarray
    pair_ratios: np.ndarray

    def __post_init__(self) -> None:
        for table in self.tables:
            table.flags.writeable = False  # compiled code tells the two kinds apart; a mapped file is of this one

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def tables(self) -> tuple[np.ndarray, ...]:
        """The arrays in the order of the file, without the words."""
        return tuple(getattr(self, name) for name in ARRAYS if name not in ("text", "offsets"))

    @property
    def language(self) -> str:
        """A code such as "en", or ""."""
        return str(self.header.get("language", ""))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of every word."""
        return {word: number for number, word in enumerate(self.words)}

    def number(self, words: Iterable[str]) -> np.ndarray:
        """The numbers of words as a lexicon writes them. Shape: n -> [n] int32, -1 where unknown."""
        find = self.numbers.get
        return np.array([find(plain(word), -1) for word in words], dtype=np.int32)

    def state(self, text: str) -> tuple[int, ...]:
        """The numbers of a text's last two words, with 0 before them where a sentence begins there."""
        return tuple(self.numbers.get(word, -1) for word in last_words(text, self.language))

    def advance(self, state: tuple[int, ...], word: int) -> tuple[int, ...]:
        """The state after one more word.

        It does not depend on the counts: (0, 5) and 7 give (0, 5, 7), then 9 gives (7, 9).
        """
        words = (*state, word)
        return words if words[0] == 0 and len(words) <= 3 else words[-2:]

    def follow(self, state: tuple[int, ...]) -> Outlook:
        """What may follow a state."""
        third, second, last = (-1, -1, -1, *state)[-3:]
        log_odds = TRUST + self.ratio(last, second, third) + self.ratio(second, third)
        trust = 1 / (1 + math.exp(-min(max(log_odds, MIN_TRUST), MAX_TRUST)))
        return Outlook(self, last, _find_pair(self.tables, second, last), trust if last >= 0 else 0.0)

    def after(self, text: str) -> Outlook:
        """What may follow a text."""
        return self.follow(self.state(text))

    def ratio(self, word: int, last: int, second: int = -1) -> float:
        """ln P(word | words before) / P(word); 0 where the word or the one before it is unknown or none."""
        if word <= 0 or last < 0:
            return 0.0
        return STEP * int(_stored(self.tables, word, last, _find_pair(self.tables, second, last)))


@dataclass(frozen=True, eq=False)
class Outlook:
    """What may follow in one place of a text.

    Attributes:
        context: the counts.
        last: the number of the word before, -1 if it is not known.
        pair: the row of the two words before, -1 where they predict nothing more.
        trust: the probability that the text goes on as language does; 0 in an unknown context.
    """

    context: Context
    last: int
    pair: int
    trust: float

    @property
    def backoff(self) -> float:
        """ln of the ratio that all words have which were never seen here."""
        return 0.0 if self.last < 0 else STEP * int(_stored(self.context.tables, -1, self.last, self.pair))

    @property
    def unseen(self) -> float:
        """ln of what a word's probability is multiplied by if it was never seen here: T B + 1 - T."""
        return math.log(self.trust * math.exp(self.backoff) + 1 - self.trust)

    def gains(self, words: np.ndarray) -> np.ndarray:
        """What words gain over one that was never seen here, in nats. Shape: [n] int32 numbers -> [n] float64."""
        if not self.trust:
            return np.zeros(len(words))
        return _gains(self.context.tables, words, self.last, self.pair, self.trust)  # type: ignore[no-any-return]


@njit(cache=True)
def _gains(tables, words, last, pair, trust):  # type: ignore[no-untyped-def]
    """What words gain after the last one and the pair of a row. Shape: [n] int32 -> [n] float64."""
    gains = np.zeros(len(words))
    never = _stored(tables, -1, last, pair)
    unseen = math.log(trust * math.exp(STEP * never) + 1 - trust)
    for index in range(len(words)):
        steps = _stored(tables, words[index], last, pair)
        if steps != never:
            gains[index] = math.log(trust * math.exp(STEP * steps) + 1 - trust) - unseen
    return gains


@njit(cache=True)
def _stored(tables, word, last, pair):  # type: ignore[no-untyped-def]
    """The ratio of a word after the last one, and after the pair of a row, -1 for none, in steps."""
    backoffs, starts, nexts, ratios, _, pair_backoffs, pair_starts, pair_nexts, pair_ratios = tables
    more = 0
    if pair >= 0:
        place = _find(pair_nexts, pair_starts[pair], pair_starts[pair + 1], word)
        if place >= 0:
            return np.int64(pair_ratios[place])
        more = pair_backoffs[pair]
    place = _find(nexts, starts[last], starts[last + 1], word)
    return np.int64(more + (ratios[place] if place >= 0 else backoffs[last]))


@njit(cache=True)
def _find_pair(tables, second, last):  # type: ignore[no-untyped-def]
    """The row of a pair that predicts a third word, or -1."""
    _, starts, nexts, _, pairs, _, _, _, _ = tables
    if second < 0 or last < 0:
        return -1
    place = _find(nexts, starts[second], starts[second + 1], last)
    return _find(pairs, 0, len(pairs), place) if place >= 0 else -1


@njit(cache=True)
def _find(numbers, start, end, wanted):  # type: ignore[no-untyped-def]
    """The place of a number between two places of an ascending array, or -1."""
    low, high = np.int64(start), np.int64(end)
    while low < high:
        middle = (low + high) // 2
        if np.int64(numbers[middle]) < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and np.int64(numbers[low]) == wanted else np.int64(-1)


def last_words(text: str, language: str = "") -> list[str]:
    """The last two words of a text, with ``BEGIN`` before them where a sentence begins there.

    >>> last_words("Well. I am on my"), last_words("On"), last_words("Done.")
    (['on', 'my'], ['<s>', 'on'], ['<s>'])
    """
    *ended, last = split_sentences(unicodedata.normalize("NFC", text[-TAIL:]))
    words = split_words(last, language)
    if len(text) > TAIL and not ended:
        return words[1:][-2:]  # the first word may be cut in half
    return [BEGIN, *words] if len(words) <= 2 else words[-2:]


def split_sentences(text: str) -> list[str]:
    """Cut a text where sentences end; the last piece is the sentence that has not ended. At least one piece."""
    return _ends().split(text)


def split_words(sentence: str, language: str = "") -> list[str]:
    """The words of a sentence in lower case. A word with a digit in it is one, so that nothing follows from it.

    >>> split_words("“I'll take 2 e-mails,” he said")
    ["i'll", 'take', '2', 'e-mails', 'he', 'said']
    >>> split_words("L'heure", "fr")
    ['l', 'heure']
    """
    words = [plain(word) for word in written_words(sentence)]
    elided = ELISIONS.get(language)
    return words if elided is None else [part for word in words for part in _without_elision(word, elided)]


def written_words(text: str) -> list[str]:
    """The words of a text as they are written there."""
    return _words().findall(text)


def plain(word: str) -> str:
    """A word as it is counted: lower case, with a straight apostrophe."""
    return word.lower().replace("’", "'")


def _without_elision(word: str, elided: Sequence[str]) -> tuple[str, ...]:
    head, sign, rest = word.partition("'")
    return (head, rest) if sign and head in elided else (word,)


@cache
def _ends() -> re.Pattern[str]:
    """Where a sentence ends: a mark that is not inside a word or a number, or a new line."""
    return re.compile(r"[.!?…:;]+(?=[\s\"'”’»)]|$)|[。！？\n\r]+")


@cache
def _words() -> re.Pattern[str]:
    """Letters, marks on letters and digits, joined by apostrophes and hyphens."""
    marks = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    part = rf"(?:[^\W_]|[{marks}])+"
    return re.compile(rf"{part}(?:['’\-]{part})*")


def packaged_contexts() -> tuple[str, ...]:
    """Languages that come with the package."""
    folder = resources.files("glissando") / "assets" / "contexts"
    if not folder.is_dir():
        return ()
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".context") for name in names if name.endswith(".context")))


def load_context(context: str | Path | Context | None = "auto", language: str = "") -> Context | None:
    """Find a context: given as such, "auto" (the language's, None where there is none), a packaged name, or a file."""
    if context is None or isinstance(context, Context):
        return context
    name = str(context)
    if name == "auto":
        if language not in packaged_contexts():
            return None
        name = language
    if name in packaged_contexts():
        return read_context(Path(str(resources.files("glissando") / "assets" / "contexts" / f"{name}.context")), name)
    if not (isinstance(context, Path) or name.endswith(".context")):
        known = ", ".join(packaged_contexts()) or "none"
        raise ContextError(f"no context {name!r}; packaged are {known}; or auto, or a .context file")
    return read_context(Path(context))


def read_context(path: Path, name: str | None = None) -> Context:
    """Map a context file into memory; a file that is cut off, damaged or of another kind is an error."""
    try:
        with path.open("rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise ContextError(f"cannot read context {path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        return _parse(data, name or str(path))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, struct.error, RecursionError) as error:
        raise ContextError(f"context {path} is damaged or not a context file: {error}") from None


def write_context(context: Context, path: str | Path) -> None:
    """Write a context file, whole or not at all."""
    write_whole(path, context_bytes(context))


def context_bytes(context: Context) -> bytes:
    """The bytes of a context file; those of a file that was read are its own."""
    arrays = {"text": np.frombuffer(context.words.text, dtype=np.uint8), "offsets": context.words.offsets}
    arrays |= {name: getattr(context, name) for name in ARRAYS if name not in arrays}
    body = b"".join(_padded(np.ascontiguousarray(arrays[name], dtype=kind).tobytes()) for name, kind in ARRAYS.items())
    header = {**context.header, "arrays": {name: len(array) for name, array in arrays.items()}}
    header |= {"crc32": zlib.crc32(body)}
    start = _padded(json.dumps(header, ensure_ascii=False).encode(), b" ")
    return MAGIC + struct.pack("<II", 1, len(start)) + start + body


def _parse(data: memoryview, name: str) -> Context:
    """The context in the bytes of a file."""
    if data[:8] != MAGIC:
        raise ValueError("it does not begin with the mark of one")
    version, size = struct.unpack_from("<II", data, 8)
    if version != 1:
        raise ValueError(f"version {version} is not known, only 1")
    header = json.loads(bytes(data[16 : 16 + size]))
    lengths = header.pop("arrays")
    body = data[16 + size :]
    wanted = sum(-(-lengths[key] * np.dtype(kind).itemsize // 8) * 8 for key, kind in ARRAYS.items())
    if len(body) != wanted:
        raise ValueError(f"it holds {len(body):,} bytes of counts, not {wanted:,}")
    if zlib.crc32(body) != header.pop("crc32"):
        raise ValueError("its checksum is wrong")
    arrays, start = {}, 0
    for key, kind in ARRAYS.items():
        arrays[key] = np.frombuffer(body, dtype=kind, count=lengths[key], offset=start)
        start += -(-arrays[key].nbytes // 8) * 8
    _check(arrays)
    words = PackedWords(arrays.pop("text").tobytes(), arrays.pop("offsets"))
    return Context(name, header, words, **arrays)


def _check(arrays: dict[str, np.ndarray]) -> None:
    """Refuse arrays that would lead compiled code outside of them."""
    size, sizes = len(arrays["offsets"]) - 1, {name: len(array) for name, array in arrays.items()}
    rows = {"offsets": "text", "starts": "nexts", "pair_starts": "pair_nexts"}
    alike = {"backoffs": size, "starts": size + 1, "ratios": sizes["nexts"], "pair_backoffs": sizes["pairs"],
             "pair_starts": sizes["pairs"] + 1, "pair_ratios": sizes["pair_nexts"]}  # fmt: skip
    limits = {"nexts": size, "pair_nexts": size, "pairs": sizes["nexts"]}
    fits = 0 < size <= MAX_WORDS and all(sizes[name] == length for name, length in alike.items())
    for name, into in rows.items():
        starts = arrays[name]
        fits = fits and starts[0] == 0 and starts[-1] == sizes[into] and bool((starts[1:] >= starts[:-1]).all())
    text, offsets = arrays["text"], arrays["offsets"]
    text.tobytes().decode()  # the words are UTF-8, and none begins inside of a character
    inside = np.append(text, 0)[offsets.clip(0, len(text))] & 0xC0 == 0x80
    fits = fits and not inside.any()
    for name, limit in limits.items():
        fits = fits and int(arrays[name].min(initial=0)) >= 0 and int(arrays[name].max(initial=0)) < max(limit, 1)
    if not fits:
        raise ValueError("its counts contradict each other")


def _padded(data: bytes, filler: bytes = b"\0") -> bytes:
    """Fill up to a multiple of eight bytes, so that arrays lie where a processor likes them."""
    return data + filler * (-len(data) % 8)
