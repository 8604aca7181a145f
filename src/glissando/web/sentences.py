"""Sentences to swipe: built-in ones in five languages, or an operator's file; and which layouts can type them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from glissando.errors import GlissandoError
from glissando.layout import Layout
from glissando.lexicon import Lexicon, type_character, typed_letters
from glissando.web.settings import Settings

MAX_SENTENCE = 400  # characters
MAX_WORDS = 60

Sentences = dict[str, tuple[str, ...]]  # by language


class SentencesError(GlissandoError):
    """There are no sentences in a language or for a layout, or a file of them cannot be read."""


def load_sentences(settings: Settings) -> Sentences:
    """The operator's sentences, else the built-in ones."""
    if settings.sentences:
        return {settings.language: read_sentences(Path(settings.sentences))}
    folder = resources.files("glissando") / "assets" / "sentences"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".txt")]
    return {file.name.removesuffix(".txt"): _lines(file.read_text(encoding="utf-8")) for file in files}


def read_sentences(path: Path) -> tuple[str, ...]:
    """Read a file with one sentence per line; empty lines and lines that start with # are left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SentencesError(f"cannot read sentences {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SentencesError(f"sentences {path} are not UTF-8 text: byte {error.start}") from None
    lines = _lines(text)
    if not lines:
        raise SentencesError(f"{path} has no sentence; it needs one per line")
    for line in lines:
        if len(line) > MAX_SENTENCE or len(line.split()) > MAX_WORDS:
            raise SentencesError(f"{path}: {line[:40]!r}... has over {MAX_SENTENCE} characters or {MAX_WORDS} words")
    return lines


class Pool:
    """The sentences that each layout can type.

    Attributes:
        sentences: all of them, by language.
        typed: those that can be typed, by language and name of the layout; never empty.
        layouts: for each language the names of its layouts: those made for it first, then those that can type more.
    """

    def __init__(self, sentences: Sentences, layouts: Mapping[str, Layout]) -> None:
        self.sentences = sentences
        self.typed: dict[tuple[str, str], tuple[str, ...]] = {}
        for language, lines in sentences.items():
            needed = [(line, frozenset(char for char in line if char.isalnum())) for line in lines]
            every = frozenset().union(*(chars for _, chars in needed))
            for name, layout in layouts.items():
                letters = frozenset(layout.letters)
                can = {char for char in every if type_character(char, letters)}
                if typed := tuple(line for line, chars in needed if chars and chars <= can):
                    self.typed[language, name] = typed

        # False sorts before True.
        ranked = sorted(
            (language, layouts[name].language != language, -len(lines), name)
            for (language, name), lines in self.typed.items()
        )
        self.layouts: dict[str, list[str]] = {language: [] for language in sorted(sentences)}
        for language, _, _, name in ranked:
            self.layouts[language].append(name)

    def draw(self, language: str, layout: str, count: int) -> list[str]:
        """Some sentences of a language at random, each at most once, of which the layout can type every word."""
        if language not in self.sentences:
            raise SentencesError(f"no sentences in {language!r}; there are some in {', '.join(sorted(self.sentences))}")
        lines = self.typed.get((language, layout))
        if lines is None:
            can = ", ".join(self.layouts[language])
            raise SentencesError(
                f"layout {layout!r} can type no sentence in {language!r}; "
                + (f"layouts that can are {can}" if can else "no layout here can")
            )
        return random.sample(lines, min(count, len(lines)))

    def lexicon(self, language: str) -> Lexicon:
        """The words of a language's sentences, for a language that has no word list."""
        words = (word for line in self.sentences[language] for word in re.findall(r"\w(?:\S*\w)?", line))
        return Lexicon.from_counts(Counter(words), name=f"the sentences in {language}", language=language)


def words_of(text: str, layout: Layout) -> list[tuple[str, str]]:
    """Words of a sentence as written, and what of each is typed on a layout ("" where nothing is)."""
    letters = frozenset(layout.letters)
    return [(word, "".join(typed_letters(word, letters))) for word in text.split()]


def _lines(text: str) -> tuple[str, ...]:
    """The sentences of a text, each once."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
