"""A person's own words: how often each was used, and when it was used last.

A word counts at once after it is learned, because the words are searched in a small trie of their own. A word that is
used again and again gains weight, and a word that is not used any more fades.
"""

from __future__ import annotations

import json
import math
import os
import unicodedata
from collections.abc import Mapping
from datetime import date
from numbers import Real
from typing import Any

import numpy as np

from glissando.errors import VocabularyError
from glissando.files import read_object, write_whole
from glissando.lexicon import MAX_WORD, Typing, is_word
from glissando.trie import MAX_DEPTH, Trie, grow_trie

VERSION = 1  # of the file
MAX_WORDS = 10_000
FIRST = 60.0  # the frequency byte of a word that was used once today: as rare words in Android's lists
DECADE = 60.0  # bytes that a word gains when it is used ten times as often
HIGHEST = 160.0  # Android's English list gives "house" 152 and "the" 222
HALF_LIFE = 90.0  # days without use after which a count is halved
MAX_COUNT = 1e6  # more uses say nothing more
MAX_LAYOUTS = 8  # sets of letters whose tries are kept
MAX_BYTES = 8 << 20  # of a file; 10,000 of the longest words take 5 MB


class _Spellings(dict[str, bytes]):
    """What is typed for each word on one set of letters, as labels of a trie, and the trie of all words."""

    def __init__(self, letters: tuple[str, ...]) -> None:
        super().__init__()
        self.letters = letters
        self.typing = Typing(frozenset(letters))
        self.label = {letter: index for index, letter in enumerate(letters)}
        self.trie: Trie | None = None
        self.made = (-1, -1)  # the change and the day that the trie was made for

    def __missing__(self, word: str) -> bytes:
        typed = word.translate(self.typing)
        # One character can be typed as many letters. A word too long for a trie is left out.
        labels = bytes(self.label[letter] for letter in typed) if len(typed) <= MAX_DEPTH else b""
        self[word] = labels
        return labels


class Vocabulary:
    """Words that a person uses, kept in memory and saved as JSON.

    "Taigang" and "taigang" are two words. ``words``, ``bytes`` and ``trie`` belong together until the next change.
    """

    def __init__(self) -> None:
        self._words: list[str] = []  # V of them
        self._places: dict[str, int] = {}  # of each word among these
        self._counts = np.zeros(MAX_WORDS)  # the first V: uses as of the day of the last; older ones count less
        self._days = np.zeros(MAX_WORDS, dtype=np.int64)  # the first V: the day of the last use, by date.toordinal
        self._changes = 0
        self._spellings: dict[tuple[str, ...], _Spellings] = {}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """Read a file that ``save`` wrote; an error names the file, and nothing of a damaged file is loaded."""
        data = read_object(path, "vocabulary", VocabularyError, MAX_BYTES)
        if data.get("version") != VERSION:
            raise VocabularyError(
                f"vocabulary {path} has version {data.get('version')!a}; this glissando reads {VERSION}"
            )
        words = data.get("words")
        if not isinstance(words, Mapping):
            raise VocabularyError(f"vocabulary {path} has no object of words")
        if len(words) > MAX_WORDS:
            raise VocabularyError(f"vocabulary {path} has {len(words):,} words; it may have {MAX_WORDS:,}")
        vocabulary = cls()
        try:
            for word, entry in words.items():
                vocabulary.learn(word, *_read_use(word, entry))
        except VocabularyError as error:
            raise VocabularyError(f"vocabulary {path}: {error}") from None
        return vocabulary

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all words to a JSON file, whole or not at all. Of times only the day is kept."""
        uses = zip(self._words, self._counts.tolist(), self._days.tolist(), strict=False)
        words = {word: {"count": count, "used": date.fromordinal(day).isoformat()} for word, count, day in uses}
        text = json.dumps({"version": VERSION, "words": words}, ensure_ascii=False, indent=1)
        write_whole(path, text.encode())

    def learn(self, word: str, count: float = 1.0, today: date | None = None) -> None:
        """Add a word, or count it up if it is known.

        Where there are MAX_WORDS words already, a new one takes the place of the weakest.

        Args:
            word: as it is written, with its capitals and accents; in any Unicode form.
            count: how many uses this is.
            today: the day of the use.
        """
        word, count, day = _as_word(word), _as_count(count), _as_day(today)
        place = self._places.get(word)
        if place is None:
            place = self._room_for(word)
            self._counts[place], self._days[place] = count, day
        else:
            faded = 10.0 ** float(self._logs(day)[place])
            self._counts[place] = min(faded + count, MAX_COUNT)
            self._days[place] = max(self._days[place], day)  # a clock may have been set back
        self._changes += 1

    def forget(self, word: str) -> bool:
        """Remove a word; whether it was there."""
        place = self._places.get(unicodedata.normalize("NFC", word))
        if place is None:
            return False
        self._drop_spelling(self._words.pop(place))
        self._places = {other: index for index, other in enumerate(self._words)}
        for column in (self._counts, self._days):
            column[place:-1] = column[place + 1 :]
        self._changes += 1
        return True

    @property
    def words(self) -> tuple[str, ...]:
        """The V words as they are written."""
        return tuple(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and unicodedata.normalize("NFC", word) in self._places

    def bytes(self, today: date | None = None) -> np.ndarray:
        """How frequent each word is, on the scale of a lexicon's bytes (0 to 255, logarithmic). Shape: [V] float64."""
        return np.clip(FIRST + DECADE * self._logs(_as_day(today)), 0.0, HIGHEST)

    def trie(self, letters: tuple[str, ...], today: date | None = None) -> Trie:
        """The words on a layout's letters, as a trie; it is made again only after a change or on another day.

        Args:
            letters: the distinct letters of the layout, whose order gives the labels.
            today: the day, which decides how far each word has faded.

        Returns:
            A trie whose words are indices into ``words``. Words with no letter on the layout are left out. Where no
            word is left, the trie has only a root.
        """
        spellings = self._spellings.get(letters)
        if spellings is None:
            if len(self._spellings) >= MAX_LAYOUTS:
                self._spellings.clear()
            spellings = self._spellings[letters] = _Spellings(letters)
        made = (self._changes, _as_day(today))
        if spellings.trie is None or spellings.made != made:
            typed = [spellings[word] for word in self._words]
            lengths = np.fromiter(map(len, typed), dtype=np.int64, count=len(typed))
            labels = np.frombuffer(bytearray().join(typed), dtype=np.uint8)
            frequencies = np.rint(self.bytes(today)).astype(np.uint8)
            spellings.trie, spellings.made = grow_trie(letters, labels, lengths, frequencies), made
        return spellings.trie

    def _logs(self, day: int) -> np.ndarray:
        """Logarithms to base 10 of the faded counts. Shape: [V]."""
        ages = np.maximum(day - self._days[: len(self)], 0)  # a clock that was set back makes no count grow
        return np.log10(self._counts[: len(self)]) - math.log10(2.0) / HALF_LIFE * ages

    def _room_for(self, word: str) -> int:
        """The place of a new word: the next one, or that of the weakest word, which is dropped."""
        place = len(self)
        if place < MAX_WORDS:
            self._words.append(word)
        else:
            # All counts fade alike, so any day after the last use gives the same order.
            place = int(self._logs(int(self._days.max())).argmin())
            self._drop_spelling(self._words[place])
            del self._places[self._words[place]]
            self._words[place] = word
        self._places[word] = place
        return place

    def _drop_spelling(self, word: str) -> None:
        """Leave no trace of a word in the tries' spellings."""
        for spellings in self._spellings.values():
            spellings.pop(word, None)


def _as_word(word: Any) -> str:
    """A word in Unicode's composed form; an error where it is none."""
    if not isinstance(word, str):
        raise VocabularyError(f"a word is a string, got {type(word).__name__}")
    composed = unicodedata.normalize("NFC", word)
    whole = not any(0xD800 <= ord(char) < 0xE000 for char in composed[: MAX_WORD + 1])  # no halves of characters
    if not (whole and is_word(composed)):
        raise VocabularyError(
            f"{composed[:60]!a} is not a word: it needs a letter, no white space and at most {MAX_WORD} characters"
        )
    return composed


def _as_count(count: Any) -> float:
    """A count of uses; an error where it is none."""
    number = isinstance(count, Real) and not isinstance(count, bool)
    if not (number and 0 < count < math.inf):
        raise VocabularyError(f"a word's count must be a number above 0, got {ascii(count)[:60]}")
    return float(min(count, MAX_COUNT))


def _as_day(today: date | None) -> int:
    """The number of a day, by default of today."""
    return (date.today() if today is None else today).toordinal()


def _read_use(word: str, entry: Any) -> tuple[float, date]:
    """Count and day of last use of a word, as a file has them."""
    if not isinstance(entry, Mapping) or set(entry) != {"count", "used"}:
        raise VocabularyError(f"{word!a} must have a count and a day of last use, and nothing else")
    try:
        return entry["count"], date.fromisoformat(entry["used"])
    except (TypeError, ValueError):
        raise VocabularyError(f"{word!a} was used on {ascii(entry['used'])[:60]}, which is no day") from None
