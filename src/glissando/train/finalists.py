"""The words that a beam ended with, swipe by swipe, on disk and on a device: what a decoder has to choose from.

``runs/finalists.py`` finds them with the product's own search. An .npz without objects; the truth comes first:

    meta             uint8   JSON: format, version, the encoder's checksum, and of each part its corpus's
    letters          uint8   [letters]       key indices of all words, end to end
    offsets          int64   [W + 1]         where each word's begin
    frequencies      uint8   [W]             frequency bytes
    PART_words       int32   [n, 1 + m]      the truth and the others, best first; -1 where there are no more
    PART_distances   uint16  [n, 1 + m, 2]   location and shape of each (geometry.py), in 1/4096
    PART_found       bool    [n]             whether the beam held the truth

Everything of a word's score that no network has a part in is here. Parts are called train and val.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from glissando.errors import TrainingError
from glissando.model.checkpoint import write_arrays
from glissando.train.pools import Candidates, gumbel
from glissando.train.vocabulary import Vocabulary

FORMAT, VERSION = "glissando-finalists", 1
SCALE = 4096  # of a distance: errs by a thousandth of a nat at the weights that are in use
PARTS = ("words", "distances", "found")


@dataclass(frozen=True, eq=False)
class Part:
    """The finalists of one corpus's rows; arrays as the module's docstring lists them, and the corpus's checksum."""

    words: np.ndarray
    distances: np.ndarray
    found: np.ndarray
    corpus: str


@dataclass(frozen=True, eq=False)
class Finalists:
    """Finalists of some corpora.

    Attributes:
        vocabulary: the words.
        parts: by name.
        encoder: checksum of the encoder that reads validation swipes.
    """

    vocabulary: Vocabulary
    parts: dict[str, Part]
    encoder: str

    @classmethod
    def open(cls, path: str | Path) -> Finalists:
        """Read what ``save`` wrote."""
        try:
            with np.load(path, allow_pickle=False) as file:
                meta = json.loads(file["meta"].tobytes().decode("utf-8"))
                if (meta.get("format"), meta.get("version")) != (FORMAT, VERSION):
                    raise ValueError(f"its format is {meta.get('format')!r}, version {meta.get('version')}")
                words = Vocabulary(file["letters"], file["offsets"], file["frequencies"], len(file["frequencies"]))
                parts = {
                    name: Part(**{array: file[f"{name}_{array}"] for array in PARTS}, corpus=corpus)
                    for name, corpus in meta["parts"].items()
                }
                found = cls(words, parts, meta["encoder"])
        except (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile) as error:
            raise TrainingError(f"cannot read finalists {path}: {error}") from None
        found._check(path)
        return found

    def save(self, path: str | Path) -> None:
        """Write them, whole or not at all."""
        write_arrays(path, self.arrays)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, by name."""
        corpora = {name: part.corpus for name, part in self.parts.items()}
        meta = {"format": FORMAT, "version": VERSION, "encoder": self.encoder, "parts": corpora}
        words = self.vocabulary
        found = {
            "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
            "letters": words.letters,
            "offsets": words.offsets,
            "frequencies": words.frequencies,
        }
        return found | {f"{name}_{array}": getattr(part, array) for name, part in self.parts.items() for array in PARTS}

    @cached_property
    def digest(self) -> str:
        """A checksum of all arrays, which locks a run to these finalists."""
        found = hashlib.blake2b(digest_size=16)
        for name, array in self.arrays.items():
            found.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def of(self, name: str, corpus: str) -> Part:
        """The part of a corpus, by name and checksum."""
        if name not in self.parts:
            raise TrainingError(f"the finalists have no part {name}, only {', '.join(self.parts)}")
        if self.parts[name].corpus != corpus:
            raise TrainingError(f"the {name} finalists are of another corpus; find them for this one")
        return self.parts[name]

    def summary(self) -> str:
        """How many there are, in words."""
        each = [
            f"{len(part.words):,} swipes of {name} with {(part.words[:, 1:] >= 0).sum(axis=1).mean():.1f} finalists "
            f"besides the truth, which {100 * part.found.mean():.2f} % of the beams hold"
            for name, part in self.parts.items()
        ]
        return "; ".join(each) + f"; {len(self.vocabulary):,} words"

    def _check(self, path: str | Path) -> None:
        """Refuse parts that do not fit together."""
        for name, part in self.parts.items():
            rows, width = part.words.shape if part.words.ndim == 2 else (-1, -1)
            if part.distances.shape != (rows, width, 2) or part.found.shape != (rows,) or width < 1:
                raise TrainingError(f"finalists {path} are damaged: the arrays of {name} do not fit")
            if part.words[:, 0].min(initial=0) < 0 or part.words.max(initial=0) >= len(self.vocabulary):
                raise TrainingError(f"finalists {path} are damaged: {name} has a word that is none")
            if (part.words[:, 1:] == part.words[:, :1]).any():
                raise TrainingError(f"finalists {path} are damaged: the truth of a row of {name} is among its rivals")


def as_stored(distances: np.ndarray) -> np.ndarray:
    """Distances as the file holds them; what is further than 16 key widths is as far as that."""
    return np.rint(np.clip(distances * SCALE, 0, np.iinfo(np.uint16).max)).astype(np.uint16)


class FinalistTable:
    """Finalists on a device, to draw from.

    Args:
        finalists: all parts.
        device: where they are wanted.
        keep: so many of the best are in every draw.
    """

    def __init__(self, finalists: Finalists, device: torch.device, keep: int = 0) -> None:
        self.finalists, self.keep = finalists, keep
        self.targets, self.lengths, self.frequencies = finalists.vocabulary.padded(device)
        widest = max(part.words.shape[1] for part in finalists.parts.values())
        stacked: dict[str, list[np.ndarray]] = {name: [] for name in PARTS}
        self.starts: dict[str, int] = {}
        for name, part in finalists.parts.items():
            self.starts[name] = sum(map(len, stacked["found"]))
            room = widest - part.words.shape[1]
            stacked["words"].append(np.pad(part.words, ((0, 0), (0, room)), constant_values=-1))
            stacked["distances"].append(np.pad(part.distances, ((0, 0), (0, room), (0, 0))))
            stacked["found"].append(part.found)
        words, distances, found = (np.concatenate(stacked[name]) for name in PARTS)
        self.words = torch.from_numpy(words).to(device)  # [N, 1 + m]
        self.distances = torch.from_numpy(distances.astype(np.float32) / SCALE).to(device)  # [N, 1 + m, 2]
        self.found = torch.from_numpy(found).to(device)  # [N]

    def place(self, name: str, corpus: str, rows: np.ndarray) -> np.ndarray:
        """Where the rows of a pack are among all. Shape: [n] -> [n] int64."""
        part = self.finalists.of(name, corpus)
        if len(rows) and rows.max() >= len(part.words):
            raise TrainingError(f"the {name} finalists are of {len(part.words):,} swipes, a row is {rows.max():,}")
        return rows.astype(np.int64) + self.starts[name]

    def draw(self, place: Tensor, count: int, prefer: float, generator: torch.Generator) -> Candidates:
        """Draw finalists without replacement: the best ``keep``, the rest evenly or like rank^-prefer.

        Rows whose beam lost the truth have no rivals: no ranking there could have put it first.

        Args:
            place: [B] rows, from ``place``.
            count: finalists of each.
            prefer: the power.
            generator: on the device.
        """
        rank = torch.arange(1, self.words.shape[1], device=place.device, dtype=torch.float32)  # [m]
        key = gumbel((len(place), len(rank)), generator, place.device) - prefer * rank.log()
        key = torch.where(rank <= self.keep, 1e6 - rank, key)
        key = torch.where(self.words[place][:, 1:] >= 0, key, -torch.inf)
        words = self.beside(place, key.topk(min(count, len(rank)), dim=1).indices)
        valid = words.valid & self.found[place][:, None]
        valid[:, 0] = True
        return words._replace(valid=valid)

    def first(self, place: Tensor, count: int) -> Candidates:
        """The best finalists of each row."""
        chosen = torch.arange(min(count, self.words.shape[1] - 1), device=place.device)
        return self.beside(place, chosen.expand(len(place), -1))

    def beside(self, place: Tensor, chosen: Tensor) -> Candidates:
        """The truth of each row and the chosen of its finalists. Shapes: [B], [B, n]."""
        column = torch.nn.functional.pad(chosen + 1, (1, 0))  # the truth is in column 0
        words = self.words[place].gather(1, column).long()
        distances = self.distances[place].gather(1, column[..., None].expand(-1, -1, 2))
        valid, words = words >= 0, words.clamp(min=0)
        parts = self.targets[words].long(), self.lengths[words].long(), self.frequencies[words]
        return Candidates(*parts, valid, distances)
