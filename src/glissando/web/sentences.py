"""Sentences to swipe: built-in pools in five languages, or an operator's file."""

from __future__ import annotations

import random
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from glissando.errors import GlissandoError
from glissando.layout import Layout
from glissando.lexicon import typed_letters
from glissando.web.settings import Settings
from glissando.web.store import Sentence

MAX_SENTENCE = 400  # characters
MAX_WORDS = 60


class SentencesError(GlissandoError):
    """There are no sentences for a language, or a file of them cannot be read."""


@dataclass(frozen=True)
class Pool:
    """Sentences by language."""

    languages: dict[str, tuple[str, ...]]

    def draw(self, language: str, count: int) -> list[Sentence]:
        """A few sentences at random, each at most once."""
        if language not in self.languages:
            raise SentencesError(f"no sentences in {language!r}; there are some in {', '.join(sorted(self.languages))}")
        found = self.languages[language]
        texts = random.sample(found, min(count, len(found)))
        return [Sentence.of(language, text) for text in texts]


def load_pool(settings: Settings) -> Pool:
    """The operator's sentences, else those built in."""
    if settings.sentences:
        return Pool({settings.language: read_sentences(Path(settings.sentences))})
    folder = resources.files("glissando") / "assets" / "sentences"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".txt")]
    texts = {file.name.removesuffix(".txt"): file.read_text(encoding="utf-8") for file in files}
    return Pool({language: _lines(text) for language, text in texts.items()})


def read_sentences(path: Path) -> tuple[str, ...]:
    """Read a file with a sentence per line; empty lines and lines starting with # are left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SentencesError(f"cannot read sentences {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SentencesError(f"sentences {path} are not UTF-8 text: byte {error.start}") from None
    found = _lines(text)
    if not found:
        raise SentencesError(f"{path} has no sentence; it needs one per line")
    for one in found:
        if len(one) > MAX_SENTENCE or len(one.split()) > MAX_WORDS:
            raise SentencesError(f"{path}: {one[:40]!r}... has over {MAX_SENTENCE} characters or {MAX_WORDS} words")
    return found


def words_of(text: str, layout: Layout) -> list[tuple[str, str]]:
    """Words of a sentence as written, and what of each is typed on a layout ("" where nothing is)."""
    letters = frozenset(layout.letters)
    return [(word, "".join(typed_letters(word, letters))) for word in text.split()]


def _lines(text: str) -> tuple[str, ...]:
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
