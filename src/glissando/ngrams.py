"""From text to a Context: count words, pairs and triples, estimate ratios, and keep those that matter most.

Absolute discounting: of every pair's count a constant is taken away and given to the words never seen there, in
proportion to their overall frequency. So the ratio of all of them is the same, the back-off. Triples are discounted
towards pairs in the same way.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from glissando.context import BEGIN, MAX_WORDS, STEP, Context, split_sentences, split_words
from glissando.errors import ContextError
from glissando.words import PackedWords

Progress = Callable[[int, int], None]

MAX_LINE = 1 << 20  # characters; a longer line is no sentence
MAX_TYPES = 2_000_000  # different words kept while counting; the rarest go when there are more
MAX_NGRAMS = 16_000_000  # different pairs or triples kept while counting, likewise
CHUNK = 2_000_000  # words counted at a time
BASE = 1 << 16  # a pair's or triple's key is its words' numbers as digits

PAIR_BYTES = 3  # in the file: a word and its ratio
TRIPLE_BYTES = 3
CONTEXT_BYTES = 9  # for a pair that predicts a third word
TRIPLE_WORTH = 0.25  # of a triple against a pair that changes as much; chosen on real sentences (docs/log.md)


@dataclass(frozen=True, eq=False)
class Counts:
    """How often words, pairs and triples occur in a text. V words, B pairs, T triples.

    Attributes:
        words: the words, most frequent first after ``BEGIN``.
        singles: [V] float64 counts; that of ``BEGIN`` is the number of sentences.
        pairs: [B] int64 keys, ascending; pair_counts: [B] float64.
        triples: [T] int64 keys, ascending; triple_counts: [T] float64.
    """

    words: tuple[str, ...]
    singles: np.ndarray
    pairs: np.ndarray
    pair_counts: np.ndarray
    triples: np.ndarray
    triple_counts: np.ndarray


@dataclass(frozen=True, eq=False)
class Ngrams:
    """Ratios P(w | before) / P(w). V words, B pairs, T triples.

    Attributes:
        words: as in ``Counts``.
        shares: [V] P(w) among the words; for ``BEGIN`` the sentences per word.
        backoffs: [V] ratio of the words never seen after each.
        pairs: [B] int64 keys, ascending; pair_ratios: [B].
        pair_backoffs: [B] what a pair multiplies the last word's ratios by, for words never seen after the pair; 1
            where it predicts nothing.
        triples: [T] int64 keys, ascending; triple_ratios: [T].
    """

    words: tuple[str, ...]
    shares: np.ndarray
    backoffs: np.ndarray
    pairs: np.ndarray
    pair_ratios: np.ndarray
    pair_backoffs: np.ndarray
    triples: np.ndarray
    triple_ratios: np.ndarray

    def after_one(self, keys: np.ndarray) -> np.ndarray:
        """Ratios of words after one word. Shape: [n] keys of pairs -> [n]."""
        places, held = find(self.pairs, keys)
        return np.where(held, self.pair_ratios[places], self.backoffs[keys // BASE])

    def after_two(self, keys: np.ndarray) -> np.ndarray:
        """Ratios of words after two words. Shape: [n] keys of triples -> [n]."""
        places, held = find(self.triples, keys)
        pair, known = find(self.pairs, keys // BASE)
        lower = np.where(known, self.pair_backoffs[pair], 1.0) * self.after_one(keys % BASE**2)
        return np.where(held, self.triple_ratios[places], lower)


def find(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where keys stand in an ascending array, and whether they do. Shape: [m], [n] -> [n], [n]."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return places, keys[places] == wanted


def build_context(
    files: Sequence[str | Path], header: dict[str, Any], size: int, progress: Progress | None = None
) -> Context:
    """Make a context of text.

    Args:
        files: text with a sentence or more a line, plain or gzip.
        header: language, sources and licences.
        size: bytes of the file at the most.
        progress: called with (bytes read, bytes in all), over two readings.
    """
    counts = count_text(files, str(header.get("language", "")), progress)
    return pack(prune(estimate(counts), size), {**header, "sentences": int(counts.singles[0])})


def count_text(files: Sequence[str | Path], language: str = "", progress: Progress | None = None) -> Counts:
    """Count a text in bounded memory; it is read twice, first for the words."""
    read = _Reader(files, language, progress)
    words: Counter[str] = Counter()
    sentences = 0
    for sentence in read.sentences():
        sentences += 1
        words.update(sentence)
        if len(words) > MAX_TYPES:
            words = Counter(dict(words.most_common(MAX_TYPES // 2)))
    usual = [word for word, _ in words.most_common(MAX_WORDS - 1) if not any(char.isdigit() for char in word)]
    if not usual:
        raise ContextError(f"no words in {', '.join(map(str, files))}")
    vocabulary = (BEGIN, *usual)
    pairs, triples = _Tally(), _Tally()
    for numbers in _chunks(read.sentences(), {word: number for number, word in enumerate(vocabulary)}):
        pairs.add(_keys(numbers, 2))
        triples.add(_keys(numbers, 3))
    singles = np.array([sentences, *(words[word] for word in usual)], dtype=np.float64)
    return Counts(vocabulary, singles, pairs.keys, pairs.counts, triples.keys, triples.counts)


def estimate(counts: Counts, least: int = 2) -> Ngrams:
    """Ratios by absolute discounting; the discount is n1 / (n1 + 2 n2), of the n-grams seen once and twice.

    Triples seen fewer than ``least`` times are then left to their back-off: most of them are chance.
    """
    shares = counts.singles / counts.singles[1:].sum()
    heads, tails = counts.pairs // BASE, counts.pairs % BASE
    discount = _discount(counts.pair_counts)
    total = np.bincount(heads, counts.pair_counts, len(shares))
    backoffs = discount * np.bincount(heads, minlength=len(shares)) / np.maximum(total, 1)
    backoffs[total == 0] = 1.0
    ratios = (counts.pair_counts - discount) / total[heads] / shares[tails] + backoffs[heads]
    flat = np.ones(len(counts.pairs))
    pairs = Ngrams(counts.words, shares, backoffs, counts.pairs, ratios, flat, counts.triples[:0], ratios[:0])
    places, held = find(counts.pairs, counts.triples // BASE)  # a pair can be lost where there were too many to count
    triples, triple_counts, places = counts.triples[held], counts.triple_counts[held], places[held]
    discount = _discount(triple_counts)
    total = np.bincount(places, triple_counts, len(flat))
    backoffs = np.where(total > 0, discount * np.bincount(places, minlength=len(flat)) / np.maximum(total, 1), 1.0)
    lower = backoffs[places] * pairs.after_one(triples % BASE**2)
    third = (triple_counts - discount) / total[places] / shares[triples % BASE] + lower
    often = triple_counts >= least
    return replace(pairs, pair_backoffs=backoffs, triples=triples[often], triple_ratios=third[often])


def prune(ngrams: Ngrams, size: int) -> Ngrams:
    """Leave out the pairs and triples that change the least, until the file fits into ``size`` bytes.

    What one changes is the difference it makes to ln P(w | before), times how often it occurs.
    """
    pair_share = ngrams.shares[ngrams.pairs // BASE] * ngrams.shares[ngrams.pairs % BASE] * ngrams.pair_ratios
    worth = pair_share * np.abs(np.log(ngrams.pair_ratios / ngrams.backoffs[ngrams.pairs // BASE]))
    owner, _ = find(ngrams.pairs, ngrams.triples // BASE)
    lower = ngrams.pair_backoffs[owner] * ngrams.after_one(ngrams.triples % BASE**2)
    share = pair_share[owner] * ngrams.shares[ngrams.triples % BASE] * ngrams.triple_ratios
    third_worth = TRIPLE_WORTH * share * np.abs(np.log(ngrams.triple_ratios / lower))
    fixed = sum(len(word.encode()) + 9 for word in ngrams.words)  # offsets, starts and a back-off for each
    low, high = 0.0, float(max(worth.max(initial=0), third_worth.max(initial=0)))
    for _ in range(40):  # halve the interval of the threshold
        middle = (low + high) / 2
        kept, third = _chosen(worth, third_worth, owner, middle)
        predicting = len(np.unique(owner[third]))
        used = fixed + PAIR_BYTES * kept.sum() + TRIPLE_BYTES * third.sum() + CONTEXT_BYTES * predicting
        low, high = (low, middle) if used <= size else (middle, high)
    return _only(ngrams, *_chosen(worth, third_worth, owner, high))


def pack(ngrams: Ngrams, header: dict[str, Any]) -> Context:
    """Round the ratios to bytes and lay them out as a file has them; words that occur in no pair are left out."""
    heads, tails = ngrams.pairs // BASE, ngrams.pairs % BASE
    used = np.zeros(len(ngrams.words), bool)
    used[0] = used[heads] = used[tails] = True
    number = np.cumsum(used) - 1  # the order stays, so keys stay ascending
    words = PackedWords.of(word for word, keep in zip(ngrams.words, used, strict=True) if keep)
    owner, _ = find(ngrams.pairs, ngrams.triples // BASE)
    predicting, sizes = np.unique(owner, return_counts=True)
    rows = np.bincount(number[heads], minlength=len(words))
    counted = {"words": len(words), "pairs": len(ngrams.pairs), "triples": len(ngrams.triples)}
    return Context(
        str(header.get("language") or "context"),
        {**header, "counts": counted},
        words,
        backoffs=_steps(ngrams.backoffs[used]),
        starts=_offsets(rows),
        nexts=number[tails].astype(np.uint16),
        ratios=_steps(ngrams.pair_ratios),
        pairs=predicting.astype(np.int32),
        pair_backoffs=_steps(ngrams.pair_backoffs[predicting]),
        pair_starts=_offsets(sizes),
        pair_nexts=number[ngrams.triples % BASE].astype(np.uint16),
        pair_ratios=_steps(ngrams.triple_ratios),
    )


def _chosen(
    worth: np.ndarray, third_worth: np.ndarray, owner: np.ndarray, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Which pairs and triples are worth a threshold; the pair that a triple begins with stays too."""
    third = third_worth >= threshold
    kept = worth >= threshold
    kept[owner[third]] = True
    return kept, third


def _only(ngrams: Ngrams, kept: np.ndarray, third: np.ndarray) -> Ngrams:
    """Keep some pairs and triples. What the others had goes to the words that share a back-off."""
    pairs, ratios = ngrams.pairs[kept], ngrams.pair_ratios[kept]
    triples, third_ratios = ngrams.triples[third], ngrams.triple_ratios[third]
    heads, tail_shares = pairs // BASE, ngrams.shares[pairs % BASE]
    size = len(ngrams.words)
    given = np.bincount(heads, tail_shares * ratios, size)
    backoffs = _rest(given, np.bincount(heads, tail_shares, size), ngrams.backoffs)
    left = replace(
        ngrams, backoffs=backoffs, pairs=pairs, pair_ratios=ratios, pair_backoffs=np.ones(len(pairs)),
        triples=triples, triple_ratios=third_ratios,
    )  # fmt: skip
    owner, _ = find(pairs, triples // BASE)
    tail_shares = ngrams.shares[triples % BASE]
    lower = tail_shares * left.after_one(triples % BASE**2)
    given = np.bincount(owner, tail_shares * third_ratios, len(pairs))
    more = _rest(given, np.bincount(owner, lower, len(pairs)), ngrams.pair_backoffs[kept])
    return replace(left, pair_backoffs=np.where(np.bincount(owner, minlength=len(pairs)) > 0, more, 1.0))


def _rest(given: np.ndarray, lower: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The back-off under which probabilities sum to one: what is not given, over what it would be without context.

    It never falls below what it was before some n-grams were left out.
    """
    return np.clip((1 - given) / np.maximum(1 - lower, 1e-6), np.minimum(before, 1.0), 1.0)


def _discount(counts: np.ndarray) -> float:
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    return min(max(once / (once + 2 * twice), 0.1), 0.95) if once else 0.5


def _steps(ratios: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(np.log(ratios) / STEP), -127, 127).astype(np.int8)


def _offsets(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


class _Tally:
    """Counts of keys, added up in chunks; where there are too many, the rarest go."""

    def __init__(self) -> None:
        self.keys = np.zeros(0, np.int64)
        self.counts: np.ndarray = np.zeros(0)

    def add(self, keys: np.ndarray) -> None:
        new, counts = np.unique(keys, return_counts=True)
        joined = np.concatenate([self.keys, new])
        self.keys, places = np.unique(joined, return_inverse=True)
        self.counts = np.bincount(places, np.concatenate([self.counts, counts]), len(self.keys))
        if len(self.keys) > MAX_NGRAMS:
            frequent = self.counts > self.counts.min()
            self.keys, self.counts = self.keys[frequent], self.counts[frequent]


class _Reader:
    """The sentences of some files, with progress over two readings."""

    def __init__(self, files: Sequence[str | Path], language: str, progress: Progress | None) -> None:
        self.files = [Path(file) for file in files]
        self.language = language
        self.progress = progress
        self.done = 0
        self.total = 2 * sum(_size(file) for file in self.files)

    def sentences(self) -> Iterator[list[str]]:
        """Yield the words of every sentence."""
        for file in self.files:
            for line in self._lines(file):
                for sentence in split_sentences(line):
                    if words := split_words(sentence, self.language):
                        yield words

    def _lines(self, path: Path) -> Iterator[str]:
        try:
            start = self.done
            with path.open("rb") as raw, _unzipped(raw) as stream:
                for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE + 1), b""), 1):
                    if len(line) > MAX_LINE:
                        raise ContextError(f"{path}:{number}: longer than {MAX_LINE:,} bytes; a line holds a sentence")
                    yield line.decode("utf-8")
                    if self.progress and number % 10_000 == 0:
                        self.progress(start + raw.tell(), self.total)
                self.done = start + _size(path)
        except UnicodeDecodeError as error:
            raise ContextError(f"{path} is not UTF-8 text: {error.reason}") from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ContextError(f"{path} is a damaged gzip file: {error}") from None
        except OSError as error:
            raise ContextError(f"cannot read {path}: {error.strerror or error}") from None


def _unzipped(raw: BinaryIO) -> AbstractContextManager[Any]:
    """The same stream, unzipped if it is gzip."""
    zipped = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    return gzip.open(raw) if zipped else nullcontext(raw)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise ContextError(f"cannot read {path}: {error.strerror or error}") from None


def _chunks(sentences: Iterable[list[str]], number: dict[str, int]) -> Iterator[np.ndarray]:
    """The numbers of words, about ``CHUNK`` at a time; a sentence begins with 0, unknown words are -1. Shape: [n]."""
    chunk: list[int] = []
    for words in sentences:
        chunk.append(0)
        chunk += [number.get(word, -1) for word in words]
        if len(chunk) >= CHUNK:
            yield np.array(chunk, dtype=np.int64)
            chunk = []
    yield np.array(chunk, dtype=np.int64)


def _keys(numbers: np.ndarray, order: int) -> np.ndarray:
    """The keys of all pairs or triples of known words within sentences. Shape: [n] -> [m]."""
    columns = [numbers[start : len(numbers) - order + 1 + start] for start in range(order)]
    inside = np.all([column >= 0 for column in columns], axis=0) & np.all(
        [column > 0 for column in columns[1:]], axis=0
    )
    keys = np.zeros(int(inside.sum()), np.int64)
    for column in columns:
        keys = keys * BASE + column[inside]
    return keys
