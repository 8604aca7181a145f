"""Sentences to swipe: built-in ones in five languages, or an operator's file."""

from __future__ import annotations

import random
from importlib import resources
from pathlib import Path

from glissando.errors import GlissandoError
from glissando.layout import Layout
from glissando.lexicon import typed_letters
from glissando.web.settings import Settings

MAX_SENTENCE = 400  # characters
MAX_WORDS = 60

Sentences = dict[str, tuple[str, ...]]  # by language


class SentencesError(GlissandoError):
    """There are no sentences in a language, or a file of them cannot be read."""


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


def draw_sentences(sentences: Sentences, language: str, count: int) -> list[str]:
    """Some sentences of a language at random, each at most once."""
    if language not in sentences:
        raise SentencesError(f"no sentences in {language!r}; there are some in {', '.join(sorted(sentences))}")
    return random.sample(sentences[language], min(count, len(sentences[language])))


def words_of(text: str, layout: Layout) -> list[tuple[str, str]]:
    """Words of a sentence as written, and what of each is typed on a layout ("" where nothing is)."""
    letters = frozenset(layout.letters)
    return [(word, "".join(typed_letters(word, letters))) for word in text.split()]


def _lines(text: str) -> tuple[str, ...]:
    """The sentences of a text, each once."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
