"""Words, how frequent each is, and which of its characters a finger types.

Frequencies are bytes, 0 to 255, already logarithmic, as in Android's word lists. A lexicon is read from an
AOSP ``.combined`` file, a text file with a word per line, a Python mapping, or by language: from wordfreq's lists, or
from a packaged one where wordfreq has none.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata, resources
from pathlib import Path

import numpy as np

from glissando.errors import LexiconError
from glissando.files import cache_directory, load_arrays, save_arrays
from glissando.words import PackedWords

# wordfreq's frequencies become bytes by the AOSP rule, 255 (log10 p - LOG_MIN) / LOG_RANGE. The two constants come
# from a straight line fitted from Android's English bytes to frequencies (36.2 a decade), so that a frequency weight
# tuned on one kind of list holds on the other; docs/lexicons.md says why the fit goes this way round.
LOG_MIN = -8.33
LOG_RANGE = 7.04

# wordfreq's English tail is noise (foreign words, misspellings): words below this frequency are left out.
# Chosen on real swipes, see docs/lexicons.md.
WORDFREQ_CUT = 1e-7

# Somebody who adds a word writes it: it counts above the list's rarest. The median of Android's English list is 46;
# docs/lexicons.md says what other bytes cost.
ADDED = 60

# Which letters a language writes, and when a word with another one stays; docs/lexicons.md has the rule.
OWN_SCRIPT = 0.05  # share of all letters that a script needs
OWN_LETTER = 3e-5  # share of all letters that a letter beyond a to z needs, in a script with capitals
AS_OFTEN = 0.05  # of the spelling without foreign accents: a word written so less often is dropped
CASED = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN")  # scripts of few letters
RARE_LETTERS = {"uk": "ґ", "vi": "ỵ"}  # a language's own although they are as rare as foreign ones
JOINTS = "'’-"  # in words of every language

VERSION = 5  # of cached word lists: a change of how they are made needs another

MAX_WORD = 48  # characters; nobody swipes a longer word

# Letters that a layout may lack and that Unicode does not decompose: the hard sign is typed on the soft sign's key
# (31-key JCUKEN), and so on.
TYPED_AS = {
    "ъ": "ь", "ґ": "г", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
    "ς": "σ",
}  # fmt: skip

_AOSP_ENTRY = re.compile(r"^ word=([^,\n]*),f=(\d+)(.*)$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Lexicon:
    """A word list.

    Attributes:
        name: where it comes from, for messages.
        language: a code such as "en", or ""; of several languages "de,en".
        words: the surface forms, as the user reads them; kept as PackedWords.
        frequencies: [W] uint8, proportional to the logarithm of the word's frequency; of several languages the highest.
        languages: the G languages, one by default.
        by_language: [G, W] uint8 the byte of each word in each language, 0 where it lacks the word; None where there is
            one language.
    """

    name: str
    language: str
    words: Sequence[str]
    frequencies: np.ndarray
    languages: tuple[str, ...] = ()
    by_language: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", PackedWords.of(self.words))
        if not self.words:
            raise LexiconError(f"lexicon {self.name} has no words")
        if len(self.words) != len(self.frequencies):
            raise LexiconError(f"lexicon {self.name}: {len(self.words)} words but {len(self.frequencies)} frequencies")
        if not self.languages:
            object.__setattr__(self, "languages", (self.language,))
        shape = (1, len(self)) if self.by_language is None else self.by_language.shape
        if shape != (len(self.languages), len(self)):
            raise LexiconError(f"lexicon {self.name}: bytes of shape {shape} for {len(self.languages)} languages")

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def digest(self) -> str:
        """A hash of words and frequencies, under which what is built from them is cached."""
        words = PackedWords.of(self.words)
        return hashlib.sha256(words.text + words.offsets.tobytes() + self.frequencies.tobytes()).hexdigest()

    def with_words(self, words: Iterable[str], frequency: int = ADDED) -> Lexicon:
        """A lexicon with these words added; words it already has stay as they are.

        ``frequency`` is the byte of the added words.
        """
        known = set(self.words)
        added = tuple(word for word in dict.fromkeys(words) if word not in known)
        if not 0 <= frequency <= 255:
            raise LexiconError(f"a frequency is a byte from 0 to 255, got {frequency}")
        if not added:
            return self
        frequencies = np.append(self.frequencies, np.full(len(added), frequency, dtype=np.uint8))
        rows = self.by_language
        if rows is not None:  # an added word may be of any of the languages
            rows = np.hstack([rows, np.full((len(rows), len(added)), max(frequency, 1), dtype=np.uint8)])
        return replace(self, words=(*self.words, *added), frequencies=frequencies, by_language=rows)

    def spell(self, letters: frozenset[str]) -> list[str]:
        """For every word, the letters typed for it on a layout with these letters. Shape: W strings."""
        typing = Typing(letters)
        return [word.translate(typing) for word in self.words]

    @classmethod
    def from_counts(cls, counts: Mapping[str, float], *, name: str = "mapping", language: str = "") -> Lexicon:
        """Make a lexicon of words and their counts; the logarithms of the counts are spread over 1 to 255."""
        words = [word for word in counts if is_word(word)]
        bad = [word for word in words if not (math.isfinite(counts[word]) and counts[word] >= 0)]
        if bad:
            raise LexiconError(f"{name}: the count of {bad[0]!r} is {counts[bad[0]]}; counts are numbers from 0")
        logs = np.log10(np.maximum(np.array([counts[word] for word in words], dtype=np.float64), 1e-12))
        spread = np.ptp(logs) if len(logs) else 0.0
        # Where all counts are the same, every word gets a middle byte.
        scaled = (logs - logs.min()) / spread * 254 + 1 if spread > 0 else np.full(len(words), 128.0)
        return cls(name, language, tuple(words), np.rint(scaled).astype(np.uint8))

    @classmethod
    def from_file(cls, path: str | Path) -> Lexicon:
        """Read a word list: AOSP ``.combined`` or a word per line with an optional count; plain or gzip."""
        data = _read_bytes(Path(path))

        def parse() -> Lexicon:
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise LexiconError(f"{path} is not UTF-8 text: byte {error.start}") from None
            return (_parse_aosp if text.startswith("dictionary=") else _parse_lines)(text, str(path))

        return replace(_cached(data, parse), name=str(path))

    @classmethod
    def from_language(cls, language: str, *, cut: float = WORDFREQ_CUT) -> Lexicon:
        """The list of a language, without words rarer than ``cut`` and words of other languages' letters.

        The most frequent byte comes first, and words of the same byte come in the order of their UTF-8 bytes.
        """

        def read() -> Lexicon:
            if language in (lists := packaged_lists()):
                counts = _read_counts(lists[language], name := f"packaged {language}")
                total = sum(counts.values())
                return _from_frequencies(name, {word: n / total for word, n in counts.items()}, language, cut)
            if language not in (known := available_languages()):
                raise LexiconError(f"no word list for language {language!r}; there are {', '.join(known)}")
            import wordfreq  # only now: it takes a tenth of a second, and its memory is not freed

            frequencies = wordfreq.get_frequency_dict(language, "best")
            return _from_frequencies(f"wordfreq {language}", frequencies, language, cut)

        return _cached(language_source(language, cut).encode(), read)


def available_languages() -> tuple[str, ...]:
    """The languages that have a word list: wordfreq's, and those that are packaged."""
    import wordfreq

    return tuple(sorted({*wordfreq.available_languages("best"), *packaged_lists()}))


def packaged_lists() -> dict[str, str]:
    """The text of each word list that comes with the package, by language; those are languages that wordfreq lacks."""
    folder = resources.files("glissando") / "assets" / "words"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".txt")]
    return {entry.name.removesuffix(".txt"): entry.read_text(encoding="utf-8") for entry in files}


def language_source(language: str, cut: float = WORDFREQ_CUT) -> str:
    """What the list of a language is made of and how: it changes whenever the list may."""
    source = packaged_lists().get(language) or f"wordfreq {metadata.version('wordfreq')}"
    return f"{VERSION} {language} {cut} {source}"


def load_lexicon(source: str | Path | Mapping[str, float] | Lexicon) -> Lexicon:
    """Load a lexicon from a mapping of counts, a file, or language codes ("de,en"); a Lexicon is returned as it is."""
    if isinstance(source, Lexicon):
        return source
    if isinstance(source, Mapping):
        return Lexicon.from_counts(source)
    if isinstance(source, Path) or os.sep in source or "." in source:
        return Lexicon.from_file(source)
    if "," in source:
        return join_lexicons([Lexicon.from_language(code) for code in source.split(",")])
    return Lexicon.from_language(source)


def join_lexicons(lexicons: Sequence[Lexicon]) -> Lexicon:
    """One lexicon of the words of several, each once; lists of the same language count as one language."""
    if not lexicons:
        raise LexiconError("there are no lexicons to join")
    if len(lexicons) == 1:
        return lexicons[0]
    key = "\n".join(f"{one.digest} {','.join(one.languages)}" for one in lexicons)
    name = " + ".join(one.name for one in lexicons)
    return replace(_cached(f"join {key}".encode(), lambda: _join(lexicons)), name=name)


def _join(lexicons: Sequence[Lexicon]) -> Lexicon:
    """Join lexicons: 0.3 s for 380,000 words."""
    languages = tuple(dict.fromkeys(language for one in lexicons for language in one.languages))
    places: dict[str, int] = {}
    found = [[places.setdefault(word, len(places)) for word in one.words] for one in lexicons]
    rows = np.zeros((len(languages), len(places)), dtype=np.uint8)
    for one, at in zip(lexicons, found, strict=True):
        own = one.frequencies[None].clip(1) if one.by_language is None else one.by_language
        for language, frequencies in zip(one.languages, own, strict=True):
            row = rows[languages.index(language)]
            row[at] = np.maximum(row[at], frequencies)
    if len(languages) == 1:
        return Lexicon("", languages[0], tuple(places), rows[0])
    return Lexicon("", ",".join(languages), tuple(places), rows.max(axis=0), languages, rows)


def type_character(char: str, letters: frozenset[str]) -> tuple[str, ...]:
    """The letters that type one character: the character itself, else its base letter, else none.

    >>> type_character("É", frozenset("e")), type_character("'", frozenset("e"))
    (('e',), ())
    """
    lower = char.lower()
    for form in (char, lower):
        if form in letters:
            return (form,)
    base = TYPED_AS.get(lower) or unicodedata.normalize("NFKD", lower)
    return tuple(part for part in base if part in letters)


class Typing(dict[int, str]):
    """What each character is typed as on a layout, for ``str.translate``; filled on demand."""

    def __init__(self, letters: frozenset[str]) -> None:
        super().__init__()
        self.letters = letters

    def __missing__(self, code: int) -> str:
        typed = self[code] = "".join(type_character(chr(code), self.letters))
        return typed


def typed_letters(word: str, letters: frozenset[str]) -> tuple[str, ...]:
    """The letters a finger visits to write ``word``.

    >>> typed_letters("Café's", frozenset("abcdefs"))
    ('c', 'a', 'f', 'e', 's')
    """
    return tuple(letter for char in word for letter in type_character(char, letters))


def is_word(word: str) -> bool:
    """Whether a string can be a word: it has a letter and no white space, and no more than MAX_WORD characters."""
    return 0 < len(word) <= MAX_WORD and any(char.isalpha() for char in word) and not any(c.isspace() for c in word)


def _in_word(char: str) -> bool:
    """Whether a character may occur in a word of wordfreq's: no digit, no symbol."""
    return char.isalpha() or char in JOINTS or bool(unicodedata.combining(char))


def _read_bytes(path: Path) -> bytes:
    """The file's bytes, unzipped if it is gzip."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LexiconError(f"{path} is a damaged gzip file: {error}") from None
    except OSError as error:
        raise LexiconError(f"cannot read word list {path}: {error.strerror or error}") from None


def _parse_aosp(text: str, source: str) -> Lexicon:
    """Android's format: a header line, then `` word=the,f=222,...``; shortcuts and bigrams are indented deeper."""
    entries = _AOSP_ENTRY.findall(text)
    if len(entries) != len(re.findall(r"^ word=", text, re.MULTILINE)):
        for number, line in enumerate(text.split("\n"), 1):
            if line.startswith(" word=") and not _AOSP_ENTRY.match(line):
                raise LexiconError(f"{source}:{number}: expected ' word=...,f=0..255', got {line[:60]!r}")
    kept: dict[str, int] = {}
    for word, frequency, rest in entries:
        if is_word(word) and "not_a_word=true" not in rest:
            kept[word] = max(int(frequency), kept.get(word, 0))
    if any(frequency > 255 for frequency in kept.values()):
        raise LexiconError(f"{source}: a frequency is over 255")
    locale = re.search(r"locale=([^\W_]+)", text.split("\n", 1)[0])
    return Lexicon(source, locale[1] if locale else "", tuple(kept), np.array(list(kept.values()), dtype=np.uint8))


def _parse_lines(text: str, source: str) -> Lexicon:
    """Words and counts as ``_read_counts`` reads them."""
    return Lexicon.from_counts(_read_counts(text, source), name=source)


def _read_counts(text: str, source: str) -> dict[str, float]:
    """A word per line, optionally followed by white space and a count; ``#`` starts a comment."""
    counts: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split("#", 1)[0].split()
        if not fields:
            continue
        try:
            count = float(fields[1]) if len(fields) == 2 else 1.0
        except ValueError:
            count = math.nan
        if len(fields) > 2 or not (math.isfinite(count) and count >= 0) or len(fields[0]) > MAX_WORD:
            raise LexiconError(f"{source}:{number}: expected a word and an optional count, got {line[:60]!r}")
        counts[fields[0]] = counts.get(fields[0], 0.0) + count
    if not any(is_word(word) for word in counts):
        raise LexiconError(f"{source} has no words")
    return counts


def _from_frequencies(name: str, frequencies: Mapping[str, float], language: str, cut: float) -> Lexicon:
    """The words of a language above the cut, without digits, symbols and foreign letters; frequencies as AOSP bytes."""
    kept: dict[str, float] = {}
    for word, frequency in frequencies.items():
        if frequency >= cut and is_word(word) and all(_in_word(char) for char in word):
            whole = unicodedata.normalize("NFC", word)  # wordfreq takes some Greek letters apart
            kept[whole] = kept.get(whole, 0.0) + frequency
    own = own_letters(kept) | frozenset(RARE_LETTERS.get(language, ""))
    typing, joints = Typing(own), frozenset(JOINTS)
    foreign = [word for word in kept if not own.issuperset(word) and not _stays(word, kept, typing, joints)]
    for word in foreign:
        del kept[word]
    logs = np.log10(np.array(list(kept.values()), dtype=np.float64))
    bytes_ = np.clip(np.rint(255 * (logs - LOG_MIN) / LOG_RANGE), 0, 255).astype(np.uint8)
    return _in_order(name, language, dict(zip(kept, bytes_.tolist(), strict=True)))


def _in_order(name: str, language: str, bytes_: Mapping[str, int]) -> Lexicon:
    """Words and their bytes, the most frequent first, equal ones in the order of their UTF-8 bytes.

    Nothing but words and bytes decides the order, so that a port can restore it from a file in any other order.
    """
    words = sorted(bytes_, key=lambda word: (-bytes_[word], word.encode()))
    return Lexicon(name, language, words, np.array([bytes_[word] for word in words], dtype=np.uint8))


def own_letters(frequencies: Mapping[str, float]) -> frozenset[str]:
    """The characters that a language writes, by their shares among the characters of its words.

    They are those of its scripts. Latin is one of a language's scripts only if most of its letters are Latin. In a
    script with capitals a letter beyond a to z needs a share, too.
    """
    codes = np.frombuffer("".join(frequencies).encode("utf-32-le"), dtype=np.uint32)
    weights = np.repeat(np.array(list(frequencies.values())), [len(word) for word in frequencies])
    found, places = np.unique(codes, return_inverse=True)
    shares = dict(zip(map(chr, found.tolist()), np.bincount(places, weights) / weights.sum(), strict=True))
    scripts: Counter[str] = Counter()
    for char, share in shares.items():
        scripts[_script(char)] += share
    most = max(scripts, key=scripts.__getitem__, default="")
    own = {script for script, share in scripts.items() if script == most or (share >= OWN_SCRIPT and script != "LATIN")}
    return frozenset(
        char
        for char, share in shares.items()
        if _script(char) in own and (char.isascii() or _script(char) not in CASED or share >= OWN_LETTER)
    )


def _script(char: str) -> str:
    """The script of a letter or mark, as Unicode's name of it begins: "LATIN", "HIRAGANA"."""
    script = re.split("[ -]", unicodedata.name(char, ""), maxsplit=1)[0]
    return "CJK" if script == "IDEOGRAPHIC" else script  # the mark 々


def _stays(word: str, frequencies: Mapping[str, float], typing: Typing, joints: frozenset[str]) -> bool:
    """Whether a word with letters that its language does not write is one of its words all the same, as café is.

    Each of the letters must have one to type it on, and the word must be written so, not only without the accents.
    """
    typed = [char if char in joints else typing[ord(char)] for char in word]
    plain = "".join(typed)
    return all(typed) and (plain == word or frequencies[word] >= AS_OFTEN * frequencies.get(plain, 0.0))


def _cached(key: bytes, make: Callable[[], Lexicon]) -> Lexicon:
    """The lexicon cached under the hash of ``key``, or else what ``make`` returns, which is then cached."""
    file = cache_directory() / f"lexicon-{VERSION}-{hashlib.sha256(key).hexdigest()[:32]}.npz"
    arrays = load_arrays(file)
    if arrays is not None:
        name, language = arrays["names"].tobytes().decode().split("\n")
        words = PackedWords(arrays["words"].tobytes(), arrays["offsets"])
        rows = arrays.get("by_language")
        languages = () if rows is None else tuple(language.split(","))
        return Lexicon(name, language, words, arrays["frequencies"], languages, rows)
    lexicon = make()
    packed = PackedWords.of(lexicon.words)
    arrays = {
        "words": np.frombuffer(packed.text, dtype=np.uint8),
        "offsets": packed.offsets,
        "frequencies": lexicon.frequencies,
        "names": np.frombuffer(f"{lexicon.name}\n{lexicon.language}".encode(), dtype=np.uint8),
    }
    if lexicon.by_language is not None:
        arrays["by_language"] = lexicon.by_language
    save_arrays(file, arrays)
    return lexicon
