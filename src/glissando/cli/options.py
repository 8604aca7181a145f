"""The arguments and options that several commands share, to be used as ``opt.Lexicon``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option


def output(help: str) -> Any:
    """The option for where a command writes to."""
    return Option("--output", "-o", parser=_local_path, metavar="PATH", help=help)


def _local_path(text: str) -> Path:
    """A path to write to; an address is refused, because a Path of it would name a local directory s3:."""
    from glissando.corpus.sources import is_address, shown
    from glissando.errors import GlissandoError

    if is_address(text):
        raise GlissandoError(f"{shown(text)} is an address; outputs are written to local files")
    return Path(text)


# The keyboard
Layout = Annotated[str, Option(help="A built-in layout or a .json file.")]
Layouts = Annotated[Path | None, Option(help="Directory of layouts, searched before the built-in ones.")]
LayoutNames = Annotated[list[str], Argument(metavar="LAYOUT...", help="Built-in layouts or .json files.")]
Language = Annotated[str | None, Option(help="Language of the word list; by default the layout's.")]
Languages = Annotated[
    str | None,
    Option(help="Language of the words, or several, the main one first: de,en. By default the layout's."),
]
Lexicon = Annotated[Path | None, Option(help="A word list instead: AOSP .combined or words; .gz too.")]
Method = Annotated[
    str,
    Option(
        help="encoder, matcher (asked where the encoder is in doubt), decoder (a correction learned for one layout), "
        "auto (matcher) or shark2 (template matching)."
    ),
]
Scoring = Annotated[str, Option(help="auto (by language), a packaged name, or a JSON file.")]
Weights = Annotated[str, Option(help="A packaged encoder, or an .onnx file with its .json beside it.")]
Decoder = Annotated[str, Option(help="A packaged decoder, or an .onnx file with its .json beside it.")]
Matcher = Annotated[str, Option(help="A packaged matcher, or an .onnx file with its .json beside it.")]
Beam = Annotated[int, Option(min=1, max=10_000, help="Hypotheses the beam keeps.")]

Vocabulary = Annotated[
    Path | None, Option(help="A person's own words: a file of `glissando vocabulary` or Vocabulary.save.")
]

# The swipes
Labelled = Annotated[
    list[str],
    Argument(help="Swipes with word, x, y, t and layout, as JSON lines or Parquet: files, directories, globs, s3://."),
]
Recorded = Annotated[str | None, Option(help="Swipes to decode, all on one layout; by default synthetic ones.")]
AddTargets = Annotated[bool, Option("--add-targets", help="Add the words meant to the lexicon.")]
MaxDistance = Annotated[
    float | None, Option(help="Leave out swipes further than this from their word's keys, in key widths.")
]
Limit = Annotated[int | None, Option(min=1, help="The most swipes to read of each file.")]

# The cluster
Cluster = Annotated[
    str | None,
    Option(
        metavar="ADDRESS",
        help="Work on a Ray cluster: local (our own, on this machine), auto (the one running here) or HOST:PORT.",
    ),
]
Workers = Annotated[int | None, Option(min=1, help="With --cluster: processes; by default one per processor.")]
Parts = Annotated[
    str | None,
    Option(help="With --cluster: a folder or s3:// address that keeps what each block gave; a second start goes on."),
]
BlockRows = Annotated[int, Option("--block", min=1, help="With --cluster: rows of a block.")]

# The run
Settings = Annotated[
    list[str] | None,
    Option("--set", metavar="NAME=VALUE", help="A setting; the docs list them. May be repeated."),
]
Device = Annotated[str | None, Option(help="cuda or cpu; by default a GPU where there is one.")]
Word = Annotated[list[str] | None, Option("--word", help="A word to show letter by letter; may be repeated.")]
Json = Annotated[bool, Option("--json", help="Print JSON.")]
