"""A corpus small enough to train on in a test: clean swipes on a keyboard of six keys."""

import json
from pathlib import Path

import numpy as np

from glissando.layout import Layout
from glissando.model.config import EncoderConfig
from glissando.train.encoder.config import EncoderTraining
from glissando.train.run import Job
from glissando.train.state import load_state

LAYOUT = Layout.from_rows("toy", ["abc", "def"])
WORDS = ["ab", "af", "cd", "fad", "bed", "cafe", "deaf", "face", "bead", "ace"]
PEOPLE = 20
MODEL = EncoderConfig(width=16, hidden=24, dilations=(1, 2), kernel=5, resolution=4, dropout=0.1)


def toy_config(**settings) -> EncoderTraining:
    """A config for a network that trains in seconds."""
    settings = {"model": MODEL, "batch": 16, "log_every": 5, "learning_rate": 5e-3, **settings}
    return EncoderTraining(**settings)


def job(pack: Path, out: Path, **options) -> Job:
    """A run on the CPU."""
    return Job(pack, out, device="cpu", **options)


def typed(word: str) -> bytes:
    """The key indices of a word."""
    return bytes(LAYOUT.letters.index(letter) for letter in word)


def lines_of(out: Path) -> list[dict]:
    """The metrics of a run."""
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def assert_same_checkpoint(one: Path, two: Path) -> None:
    """Compare the checkpoints of two runs bit by bit."""
    first, second = (load_state(out / "checkpoint.safetensors")[0] for out in (one, two))
    assert first.keys() == second.keys()
    assert [name for name in first if not first[name].equal(second[name])] == []


def toy_path(word: str, generator: np.random.Generator) -> np.ndarray:
    """A straight walk over a word's keys that rests on each, a little off. Shape: [2, 64]."""
    centres = np.array([LAYOUT.centres[LAYOUT.letters.index(letter)] for letter in word])
    centres = centres + generator.normal(0, 0.02, centres.shape)
    stops = np.linspace(0, 63, 2 * len(word))  # it arrives at each key and leaves it
    at = np.repeat(np.arange(len(word)), 2)
    return np.clip(np.stack([np.interp(np.arange(64), stops, centres[at, axis]) for axis in (0, 1)]), 0, 1)


def write_pack(file: Path, rows: int = 200, seed: int = 0, **changes) -> Path:
    """Write a toy pack as an .npz; ``changes`` replace arrays."""
    generator = np.random.default_rng(seed)
    words = generator.integers(0, len(WORDS), rows)
    targets = [[LAYOUT.letters.index(letter) for letter in WORDS[word]] for word in words]
    meta = {"format": "glissando-pack", "version": 1, "layouts": [LAYOUT.to_dict()], "words": WORDS, "rows": rows}
    arrays = {
        "paths": np.rint(65535 * np.stack([toy_path(WORDS[word], generator) for word in words])).astype(np.uint16),
        "targets": np.concatenate(targets).astype(np.uint8),
        "offsets": np.cumsum([0, *map(len, targets)]).astype(np.int64),
        "layouts": np.zeros(rows, dtype=np.uint8),
        "sessions": (np.arange(rows) % PEOPLE).astype(np.int32),
        "words": words.astype(np.int32),
        "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
    }
    np.savez(file, **{**arrays, **changes})
    return file
