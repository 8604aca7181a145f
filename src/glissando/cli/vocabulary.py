"""``glissando vocabulary``: a person's own words in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.output import print_json, print_table

File = Annotated[Path, Argument(help="The file of own words, JSON.")]
Words = Annotated[list[str], Argument(metavar="WORD...", help="Words as they are written, with capitals and accents.")]

app = typer.Typer(
    help="Keep a person's own words: names, slang, whatever no list has.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@app.command()
def add(
    file: File,
    words: Words,
    count: Annotated[float, Option(min=1, max=1e6, help="How often each was used.")] = 1.0,
) -> None:
    """Add words, or count them up if they are there; a file that does not exist is made.

    **Examples**

        glissando vocabulary add own.json taigang Zoë
        glissando vocabulary add own.json taigang --count 10
    """
    from glissando.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(file) if file.exists() else Vocabulary()
    for word in words:
        vocabulary.learn(word, count)
    vocabulary.save(file)


@app.command()
def remove(file: File, words: Words) -> None:
    """Remove words; a word that is not there is an error, and then nothing is removed.

    **Examples**

        glissando vocabulary remove own.json taigang
    """
    from glissando.errors import VocabularyError
    from glissando.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(file)
    for word in words:
        if not vocabulary.forget(word):
            raise VocabularyError(f"vocabulary {file} has no word {word[:40]!r}")
    vocabulary.save(file)


@app.command("list")
def list_words(file: File, as_json: opt.Json = False) -> None:
    """Print the words with their frequency bytes of today, the most frequent first.

    **Examples**

        glissando vocabulary list own.json
        glissando vocabulary list own.json --json
    """
    from glissando.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(file)
    pairs = zip(vocabulary.words, vocabulary.bytes().tolist(), strict=True)
    rows = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    if as_json:
        print_json([{"word": word, "frequency": round(byte, 1)} for word, byte in rows])
    else:
        print_table(f"{len(rows):,} words", ("word", "frequency"), [(word, f"{byte:.0f}") for word, byte in rows])
