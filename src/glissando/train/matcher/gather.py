"""Decode labelled swipes and keep the beam's finalists, to train a matcher on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe
from glissando.corpus.sources import all_files
from glissando.errors import CorpusError
from glissando.evaluation.beams import typed_targets
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for, read_targets
from glissando.gesture import resample_batch
from glissando.keyboard import Keyboard
from glissando.runtime import LONGEST
from glissando.train.matcher.finalists import FORMAT, NO_KEY, VERSION, FinalistFile, pack_paths
from glissando.trie import NO_LETTER

CHUNK = 512  # swipes decoded at a time


@dataclass(frozen=True)
class Gathering:
    """What is kept of each beam.

    Attributes:
        finalists: candidates of each swipe, best first.
        options: how to decode; the matcher itself has no say in it.
    """

    finalists: int = 24
    options: EvaluationOptions = field(
        default_factory=lambda: EvaluationOptions(method="encoder", add_targets=True, max_key_distance=2.0)
    )


def gather_finalists(
    sources: Sequence[str | Path], gathering: Gathering, progress: Callable[[int, int], None] | None = None
) -> FinalistFile:
    """Decode the swipes of some sources and keep their finalists.

    Args:
        sources: what ``find_files`` takes, in our schema.
        gathering: what to keep.
        progress: called with (swipes done, swipes in all).
    """
    shelf = LayoutShelf(gathering.options.layouts)
    groups: dict[str, list[Swipe]] = defaultdict(list)
    for file in all_files(sources):
        for swipe in read_targets(file, shelf, gathering.options):
            groups[swipe.layout].append(swipe)
    total = sum(len(swipes) for swipes in groups.values())
    if not total:
        raise CorpusError("no swipe to decode: the files are empty or every swipe was filtered out")
    people: dict[str | None, int] = {None: -1}
    parts, done = [], 0
    for number, (name, swipes) in enumerate(groups.items()):
        board, _ = keyboard_for(shelf[name], [swipe.word for swipe in swipes], gathering.options)
        assert isinstance(board, Keyboard)
        for start in range(0, len(swipes), CHUNK):
            chunk = swipes[start : start + CHUNK]
            part = _decode(board, chunk, gathering.finalists)
            part["sessions"] = np.array([people.setdefault(one.session, len(people) - 1) for one in chunk], np.int32)
            part["layouts"] = np.full(len(chunk), number, dtype=np.uint8)
            parts.append(part)
            done += len(chunk)
            if progress:
                progress(done, total)
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    meta = {"format": FORMAT, "version": VERSION, "layouts": [shelf[name].to_dict() for name in groups]}
    return FinalistFile(**arrays, meta=meta)


def _decode(board: Keyboard, swipes: Sequence[Swipe], count: int) -> dict[str, np.ndarray]:
    """The arrays of some swipes on one layout, all but sessions and layouts."""
    gestures = [swipe.gesture for swipe in swipes]
    found = board.replace(scoring=board.scoring.closed()).stages(gestures, 0).spellings
    trie, shape = board.trie, (len(gestures), count)
    nodes, scores, frequencies = np.full(shape, -1), np.full(shape, -np.inf), np.zeros(shape, np.uint8)
    for row, spellings in enumerate(found):
        ranked = np.where(spellings.lengths <= LONGEST, spellings.scores(board.scoring), -np.inf)
        best = np.argsort(-ranked, kind="stable")[:count]
        filled = slice(len(best))
        nodes[row, filled], scores[row, filled] = spellings.nodes[best], ranked[best] / board.scoring.temperature
        frequencies[row, filled] = spellings.frequencies[best]
    targets = typed_targets([swipe.word for swipe in swipes], board.layout, board.lexicon)
    meant = (scores > -np.inf) & (nodes == np.array([trie.find(typed) for typed in targets])[:, None])
    gone = scores == -np.inf
    first = np.array([keys[0] for keys in board.layout.keys_of.values()], dtype=np.uint8)  # of a letter's keys
    labels = trie.spell(np.where(gone, -1, nodes), LONGEST)
    return {
        "paths": pack_paths(resample_batch(gestures)),
        "keys": np.where(labels == NO_LETTER, NO_KEY, first.take(labels, mode="clip")),
        "scores": np.where(gone, -100, (scores - scores[:, :1]).clip(-100)).astype(np.float16),
        "frequencies": np.where(gone, 0, frequencies),
        "places": np.where(meant.any(axis=1), meant.argmax(axis=1), -1).astype(np.int16),
        "aspects": np.array([swipe.aspect or board.layout.aspect for swipe in swipes], dtype=np.float32),
    }
