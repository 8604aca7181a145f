"""What one encoder of the ablations is worth: real swipes, made-up ones on keyboards without real ones, its emissions.

A row is tuned by itself on How We Swipe val: scoring constants by cross-entropy, pruning as packaged unless another
choice of a fixed small grid keeps clearly more words in the beam. The other sets get val's constants.
"""

import hashlib
import json
import time
from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from generator import synthesize
from scoring import PRUNING
from sets import SETS, keyboard_and_swipes, word_list

from glissando.corpus.layouts import LayoutShelf
from glissando.evaluation.beams import TuningSet, typed_targets
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for
from glissando.evaluation.fit import fit_scoring
from glissando.gesture import FRAME_MS, Gesture, resample_batch
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import typed_letters
from glissando.model.checkpoint import load_encoder
from glissando.model.encoder import Encoder
from glissando.scoring import Scoring
from glissando.stages import Readings

VERSION = 1  # of the protocol; another one evaluates every row again
SYNTHETIC = ("clearflow", "kasroz", "dvorak")
SWIPES, SEED = 1000, 0  # made up on each of them
BATCH = 64  # of the network; larger ones leave the cache and take 1.4 times as long
EXPONENTS, BONUSES = (0.0, 0.2, 0.42, 0.65), (0.5, 1.04, 1.6, 2.4)  # of pruning
STRIDE = 2  # of val's swipes every second judges pruning
MORE = 0.5  # points of recall that another pruning must win
SILENT = 0.9  # probability of blank above which a frame says nothing
EXAMPLE = "school"  # whose emissions are drawn: a doubled letter, and turns of all kinds


@dataclass(frozen=True, eq=False)
class Part:
    """A set, ready for any encoder.

    Attributes:
        keyboard: its layout and lexicon; the encoder in it is not used.
        gestures: the n swipes.
        paths: [n, 2, 64] of them.
        targets: the letters meant.
        owners: [n] who made each.
    """

    keyboard: Keyboard
    gestures: tuple[Gesture, ...]
    paths: torch.Tensor
    targets: tuple[str, ...]
    owners: list[Hashable]

    @classmethod
    def of(cls, keyboard: Keyboard, gestures: list[Gesture], words: list[str], owners: list[Hashable]) -> "Part":
        targets = typed_targets(words, keyboard.layout, keyboard.lexicon)
        return cls(keyboard, tuple(gestures), torch.from_numpy(resample_batch(gestures)), targets, owners)

    @property
    def labels(self) -> list[list[int]]:
        """The letters meant as columns of the emissions."""
        column = {letter: number for number, letter in enumerate(self.keyboard.layout.keys_of)}
        return [[column[letter] for letter in target] for target in self.targets]

    @torch.no_grad()
    def read(self, encoder: Encoder) -> TuningSet:
        """Run an encoder over all swipes; every letter of these layouts has one key."""
        keys = torch.tensor(self.keyboard.layout.centres, dtype=torch.float32)[None]
        found = []
        for paths in self.paths.split(BATCH):
            here = keys.expand(len(paths), -1, -1)
            found.append(encoder(paths, here, torch.ones(here.shape[:2], dtype=torch.bool)).log_probs)
        return TuningSet(self.keyboard, self.gestures, Readings(torch.cat(found).numpy()), self.targets)


def prepare(data: Path) -> dict[str, Part]:
    """The three sets of real swipes and the three that are made up."""
    parts, words = {}, []
    for name in SETS:
        keyboard, swipes = keyboard_and_swipes(data, name)
        meant = [swipe.word for swipe in swipes]
        owners: list[Hashable] = [swipe.session or swipe.word for swipe in swipes]
        parts[name] = Part.of(keyboard, [swipe.gesture for swipe in swipes], meant, owners)
        words = words or meant
    drawn = np.random.default_rng(SEED).choice(len(words), SWIPES, replace=False)
    chosen = [words[i] for i in drawn]
    shelf = LayoutShelf(data / "layouts")
    options = EvaluationOptions(lexicon=word_list(data, "val"), add_targets=True)
    for name in SYNTHETIC:
        keyboard, _ = keyboard_for(shelf[name], chosen, options)
        parts[name] = Part.of(keyboard, make_up(chosen, shelf[name]), chosen, list(range(SWIPES)))
    return parts


def make_up(words: list[str], layout: Layout) -> list[Gesture]:
    """Swipes by generator.py: on QWERTY the packaged encoder reads them as well as real ones of the words.

    They come resampled, without a clock; at 60 Hz they are what they were made as.
    """
    letters = frozenset(layout.letters)
    column = {key.letter: number for number, key in enumerate(layout.keys)}
    labels = [[column[letter] for letter in typed_letters(word, letters)] for word in words]
    lengths = torch.tensor([len(word) for word in labels])
    targets = torch.zeros(len(words), int(lengths.max()), dtype=torch.int64)
    for row, word in zip(targets, labels, strict=True):
        row[: len(word)] = torch.tensor(word)
    keys = torch.tensor([(key.cx, key.cy, key.rx, key.ry) for key in layout.keys]).expand(len(words), -1, -1)
    paths = synthesize(targets, lengths, keys, torch.Generator().manual_seed(SEED)).double().numpy()
    return [Gesture(x, y, FRAME_MS * np.arange(len(x))) for x, y in paths]


def prune(val: TuningSet) -> Scoring:
    """The packaged pruning constants, or those of the grid that lose the fewest words where they win ``MORE``."""
    some = slice(None, None, STRIDE)
    part = TuningSet(val.keyboard, val.gestures[some], Readings(val.readings.log_probs[some]), val.targets[some])
    grid = [replace(PRUNING, pruning_exponent=e, pruning_bonus=b) for e in EXPONENTS for b in BONUSES]
    recalls = [part.beams(constants).recall for constants in grid]
    best = int(np.argmax(recalls))
    return grid[best] if recalls[best] >= part.beams(PRUNING).recall + MORE else PRUNING


def score_row(checkpoint: Path, parts: dict[str, Part]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Evaluate an encoder: figures for JSON, and arrays: ranks by set, emitted mass, the example's emissions."""
    start = time.perf_counter()
    encoder, extra = load_encoder(checkpoint)
    val = parts["val"].read(encoder)
    scoring = fit_scoring([val.beams(pruning := prune(val), measured=True)], pruning)
    figures: dict[str, dict[str, float]] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, part in parts.items():
        read = val if name == "val" else part.read(encoder)
        ranks, _ = read.beams(scoring, measured=True).ranks(scoring)
        literal = part.keyboard.greedy(read.readings.log_probs)
        right = [guess == target for guess, target in zip(literal, part.targets, strict=True)]
        figures[name] = {
            "n": len(ranks),
            **{f"top{k}": 100 * float(np.mean((ranks > 0) & (ranks <= k))) for k in (1, 3, 10)},
            "recall": 100 * float(np.mean(ranks > 0)),
            "greedy": 100 * float(np.mean(right)),
        }
        arrays[f"ranks_{name}"] = ranks
    log_probs, labels = val.readings.log_probs, parts["val"].labels
    emitted = -np.expm1(np.minimum(log_probs[..., -1].astype(np.float64), 0)).sum(axis=1)
    arrays["mass"] = emitted / [len(word) for word in labels]  # [n] per letter; equation 7 compares it with 1
    arrays["example"] = np.exp(log_probs[parts["val"].targets.index(EXAMPLE)])
    result = {
        "sets": figures,
        "peakiness": measure_peakiness(log_probs, labels, arrays["mass"]),
        "scoring": scoring.to_dict(),
        "repruned": pruning != PRUNING,
        "parameters": sum(parameter.numel() for parameter in encoder.parameters()),
        "head_parameters": sum(parameter.numel() for parameter in encoder.heads.parameters()),
        "training": extra.get("training", {}).get("config", {}),
        "metrics": extra.get("metrics", {}),
        "seconds": round(time.perf_counter() - start, 1),
    }
    return result, arrays


def measure_peakiness(log_probs: np.ndarray, labels: list[list[int]], mass: np.ndarray) -> dict[str, float]:
    """Whether emissions are spikes among blanks, or spread over frames.

    Args:
        log_probs: [n, T, L + 1] log-emissions, blank last.
        labels: for each swipe the letters meant, as indices into the emissions; at least one.
        mass: [n] emitted mass per letter.

    Returns:
        entropy: mean over frames, in nats; silent: percent of frames with more than ``SILENT`` on blank; peak: mean
        over the letters meant of the largest probability that each has in any frame; mass: mean over swipes; under:
        percent of swipes with a mass below one.
    """
    probs = np.exp(log_probs)
    # An impossible letter adds nothing, whatever its logarithm.
    entropy = -np.where(probs > 0, probs * np.maximum(log_probs, -1e3), 0.0).sum(axis=-1, dtype=np.float64)
    best = probs.max(axis=1)  # [n, L + 1]
    peaks = np.concatenate([best[i, word] for i, word in enumerate(labels)])
    return {
        "entropy": float(entropy.mean()),
        "silent": 100 * float(np.mean(probs[..., -1] > SILENT)),
        "peak": float(peaks.mean(dtype=np.float64)),
        "mass": float(mass.mean()),
        "under": 100 * float(np.mean(mass < 1)),
    }


def key_of(checkpoint: Path) -> dict[str, Any]:
    """What a stored result belongs to."""
    digest = hashlib.sha256(checkpoint.read_bytes()).hexdigest()
    return {"version": VERSION, "pruning": PRUNING.to_dict(), "sha256": digest}


def stored(name: str, out: Path, key: dict[str, Any]) -> bool:
    """Whether a row's result is there and of this key."""
    file = out / "rows" / f"{name}.json"
    return file.exists() and json.loads(file.read_text(encoding="utf-8")).get("key") == key


def store(name: str, out: Path, key: dict[str, Any], result: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Keep a row's result; the JSON last, so that it stands for both files."""
    folder = out / "rows"
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / f"{name}.npz", **arrays)
    (folder / f"{name}.json").write_text(json.dumps({"key": key, **result}, indent=1) + "\n", encoding="utf-8")
