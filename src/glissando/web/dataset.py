"""A dataset as public ones are laid out: Parquet under data/, the layouts, and a card that ``datasets`` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.parquet import row_writer
from glissando.errors import CorpusError
from glissando.files import replacing_directory
from glissando.web.consent import Consent

FILE = "train-00000-of-00001.parquet"

# The columns: their types (see corpus/parquet.py), and what the card says of them.
COLUMNS = {
    "word": ("string", "the word that was asked for"),
    "x": ("list<double>", "the finger's path over the letter area: 0 is its left edge, 1 its right edge"),
    "y": ("list<double>", "the same from top to bottom"),
    "t": ("list<double>", "milliseconds from touch-down"),
    "layout": ("string", "name of the layout, a file under layouts/"),
    "language": ("string", "code of the language"),
    "sentence": ("string", "the sentence that the word is from"),
    "sentence_id": ("string", "a hash of it"),
    "word_index": ("int32", "the word's place in it, from 0"),
    "session": ("string", "a random number for what one person gave within hours; split by it"),
    "canvas_width": ("float", "width of the letter area in pixels"),
    "canvas_height": ("float", "its height"),
    "pixel_ratio": ("float", "device pixels per pixel"),
    "key_width_mm": ("float", "width of a key in millimetres, where known"),
    "orientation": ("string", "portrait or landscape"),
    "pointer": ("string", "touch, pen or mouse"),
    "sampling": ("string", "coalesced: every point the screen gave; frame: one per frame of the page"),
    "rate": ("float", "points per second"),
    "hand": ("string", "left or right, if the donor said so"),
    "posture": ("string", "thumb, finger or table, if the donor said so"),
    "tries": ("int32", "how often the word was tried; the last attempt is here"),
    "read": ("string", "what the software read"),
    "sure": ("float", "the probability it gave to that"),
    "right": ("bool", "whether that is the word asked for"),
    "cost": ("float", "what the word asked for costs the network, nats per letter"),
    "key_dist_max": ("float", "greatest distance of the path to the word's keys, in key widths"),
    "flagged": ("bool", "whether the path does not seem to follow the word"),
    "consent": ("string", "which of the texts below the donor agreed to"),
}

# Licences that the Hub knows, by its names.
LICENCES = frozenset({
    "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "mit", "apache-2.0", "odc-by", "odbl",
    "pddl", "cdla-permissive-1.0", "cdla-permissive-2.0", "cdla-sharing-1.0",
})  # fmt: skip
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass
class _Contents:
    """What went by on the way to the file."""

    rows: int = 0
    flagged: int = 0
    words: set[str] = field(default_factory=set)
    languages: set[str] = field(default_factory=set)
    layouts: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    consents: set[str] = field(default_factory=set)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one row."""
        self.rows += 1
        self.flagged += bool(row["flagged"])
        self.words.add(row["word"].casefold())
        self.languages.add(row["language"])
        self.layouts.add(row["layout"])
        self.sessions.add(row["session"])
        self.consents.add(row["consent"])


def write_dataset(
    consents: Mapping[str, Consent],
    rows: Iterable[dict[str, Any]],
    folder: str | Path,
    *,
    layouts: str | Path | None = None,
) -> int:
    """Write swipes as a new folder, whole or not at all, in bounded memory; returns their number.

    Args:
        consents: what donors agreed to, by version.
        rows: as ``export.corpus_rows`` gives them.
        folder: where to; it must not exist.
        layouts: the operator's directory of layouts.
    """
    if Path(folder).exists():
        raise CorpusError(f"{folder} exists; choose another place")
    contents, shelf = _Contents(), LayoutShelf(layouts or None)
    with replacing_directory(folder) as new:
        (new / "data").mkdir()
        with row_writer(new / "data" / FILE, COLUMNS) as write:
            for row in rows:
                contents.add(row)
                write(donated_row(row))
        if not contents.rows:
            raise CorpusError("no swipe to write: the selection is empty")
        (new / "layouts").mkdir()
        for name in contents.layouts:
            if layout := shelf.get(name):  # an operator may have taken a layout away
                text = json.dumps({**layout.to_dict(), "name": name}, ensure_ascii=False, indent=1)
                (new / "layouts" / f"{name}.json").write_text(text, encoding="utf-8")
        said = {version: consents[version] for version in sorted(contents.consents) if version in consents}
        (new / "README.md").write_text(_card(contents, said), encoding="utf-8")
    return contents.rows


def donated_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of ``export.corpus_rows`` with COLUMNS: the points are three lists."""
    points = {axis: [point[axis] for point in row["data"]] for axis in ("x", "y", "t")}
    return {**{name: row.get(name) for name in COLUMNS}, **points}


def _card(contents: _Contents, consents: Mapping[str, Consent]) -> str:
    """The README of the dataset: a YAML header for machines, then text for people."""
    operators = ", ".join(dict.fromkeys(one.operator for one in consents.values())) or "a glissando server"
    title = _one_line(f"Swipes donated to {operators}")
    parts = [
        "---\n" + "\n".join(_header(contents, consents, title)) + "\n---",
        f"# {title}",
        f"{contents.rows:,} swipes of {len(contents.words):,} words in {len(contents.sessions):,} sessions, collected "
        f"with glissando. Languages: {', '.join(sorted(contents.languages))}. Layouts: "
        f"{', '.join(sorted(contents.layouts))}. Flagged as not following their word: {contents.flagged:,}.",
        "A row is one word, swiped across a keyboard by a person who agreed to the text below. Split by `session`, so "
        "that what a person gave at once stays together.",
        "## Columns",
        "| column | type | |\n|---|---|---|\n"
        + "\n".join(f"| `{name}` | {kind} | {text} |" for name, (kind, text) in COLUMNS.items()),
        "## What the donors agreed to",
        *(_agreement(version, one) for version, one in consents.items()),
    ]
    if contents.consents - consents.keys():
        parts.append("Some sessions began before the texts were kept.")
    return "\n\n".join(parts) + "\n"


def _header(contents: _Contents, consents: Mapping[str, Consent], title: str) -> Iterator[str]:
    """The lines of the YAML header; JSON text is YAML text."""
    licences = list(dict.fromkeys(one.licence for one in consents.values()))
    if len(licences) == 1 and licences[0].lower() in LICENCES:
        yield f"license: {licences[0].lower()}"
    else:
        yield "license: other"
        yield f"license_name: {json.dumps('; '.join(licences) or 'unknown', ensure_ascii=False)}"
    yield f"language: {json.dumps(sorted(contents.languages))}"
    yield f"pretty_name: {json.dumps(title, ensure_ascii=False)}"
    yield 'tags: ["swipe-typing", "gesture-keyboard"]'
    yield f"size_categories: [{json.dumps(next((name for most, name in SIZES if contents.rows < most), 'n>1M'))}]"
    yield "configs:"
    yield "- config_name: default"
    yield "  data_files:"
    yield "  - split: train"
    yield "    path: data/train-*.parquet"


def _agreement(version: str, consent: Consent) -> str:
    """The text of one version."""
    lines = [
        f"Operator: {consent.operator}",
        f"Contact: {consent.contact}",
        f"Licence: {consent.licence}",
        f"Purpose: {consent.purpose}",
        f"Kept: {consent.kept}",
        "Stored: " + "; ".join(consent.stored),
        consent.not_stored,
        consent.withdrawal,
        consent.published,
    ]
    return f"### Version `{version}`\n\n" + "\n".join(f"- {_one_line(line)}" for line in lines)


def _one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())
