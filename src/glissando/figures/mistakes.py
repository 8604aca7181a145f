"""The keyboard's mistakes on swipes whose words are known, and what caused each, by rules.

A mistake has the first of these causes that fits:

1. label noise: the swipe misses a key of the word it is filed under, or strays from the lines between them, by more
   than ``FAR`` key widths, and follows the answer better by ``MARGIN`` or more. People do swipe another word than
   the prompt's.
2. doubled letters: the two words differ in nothing but doubled letters (too, to).
3. straight-line letters: every letter that one word has and the other has not lies within ``COLINEAR`` key widths of
   the line between the letters around it that both have (stream, steam; pit, put).
4. neighbours: as many letters, and those that differ are on keys at most ``ADJACENT`` key widths apart (for, foe).
5. rare word: the word meant is rarer by ``RARE`` or more in the lexicon's byte, 36 of which are a factor of ten.
6. other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from glissando.corpus.filters import key_distance
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe
from glissando.ctc import align, word_costs
from glissando.design.colinear import COLINEAR, clearance, key_scale, key_sequence
from glissando.errors import CorpusError, GlissandoError
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for, read_targets, with_aspect
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import typed_letters

CAUSES = ("label noise", "doubled letters", "straight-line letters", "neighbours", "rare word", "other")
FAR = 1.25  # key widths
MARGIN = 0.5  # key widths
ADJACENT = 1.5  # key widths between centres: the keys around a key, those of the next row too
RARE = 40  # bytes
CHUNK = 256  # swipes decoded between two signs of progress


@dataclass(frozen=True, eq=False)
class Mistake:
    """A swipe that was read as another word.

    Attributes:
        swipe, layout: what was swiped, and where.
        target: the letters meant.
        answer: the letters read.
        confidence: the answer's share among the candidates, 0 to 1.
        reading: the letters the network reads without a lexicon.
        moments: [n] where along the swipe forced alignment puts each letter of the target, 0 to 1.
        seen: [n] the network's probability for it there.
        evidence: nats by which the network alone prefers the answer; below zero it was outvoted.
        frequencies: the lexicon's bytes of target and answer.
        cause: one of CAUSES.
    """

    swipe: Swipe
    layout: Layout
    target: str
    answer: str
    confidence: float
    reading: str
    moments: np.ndarray
    seen: np.ndarray
    evidence: float
    frequencies: tuple[int, int]
    cause: str

    def to_dict(self) -> dict[str, object]:
        """The JSON form, without the swipe's points."""
        plain = ("target", "answer", "confidence", "reading", "evidence", "frequencies", "cause")
        return {"layout": self.layout.name, **{name: getattr(self, name) for name in plain}, "seen": self.seen.tolist()}


@dataclass(frozen=True)
class Findings:
    """Every mistake, the most confident first, and how many swipes were read."""

    mistakes: tuple[Mistake, ...]
    swipes: int


def find_mistakes(
    files: Sequence[Path], options: EvaluationOptions, progress: Callable[[int, int], None] | None = None
) -> Findings:
    """Decode the swipes of some files and keep what was read wrong."""
    if options.method != "encoder":
        raise GlissandoError(f"mistakes are explained by the encoder's emissions; method {options.method!r} has none")
    shelf = LayoutShelf(options.layouts)
    groups: dict[str, list[Swipe]] = defaultdict(list)
    for path in files:
        for swipe in read_targets(path, shelf, options):
            groups[swipe.layout].append(swipe)
    total = sum(map(len, groups.values()))
    if not total:
        raise CorpusError("no swipe to read: the files are empty or every swipe was filtered out")
    found: list[Mistake] = []
    done = 0
    for name, swipes in groups.items():
        keyboard, _ = keyboard_for(with_aspect(shelf[name], swipes), [swipe.word for swipe in swipes], options)
        assert isinstance(keyboard, Keyboard)
        for start in range(0, len(swipes), CHUNK):
            chunk = swipes[start : start + CHUNK]
            found += _mistakes(keyboard, chunk)
            done += len(chunk)
            if progress:
                progress(done, total)
    return Findings(tuple(sorted(found, key=lambda one: -one.confidence)), total)


def cause_of(target: str, answer: str, swipe: Swipe, layout: Layout, gap: int) -> str:
    """The first cause that fits, as the module says; ``gap`` is the answer's byte minus the target's."""
    if (strayed := stray(target, swipe, layout)) > FAR and stray(answer, swipe, layout) <= strayed - MARGIN:
        return "label noise"
    (meant, meant_keys), (read, read_keys) = key_sequence(target, layout), key_sequence(answer, layout)
    if meant == read:
        return "doubled letters"
    if _is_straight(meant, meant_keys, read, read_keys):
        return "straight-line letters"
    if len(meant) == len(read) and np.all(np.hypot(*(meant_keys - read_keys).T) <= ADJACENT):
        return "neighbours"
    return "rare word" if gap >= RARE else "other"


def stray(word: str, swipe: Swipe, layout: Layout) -> float:
    """How far a swipe is from a word at the worst, in key widths: by a key it misses, or off the lines between keys."""
    true = replace(layout, aspect=swipe.aspect or layout.aspect)
    missed = key_distance(word, swipe.gesture, true)
    _, keys = key_sequence(word, true)
    points = np.column_stack([swipe.gesture.x, swipe.gesture.y]) * key_scale(true)
    off = clearance(keys[:-1], points[:, None], keys[1:]) if len(keys) > 1 else np.hypot(*(points - keys).T)[:, None]
    return max(missed.max if missed else 0.0, float(off.min(axis=1).max()))  # off: [n, L - 1]


def _is_straight(a: str, a_keys: np.ndarray, b: str, b_keys: np.ndarray) -> bool:
    """Whether all that two words do not share lies on the way between what they do. Shape: keys [len, 2]."""
    for kind, i, i_end, j, j_end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if i == 0 or i_end == len(a):  # beyond the first or the last letter there is no line
            return False
        extra = np.concatenate([a_keys[i:i_end], b_keys[j:j_end]])
        if np.any(clearance(a_keys[i - 1], extra, a_keys[i_end]) >= COLINEAR):
            return False
    return True


def _mistakes(keyboard: Keyboard, swipes: Sequence[Swipe]) -> Iterator[Mistake]:
    """Decode some swipes; yield those read wrong."""
    gestures = [swipe.gesture for swipe in swipes]
    stages = keyboard.stages(gestures, keyboard.width)
    log_probs, literal = stages.readings.log_probs, keyboard.literal(stages.readings.log_probs)
    letters = frozenset(keyboard.layout.letters)
    for row, swipe in enumerate(swipes):
        target = "".join(typed_letters(swipe.word, letters))
        candidates = stages.candidates[row]
        if not candidates or candidates[0].letters == target:
            continue
        answer = candidates[0].letters
        bytes_ = _byte(keyboard, target), candidates[0].frequency
        labels = [[keyboard.trie.letters.index(letter) for letter in word] for word in (target, answer)]
        meant, read = word_costs(log_probs[[row, row]], labels)
        frames = np.array(align(log_probs[row], labels[0]).frames)
        yield Mistake(
            swipe, keyboard.layout, target, answer,
            sum(one.probability for one in candidates if one.letters == answer),
            literal[row], (frames + 1) / log_probs.shape[1], np.exp(log_probs[row, frames, labels[0]]),
            float(meant - read), bytes_, cause_of(target, answer, swipe, keyboard.layout, bytes_[1] - bytes_[0]),
        )  # fmt: skip


def _byte(keyboard: Keyboard, typed: str) -> int:
    """The frequency byte of a spelling's likeliest word; 0 where the lexicon lacks it."""
    trie = keyboard.trie
    node = trie.find(typed)
    if node < 0 or trie.endings[node] == trie.endings[node + 1]:
        return 0
    return int(keyboard.lexicon.frequencies[trie.words[trie.endings[node]]])
